//! What lists say, case by case.

use jiff::Timestamp;

use super::RunFacts;
use crate::flow::{Event, Wait};
use crate::model::{FailureCause, Outcome, Pass, RunId, StepId, TreeId, Usage};
use crate::port::{GateAnswer, NewRun, RunStatus, RunSummary};

fn step(id: &str) -> StepId {
    StepId::parse(id).expect("a step")
}

fn tree() -> TreeId {
    TreeId::parse("a".repeat(40)).expect("a tree")
}

fn started(id: &str) -> Event {
    Event::StepStarted {
        step: step(id),
        attempt: 1,
        prompt_sha256: None,
        tree: None,
    }
}

fn suspended(wait: Wait) -> Event {
    Event::Suspended {
        wait,
        usage: Usage::default(),
        session: None,
    }
}

fn raised() -> Event {
    Event::GateRaised {
        gate: "implement#1".to_owned(),
        pass: Pass::FIRST,
        tree: tree(),
    }
}

fn answered() -> Event {
    Event::GateAnswered {
        gate: "implement#1".to_owned(),
        answer: GateAnswer {
            notes: Vec::new(),
            tree: tree(),
            patch: String::new(),
        },
    }
}

fn human() -> Wait {
    Wait::Human {
        gate: "implement#1".to_owned(),
    }
}

fn fold(events: &[Event]) -> RunFacts {
    let mut facts = RunFacts::default();
    for event in events {
        facts.apply(Timestamp::UNIX_EPOCH, event);
    }
    facts
}

fn summary(events: &[Event], driven: bool) -> RunSummary {
    let run = NewRun {
        id: RunId::parse("00000000-0000-7000-8000-000000000000").expect("an id"),
        kind: "implement".to_owned(),
        key: "KEY-1".to_owned(),
        repo: "/repo".to_owned(),
        parent: None,
    };
    fold(events).summary(&run, Timestamp::UNIX_EPOCH, driven)
}

#[test]
fn passes_are_counted_when_they_begin_and_never_back() {
    assert_eq!(fold(&[started("plan")]).passes, 0);
    let facts = fold(&[
        started("implement#1"),
        started("validate#1"),
        started("implement#2"),
        started("implement#2"),
        started("finalize"),
    ]);
    assert_eq!(facts.passes, 2);
}

#[test]
fn each_wait_says_what_is_waited_for() {
    let until = |at| Wait::Until {
        at,
        step: step("review#1"),
        message: "5-hour limit reached".to_owned(),
    };
    for (wait, words) in [
        (human(), "a decision on implement#1"),
        (until(None), "the usage limit that review#1 met"),
        (
            until(Some(Timestamp::UNIX_EPOCH)),
            "the usage limit to be lifted at 1970-01-01T00:00:00Z",
        ),
        (
            Wait::Budget {
                which: "usd".to_owned(),
                step: step("plan"),
            },
            "more usd budget for plan",
        ),
        (Wait::Interrupted, "somebody to resume it"),
        (
            Wait::StepFailed {
                step: step("plan"),
                cause: FailureCause::Refused,
                error: "codex is not logged in\nsee above".to_owned(),
                hints: Vec::new(),
            },
            "plan to be mended: codex is not logged in",
        ),
    ] {
        let outcome = wait.outcome();
        let listed = summary(&[suspended(wait)], true);
        assert_eq!(listed.waiting_for.as_deref(), Some(words));
        assert_eq!(listed.outcome, Some(outcome));
        assert_eq!(listed.status, RunStatus::Suspended);
    }
}

#[test]
fn a_gate_that_is_asked_at_the_terminal_leaves_the_run_running() {
    let listed = summary(&[raised()], true);
    assert_eq!(listed.status, RunStatus::Running);
    assert_eq!(
        listed.waiting_for.as_deref(),
        Some("a decision on implement#1")
    );
    let listed = summary(&[raised(), answered()], true);
    assert_eq!(listed.waiting_for, None);
}

#[test]
fn a_crash_at_an_open_gate_still_names_the_gate() {
    let listed = summary(&[raised()], false);
    assert_eq!(listed.outcome, Some(Outcome::Interrupted));
    assert_eq!(
        listed.waiting_for.as_deref(),
        Some("a decision on implement#1")
    );
}

#[test]
fn an_answered_gate_waits_for_a_resume_only() {
    let listed = summary(&[raised(), suspended(human()), answered()], false);
    assert_eq!(listed.status, RunStatus::Suspended);
    assert_eq!(listed.outcome, Some(Outcome::Interrupted));
    assert_eq!(listed.waiting_for.as_deref(), Some("somebody to resume it"));
}

#[test]
fn work_after_a_suspension_means_that_it_goes_on() {
    for next in [Event::Resumed { budget: None }, started("plan")] {
        let listed = summary(&[suspended(Wait::Interrupted), next], true);
        assert_eq!(listed.status, RunStatus::Running);
        assert_eq!((listed.outcome, listed.waiting_for), (None, None));
    }
}

#[test]
fn kept_facts_of_other_versions_can_be_read() {
    let text = r#"{"branch":"feat/a","colour":"red"}"#;
    let facts: RunFacts = serde_json::from_str(text).expect("tolerant");
    assert_eq!(facts.branch.as_deref(), Some("feat/a"));
    let facts = fold(&[raised(), suspended(human())]);
    let text = serde_json::to_string(&facts).expect("written");
    assert_eq!(
        serde_json::from_str::<RunFacts>(&text).expect("read"),
        facts
    );
}
