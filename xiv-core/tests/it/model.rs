//! The real machine under a model checker: every choice of agents and
//! commands, and a crash between any effect and its record.
//!
//! What really happened is kept beside the journal, so that the properties are
//! about the world and not about what the machine was told. Bugs planted into
//! the driver or into what the machine hears must be found.

use stateright::{Checker, Model, Property};
use xiv_core::flow::{Command, Event, FetchOutcome, Machine, Next};
use xiv_core::model::Outcome;

use crate::script::{PassScript, Planted, Reviews, Validates, result_of, started};

/// A fault to be found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    /// A repeated commit is not looked for first.
    NoProbe,
    /// An approval opens the gate whatever validation said.
    ApproveGrants,
    /// The verdict of the pass before is read.
    StaleVerdict,
    /// Without a review the gate stays shut.
    MissingReviewBlocks,
}

/// One record of the journal, small enough to be hashed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Entry {
    Fetched(bool),
    Prepared,
    Planned,
    Implemented,
    Validated(bool),
    /// The index of a [`REVIEWS`] entry.
    Reviewed(usize),
    CommitIntended,
    Committed,
    Finished,
}

const REVIEWS: [Reviews; 4] = [
    Reviews::Approve,
    Reviews::Comment,
    Reviews::RequestChanges,
    Reviews::Failed,
];

/// The world and the journal.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct State {
    journal: Vec<Entry>,
    /// What was done and is not recorded yet; gone with a crash.
    unrecorded: Option<Entry>,
    /// Commits on the branch.
    commits: u8,
    crashes_left: u8,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Action {
    /// Carry the open command out, with this result.
    Act(Entry),
    /// Record what was done.
    Record,
    /// Die, and come up again with what the journal holds.
    Crash,
}

struct Checked {
    cap: i64,
    crashes: u8,
    fault: Option<Fault>,
}

impl Checked {
    /// What really happened in each pass that has a review.
    fn truth(state: &State) -> Vec<PassScript> {
        let mut passes = Vec::new();
        let mut validation = Validates::Empty;
        for entry in &state.journal {
            match entry {
                Entry::Validated(true) => validation = Validates::Pass,
                Entry::Validated(false) => validation = Validates::Fail,
                Entry::Reviewed(n) => passes.push((validation, REVIEWS[*n])),
                _ => {}
            }
        }
        passes
    }

    /// The machine as this journal makes it, seen through the planted fault.
    fn machine(&self, state: &State) -> Machine {
        let mut truth = Self::truth(state);
        // a pass under way: its validation may be known already
        if let Some(Entry::Validated(passed)) = state.journal.last() {
            let validation = if *passed {
                Validates::Pass
            } else {
                Validates::Fail
            };
            truth.push((validation, Reviews::Failed));
        }
        let planted = match self.fault {
            Some(Fault::StaleVerdict) => Some(Planted::StaleVerdict),
            Some(Fault::MissingReviewBlocks) => Some(Planted::ApprovalDemanded),
            Some(Fault::NoProbe | Fault::ApproveGrants) | None => None,
        };
        if self.fault == Some(Fault::ApproveGrants) {
            for pass in &mut truth {
                if pass.1 == Reviews::Approve {
                    pass.0 = Validates::Pass;
                }
            }
        }
        truth.push((Validates::Pass, Reviews::Failed));
        let mut machine = Machine::start(&started(self.cap, false, false)).expect("starts");
        for entry in &state.journal {
            record_decisions(&mut machine);
            let event = match entry {
                Entry::CommitIntended => continue,
                Entry::Finished => Event::RunFinished {
                    outcome: machine.output().outcome,
                    output: machine.output(),
                },
                Entry::Fetched(false) => Event::IssueFetched {
                    step: machine.command().expect("fetch is open").step(),
                    outcome: FetchOutcome::NotFetched {
                        error: "not found".into(),
                        hints: Vec::new(),
                    },
                },
                _ => {
                    let command = machine.command().expect("a command is open");
                    result_of(&command, &truth, planted).expect("the script goes on")
                }
            };
            machine
                .apply(&event)
                .expect("the driver records nothing else");
        }
        record_decisions(&mut machine);
        machine
    }
}

fn record_decisions(machine: &mut Machine) {
    while let Some(decision) = machine.decision() {
        machine.apply(&decision).expect("its own decision");
    }
}

