//! Markdown files as a tracker.

use std::sync::{Arc, Mutex};

use futures::executor::block_on;
use xiv_core::port::{Events, IssueErrorKind, IssueSource, StepEvent};
use xiv_core::test_support::{ManualClock, context};
use xiv_forge::MarkdownIssues;

use crate::support::{Repository, fetch, key, list};

const FULL: &str = "---\nid: XIV-12\ntitle: Greet by name\nstatus: todo\nlabels: [cli]\n\
    parent: XIV-1\nblocked_by: [XIV-2]\n---\n\nSay hello.\n\n## Acceptance Criteria\n\n\
    - [ ] prints the name\n- [x] exits 0\n\n## Comments\n\n### ann\n\nMind the case.\n";

#[test]
fn an_issue_is_read_with_everything_in_it() {
    let repository = Repository::new([
        (".xiv/issues/XIV-12.md", FULL),
        (
            ".xiv/issues/XIV-13.md",
            "---\nparent: xiv-12\n---\n# Child\n",
        ),
    ]);
    let issue = fetch(&repository.issues(), "XIV-12").expect("fetched");
    assert_eq!(issue.key, key("XIV-12"));
    assert_eq!(issue.title, "Greet by name");
    assert_eq!(issue.labels, ["cli"]);
    assert_eq!(issue.parent.as_deref(), Some("XIV-1"));
    assert_eq!(issue.blocked_by, ["XIV-2"]);
    assert_eq!(issue.children, ["XIV-13"]);
    assert_eq!(issue.url, ".xiv/issues/XIV-12.md");
    assert!(
        issue.description.starts_with("Say hello."),
        "{}",
        issue.description
    );
    assert!(
        !issue.description.contains("Mind the case"),
        "{}",
        issue.description
    );
    assert_eq!(issue.comments.len(), 1);
    assert_eq!(issue.comments[0].author, "ann");
    assert_eq!(issue.comments[0].body, "Mind the case.");
}

#[test]
fn a_key_is_found_whatever_its_case_and_by_id_or_file_name() {
    let repository = Repository::new([
        (".xiv/issues/XIV-1.md", "# One\n"),
        (".xiv/issues/greeting.md", "---\nid: XIV-2\n---\n# Two\n"),
        (".xiv/issues/issue 3.md", "# Three\n"),
    ]);
    for (wanted, title) in [
        ("XIV-1", "One"),
        ("xiv-1", "One"),
        (" Xiv-1 ", "One"),
        ("XIV-2", "Two"),
        ("Greeting", "Two"),
        ("issue 3", "Three"),
        ("issue-3", "Three"),
    ] {
        let issue = fetch(&repository.issues(), wanted).expect("fetched");
        assert_eq!(issue.title, title, "{wanted}");
        assert!(
            repository
                .issues()
                .contains(&key(&wanted.trim().replace(' ', "-")))
        );
    }
    assert!(!repository.issues().contains(&key("XIV-9")));
}

#[test]
fn backlog_tasks_are_found_by_their_id_and_by_their_number() {
    let task = "---\nid: task-4\ntitle: A task\nstatus: In Progress\nassignee: @me\n\
        dependencies: [task-3]\nparent_task_id: task-1\n---\n\n## Description\n\n\
        <!-- SECTION:DESCRIPTION:BEGIN -->\nWhy.\n<!-- SECTION:DESCRIPTION:END -->\n";
    let repository = Repository::new([
        ("backlog/tasks/task-4 - A-task.md", task),
        (
            "backlog/tasks/task-4.01 - Sub.md",
            "---\nid: TASK-4.01\ntitle: Sub\nparent_task_id: TASK-4\n---\n",
        ),
        ("backlog/tasks/readme.md", "# Tasks\n"),
        ("backlog/config.yml", "x: 1\n"),
    ]);
    for wanted in ["task-4", "TASK-4", "4"] {
        let issue = fetch(&repository.issues(), wanted).expect("fetched");
        assert_eq!(issue.title, "A task", "{wanted}");
        assert_eq!(issue.blocked_by, ["task-3"]);
        assert_eq!(issue.parent.as_deref(), Some("task-1"));
        assert_eq!(issue.children, ["TASK-4.01"]);
        assert_eq!(issue.description, "## Description\n\nWhy.");
    }
    assert_eq!(
        fetch(&repository.issues(), "4.01").expect("fetched").title,
        "Sub"
    );
    let by_folder = MarkdownIssues::in_folder(repository.path(), "backlog");
    assert_eq!(
        fetch(&by_folder, "task-4").expect("fetched").title,
        "A task"
    );
    let by_tasks = MarkdownIssues::in_folder(repository.path(), "backlog/tasks");
    assert_eq!(fetch(&by_tasks, "task-4").expect("fetched").title, "A task");
}

