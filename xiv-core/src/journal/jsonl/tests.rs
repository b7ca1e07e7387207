//! Text out, text in.

use insta::assert_snapshot;
use jiff::Timestamp;

use super::{JsonlError, RunExport, from_jsonl, to_jsonl};
use crate::journal::RawEvent;
use crate::model::RunId;
use crate::port::{JournalError, JournalErrorKind, NewRun};

fn export() -> RunExport {
    let run = |n| RunId::parse(format!("{n:08x}-0000-7000-8000-000000000000")).expect("an id");
    let event = |seq, body: &str| RawEvent {
        seq,
        at: Timestamp::constant(1_767_225_600, 5),
        body: body.to_owned(),
    };
    RunExport {
        run: NewRun {
            id: run(1),
            kind: "implement".to_owned(),
            key: "KEY-1".to_owned(),
            repo: "/home/me/a \"b\"".to_owned(),
            parent: Some(run(2)),
        },
        started_at: Timestamp::constant(1_767_225_600, 0),
        writer: "0.1.0".to_owned(),
        events: vec![
            event(1, r#"{"type":"resumed","usd":0.30000000000000004}"#),
            event(2, r#"{"type":"newer", "x" : [1.0, 1e400]}"#),
        ],
    }
}

#[test]
fn a_run_is_one_object_per_line() {
    assert_snapshot!(to_jsonl(&export()), @r#"
    {"type":"run","format":1,"writer":"0.1.0","run":"00000001-0000-7000-8000-000000000000","kind":"implement","key":"KEY-1","repo":"/home/me/a \"b\"","parent":"00000002-0000-7000-8000-000000000000","startedAt":"2026-01-01T00:00:00Z","events":2}
    {"type":"event","run":"00000001-0000-7000-8000-000000000000","seq":1,"at":"2026-01-01T00:00:00.000000005Z","event":{"type":"resumed","usd":0.30000000000000004}}
    {"type":"event","run":"00000001-0000-7000-8000-000000000000","seq":2,"at":"2026-01-01T00:00:00.000000005Z","event":{"type":"newer", "x" : [1.0, 1e400]}}
    "#);
}

#[test]
fn nothing_changes_on_the_way() {
    let text = to_jsonl(&export());
    assert_eq!(from_jsonl(&text).expect("read"), export());
    let other_line_ends = text.replace('\n', "\r\n") + "\r\n\r\n";
    assert_eq!(from_jsonl(&other_line_ends).expect("read"), export());
    let with_more = text.replace(r#""type":"run","#, r#""type":"run","host":"h","#);
    assert_eq!(from_jsonl(&with_more).expect("read"), export());
}

#[test]
fn a_text_that_breaks_off_is_noticed_wherever_it_does() {
    let text = to_jsonl(&export());
    for end in 0..text.len() - 1 {
        if text.is_char_boundary(end) {
            from_jsonl(&text[..end]).expect_err("incomplete");
        }
    }
    from_jsonl(text.trim_end()).expect("only the last line feed is missing");
}

#[test]
fn lines_must_be_in_order_and_of_the_run() {
    let text = to_jsonl(&export());
    let lines: Vec<&str> = text.lines().collect();
    let swapped = [lines[0], lines[2], lines[1]].join("\n");
    let error = from_jsonl(&swapped).expect_err("out of order");
    assert!(matches!(
        error,
        JsonlError::OutOfOrder {
            line: 2,
            found: 2,
            expected: 1,
            ..
        }
    ));
    let doubled = [lines[0], lines[1], lines[1]].join("\n");
    from_jsonl(&doubled).expect_err("doubled");
    let foreign = lines[1].replace("00000001-", "00000003-");
    from_jsonl(&[lines[0], &foreign, lines[2]].join("\n")).expect_err("another run's");
    let more = [
        lines[0],
        lines[1],
        lines[2],
        &lines[2].replace(r#""seq":2"#, r#""seq":3"#),
    ];
    let error = from_jsonl(&more.join("\n")).expect_err("one more than announced");
    assert!(matches!(error, JsonlError::Incomplete { found: 3, .. }));
}

#[test]
fn other_texts_are_refused() {
    for text in [
        "",
        "\n\n",
        "hello",
        "{}",
        r#"{"type":"event"}"#,
        r#"{"type":"result","exitCode":0}"#,
    ] {
        let error = from_jsonl(text).expect_err("no run");
        assert!(matches!(error, JsonlError::NoHeader(_)), "{text:?}");
        let error = JournalError::from(error);
        assert_eq!(error.kind, JournalErrorKind::Corrupt);
    }
    let text = to_jsonl(&export());
    let not_event = text.replacen(r#"{"type":"event""#, r#"{"type":"progress""#, 1);
    let error = from_jsonl(&not_event).expect_err("no event");
    assert!(matches!(error, JsonlError::NotAnEvent { line: 2, .. }));
    let newer = text
        .replace(r#""format":1"#, r#""format":2"#)
        .replacen("0.1.0", "3.2.1", 1);
    let error = JournalError::from(from_jsonl(&newer).expect_err("newer"));
    assert_eq!(error.kind, JournalErrorKind::NewerFormat);
    let source = std::error::Error::source(&error).expect("the cause");
    assert!(source.to_string().contains("3.2.1"), "{source}");
}