impl Model for Checked {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        let crashes_left = self.crashes;
        vec![State {
            journal: Vec::new(),
            unrecorded: None,
            commits: 0,
            crashes_left,
        }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        if state.unrecorded.is_some() {
            actions.push(Action::Record);
            if state.crashes_left > 0 {
                actions.push(Action::Crash);
            }
            return;
        }
        let intended = state.journal.contains(&Entry::CommitIntended);
        match self.machine(state).next() {
            Next::Do(command) => match command {
                Command::Fetch { .. } => {
                    actions.extend([true, false].map(|ok| Action::Act(Entry::Fetched(ok))));
                }
                Command::Prepare(_) => actions.push(Action::Act(Entry::Prepared)),
                Command::Plan(_) => actions.push(Action::Act(Entry::Planned)),
                Command::Implement(_) => actions.push(Action::Act(Entry::Implemented)),
                Command::Validate(_) => {
                    actions.extend([true, false].map(|ok| Action::Act(Entry::Validated(ok))));
                }
                Command::Review(_) => {
                    actions.extend((0..REVIEWS.len()).map(|n| Action::Act(Entry::Reviewed(n))));
                }
                Command::Finalize(_) if intended => actions.push(Action::Act(Entry::Committed)),
                Command::Finalize(_) => actions.push(Action::Act(Entry::CommitIntended)),
            },
            Next::Finish(_) if state.journal.last() != Some(&Entry::Finished) => {
                actions.push(Action::Act(Entry::Finished));
            }
            Next::Finish(_) | Next::Wait(_) => {}
        }
    }

    fn next_state(&self, last: &State, action: Action) -> Option<State> {
        let mut state = last.clone();
        match action {
            Action::Act(entry) => {
                if entry == Entry::Committed {
                    let probed = self.fault != Some(Fault::NoProbe);
                    // the probe finds the commit that an earlier attempt made
                    if !(probed && state.commits > 0) {
                        state.commits += 1;
                    }
                }
                state.unrecorded = Some(entry);
            }
            Action::Record => {
                let entry = state.unrecorded.take()?;
                state.journal.push(entry);
            }
            Action::Crash => {
                state.unrecorded = None;
                state.crashes_left -= 1;
            }
        }
        Some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always(
                "done only by the last pass",
                |model: &Self, state: &State| {
                    model.machine(state).finished() != Some(Outcome::Done)
                        || Self::truth(state).last().is_some_and(opens)
                },
            ),
            Property::always("an open gate ends the loop", |_, state: &State| {
                let truth = Self::truth(state);
                let opened = truth.iter().position(opens);
                let begun = state
                    .journal
                    .iter()
                    .filter(|e| **e == Entry::Implemented)
                    .count();
                opened.is_none_or(|index| begun == index + 1)
            }),
            Property::always(
                "no more passes than allowed",
                |model: &Self, state: &State| {
                    let begun = state
                        .journal
                        .iter()
                        .filter(|e| **e == Entry::Implemented)
                        .count();
                    i64::try_from(begun).is_ok_and(|begun| begun <= model.cap)
                },
            ),
            Property::always(
                "nothing after a failed fetch",
                |_, state: &State| match state.journal.split_first() {
                    Some((Entry::Fetched(false), rest)) => {
                        rest.iter().all(|e| *e == Entry::Finished)
                    }
                    _ => true,
                },
            ),
            Property::always("one commit at most", |_, state: &State| state.commits <= 1),
            Property::always("committed before finished", |_, state: &State| {
                !state.journal.contains(&Entry::Finished)
                    || state.commits == 1
                    || state.journal[0] == Entry::Fetched(false)
            }),
            Property::always("finished once, and nothing follows", |_, state: &State| {
                let ends = state
                    .journal
                    .iter()
                    .filter(|e| **e == Entry::Finished)
                    .count();
                ends == 0 || (ends == 1 && state.journal.last() == Some(&Entry::Finished))
            }),
            Property::sometimes("done", |model: &Self, state: &State| {
                model.machine(state).finished() == Some(Outcome::Done)
            }),
            Property::sometimes("capped", |model: &Self, state: &State| {
                model.machine(state).finished() == Some(Outcome::Capped)
            }),
            Property::sometimes("refused", |model: &Self, state: &State| {
                model.machine(state).finished() == Some(Outcome::Refused)
            }),
        ]
    }
}

/// The rule once more, in the world's own terms.
fn opens(pass: &PassScript) -> bool {
    pass.0 == Validates::Pass && pass.1 != Reviews::RequestChanges
}

#[test]
fn the_shipped_machine_keeps_every_property() {
    let slow = std::env::var_os("XIV_SLOW").is_some();
    let model = Checked {
        cap: if slow { 5 } else { 3 },
        crashes: 2,
        fault: None,
    };
    let checker = model.checker().spawn_bfs().join();
    checker.assert_properties();
    assert!(
        checker.unique_state_count() > 1_000,
        "{}",
        checker.unique_state_count()
    );
}

#[test]
fn each_planted_fault_is_found_and_by_the_right_property() {
    let faults = [
        (Fault::NoProbe, "one commit at most"),
        (Fault::ApproveGrants, "done only by the last pass"),
        (Fault::StaleVerdict, "an open gate ends the loop"),
        (Fault::MissingReviewBlocks, "an open gate ends the loop"),
    ];
    for (fault, property) in faults {
        let model = Checked {
            cap: 3,
            crashes: 1,
            fault: Some(fault),
        };
        let checker = model.checker().spawn_bfs().join();
        assert!(
            checker.discovery(property).is_some(),
            "{fault:?} was not found"
        );
    }
}
