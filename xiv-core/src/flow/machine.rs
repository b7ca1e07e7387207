//! Replaying a run's history and saying what comes next.
//!
//! The machine is synchronous and total: the same history always gives the
//! same state and the same next command, on every host and in every driver.
//! What it is given that its own rules would not have led to is a
//! [`Divergence`]; it never guesses.

use std::collections::BTreeMap;

use super::event::{
    BudgetLimits, CORE_VERSION, CoreVersion, EffectResult, Event, Intent, Recorded,
};
use super::implement::ImplementFlow;
use super::output::usage_of;
use super::{Command, Next, RunConfig, RunSpec, Wait};
use crate::model::{BranchName, ImplementOutput, Outcome, Pass, RunId, StepId, TreeId, Usage};

/// A history that these rules would not have led to.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Divergence {
    /// The history does not begin with `runStarted`.
    #[error("the history does not begin with runStarted")]
    NotStarted,
    /// Another version of the rules recorded it.
    #[error("the run was recorded by version {recorded} of the rules; these are version {own}")]
    UnsupportedVersion {
        /// The version in the history.
        recorded: CoreVersion,
        /// This crate's version.
        own: CoreVersion,
    },
    /// The event belongs to another step than the one that is open.
    #[error("{event} belongs to step {recorded}, but these rules are at {decided}")]
    WrongStep {
        /// The event's type.
        event: &'static str,
        /// Its step.
        recorded: StepId,
        /// The open step, or what stands in its place.
        decided: String,
    },
    /// A recorded decision is not what the events before it lead to.
    #[error("{event} was recorded, but the events before it lead to something else")]
    WrongDecision {
        /// The event's type.
        event: &'static str,
    },
    /// The event cannot happen here.
    #[error("{event} cannot happen here: {reason}")]
    Unexpected {
        /// The event's type.
        event: &'static str,
        /// Why not.
        reason: &'static str,
    },
}

impl Divergence {
    pub(super) const fn unexpected(event: &Event, reason: &'static str) -> Self {
        Self::Unexpected {
            event: event.kind(),
            reason,
        }
    }
}

/// An effect that was intended.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Effect {
    intent: Intent,
    result: Option<EffectResult>,
}

/// A run's state: a fold over its events.
#[derive(Debug, Clone)]
pub struct Machine {
    seed: u64,
    spec: RunSpec,
    flow: ImplementFlow,
    attempts: BTreeMap<StepId, u32>,
    trees: BTreeMap<StepId, TreeId>,
    effects: BTreeMap<String, Effect>,
    sessions: BTreeMap<StepId, String>,
    budget: BudgetLimits,
    usage: Usage,
    step_usage: BTreeMap<StepId, Usage>,
    suspended: Option<Wait>,
    finished: Option<(Outcome, ImplementOutput)>,
}

impl Machine {
    /// Begins with a run's first event.
    ///
    /// # Errors
    /// [`Divergence::NotStarted`] for any event but `runStarted`;
    /// [`Divergence::UnsupportedVersion`] for rules that are not these.
    pub fn start(event: &Event) -> Result<Self, Divergence> {
        let Event::RunStarted {
            run,
            spec,
            config,
            core_version,
            seed,
            ..
        } = event
        else {
            return Err(Divergence::NotStarted);
        };
        if *core_version > CORE_VERSION {
            return Err(Divergence::UnsupportedVersion {
                recorded: *core_version,
                own: CORE_VERSION,
            });
        }
        let flow = match spec {
            RunSpec::Implement { input } => {
                ImplementFlow::new(run.clone(), input.clone(), config.clone())
            }
        };
        Ok(Self {
            seed: *seed,
            spec: spec.clone(),
            budget: config.budget,
            flow,
            attempts: BTreeMap::new(),
            trees: BTreeMap::new(),
            effects: BTreeMap::new(),
            sessions: BTreeMap::new(),
            usage: Usage::default(),
            step_usage: BTreeMap::new(),
            suspended: None,
            finished: None,
        })
    }

