//! Tables and properties of finding an answer.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{ExtractError, from_reply, from_reply_noting};
use crate::model::{ImplementReport, LocalReview, Plan, Verdict};

const APPROVE: &str = r#"{"verdict":"approve","summary":"draft"}"#;
const CHANGES: &str = r#"{"verdict":"request_changes","summary":"final"}"#;

fn review(text: &str) -> Result<LocalReview, ExtractError> {
    from_reply(None, text)
}

/// The verdict's word, or the error's kind.
fn outcome(text: &str) -> &'static str {
    match review(text) {
        Ok(review) => review.verdict.as_str(),
        Err(error) => error.kind(),
    }
}

#[test]
fn the_last_complete_object_with_a_verdict_counts() {
    let broken = r#"{"verdict":"approve","summary":"s",}"#;
    for (text, want) in [
        (format!("{APPROVE}\n{CHANGES}"), "request_changes"),
        (
            format!("```json\n{APPROVE}\n```\nFinal:\n```json\n{CHANGES}\n```"),
            "request_changes",
        ),
        (format!("{APPROVE}{CHANGES}"), "request_changes"),
        // what has no verdict is no review and changes nothing
        (
            format!("{CHANGES}\n{{\"note\":1}} {{}} {{x}} [1] [{APPROVE}]"),
            "request_changes",
        ),
        (
            format!("{CHANGES}\n{{\"meta\":{APPROVE}}}"),
            "request_changes",
        ),
        // the last one must fit; earlier ones are never used
        (
            format!("{APPROVE} {{\"verdict\":\"lgtm\",\"summary\":\"s\"}}"),
            "schema",
        ),
        (format!("{APPROVE} {{\"verdict\":\"approve\"}}"), "schema"),
        (
            format!("{APPROVE} {{\"verdict\":null,\"summary\":\"s\"}}"),
            "noVerdict",
        ),
        // something broken after it that names the verdict voids it
        (
            format!("{APPROVE}\n{{\"verdict\":\"request_ch"),
            "invalidJson",
        ),
        (format!("{APPROVE}\n{{\"verdict\""), "invalidJson"),
        (
            format!("{APPROVE}\n{{\"summary\":\"s\",\"verdict\":"),
            "invalidJson",
        ),
        (format!("{APPROVE}\n{broken}"), "invalidJson"),
        (
            format!("{APPROVE}\n{{verdict: 'request_changes'}}"),
            "invalidJson",
        ),
        (
            format!("{APPROVE}\n{{ // mine\n\"verdict\": \"comment\"}}"),
            "invalidJson",
        ),
        (format!("{APPROVE}\n[{CHANGES}"), "invalidJson"),
        // what does not name it does not
        (format!("{APPROVE}\n{{\"note\":\"cut"), "approve"),
        (
            format!("{APPROVE}\nas said in {{verdict}} and {{\"verdict\"}}, `{{`"),
            "approve",
        ),
        // and a broken draft before it does not matter
        (format!("{broken}\n{CHANGES}"), "request_changes"),
        (
            format!("{{\"verdict\":\"approve\",\"summary\":\"an \"odd quote\"}}\n\n{CHANGES}"),
            "request_changes",
        ),
    ] {
        assert_eq!(outcome(&text), want, "{text}");
    }
}

#[test]
fn only_the_top_level_counts() {
    for (text, want) in [
        (format!("[{APPROVE}]"), "noVerdict"),
        (format!("[ 1, {APPROVE} ]"), "noVerdict"),
        (format!("[{APPROVE}"), "invalidJson"),
        (format!("[{APPROVE}, oops]"), "invalidJson"),
        (format!("{{\"review\":{APPROVE}}}"), "noVerdict"),
        (format!("{{\"review\":{APPROVE}"), "invalidJson"),
        (format!("{{\"a\":1, oops {APPROVE}}}"), "invalidJson"),
        (format!("{{{APPROVE}}}"), "invalidJson"),
        (format!("{{{{{APPROVE}}}}}"), "invalidJson"),
        (format!("{{'review': {APPROVE} }}"), "invalidJson"),
        (
            format!("{{\"a\": \"odd \" quote\", \"b\": {APPROVE}"),
            "invalidJson",
        ),
        (
            r#""{\"verdict\":\"approve\",\"summary\":\"s\"}""#.to_owned(),
            "noJson",
        ),
        (
            r#"{"text":"{\"verdict\":\"approve\",\"summary\":\"s\"}"}"#.to_owned(),
            "noVerdict",
        ),
    ] {
        assert_eq!(outcome(&text), want, "{text}");
    }
}

