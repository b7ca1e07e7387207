//! Whole legal histories: what a run leads to when its agents, its validation
//! and its people do as a script says.

use proptest::option;
use proptest::prelude::*;

use super::{
    commit_id, implement_input, implement_report, issue, local_review, plan, run_id, tree_id,
    usage, validation_command, validation_that,
};
use crate::flow::{
    CORE_VERSION, Command, Event, FetchOutcome, GuardStatus, Machine, Next, Recorded,
    ReviewFailure, ReviewFailureKind, RunConfig, RunSpec, Wait,
};
use crate::model::{
    CommitId, ImplementInput, ImplementReport, Issue, LocalReview, Pass, Plan, RunId, StepId,
    TreeId, Usage, Validation,
};
use crate::port::GateAnswer;

/// What the review step of a pass comes to.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "a review is there or it is not")]
pub enum ReviewScript {
    /// There is a review.
    Given(LocalReview),
    /// There is none.
    Failed(ReviewFailureKind),
}

/// What happens in one pass.
#[derive(Debug, Clone, PartialEq)]
pub struct PassScript {
    /// The implementing agent's account.
    pub report: Option<ImplementReport>,
    /// The work tree that it leaves; none means that it changes nothing.
    pub tree: Option<TreeId>,
    /// What validation says.
    pub validation: Validation,
    /// What the review comes to, when there is to be one.
    pub review: ReviewScript,
    /// What each agent call uses.
    pub usage: Usage,
    /// The run is interrupted before each step of the pass and resumed.
    pub interrupted: bool,
}

/// A run as a script. Of more passes than the run needs the rest is unused; of
/// fewer the last one is repeated.
#[derive(Debug, Clone, PartialEq)]
pub struct HistoryScript {
    /// The run.
    pub run: RunId,
    /// What it is to do.
    pub input: ImplementInput,
    /// Its configuration.
    pub config: RunConfig,
    /// The issue.
    pub issue: Issue,
    /// Head of the branch at the start.
    pub start: CommitId,
    /// That commit's tree.
    pub start_tree: TreeId,
    /// The plan.
    pub plan: Plan,
    /// The passes; at least one.
    pub passes: Vec<PassScript>,
    /// The commit that it ends with.
    pub commit: CommitId,
}

impl HistoryScript {
    /// The whole history, from `runStarted` to `runFinished`.
    ///
    /// # Panics
    /// When the machine refuses what its own command led to: a bug in it.
    #[must_use]
    pub fn play(&self) -> Vec<Recorded> {
        let started = Event::RunStarted {
            run: self.run.clone(),
            spec: RunSpec::Implement {
                input: self.input.clone(),
            },
            config: self.config.clone(),
            core_version: CORE_VERSION,
            seed: 0,
            guard: GuardStatus::EnvironmentOnly,
        };
        let machine = Machine::start(&started).expect("a run can be started");
        let mut player = Player {
            script: self,
            machine,
            events: vec![started],
            tree: self.start_tree.clone(),
        };
        while player.machine.finished().is_none() {
            player.step();
        }
        number(player.events)
    }

    fn pass(&self, pass: Pass) -> &PassScript {
        let index = pass.get() as usize - 1;
        let last = self.passes.last().expect("a script has a pass");
        self.passes.get(index).unwrap_or(last)
    }
}

/// Gives events their numbers, one second apart.
fn number(events: Vec<Event>) -> Vec<Recorded> {
    let numbered = (1u64..).zip(events).map(|(seq, event)| Recorded {
        seq,
        at: jiff::Timestamp::from_second(1_767_225_600 + seq.cast_signed())
            .expect("histories are short"),
        event,
    });
    numbered.collect()
}

struct Player<'a> {
    script: &'a HistoryScript,
    machine: Machine,
    events: Vec<Event>,
    /// The work tree now.
    tree: TreeId,
}

