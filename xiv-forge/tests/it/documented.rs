//! The examples in the documentation are read as it says.

use std::fs;
use std::path::Path;

use xiv_forge::IssueFile;

use crate::support::{Repository, fetch};

/// The first code block of a language in `docs/issues.md`.
fn example(language: &str) -> String {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/issues.md");
    let page = fs::read_to_string(page).expect("the page exists");
    let (_, rest) = page
        .split_once(&format!("```{language}\n"))
        .expect("the page has an example");
    let (example, _) = rest.split_once("\n```\n").expect("the example ends");
    format!("{example}\n")
}

#[test]
fn the_markdown_example_is_an_issue() {
    let repository = Repository::new([(".xiv/issues/GREET-2.md", &example("markdown"))]);
    let issue = fetch(&repository.issues(), "greet-2").expect("fetched");
    assert_eq!(issue.title, "Greet by name");
    assert_eq!(issue.labels, ["cli"]);
    assert_eq!(issue.parent.as_deref(), Some("GREET-1"));
    assert_eq!(issue.blocked_by, ["GREET-3"]);
    assert_eq!(
        issue.acceptance_criteria,
        [
            "`greet Ada` prints `Hello, Ada!`",
            "`greet` without a name exits with 2"
        ]
    );
    assert_eq!(issue.comments[0].author, "ann");
    assert_eq!(issue.comments[0].body, "Names may hold spaces.");
}

#[test]
fn the_json_example_is_an_issue() {
    let source = IssueFile::parse(&example("json"), "the page").expect("it is an issue");
    let issue = fetch(&source, "GREET-2").expect("fetched");
    assert_eq!(issue.title, "Greet by name");
    assert_eq!(
        issue.acceptance_criteria,
        ["`greet Ada` prints `Hello, Ada!`"]
    );
}