    /// Folds a whole history.
    ///
    /// # Errors
    /// [`Divergence`] when these rules would not have led to it.
    pub fn replay(history: &[Recorded]) -> Result<Self, Divergence> {
        let (first, rest) = history.split_first().ok_or(Divergence::NotStarted)?;
        let mut machine = Self::start(&first.event)?;
        for recorded in rest {
            machine.apply(&recorded.event)?;
        }
        Ok(machine)
    }

    /// Takes one more event.
    ///
    /// # Errors
    /// [`Divergence`] when these rules would not have led to it; the state is
    /// unchanged then.
    pub fn apply(&mut self, event: &Event) -> Result<(), Divergence> {
        self.check(event)?;
        self.flow.apply(event)?;
        if let Some(usage) = usage_of(event) {
            self.usage.add(usage);
            if let Some(step) = step_of(event).or(self.open_step().as_ref()) {
                self.step_usage.entry(step.clone()).or_default().add(usage);
            }
        }
        match event {
            Event::StepStarted {
                step,
                attempt,
                tree,
                ..
            } => {
                self.attempts.insert(step.clone(), *attempt);
                if let Some(tree) = tree {
                    self.trees
                        .entry(step.clone())
                        .or_insert_with(|| tree.clone());
                }
            }
            Event::Intended { marker, intent, .. } => {
                let effect = Effect {
                    intent: intent.clone(),
                    result: None,
                };
                self.effects.insert(marker.clone(), effect);
            }
            Event::EffectDone { marker, result, .. } => {
                if let Some(effect) = self.effects.get_mut(marker) {
                    effect.result = Some(result.clone());
                }
            }
            Event::Suspended { wait, session, .. } => {
                if let (Some(step), Some(session)) = (self.open_step(), session) {
                    self.sessions.insert(step, session.clone());
                }
                self.suspended = Some(wait.clone());
            }
            Event::Resumed { budget } => {
                self.suspended = None;
                if let Some(budget) = budget {
                    self.budget = *budget;
                }
            }
            Event::GateAnswered { .. } => self.suspended = None,
            Event::RunFinished { outcome, output } => {
                self.finished = Some((*outcome, output.clone()));
            }
            _ => {}
        }
        Ok(())
    }

    /// What to do now. Depends on nothing but the history.
    ///
    /// A [`Machine::decision`] that is due has to be recorded first.
    #[must_use]
    pub fn next(&self) -> Next {
        match (&self.finished, &self.suspended) {
            (Some((outcome, _)), _) => Next::Finish(*outcome),
            (None, Some(wait)) => Next::Wait(wait.clone()),
            (None, None) => self.flow.next(),
        }
    }

    /// A decision that follows from the events so far and is to be recorded
    /// before anything else is done: a gate raised, a review skipped, a pass
    /// judged. Recording it changes nothing about what comes next.
    #[must_use]
    pub fn decision(&self) -> Option<Event> {
        if self.finished.is_some() {
            None
        } else {
            self.flow.decision()
        }
    }

    /// The result as it stands: of the ended run, or of one that is suspended
    /// or under way.
    #[must_use]
    pub fn output(&self) -> ImplementOutput {
        if let Some((_, output)) = &self.finished {
            return output.clone();
        }
        let wait = match self.next() {
            Next::Wait(wait) => Some(wait),
            Next::Do(_) | Next::Finish(_) => None,
        };
        let outcome = match (self.next(), &wait) {
            (Next::Finish(outcome), _) => outcome,
            (_, Some(wait)) => wait.outcome(),
            (_, None) => Outcome::Interrupted,
        };
        self.flow.output(outcome, wait.as_ref(), self.usage)
    }

    /// The result of the run if it were cancelled now.
    #[must_use]
    pub fn output_when_cancelled(&self) -> ImplementOutput {
        self.flow.output(Outcome::Cancelled, None, self.usage)
    }

