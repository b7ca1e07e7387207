//! Bad input gives a clear message and the documented exit code, and changes
//! nothing on disk: no branch, no file, not even a folder for the state.

use crate::environment::{ISSUE, TEST_SH, THREE_PASSES, TestEnvironment, config, scripted};

/// Runs the command and checks that nothing at all was written.
#[track_caller]
fn refused(world: &TestEnvironment, args: &[&str]) -> String {
    let before = world.everything();
    let text = world.whole(args);
    let after = world.everything();
    let names = |all: &[(std::path::PathBuf, Vec<u8>)]| -> Vec<_> {
        all.iter().map(|(path, _)| path.clone()).collect()
    };
    assert_eq!(names(&before), names(&after), "files came or went");
    assert!(before == after, "a file was changed");
    text
}

#[test]
fn no_repository() {
    let world = TestEnvironment::new();
    insta::assert_snapshot!(refused(&world, &["implement", "T-1"]));
}

#[test]
fn a_dirty_work_tree() {
    let world = scripted(THREE_PASSES);
    world.write("repo/test.sh", "true\n");
    world.write("repo/new.txt", "new\n");
    insta::assert_snapshot!(refused(&world, &["implement", "T-1"]));
}

#[test]
fn a_merge_in_progress() {
    let world = scripted(THREE_PASSES);
    world.git(&["switch", "--quiet", "--create", "other"]);
    world.write("repo/test.sh", "true # other\n");
    world.git(&["commit", "--quiet", "--all", "--message=other"]);
    world.git(&["switch", "--quiet", "main"]);
    world.write("repo/test.sh", "true # main\n");
    world.git(&["commit", "--quiet", "--all", "--message=main"]);
    let merge = world
        .program("git", "repo")
        .args(["merge", "other"])
        .output();
    assert!(!merge.expect("git starts").status.success(), "a conflict");
    insta::assert_snapshot!(refused(&world, &["implement", "T-1"]));
}

#[test]
fn an_unknown_key() {
    let world = scripted(THREE_PASSES);
    insta::assert_snapshot!(refused(&world, &["implement", "T-2"]));
    let line = world.xiv(&["implement", "T-2", "--json"]).exits(4).last();
    assert_eq!(line["type"], "result", "{line}");
    assert_eq!(line["exitCode"], 4, "{line}");
    assert_eq!(line["output"]["outcome"], "refused", "{line}");
}

#[test]
fn an_empty_title() {
    let world = scripted(THREE_PASSES);
    world.write("repo/.xiv/issues/T-3.md", "---\nid: T-3\ntitle: ''\n---\n");
    insta::assert_snapshot!(refused(&world, &["implement", "T-3"]));
}

#[test]
fn an_issue_file_that_is_an_error_message() {
    let world = scripted(THREE_PASSES);
    world.write("issue.md", "# HTTP/1.1 401 Unauthorized\n");
    let file = world.path("issue.md").display().to_string();
    insta::assert_snapshot!(refused(
        &world,
        &["implement", "T-1", "--issue-file", &file]
    ));
    world.write(
        "issue.json",
        r#"{"key": "T-1", "title": "Say it", "fetched": false}"#,
    );
    let file = world.path("issue.json").display().to_string();
    insta::assert_snapshot!(refused(
        &world,
        &["implement", "T-1", "--issue-file", &file]
    ));
    insta::assert_snapshot!(refused(
        &world,
        &["implement", "T-1", "--issue-file", "none.md"]
    ));
}

#[test]
fn no_validation_commands() {
    let world = TestEnvironment::with_repo(&[("README.md", "hello\n")]);
    world.write("repo/.xiv/issues/T-1.md", ISSUE);
    insta::assert_snapshot!(refused(&world, &["implement", "T-1"]));
}

#[test]
fn an_unknown_configuration_key() {
    let world = scripted(THREE_PASSES);
    world.write("repo/xiv.toml", "[loop]\nmax_iteration = 4\n");
    insta::assert_snapshot!(refused(&world, &["implement", "T-1"]));
    insta::assert_snapshot!(refused(&world, &["config", "show"]));
}

#[test]
fn a_wrong_configuration_value() {
    let world = scripted(THREE_PASSES);
    world.write("repo/xiv.toml", "[steps.plan]\nengine = \"command:mine\"\n");
    insta::assert_snapshot!(refused(&world, &["implement", "T-1"]));
}

#[test]
fn an_unknown_tier() {
    let world = scripted(THREE_PASSES);
    let before = world.everything();
    let ran = world
        .command(&["implement", "T-1"])
        .env("XIV_TIER", "best")
        .output();
    let ran = crate::environment::Ran::of(ran.expect("the binary starts"));
    insta::assert_snapshot!(world.shown(&ran));
    assert!(before == world.everything(), "nothing was written");
}

#[test]
fn a_missing_agent() {
    let world = TestEnvironment::with_repo(&[("test.sh", TEST_SH)]);
    world.write("repo/.xiv/issues/T-1.md", ISSUE);
    world.write("repo/xiv.toml", &config("claude"));
    insta::assert_snapshot!(refused(&world, &["implement", "T-1"]));
}

#[test]
fn a_missing_script() {
    let world = TestEnvironment::with_repo(&[("test.sh", TEST_SH)]);
    world.write("repo/.xiv/issues/T-1.md", ISSUE);
    world.write("repo/xiv.toml", &config("scripted:none.toml"));
    insta::assert_snapshot!(refused(&world, &["implement", "T-1"]));
}

#[test]
fn wrong_arguments() {
    let world = scripted(THREE_PASSES);
    for args in [
        &["implement", "T-1", "--max-iterations", "abc"][..],
        &["implement", "T-1", "--engine", "plan"],
        &["implement", "T-1", "--engine", "merge=claude"],
        &[
            "implement",
            "T-1",
            "--engine",
            "plan=claude",
            "--engine",
            "plan=codex",
        ],
        &["implement"],
        &["implement", "T-1", "--merge"],
        &["frobnicate"],
        &["run", "show", "0000"],
        &["-q", "-v", "runs"],
    ] {
        let before = world.everything();
        let ran = world.xiv(args).exits(2);
        assert_eq!(ran.stdout, "", "{args:?}");
        assert!(
            ran.stderr.starts_with("error: "),
            "{args:?}: {}",
            ran.stderr
        );
        assert!(before == world.everything(), "{args:?} wrote something");
        let json = [args, &["--json"]].concat();
        let error = world.xiv(&json).exits(2).last();
        assert_eq!(error["type"], "error", "{args:?}: {error}");
        assert_eq!(error["exitCode"], 2, "{args:?}: {error}");
    }
}

#[test]
fn errors_as_json_are_one_object_on_standard_output() {
    let world = TestEnvironment::new();
    let ran = world.xiv(&["implement", "T-1", "--json"]).exits(4);
    insta::assert_snapshot!(world.shown(&ran));
}

#[test]
fn inside_a_run_nothing_is_detached() {
    let world = scripted(THREE_PASSES);
    let before = world.everything();
    let ran = world
        .command(&["implement", "T-1", "--detach"])
        .env("XIV_MARK", "outer-step")
        .output();
    let ran = crate::environment::Ran::of(ran.expect("the binary starts")).exits(4);
    insta::assert_snapshot!(world.shown(&ran));
    assert!(before == world.everything(), "nothing was written");
}
