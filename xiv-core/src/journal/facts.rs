//! What a list says about a run, as a fold over its events.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::flow::{Event, Recorded, Wait};
use crate::model::Outcome;
use crate::port::{NewRun, RunStatus, RunSummary};

/// The part of a [`RunSummary`] that follows from the run's events alone.
///
/// A journal may keep it beside the events, so that a list need not read them
/// all; folding anew always gives the same.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RunFacts {
    /// The branch, once it is prepared.
    pub branch: Option<String>,
    /// Passes begun.
    pub passes: u32,
    /// How it ended, or why it is suspended.
    pub outcome: Option<Outcome>,
    /// What it waits for, for people.
    pub waiting_for: Option<String>,
    /// When its last event was recorded.
    pub updated_at: Option<Timestamp>,
}

impl RunFacts {
    /// Folds a whole history.
    #[must_use]
    pub fn of(history: &[Recorded]) -> Self {
        let mut facts = Self::default();
        for recorded in history {
            facts.apply(recorded.at, &recorded.event);
        }
        facts
    }

    /// Takes one more event.
    pub fn apply(&mut self, at: Timestamp, event: &Event) {
        self.updated_at = Some(at);
        match event {
            Event::BranchPrepared { branch, .. } => self.branch = Some(branch.to_string()),
            Event::StepStarted { step, .. } => {
                if let Some(pass) = step.pass() {
                    self.passes = self.passes.max(pass.get());
                }
                self.goes_on();
            }
            Event::GateRaised { gate, .. } => self.waiting_for = Some(decision_on(gate)),
            Event::GateAnswered { .. } => {
                self.waiting_for = None;
                if self.outcome == Some(Outcome::AwaitingHuman) {
                    // answered from elsewhere: now somebody has to resume it
                    self.stands(&Wait::Interrupted);
                }
            }
            Event::Suspended { wait, .. } => self.stands(wait),
            Event::Resumed { .. } => self.goes_on(),
            Event::RunFinished { outcome, .. } => {
                self.outcome = Some(*outcome);
                self.waiting_for = None;
            }
            Event::RunStarted { .. }
            | Event::Intended { .. }
            | Event::EffectDone { .. }
            | Event::IssueFetched { .. }
            | Event::PlanMade { .. }
            | Event::Implemented { .. }
            | Event::AgentCommitted { .. }
            | Event::Validated { .. }
            | Event::Reviewed { .. }
            | Event::ReviewFailed { .. }
            | Event::ReviewSkipped { .. }
            | Event::PassJudged { .. }
            | Event::Committed { .. }
            | Event::NothingToCommit { .. }
            | Event::ChildFinished { .. }
            | Event::Denied { .. }
            | Event::Violated { .. }
            | Event::Retried { .. } => {}
        }
    }

    /// Whether nothing may follow any more.
    #[must_use]
    pub fn is_ended(&self) -> bool {
        self.outcome.is_some_and(Outcome::is_ended)
    }

    /// The list's line. `driven` says whether a living process owns the run: one
    /// that neither ended nor was suspended and that nobody drives was
    /// interrupted, whatever its last event says.
    #[must_use]
    pub fn summary(&self, run: &NewRun, started_at: Timestamp, driven: bool) -> RunSummary {
        let mut facts = self.clone();
        let status = match self.outcome {
            Some(outcome) if outcome.is_ended() => RunStatus::Ended,
            Some(_) => RunStatus::Suspended,
            None if driven => RunStatus::Running,
            None => {
                let gate = facts.waiting_for.take();
                facts.stands(&Wait::Interrupted);
                facts.waiting_for = gate.or(facts.waiting_for);
                RunStatus::Suspended
            }
        };
        RunSummary {
            run_id: run.id.clone(),
            kind: run.kind.clone(),
            key: run.key.clone(),
            repo: run.repo.clone(),
            branch: facts.branch,
            status,
            outcome: facts.outcome,
            started_at,
            updated_at: facts.updated_at.unwrap_or(started_at),
            passes: facts.passes,
            waiting_for: facts.waiting_for,
        }
    }

    fn stands(&mut self, wait: &Wait) {
        self.outcome = Some(wait.outcome());
        self.waiting_for = Some(match wait {
            Wait::Human { gate } => decision_on(gate),
            Wait::Until { at: Some(at), .. } => format!("the usage limit to be lifted at {at}"),
            Wait::Until { at: None, step, .. } => format!("the usage limit that {step} met"),
            Wait::Budget { which, step } => format!("more {which} budget for {step}"),
            Wait::Interrupted => "somebody to resume it".to_owned(),
            Wait::StepFailed { step, error, .. } => {
                let first = error.lines().next().unwrap_or_default();
                format!("{step} to be mended: {first}")
            }
        });
    }

    fn goes_on(&mut self) {
        self.outcome = None;
        self.waiting_for = None;
    }
}

fn decision_on(gate: &str) -> String {
    format!("a decision on {gate}")
}

#[cfg(test)]
mod tests;