    /// The run.
    #[must_use]
    pub const fn run(&self) -> &RunId {
        &self.flow.run
    }

    /// What the run is to do.
    #[must_use]
    pub const fn spec(&self) -> &RunSpec {
        &self.spec
    }

    /// The configuration that the run keeps.
    #[must_use]
    pub const fn config(&self) -> &RunConfig {
        &self.flow.config
    }

    /// The run's only randomness.
    #[must_use]
    pub const fn seed(&self) -> u64 {
        self.seed
    }

    /// The budget in force.
    #[must_use]
    pub const fn budget(&self) -> &BudgetLimits {
        &self.budget
    }

    /// What the run's agents have used.
    #[must_use]
    pub const fn usage(&self) -> &Usage {
        &self.usage
    }

    /// What one step's agents have used, over all its attempts.
    #[must_use]
    pub fn usage_of_step(&self, step: &StepId) -> Usage {
        self.step_usage.get(step).copied().unwrap_or_default()
    }

    /// How often a step has been begun.
    #[must_use]
    pub fn attempts(&self, step: &StepId) -> u32 {
        self.attempts.get(step).copied().unwrap_or(0)
    }

    /// The intent of an effect that was announced, and what it came to.
    #[must_use]
    pub fn effect(&self, marker: &str) -> Option<(&Intent, Option<&EffectResult>)> {
        let effect = self.effects.get(marker)?;
        Some((&effect.intent, effect.result.as_ref()))
    }

    /// Root of the work tree that the run works in, once prepared.
    #[must_use]
    pub fn work_root(&self) -> Option<&str> {
        self.flow.prepared.as_ref().map(|p| p.root.as_str())
    }

    /// The run's branch, once prepared.
    #[must_use]
    pub fn branch(&self) -> Option<&BranchName> {
        self.flow.prepared.as_ref().map(|p| &p.branch)
    }

    /// What the run waits for, when it is suspended.
    #[must_use]
    pub const fn suspended(&self) -> Option<&Wait> {
        self.suspended.as_ref()
    }

    /// Whether the run is over, and how.
    #[must_use]
    pub fn finished(&self) -> Option<Outcome> {
        self.finished.as_ref().map(|(outcome, _)| *outcome)
    }

    /// The work tree when the step was first begun, if that was noted.
    #[must_use]
    pub fn tree_at_start(&self, step: &StepId) -> Option<&TreeId> {
        self.trees.get(step)
    }

    /// Hints on how to mend what the run waits for or was refused for.
    #[must_use]
    pub fn hints(&self) -> Vec<String> {
        match &self.suspended {
            Some(Wait::StepFailed { hints, .. }) => hints.clone(),
            _ => self.flow.refused_hints.clone(),
        }
    }

    /// The conversation in which an interrupted step can be taken up again.
    #[must_use]
    pub fn session_of(&self, step: &StepId) -> Option<&str> {
        self.sessions.get(step).map(String::as_str)
    }

    fn open_step(&self) -> Option<StepId> {
        match self.flow.next() {
            Next::Do(command) => Some(command.step()),
            Next::Wait(_) | Next::Finish(_) => None,
        }
    }

    /// The pass and the tree that an open gate is about.
    #[must_use]
    pub fn open_gate(&self, gate: &str) -> Option<(Pass, TreeId)> {
        self.flow.open_gate(gate)
    }