#[test]
fn brackets_of_prose_and_code_hide_nothing() {
    for before in [
        "The block `fn a() { let x = {1}; }` and {verdict} are fine, [see 1].",
        "a lone { and a lone [ and `{` and `[` and `{\"` in code",
        "fn open() {\n    if x {",
        "closing } and ] first",
        "- [ ] todo\n- [x] done [link](u) [[wiki]] [\"a\", b] [1, 2",
        "const x = { \"a\": 1, b: 2 };",
        "HashSet {\"a\", \"b\"}",
        "x {y} \"z\" {} {{}}",
        "an odd \" quote and it's",
        "```rust\nfn f() { println!(\"{\"); }\n```",
    ] {
        for after in ["", "\n", "\n```\nDone {x}.", "\nSee [1] and `}`."] {
            let body = r#"{"verdict":"comment","summary":"missing } and ` and {"}"#;
            let text = format!("{before}\n\n{body}{after}");
            assert_eq!(outcome(&text), "comment", "{text}");
        }
    }
    assert_eq!(outcome(&format!("{APPROVE}}}]")), "approve");
}

#[test]
fn each_error_has_its_kind() {
    for (text, want) in [
        ("", "empty"),
        (" \n\t\r\n", "empty"),
        ("No issues found. LGTM!", "noJson"),
        ("verdict: approve", "noJson"),
        ("\"approve\"", "noJson"),
        ("fn main() {}", "noJson"),
        (r#"{"summary":"s"}"#, "noVerdict"),
        (r#"{"verdict":"","summary":"s"}"#, "noVerdict"),
        (r#"{"verdict":"  ","summary":"s"}"#, "noVerdict"),
        (r#"{"verdict":null}"#, "noVerdict"),
        (r#"{"verdict":["approve"],"summary":"s"}"#, "schema"),
        (r#"{"verdict":true,"summary":"s"}"#, "schema"),
        (r#"{"verdict":"Approve","summary":"s"}"#, "schema"),
        (r#"{"verdict":"approve","summary":null}"#, "schema"),
        (
            r#"{"verdict":"approve","summary":"s","findings":[{"id":"a"}]}"#,
            "schema",
        ),
        (
            r#"{"verdict":"approve","summary":"s","verdict":"comment"}"#,
            "schema",
        ),
        (
            r#"{"verdict":"approve","summary":"s","findings":[{"id":"a","id":"b","severity":"low","title":"t","body":"b"}]}"#,
            "schema",
        ),
        (r#"{"verdict":"approve","summary":"it is"#, "invalidJson"),
        (r#"{"verdict":"approve","summary":"s",}"#, "invalidJson"),
        (
            "{\"verdict\":\"approve\",\"summary\":\"a\nb\"}",
            "invalidJson",
        ),
        ("{'verdict':'approve','summary':'s'}", "invalidJson"),
        (r#"{"a":1,}"#, "invalidJson"),
    ] {
        assert_eq!(outcome(text), want, "{text}");
    }
}

#[test]
fn fences_in_strings_end_nothing() {
    let text = "```json\n{\"verdict\":\"comment\",\"summary\":\"s\",\"findings\":[{\"id\":\"a\",\
        \"severity\":\"low\",\"title\":\"t\",\"body\":\"```rust\\nlet x = {};\\n```\"}]}\n```";
    let review = review(text).expect("a review");
    assert_eq!(review.findings[0].body, "```rust\nlet x = {};\n```");
}

#[test]
fn a_structured_answer_is_final() {
    let json: Value = serde_json::from_str(CHANGES).expect("JSON");
    let taken: LocalReview = from_reply(Some(&json), APPROVE).expect("a review");
    assert_eq!(taken.verdict, Verdict::RequestChanges);
    for (json, kind) in [
        (json!({"summary": "s"}), "noVerdict"),
        (json!({"verdict": "", "summary": "s"}), "noVerdict"),
        (json!({"verdict": "lgtm", "summary": "s"}), "schema"),
        (json!([]), "noVerdict"),
    ] {
        let error = from_reply::<LocalReview>(Some(&json), APPROVE).expect_err("not a review");
        assert_eq!(error.kind(), kind, "{json}");
    }
    let null = from_reply::<LocalReview>(Some(&Value::Null), APPROVE);
    assert_eq!(null.expect("from the text").verdict, Verdict::Approve);
}

#[test]
fn ignored_fields_are_named() {
    let text = r#"{"verdict":"comment","summary":"s","confidence":0.9,"extra":null,
        "findings":[{"id":"","severity":"low","title":"t","body":"b","score":{"x":1}}]}"#;
    let extracted = from_reply_noting::<LocalReview>(None, text).expect("a review");
    assert_eq!(extracted.unknown, ["confidence", "findings[0].score"]);
    assert_eq!(extracted.value.findings[0].id.as_str(), "f1");
}

#[test]
fn other_answers_have_their_own_keys() {
    let plan: Plan = from_reply(
        None,
        "Plan:\n{\"summary\":\"s\",\"steps\":[\"a\"]} {\"x\":1}",
    )
    .expect("a plan");
    assert_eq!(plan.steps, ["a"]);
    let empty = from_reply::<Plan>(None, r#"{"summary":"s","steps":[]}"#);
    assert_eq!(empty.expect_err("no steps").kind(), "schema");
    let report: ImplementReport = from_reply(None, r#"done {"summary":""}"#).expect("a report");
    assert_eq!(report.summary, "");
}

#[test]
fn hostile_repetition_takes_linear_time() {
    for unit in [
        "{",
        "[",
        "{\"a\":",
        "[{",
        "{}",
        "{x}",
        "`{",
        "{\"",
        "[[1,",
        "{verdict:",
    ] {
        let text = unit.repeat(2_000);
        assert!(review(&text).is_err(), "{unit}");
    }
}

proptest! {
    #[test]
    fn any_text_is_survived(text in "([{}\\[\\]\"`:,\\\\\\n ]|verdict|approve|\\PC){0,60}") {
        let _either = review(&text);
    }

    /// The oracle builds the text from parts whose meaning it knows.
    #[test]
    fn never_another_than_the_last(
        parts in prop::collection::vec(
            prop_oneof![
                Just(("prose with {braces} and [lists]", None)),
                Just(("{\"note\": {\"verdict\": \"approve\"}}", None)),
                Just(("[{\"verdict\": \"approve\", \"summary\": \"s\"}]", None)),
                Just((APPROVE, Some("approve"))),
                Just((CHANGES, Some("request_changes"))),
                Just(("{\"summary\":\"s\",\"verdict\":\"comment\"}", Some("comment"))),
                Just(("{\"verdict\":\"\"}", Some("noVerdict"))),
                Just(("{\"verdict\":\"ok\",\"summary\":\"s\"}", Some("schema"))),
                Just(("{\"verdict\":\"comment\",}", Some("invalidJson"))),
            ],
            0..8,
        ),
        glue in prop_oneof![Just(" "), Just("\n"), Just("\n```\n")],
    ) {
        let text = parts.iter().map(|(text, _)| *text).collect::<Vec<_>>().join(glue);
        match parts.iter().rev().find_map(|(_, meaning)| *meaning) {
            Some(meaning) => prop_assert_eq!(outcome(&text), meaning),
            None => prop_assert!(review(&text).is_err()),
        }
    }

    /// A cut text never yields what the whole one would not.
    #[test]
    fn a_cut_never_invents_a_verdict(cut in 0usize..140) {
        let text = format!("Draft:\n{{\"verdict\":\"comment\",\"summary\":\"{{x\"}}\nFinal: {CHANGES}");
        let cut = cut.min(text.len());
        let got = outcome(&text[..cut]);
        let draft_ends = text.find("}\nFinal").expect("the draft") + 1;
        let final_named = text.find("Final: {\"verdict\"").expect("the final") + "Final: {\"verdict\"".len();
        if cut < draft_ends {
            prop_assert!(review(&text[..cut]).is_err());
        } else if cut < final_named {
            prop_assert_eq!(got, "comment");
        } else if cut < text.len() {
            prop_assert_eq!(got, "invalidJson");
        } else {
            prop_assert_eq!(got, "request_changes");
        }
    }
}
