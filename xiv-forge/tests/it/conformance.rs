//! The sources keep the rules of the port.

use futures::executor::block_on;
use xiv_core::model::Issue;
use xiv_core::test_support::conformance;
use xiv_forge::NewIssue;

use crate::support::Repository;

#[test]
fn markdown_files_are_a_tracker() {
    block_on(conformance::issues(|issues: &[Issue]| {
        let repository = Repository::new([]);
        for issue in issues {
            let new = NewIssue {
                labels: issue.labels.clone(),
                ..NewIssue::new(&issue.title)
                    .with_key(issue.key.clone())
                    .with_description(&issue.description)
                    .with_criteria(&issue.acceptance_criteria)
            };
            repository.issues().create(&new).expect("created");
        }
        (repository.issues(), repository)
    }));
}
