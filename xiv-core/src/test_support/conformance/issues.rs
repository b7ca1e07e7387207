//! The rules of the [`IssueSource`] port.

use std::collections::BTreeSet;

use crate::model::{Issue, IssueKey};
use crate::port::{IssueErrorKind, IssueSource, StepContext};
use crate::test_support::{ManualClock, context};

/// Runs every case.
///
/// `serving` makes a tracker that holds these issues and nothing else, and
/// whatever must be kept alive for it (a temporary folder, a server).
///
/// # Panics
/// When a rule is broken.
pub async fn issues<N, S, G>(serving: N)
where
    N: Fn(&[Issue]) -> (S, G) + Send + Sync,
    S: IssueSource,
    G: Send + Sync,
{
    let samples = samples();
    let (source, _guard) = serving(&samples);
    names_itself(&source);
    keys_have_one_form(&source);
    each_issue_can_be_fetched(&source, &samples).await;
    an_unknown_issue_is_not_found(&source).await;
    the_list_is_complete(&source, &samples).await;
    let (empty, _guard) = serving(&[]);
    an_empty_tracker_lists_nothing(&empty).await;
}

fn cx() -> StepContext {
    context(&ManualClock::new())
}

fn key(text: &str) -> IssueKey {
    IssueKey::parse(text).expect("the suite's keys are keys")
}

fn samples() -> Vec<Issue> {
    let mut first = Issue::new(key("XIV-2"), "Greet: by \"name\" #1")
        .with_description("Say hello.\n\nIn *two* paragraphs.")
        .with_criteria(["prints the name", "exits with `0`"]);
    first.labels = vec!["cli".to_owned(), "good first issue".to_owned()];
    let second = Issue::new(key("XIV-10"), "Ünïcode – and 100 %").with_description("Text.");
    vec![first, second]
}

fn names_itself(source: &dyn IssueSource) {
    assert!(!source.id().trim().is_empty(), "a tracker has a name");
    assert_eq!(source.id(), source.id(), "the name stays the same");
    let verbatim = source.is_verbatim();
    assert_eq!(verbatim, source.is_verbatim(), "this stays the same");
}

fn keys_have_one_form(source: &dyn IssueSource) {
    for text in ["XIV-2", " XIV-2 ", "xiv-2", "XIV_2", "a.b-3"] {
        let once = source
            .normalise(text)
            .unwrap_or_else(|error| panic!("{text:?} was refused as a key: {error}"));
        let twice = source.normalise(once.as_str()).expect("a key is a key");
        assert_eq!(once, twice, "the form of {text:?} is not stable");
    }
    for text in ["", "   ", "..", "/"] {
        let error = source.normalise(text).expect_err("this is no key");
        assert_eq!(error.kind, IssueErrorKind::Invalid, "for {text:?}");
    }
}

async fn each_issue_can_be_fetched(source: &dyn IssueSource, samples: &[Issue]) {
    for sample in samples {
        let wanted = source
            .normalise(sample.key.as_str())
            .expect("the key of an issue is a key");
        let issue = source
            .fetch(&wanted, cx())
            .await
            .unwrap_or_else(|error| panic!("{wanted} was not fetched: {error}"));
        assert_eq!(issue.key, sample.key);
        assert_eq!(issue.title, sample.title);
        assert_eq!(issue.labels, sample.labels);
        assert_eq!(issue.acceptance_criteria, sample.acceptance_criteria);
        assert!(
            issue.description.contains(sample.description.as_str()),
            "text of {wanted} was lost: {:?}",
            issue.description
        );
        let again = source.fetch(&wanted, cx()).await.expect("fetched again");
        assert_eq!(again, issue, "{wanted} changes by being read");
    }
}

async fn an_unknown_issue_is_not_found(source: &dyn IssueSource) {
    for text in ["XIV-3", "XIV-1", "XIV-20", "NOPE-2"] {
        let error = source
            .fetch(&key(text), cx())
            .await
            .expect_err("there is no such issue");
        assert_eq!(error.kind, IssueErrorKind::NotFound, "for {text}: {error}");
        let message = error.to_string();
        assert!(message.contains(text), "{message:?} does not name {text}");
        assert!(!error.is_temporary(), "trying again does not help");
    }
}

async fn the_list_is_complete(source: &dyn IssueSource, samples: &[Issue]) {
    let listed = source.list(cx()).await.expect("the list is read");
    let titles: BTreeSet<(&str, &str)> = listed
        .iter()
        .map(|summary| (summary.key.as_str(), summary.title.as_str()))
        .collect();
    let expected = samples
        .iter()
        .map(|issue| (issue.key.as_str(), issue.title.as_str()));
    assert_eq!(titles, expected.collect(), "the list is not complete");
    assert_eq!(listed.len(), samples.len(), "an issue is listed twice");
}

async fn an_empty_tracker_lists_nothing(source: &dyn IssueSource) {
    let listed = source.list(cx()).await.expect("the list is read");
    assert_eq!(listed, []);
    an_unknown_issue_is_not_found(source).await;
}