impl Player<'_> {
    fn record(&mut self, event: Event) {
        if let Err(divergence) = self.machine.apply(&event) {
            panic!("{divergence}, after {:#?}", self.events);
        }
        self.events.push(event);
    }

    /// Does what the driver does between two commands.
    fn step(&mut self) {
        if let Some(decision) = self.machine.decision() {
            return self.record(decision);
        }
        match self.machine.next() {
            Next::Do(command) => self.carry_out(&command),
            Next::Wait(Wait::Human { gate }) => self.answer(gate),
            Next::Wait(_) => self.record(Event::Resumed { budget: None }),
            Next::Finish(outcome) => {
                let output = self.machine.output();
                self.record(Event::RunFinished { outcome, output });
            }
        }
    }

    fn answer(&mut self, gate: String) {
        let answer = GateAnswer {
            notes: Vec::new(),
            tree: self.tree.clone(),
            patch: String::new(),
        };
        if self.machine.suspended().is_none() {
            let wait = Wait::Human { gate: gate.clone() };
            self.record(suspended(wait));
        }
        self.record(Event::GateAnswered { gate, answer });
    }

    fn carry_out(&mut self, command: &Command) {
        let step = command.step();
        let begun = self.machine.attempts(&step);
        let interrupted = step.pass().is_some_and(|p| self.script.pass(p).interrupted);
        self.record(Event::StepStarted {
            step: step.clone(),
            attempt: begun + 1,
            prompt_sha256: None,
            tree: None,
        });
        if interrupted && begun == 0 {
            return self.record(suspended(Wait::Interrupted));
        }
        let result = self.result_of(command, step);
        self.record(result);
    }

    /// What the command comes to.
    fn result_of(&mut self, command: &Command, step: StepId) -> Event {
        let script = self.script;
        match command {
            Command::Fetch { .. } => Event::IssueFetched {
                step,
                outcome: FetchOutcome::Fetched {
                    issue: script.issue.clone(),
                    verbatim: false,
                },
            },
            Command::Prepare(prepare) => Event::BranchPrepared {
                step,
                branch: prepare.branch.clone(),
                base: "main".to_owned(),
                start: script.start.clone(),
                start_tree: script.start_tree.clone(),
                reused: false,
                behind: 0,
                root: "/repo".to_owned(),
            },
            Command::Plan(_) => Event::PlanMade {
                step,
                plan: script.plan.clone(),
                usage: Usage::default(),
            },
            Command::Implement(implement) => {
                let told = script.pass(implement.pass);
                let tree_before = self.tree.clone();
                if let Some(tree) = &told.tree {
                    self.tree = tree.clone();
                }
                Event::Implemented {
                    step,
                    pass: implement.pass,
                    report: told.report.clone(),
                    tree_before,
                    tree_after: self.tree.clone(),
                    session: None,
                    usage: told.usage,
                }
            }
            Command::Validate(validate) => {
                let validation = Validation {
                    tree_before: self.tree.clone(),
                    ..script.pass(validate.pass).validation.clone()
                };
                self.tree = validation.tree_after.clone();
                Event::Validated {
                    step,
                    pass: validate.pass,
                    validation,
                }
            }
            Command::Review(review) => reviewed(step, review.pass, script.pass(review.pass)),
            Command::Finalize(finalize) if finalize.tree == finalize.start_tree => {
                Event::NothingToCommit { step }
            }
            Command::Finalize(finalize) => Event::Committed {
                step,
                commit: script.commit.clone(),
                tree: finalize.tree.clone(),
            },
        }
    }
}

fn suspended(wait: Wait) -> Event {
    Event::Suspended {
        wait,
        usage: Usage::default(),
        session: None,
    }
}

fn reviewed(step: StepId, pass: Pass, script: &PassScript) -> Event {
    let usage = script.usage;
    match &script.review {
        ReviewScript::Given(review) => Event::Reviewed {
            step,
            pass,
            review: review.clone(),
            usage,
        },
        ReviewScript::Failed(kind) => Event::ReviewFailed {
            step,
            pass,
            reason: ReviewFailure {
                kind: *kind,
                message: "the script says so".to_owned(),
            },
            usage,
        },
    }
}

/// Passes of every kind.
pub fn pass_script() -> impl Strategy<Value = PassScript> {
    let validation = prop_oneof![validation_that(true), validation_that(false)];
    let failure = prop::sample::select(vec![
        ReviewFailureKind::Auth,
        ReviewFailureKind::Quota,
        ReviewFailureKind::TimedOut,
        ReviewFailureKind::Crashed,
        ReviewFailureKind::Unparseable,
        ReviewFailureKind::Tampered,
    ]);
    let review = prop_oneof![
        3 => local_review().prop_map(ReviewScript::Given),
        1 => failure.prop_map(ReviewScript::Failed),
    ];
    (
        option::of(implement_report()),
        option::weighted(0.8, tree_id()),
        validation,
        review,
        usage(),
        prop::bool::weighted(0.2),
    )
        .prop_map(
            |(report, tree, validation, review, usage, interrupted)| PassScript {
                report,
                tree,
                validation,
                review,
                usage,
                interrupted,
            },
        )
}

/// Runs of every kind, each with up to four passes told.
pub fn history_script() -> impl Strategy<Value = HistoryScript> {
    let config = (
        prop::collection::vec(validation_command(), 1..3),
        any::<[bool; 2]>(),
        prop::bool::weighted(0.2),
    )
        .prop_map(|(commands, [withholds, stops], gated)| RunConfig {
            blocker_withholds: withholds,
            stop_on_no_progress: stops,
            gate_implement: gated,
            ..RunConfig::new(commands)
        });
    let who = (run_id(), implement_input(), config);
    let what = (issue(), plan(), prop::collection::vec(pass_script(), 1..5));
    let ids = (commit_id(), tree_id(), commit_id());
    (who, what, ids).prop_map(
        |((run, input, config), (issue, plan, passes), (start, start_tree, commit))| {
            HistoryScript {
                run,
                input,
                config,
                issue,
                start,
                start_tree,
                plan,
                passes,
                commit,
            }
        },
    )
}

/// Whole legal histories, from `runStarted` to `runFinished`. Every beginning
/// of one is legal, too.
pub fn history() -> impl Strategy<Value = Vec<Recorded>> {
    history_script().prop_map(|script| script.play())
}
