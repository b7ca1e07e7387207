//! Any events in any order: the machine never panics, never goes astray, and
//! what it refuses leaves it as it was.

use proptest::prelude::*;
use xiv_core::flow::{BudgetLimits, Event, Machine, Next, Wait};
use xiv_core::model::{Outcome, StepId, Usage};

use crate::script::{PassScript, REVIEWS, VALIDATIONS, result_of, started};

/// What is done next with a run.
#[derive(Debug, Clone)]
enum Move {
    /// What should happen: record what is due, or carry the command out.
    Right,
    /// An event of another run at another place.
    Stray(usize),
    /// Stand still, or go on.
    Suspend,
    Resume,
    Start,
    Cancel,
}

fn moves() -> impl Strategy<Value = Vec<Move>> {
    let one = prop_oneof![
        8 => Just(Move::Right),
        2 => (0usize..40).prop_map(Move::Stray),
        1 => Just(Move::Suspend),
        1 => Just(Move::Resume),
        1 => Just(Move::Start),
        1 => prop::bool::weighted(0.1).prop_map(|cancel| if cancel { Move::Cancel } else { Move::Right }),
    ];
    prop::collection::vec(one, 1..80)
}

fn scripts() -> impl Strategy<Value = Vec<PassScript>> {
    let pass = (
        prop::sample::select(&VALIDATIONS[..]),
        prop::sample::select(&REVIEWS[..]),
    );
    prop::collection::vec(pass, 10)
}

/// Every event of one whole run.
fn history(script: &[PassScript], cap: i64) -> Vec<Event> {
    let first = started(cap, false, false);
    let mut machine = Machine::start(&first).expect("starts");
    let mut events = vec![first];
    loop {
        let event = match (machine.decision(), machine.next()) {
            (Some(decision), _) => decision,
            (None, Next::Do(command)) => result_of(&command, script, None).expect("scripted"),
            (None, Next::Finish(outcome)) if machine.finished().is_none() => Event::RunFinished {
                outcome,
                output: machine.output(),
            },
            (None, _) => return events,
        };
        machine.apply(&event).expect("a right event");
        events.push(event);
    }
}

fn event_for(
    step: &Move,
    machine: &Machine,
    script: &[PassScript],
    strays: &[Event],
) -> Option<Event> {
    Some(match step {
        Move::Right => match (machine.decision(), machine.next()) {
            (Some(decision), _) => decision,
            (None, Next::Do(command)) => result_of(&command, script, None)?,
            (None, Next::Finish(outcome)) => Event::RunFinished {
                outcome,
                output: machine.output(),
            },
            (None, Next::Wait(_)) => Event::Resumed { budget: None },
        },
        Move::Stray(n) => strays[n % strays.len()].clone(),
        Move::Suspend => Event::Suspended {
            wait: Wait::Interrupted,
            usage: Usage::default(),
            session: None,
        },
        Move::Resume => Event::Resumed {
            budget: Some(BudgetLimits::default()),
        },
        Move::Start => {
            let step = match machine.next() {
                Next::Do(command) => command.step(),
                Next::Wait(_) | Next::Finish(_) => StepId::parse("plan").expect("a valid id"),
            };
            let attempt = machine.attempts(&step) + 1;
            Event::StepStarted {
                step,
                attempt,
                prompt_sha256: None,
                tree: None,
            }
        }
        Move::Cancel => Event::RunFinished {
            outcome: Outcome::Cancelled,
            output: machine.output_when_cancelled(),
        },
    })
}

proptest! {
    #[test]
    fn the_machine_keeps_its_promises(
        script in scripts(),
        other in scripts(),
        cap in 1i64..=10,
        moves in moves(),
    ) {
        let strays = history(&other, cap);
        let first = started(cap, false, false);
        let mut machine = Machine::start(&first).expect("starts");
        let mut ends = 0;
        let mut commits = 0;
        let mut accepted = vec![first];
        for step in &moves {
            let Some(event) = event_for(step, &machine, &script, &strays) else { break };
            let before = (machine.next(), machine.decision(), machine.output());
            match machine.apply(&event) {
                Ok(()) => {
                    ends += usize::from(event.kind() == "runFinished");
                    commits += usize::from(event.kind() == "committed");
                    accepted.push(event);
                }
                Err(_) => {
                    let after = (machine.next(), machine.decision(), machine.output());
                    prop_assert_eq!(before, after, "a refused event changed the state");
                }
            }
            prop_assert!(ends <= 1 && commits <= 1);
            let passes = machine.output().passes;
            prop_assert!(i64::from(passes) <= cap);
        }
        // the same events give the same state in another process
        let recorded: Vec<xiv_core::flow::Recorded> = accepted
            .into_iter()
            .zip(1u64..)
            .map(|(event, seq)| xiv_core::flow::Recorded { seq, at: jiff::Timestamp::UNIX_EPOCH, event })
            .collect();
        let text = serde_json::to_string(&recorded).expect("serialises");
        let read: Vec<xiv_core::flow::Recorded> = serde_json::from_str(&text).expect("reads back");
        let replayed = Machine::replay(&read).expect("replays");
        prop_assert_eq!(replayed.next(), machine.next());
        prop_assert_eq!(replayed.output(), machine.output());
    }

    #[test]
    fn done_means_that_the_last_pass_passed(script in scripts(), cap in 1i64..=10) {
        let events = history(&script, cap);
        let judged = events.iter().rev().find_map(|e| match e {
            Event::PassJudged { done, .. } => Some(*done),
            _ => None,
        });
        let finished = events.last().and_then(|e| match e {
            Event::RunFinished { outcome, .. } => Some(*outcome),
            _ => None,
        });
        let done = finished == Some(Outcome::Done);
        prop_assert_eq!(judged, Some(done));
        prop_assert_eq!(done || finished == Some(Outcome::Capped), true);
    }
}
