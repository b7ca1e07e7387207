//! One issue from a file or from standard input.

use xiv_core::model::Issue;
use xiv_core::port::{IssueErrorKind, IssueSource};
use xiv_forge::IssueFile;

use crate::support::{Repository, fetch, key, list};

fn parse(text: &str) -> IssueFile {
    IssueFile::parse(text, "standard input").expect("it holds an issue")
}

#[test]
fn an_issue_survives_json() {
    let mut issue = Issue::new(key("XIV-1"), "A title")
        .with_description("Text")
        .with_criteria(["one", "two"]);
    issue.labels = vec!["l".to_owned()];
    issue.url = "https://example.org/1".to_owned();
    issue.parent = Some("XIV-0".to_owned());
    issue.blocked_by = vec!["XIV-2".to_owned()];
    let source = parse(&serde_json::to_string_pretty(&issue).expect("JSON"));
    assert!(source.is_verbatim());
    assert_eq!(source.key(), Some(&key("XIV-1")));
    assert_eq!(fetch(&source, "xiv-1").expect("fetched"), issue);
    assert_eq!(list(&source).len(), 1);
}

#[test]
fn json_may_leave_out_everything_but_the_key() {
    let source = parse(r##" {"key": "#12", "title": null, "unknown": 1}"##);
    assert_eq!(source.key(), Some(&key("gh-12")));
    let issue = fetch(&source, "#12").expect("fetched");
    assert_eq!(issue.title, "", "the fetch gate refuses it, not the source");
    assert_eq!(issue.url, "standard input");
}

#[test]
fn a_script_can_say_that_it_fetched_nothing() {
    for (text, message) in [
        (
            r#"{"key": "A-1", "title": "t", "fetched": false, "error": "401"}"#,
            "standard input says that the issue was not fetched: 401",
        ),
        (
            r#"{"fetched": false}"#,
            "standard input says that the issue was not fetched: no reason is given",
        ),
    ] {
        let error = fetch(&parse(text), "A-1").expect_err("refused");
        assert_eq!(error.kind, IssueErrorKind::NotFound);
        assert_eq!(error.to_string(), message);
    }
    assert!(fetch(&parse(r#"{"key": "A-1", "fetched": true}"#), "A-1").is_ok());
}

#[test]
fn what_is_no_issue_is_refused() {
    for text in [
        "{",
        r#"{"key": 7}"#,
        r#"{"key": "A-1", "labels": "x"}"#,
        "---\nid: [\n---\n",
    ] {
        let error = IssueFile::parse(text, "standard input").expect_err("refused");
        assert_eq!(error.kind, IssueErrorKind::Invalid, "{text}");
        assert_eq!(
            error.to_string(),
            "standard input does not hold an issue",
            "{text}"
        );
        assert!(error.source.is_some());
    }
    for text in [
        "{}",
        r#"{"title": "no key"}"#,
        r#"{"key": "", "title": "empty key"}"#,
    ] {
        let error = fetch(&parse(text), "A-1").expect_err("no key");
        assert_eq!(error.kind, IssueErrorKind::Invalid, "{text}");
    }
}

#[test]
fn markdown_takes_its_key_from_the_front_matter_the_file_or_the_question() {
    let source = parse("---\nid: A-1\ntitle: T\n---\nBody\n");
    assert_eq!(fetch(&source, "A-1").expect("fetched").description, "Body");
    let error = fetch(&source, "B-2").expect_err("another issue");
    assert_eq!(error.kind, IssueErrorKind::NotFound);
    assert_eq!(
        error.to_string(),
        "standard input holds the issue A-1, not B-2"
    );

    let source = parse("# Title\n\nBody\n");
    assert_eq!(source.key(), None);
    assert_eq!(fetch(&source, "C-3").expect("fetched").key, key("C-3"));
    assert!(list(&source).is_empty());

    let repository = Repository::new([("tmp/D-4.md", "# Title\n"), ("task-5 - Name.md", "# T\n")]);
    let source = IssueFile::read(&repository.path().join("tmp/D-4.md")).expect("read");
    assert_eq!(source.key(), Some(&key("D-4")));
    let source = IssueFile::read(&repository.path().join("task-5 - Name.md")).expect("read");
    assert_eq!(source.key(), Some(&key("task-5")));
}

#[test]
fn a_file_that_cannot_be_read_is_named() {
    let repository = Repository::new([]);
    let path = repository.path().join("none.md");
    let error = IssueFile::read(&path).expect_err("missing");
    assert_eq!(error.kind, IssueErrorKind::NotFound);
    assert!(error.to_string().contains("none.md"));
    repository.write("bad.md", b"\xff");
    let error = IssueFile::read(&repository.path().join("bad.md")).expect_err("not text");
    assert_eq!(error.kind, IssueErrorKind::Invalid);
}
