//! What the strategies promise: values that survive the wire, and histories
//! that every prefix of replays.

use proptest::prelude::*;
use xiv_core::flow::{Event, Machine, Recorded};
use xiv_core::model::{Issue, LocalReview, Outcome, Plan, StepId, Usage, Validation};
use xiv_core::test_support::strategies;

fn survives<T>(value: &T) -> T
where
    T: serde::Serialize + serde::de::DeserializeOwned,
{
    let json = serde_json::to_string(value).expect("it is JSON");
    serde_json::from_str(&json).expect("it reads back")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn values_survive_the_wire(
        issue in strategies::issue(),
        plan in strategies::plan(),
        review in strategies::local_review(),
        validation in strategies::validation(),
        usage in strategies::usage(),
        step in strategies::step_id(),
    ) {
        prop_assert_eq!(survives::<Issue>(&issue), issue);
        prop_assert_eq!(survives::<Plan>(&plan), plan);
        prop_assert_eq!(survives::<LocalReview>(&review), review);
        prop_assert_eq!(survives::<Validation>(&validation), validation);
        prop_assert_eq!(survives::<Usage>(&usage), usage);
        prop_assert_eq!(survives::<StepId>(&step), step);
    }

    #[test]
    fn validations_are_as_asked(
        passed in strategies::validation_that(true),
        failed in strategies::validation_that(false),
    ) {
        prop_assert!(passed.passed());
        prop_assert!(!failed.passed());
    }

    #[test]
    fn every_beginning_of_a_history_is_legal(history in strategies::history()) {
        let again = survives::<Vec<Recorded>>(&history);
        prop_assert_eq!(&again, &history);
        for end in 1..=history.len() {
            let machine = Machine::replay(&history[..end]);
            prop_assert!(machine.is_ok(), "up to {}: {:?}", end, machine.err());
            let finished = machine.expect("checked").finished();
            prop_assert_eq!(finished.is_some(), end == history.len());
        }
    }

    #[test]
    fn histories_end_as_their_last_validation_and_review_say(script in strategies::history_script()) {
        let history = script.play();
        let Some(Event::RunFinished { outcome, output }) = history.last().map(|r| &r.event) else {
            panic!("a history ends");
        };
        let ended = [Outcome::Done, Outcome::Capped, Outcome::NoProgress];
        prop_assert!(ended.contains(outcome), "{outcome}");
        prop_assert!(output.passes <= script.input.max_iterations.get());
        let last = history.iter().rev().find_map(|recorded| match &recorded.event {
            Event::Validated { validation, .. } => Some(validation.passed()),
            _ => None,
        });
        if *outcome == Outcome::Done {
            prop_assert_eq!(last, Some(true));
        }
    }
}

#[test]
fn histories_are_of_every_kind() {
    use proptest::strategy::ValueTree as _;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut outcomes = std::collections::BTreeSet::new();
    let mut kinds = std::collections::BTreeSet::new();
    for _ in 0..200 {
        let tree = strategies::history().new_tree(&mut runner);
        let history = tree.expect("a history").current();
        kinds.extend(history.iter().map(|recorded| recorded.event.kind()));
        let last = history.last().expect("a history is not empty");
        if let Event::RunFinished { outcome, .. } = &last.event {
            outcomes.insert(outcome.to_string());
        }
    }
    assert_eq!(
        outcomes.into_iter().collect::<Vec<_>>(),
        ["capped", "done", "noProgress"]
    );
    for kind in [
        "reviewed",
        "reviewFailed",
        "reviewSkipped",
        "gateRaised",
        "gateAnswered",
        "suspended",
        "resumed",
        "committed",
    ] {
        assert!(kinds.contains(kind), "no history has {kind}");
    }
}
