//! What a script file may say.

use std::path::Path;

use super::file::parse;

fn problem(text: &str) -> String {
    let error = parse(Path::new("s.toml"), text).expect_err("it is refused");
    let mut whole = error.to_string();
    let mut next = std::error::Error::source(&error);
    while let Some(error) = next {
        whole += &format!(": {error}");
        next = error.source();
    }
    whole
}

#[test]
fn a_full_turn_parses() {
    let turns = parse(
        Path::new("s.toml"),
        r#"
        [[turn]]
        role = "implement"
        pass = 2
        write = { "a/b.txt" = "x" }
        delete = ["old.txt"]
        run = "true"
        delay_ms = 5
        events = ["said", { type = "activity", tool = "Read", target = "a" }]
        reply = { summary = "s" }
        [[turn]]
        role = "review"
        fail = "hang"
        "#,
    )
    .expect("it is valid");
    assert_eq!(turns.len(), 2);
    assert_eq!(turns[0].events.len(), 2);
}

#[test]
fn nonsense_is_refused_with_its_place() {
    let turn = |body: &str| format!("[[turn]]\nrole = \"review\"\n{body}");
    for (text, said) in [
        (
            turn("reply = { a = 1 }\ntext = \"b\""),
            "turn 1 of the script s.toml: only one of",
        ),
        (turn("reply = 3"), "`reply` must be a table"),
        (turn("pass = 0"), "passes count from 1"),
        (turn("colour = \"red\""), "unknown field `colour`"),
        (turn("fail = \"maybe\""), "unknown variant `maybe`"),
        (
            turn("events = [{ type = \"nonsense\" }]"),
            "unknown variant `nonsense`",
        ),
        (
            "[[turn]]\nrole = \"merge\"".to_owned(),
            "unknown variant `merge`",
        ),
        ("[[turn]]\npass = 1".to_owned(), "missing field `role`"),
    ] {
        let problem = problem(&text);
        assert!(problem.contains(said), "{text}\n{problem}");
    }
}

#[test]
fn paths_stay_inside() {
    for path in ["../x", "/etc/x", "a/../../x", ".", ""] {
        for body in [
            format!("write = {{ \"{path}\" = \"\" }}"),
            format!("delete = [\"{path}\"]"),
        ] {
            let problem = problem(&format!("[[turn]]\nrole = \"implement\"\n{body}"));
            assert!(
                problem.contains("not a path inside the work tree"),
                "{problem}"
            );
        }
    }
}
