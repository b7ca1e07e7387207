//! Reading what other versions wrote.

use jiff::Timestamp;

use super::{FormatError, KINDS, RawEvent, WRITER, blob_references, decode, encode, is_newer};
use crate::flow::{Event, GuardStatus};
use crate::port::{JournalError, JournalErrorKind};

fn raw(body: &str) -> RawEvent {
    RawEvent {
        seq: 7,
        at: Timestamp::UNIX_EPOCH,
        body: body.to_owned(),
    }
}

#[test]
fn every_event_type_is_known_by_its_word() {
    let schema = serde_json::to_value(schemars::schema_for!(Event)).expect("a schema");
    let words: Vec<&str> = schema["oneOf"]
        .as_array()
        .expect("one schema per type")
        .iter()
        .map(|one| one["properties"]["type"]["const"].as_str().expect("a word"))
        .collect();
    assert_eq!(words, KINDS);
}

#[test]
fn unknown_fields_are_ignored() {
    let body = r#"{"type":"resumed","mood":{"of":["the","day"]},"budget":{"usd":1.5,"wh":3}}"#;
    let recorded = decode(&raw(body), "9.0.0").expect("a known type");
    assert_eq!(recorded.seq, 7);
    let Event::Resumed { budget } = recorded.event else {
        panic!("{:?}", recorded.event);
    };
    assert_eq!(budget.expect("a budget").usd, Some(1.5));
}

#[test]
fn an_unknown_type_names_the_version_that_wrote_it() {
    for writer in ["9.1.0", WRITER, "0.0.1", "unreleased"] {
        let error = decode(&raw(r#"{"type":"teleported"}"#), writer).expect_err("unknown");
        assert!(matches!(&error, FormatError::Newer { kind, .. } if kind == "teleported"));
        let error = JournalError::from(error);
        assert_eq!(error.kind, JournalErrorKind::NewerFormat);
        assert!(error.message.contains("event 7 (`teleported`)"), "{error}");
        assert!(error.message.contains(writer), "{error}");
        assert_eq!(error.hints.len(), 1);
    }
}

#[test]
fn a_known_type_is_damaged_unless_a_newer_version_wrote_it() {
    let body = r#"{"type":"retried","step":"plan"}"#;
    for (writer, kind) in [
        (WRITER, JournalErrorKind::Corrupt),
        ("0.0.9", JournalErrorKind::Corrupt),
        ("99.0.0-rc.1", JournalErrorKind::NewerFormat),
    ] {
        let error = JournalError::from(decode(&raw(body), writer).expect_err("incomplete"));
        assert_eq!(error.kind, kind, "{writer}");
    }
    for body in ["", "{", "[]", "{}", r#"{"type":7}"#, "\u{0}"] {
        let error = JournalError::from(decode(&raw(body), "99.0.0").expect_err("no event"));
        assert_eq!(error.kind, JournalErrorKind::Corrupt, "{body:?}");
        assert!(std::error::Error::source(&error).is_some());
    }
}

#[test]
fn versions_are_compared_by_number() {
    let next = format!("{WRITER}.1");
    for newer in ["0.10.0", "1.0.0", "0.100.0-beta.2", next.as_str()] {
        assert!(is_newer(newer), "{newer}");
    }
    for not in [WRITER, "0.0.99", "", "x.y.z", "0.1"] {
        assert!(!is_newer(not), "{not}");
    }
}

#[test]
fn an_event_is_one_line() {
    let event = Event::Violated {
        step: crate::model::StepId::parse("review#1").expect("a step"),
        what: "one\ntwo\r\u{2028}".to_owned(),
    };
    let body = encode(1, &event).expect("written");
    assert_eq!(body.lines().count(), 1);
    let read = decode(&raw(&body), WRITER).expect("read");
    assert_eq!(read.event, event);
    assert_eq!(serde_json::json!(GuardStatus::Shims), "shims");
}

#[test]
fn blobs_are_found_wherever_they_are_named() {
    let (a, b) = ("a".repeat(64), "0123456789abcdef".repeat(4));
    let body = format!(r#"{{"x":"{a}","deep":[{{"path":"blobs/{b}.txt"}}],"no":"{a}0"}}"#);
    let mut found: Vec<String> = blob_references(&body)
        .into_iter()
        .map(String::from)
        .collect();
    found.sort();
    assert_eq!(found, [b, a]);
    let upper = "A".repeat(64);
    assert!(blob_references(&format!("{upper} {} ", "f".repeat(63))).is_empty());
}
