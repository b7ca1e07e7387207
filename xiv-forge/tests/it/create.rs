//! New issue files.

use xiv_core::port::IssueErrorKind;
use xiv_forge::NewIssue;

use crate::support::{Repository, fetch, key, list};

#[test]
fn a_new_issue_reads_back() {
    let repository = Repository::new([]);
    let new = NewIssue::new("Greet: by \"name\" #1")
        .with_key(key("GREET-1"))
        .with_description("Say hello.")
        .with_criteria(["prints the name", "two\nlines"]);
    let created = repository.issues().create(&new).expect("created");
    assert_eq!(created.key, key("GREET-1"));
    assert_eq!(
        created.path,
        repository.path().join(".xiv/issues/GREET-1.md")
    );
    assert_eq!(
        repository.read(".xiv/issues/GREET-1.md"),
        "---\nid: GREET-1\ntitle: \"Greet: by \\\"name\\\" #1\"\nstatus: todo\nlabels: []\n---\n\n\
         Say hello.\n\n## Acceptance Criteria\n\n- [ ] prints the name\n- [ ] two\n  lines\n"
    );
    let issue = fetch(&repository.issues(), "greet-1").expect("fetched");
    assert_eq!(issue.title, "Greet: by \"name\" #1");
    assert!(issue.description.starts_with("Say hello."));
}

#[test]
fn titles_and_labels_survive_the_file() {
    for title in [
        "plain",
        "yes",
        "123",
        "- dash",
        "a # b",
        "ü: ö",
        "'q'",
        "tab\there",
        "{x}",
        "null",
        "~",
    ] {
        let repository = Repository::new([]);
        let new = NewIssue {
            labels: vec![title.to_owned(), "b".to_owned()],
            ..NewIssue::new(title)
        };
        repository.issues().create(&new).expect("created");
        let issue = fetch(&repository.issues(), "ISSUE-1").expect("fetched");
        assert_eq!(issue.title, title);
        assert_eq!(issue.labels, [title, "b"]);
    }
}

#[test]
fn the_next_key_is_taken_when_none_is_given() {
    let repository = Repository::new([]);
    let create = |title: &str| {
        let created = repository.issues().create(&NewIssue::new(title));
        created.expect("created").key.to_string()
    };
    assert_eq!(create("one"), "ISSUE-1");
    assert_eq!(create("two"), "ISSUE-2");
    repository.write(".xiv/issues/XIV-41.md", "# x\n");
    repository.write(".xiv/issues/XIV-7.md", "# x\n");
    repository.write(".xiv/issues/XIV-8.md", "# x\n");
    assert_eq!(create("three"), "XIV-42");
    assert_eq!(list(&repository.issues()).len(), 6);
}

#[test]
fn nothing_is_overwritten() {
    let repository = Repository::new([
        (".xiv/issues/A-1.md", "mine"),
        (".xiv/issues/other.md", "---\nid: B-1\n---\n# b\n"),
    ]);
    for taken in ["A-1", "a-1", "B-1"] {
        let new = NewIssue::new("new").with_key(key(taken));
        let error = repository.issues().create(&new).expect_err("taken");
        assert_eq!(error.kind, IssueErrorKind::Invalid);
        assert!(error.message.contains("exists already"), "{error}");
    }
    assert_eq!(repository.read(".xiv/issues/A-1.md"), "mine");
    // an unreadable file is not overwritten either
    repository.write(".xiv/issues/C-1.md", b"\xff");
    let new = NewIssue::new("new").with_key(key("C-1"));
    let error = repository.issues().create(&new).expect_err("taken");
    assert!(error.message.contains("C-1.md"), "{error}");
    let left = std::fs::read_dir(repository.path().join(".xiv/issues")).expect("listed");
    assert_eq!(left.count(), 3, "no temporary file is left");
}

#[test]
fn a_title_is_one_line() {
    let repository = Repository::new([]);
    for title in ["", "  ", "a\nb"] {
        let error = repository
            .issues()
            .create(&NewIssue::new(title))
            .expect_err("refused");
        assert_eq!(error.kind, IssueErrorKind::Invalid);
    }
    assert!(!repository.issues().exists());
}