#[test]
fn an_unknown_key_names_the_folders_and_what_was_perhaps_meant() {
    let repository = Repository::new([(".xiv/issues/XIV-12.md", FULL)]);
    let error = fetch(&repository.issues(), "XIV-21").expect_err("unknown");
    assert_eq!(error.kind, IssueErrorKind::NotFound);
    assert_eq!(error.to_string(), "there is no issue XIV-21 in .xiv/issues");
    assert_eq!(error.hints, ["did you mean XIV-12?"]);

    let empty = Repository::new([]);
    let error = fetch(&empty.issues(), "XIV-1").expect_err("unknown");
    assert_eq!(error.kind, IssueErrorKind::NotFound);
    assert_eq!(error.to_string(), "there is no issue XIV-1 in .xiv/issues");
    assert_eq!(error.hints, ["`xiv issue new XIV-1` makes one"]);
    assert!(!empty.issues().exists());
    assert!(list(&empty.issues()).is_empty());
}

#[test]
fn a_key_of_several_files_is_ambiguous() {
    let repository = Repository::new([
        (".xiv/issues/XIV-1.md", "# One\n"),
        (".xiv/issues/other.md", "---\nid: xiv-1\n---\n# Two\n"),
    ]);
    let error = fetch(&repository.issues(), "XIV-1").expect_err("ambiguous");
    assert_eq!(error.kind, IssueErrorKind::Ambiguous);
    assert!(error.message.contains(".xiv/issues/XIV-1.md"), "{error}");
    assert!(error.message.contains(".xiv/issues/other.md"), "{error}");
    assert_eq!(
        fetch(&repository.issues(), "other").expect("fetched").title,
        "Two"
    );
}

#[test]
fn keys_cannot_lead_out_of_the_folder() {
    let repository = Repository::new([
        (".xiv/issues/XIV-1.md", "# One\n"),
        ("secret.md", "# Secret\n"),
        ("elsewhere/XIV-3.md", "# Linked\n"),
    ]);
    for wanted in [
        "../../secret",
        "/etc/passwd",
        "..",
        "issues/XIV-1",
        "XIV-1.md/../x",
    ] {
        let error = fetch(&repository.issues(), wanted).expect_err("refused");
        assert!(
            matches!(
                error.kind,
                IssueErrorKind::NotFound | IssueErrorKind::Invalid
            ),
            "{wanted}: {error}"
        );
    }
    for wanted in ["", "  ", "..", "/", "-"] {
        let error = repository.issues().normalise(wanted).expect_err("no key");
        assert_eq!(error.kind, IssueErrorKind::Invalid, "{wanted:?}");
    }
    #[cfg(unix)]
    {
        let folder = repository.path().join(".xiv/issues");
        std::os::unix::fs::symlink("../../elsewhere/XIV-3.md", folder.join("XIV-3.md"))
            .expect("a link can be made");
        let error = fetch(&repository.issues(), "XIV-3").expect_err("the link leads out");
        assert_eq!(error.kind, IssueErrorKind::NotFound);
    }
}

#[test]
fn the_list_is_in_the_order_of_the_keys_without_finished_ones() {
    let repository = Repository::new([
        (
            ".xiv/issues/A-10.md",
            "---\nstatus: In progress\n---\n# ten\n",
        ),
        (".xiv/issues/A-9.md", "---\nlabels: [x]\n---\n# nine\n"),
        (".xiv/issues/A-1.md", "---\nstatus: Done\n---\n# one\n"),
        (".xiv/issues/README.md", "# About\n"),
        (".xiv/issues/notes.txt", "# no\n"),
    ]);
    let listed = list(&repository.issues());
    let seen: Vec<_> = listed
        .iter()
        .map(|issue| {
            (
                issue.key.as_str(),
                issue.title.as_str(),
                issue.status.as_deref(),
            )
        })
        .collect();
    assert_eq!(
        seen,
        [("A-9", "nine", None), ("A-10", "ten", Some("In progress"))]
    );
    assert_eq!(listed[0].labels, ["x"]);
    let done = fetch(&repository.issues(), "A-1").expect("finished ones can be fetched");
    assert_eq!(done.title, "one");
}

#[test]
fn a_broken_file_is_reported_and_does_not_hide_the_others() {
    let repository = Repository::new([
        (".xiv/issues/A-1.md", "# one\n"),
        (".xiv/issues/A-2.md", "---\nid: [broken\n---\n# two\n"),
    ]);
    repository.write(".xiv/issues/A-3.md", b"# three \xff\n");
    let warnings = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&warnings);
    let events = Events::new(move |event| {
        if let StepEvent::Warning { message } = event {
            sink.lock().expect("not poisoned").push(message);
        }
    });
    let cx = context(&ManualClock::new()).with_events(events);
    let listed = block_on(repository.issues().list(cx)).expect("listed");
    assert_eq!(listed.len(), 1);
    let warnings = warnings.lock().expect("not poisoned").clone();
    assert_eq!(warnings.len(), 2, "{warnings:?}");
    assert!(
        warnings[0].starts_with(".xiv/issues/A-2.md could not be read"),
        "{warnings:?}"
    );
    assert_eq!(
        warnings[1],
        ".xiv/issues/A-3.md could not be read: it is not UTF-8"
    );
    let error = fetch(&repository.issues(), "A-2").expect_err("unreadable");
    assert!(
        error.hints.iter().any(|hint| hint.contains("A-2.md")),
        "{:?}",
        error.hints
    );
}
