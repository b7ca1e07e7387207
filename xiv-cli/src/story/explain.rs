//! Why each pass was judged as it was, re-computed from the record.

use schemars::JsonSchema;
use serde::Serialize;
use xiv_core::flow::{Event, JudgeReason, Machine, PassValidation, Recorded};
use xiv_core::model::{Outcome, Pass, RunId, Verdict};

use super::lines::words;

/// A run's decisions.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Explanation {
    /// The run.
    pub(crate) run_id: RunId,
    /// How it ended or why it stands; null while it runs.
    pub(crate) outcome: Option<Outcome>,
    /// One entry per judged pass.
    pub(crate) passes: Vec<PassExplanation>,
    /// Whether today's rules lead to every recorded decision.
    pub(crate) verified: bool,
    /// Where the rules and the record part; null when they do not.
    pub(crate) divergence: Option<String>,
}

/// One pass.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PassExplanation {
    /// The pass.
    pub(crate) pass: Pass,
    /// What validation said.
    pub(crate) validation: PassValidation,
    /// One line per failing command.
    pub(crate) failing: String,
    /// What the review said.
    pub(crate) verdict: Option<Verdict>,
    /// Why there was no review, when there should have been one.
    pub(crate) review_failure: Option<String>,
    /// The review approved and named a blocker.
    pub(crate) incoherent: bool,
    /// The gate opened.
    pub(crate) done: bool,
    /// The rule that decided.
    pub(crate) reason: JudgeReason,
    /// The rule in words.
    pub(crate) because: String,
    /// Today's rules decide the same.
    pub(crate) verified: bool,
}

/// Follows the record and decides again at every decision in it.
pub(crate) fn explain(run: &RunId, history: &[Recorded]) -> Explanation {
    let mut follower = Follower::default();
    for recorded in history {
        follower.follow(&recorded.event);
    }
    let passes_agree = follower.passes.iter().all(|pass| pass.verified);
    let finished = history
        .iter()
        .rev()
        .find_map(|recorded| match &recorded.event {
            Event::RunFinished { outcome, .. } => Some(*outcome),
            Event::Suspended { wait, .. } => Some(wait.outcome()),
            _ => None,
        });
    Explanation {
        run_id: run.clone(),
        outcome: finished,
        verified: passes_agree && follower.divergence.is_none() && !history.is_empty(),
        passes: follower.passes,
        divergence: follower.divergence,
    }
}

#[derive(Default)]
struct Follower {
    machine: Option<Machine>,
    divergence: Option<String>,
    failing: String,
    review_failure: Option<String>,
    passes: Vec<PassExplanation>,
}

impl Follower {
    fn follow(&mut self, event: &Event) {
        match event {
            Event::Validated { validation, .. } => self.failing = validation.failing_summary(),
            Event::ReviewFailed { reason, .. } => {
                self.review_failure = Some(reason.message.clone());
            }
            Event::PassJudged {
                pass,
                validation,
                verdict,
                incoherent,
                done,
                reason,
            } => {
                let decided = self.machine.as_ref().and_then(Machine::decision);
                self.passes.push(PassExplanation {
                    pass: *pass,
                    validation: *validation,
                    failing: std::mem::take(&mut self.failing),
                    verdict: *verdict,
                    review_failure: self.review_failure.take(),
                    incoherent: *incoherent,
                    done: *done,
                    reason: *reason,
                    because: words(*reason).to_owned(),
                    verified: decided.as_ref() == Some(event),
                });
            }
            _ => {}
        }
        self.apply(event);
    }

    fn apply(&mut self, event: &Event) {
        if self.divergence.is_some() {
            return;
        }
        let applied = match &mut self.machine {
            Some(machine) => machine.apply(event),
            None => Machine::start(event).map(|machine| self.machine = Some(machine)),
        };
        if let Err(divergence) = applied {
            self.divergence = Some(divergence.to_string());
        }
    }
}