    /// Whether the event can happen now.
    fn check(&self, event: &Event) -> Result<(), Divergence> {
        if self.finished.is_some() {
            return Err(Divergence::unexpected(event, "the run is over"));
        }
        match event {
            Event::RunStarted { .. } => {
                Err(Divergence::unexpected(event, "the run has begun already"))
            }
            Event::Suspended { .. } | Event::Resumed { .. } => Ok(()),
            Event::GateAnswered { .. } => Ok(()),
            Event::RunFinished {
                outcome: Outcome::Cancelled,
                ..
            } => Ok(()),
            Event::ChildFinished { .. } => {
                Err(Divergence::unexpected(event, "the run has no children"))
            }
            _ if self.suspended.is_some() => {
                Err(Divergence::unexpected(event, "the run is suspended"))
            }
            Event::GateRaised { .. } | Event::ReviewSkipped { .. } | Event::PassJudged { .. } => {
                if self.decision().as_ref() == Some(event) {
                    Ok(())
                } else {
                    Err(Divergence::WrongDecision {
                        event: event.kind(),
                    })
                }
            }
            Event::RunFinished { outcome, .. } => match self.flow.next() {
                Next::Finish(decided) if decided == *outcome => Ok(()),
                _ => Err(Divergence::WrongDecision {
                    event: event.kind(),
                }),
            },
            _ => self.check_step(event),
        }
    }

    /// Whether the event belongs to the step that is open.
    fn check_step(&self, event: &Event) -> Result<(), Divergence> {
        let Some(step) = step_of(event) else {
            return Err(Divergence::unexpected(event, "it belongs to no step"));
        };
        if self.decision().is_some() {
            return Err(Divergence::unexpected(
                event,
                "a decision is to be recorded first",
            ));
        }
        let decided = match self.flow.next() {
            Next::Do(command) => command.step().to_string(),
            Next::Wait(_) => "a wait".to_owned(),
            Next::Finish(outcome) => format!("the end ({outcome})"),
        };
        if decided != step.as_str() {
            let recorded = step.clone();
            return Err(Divergence::WrongStep {
                event: event.kind(),
                recorded,
                decided,
            });
        }
        let kind_fits = match event {
            Event::IssueFetched { .. } => step.name() == "fetch",
            Event::BranchPrepared { .. } => step.name() == "prepare",
            Event::PlanMade { .. } => step.name() == "plan",
            Event::Implemented { pass, .. } => fits(step, "implement", *pass),
            Event::Validated { pass, .. } => fits(step, "validate", *pass),
            Event::Reviewed { pass, .. } | Event::ReviewFailed { pass, .. } => {
                fits(step, "review", *pass)
            }
            Event::Committed { .. } | Event::NothingToCommit { .. } => step.name() == "finalize",
            _ => true,
        };
        if kind_fits {
            Ok(())
        } else {
            Err(Divergence::unexpected(event, "its step has other results"))
        }
    }

    /// The open command, when there is one and the run is not suspended.
    #[must_use]
    pub fn command(&self) -> Option<Command> {
        match self.next() {
            Next::Do(command) => Some(command),
            Next::Wait(_) | Next::Finish(_) => None,
        }
    }
}

fn fits(step: &StepId, name: &str, pass: crate::model::Pass) -> bool {
    step.name() == name && step.pass() == Some(pass)
}

/// The step that an event belongs to.
const fn step_of(event: &Event) -> Option<&StepId> {
    match event {
        Event::StepStarted { step, .. }
        | Event::Intended { step, .. }
        | Event::EffectDone { step, .. }
        | Event::IssueFetched { step, .. }
        | Event::BranchPrepared { step, .. }
        | Event::PlanMade { step, .. }
        | Event::Implemented { step, .. }
        | Event::AgentCommitted { step, .. }
        | Event::Validated { step, .. }
        | Event::Reviewed { step, .. }
        | Event::ReviewFailed { step, .. }
        | Event::Committed { step, .. }
        | Event::NothingToCommit { step }
        | Event::Denied { step, .. }
        | Event::Violated { step, .. }
        | Event::Retried { step, .. } => Some(step),
        Event::RunStarted { .. }
        | Event::GateRaised { .. }
        | Event::GateAnswered { .. }
        | Event::ReviewSkipped { .. }
        | Event::PassJudged { .. }
        | Event::ChildFinished { .. }
        | Event::Suspended { .. }
        | Event::Resumed { .. }
        | Event::RunFinished { .. } => None,
    }
}
