//! One pass of the implement loop.
//!
//! A pass is a fresh value that knows nothing of the passes before it, so that
//! no verdict can leak from one into another.

use super::event::{JudgeReason, PassValidation, ReviewFailure};
use super::{Feedback, RunConfig};
use crate::model::{ImplementReport, LocalReview, Pass, TreeId, Validation, Verdict};
use crate::policy::coherence::{BlockerPolicy, coherence};
use crate::policy::done::done;
use crate::policy::feedback::feedback;
use crate::policy::progress::PassResult;
use crate::port::GateAnswer;

/// What the implement step of a pass came to.
#[derive(Debug, Clone)]
pub(super) struct Implemented {
    pub(super) report: Option<ImplementReport>,
    pub(super) tree_before: TreeId,
    pub(super) tree_after: TreeId,
}

/// Where a pass stands with the human gate.
#[derive(Debug, Clone)]
pub(super) enum HumanGate {
    NotRaised,
    Raised,
    Answered(GateAnswer),
}

/// Where a pass stands with its review.
#[derive(Debug, Clone)]
pub(super) enum ReviewState {
    Open,
    Present(LocalReview),
    Failed(ReviewFailure),
    Skipped,
}

impl ReviewState {
    pub(super) const fn review(&self) -> Option<&LocalReview> {
        match self {
            Self::Present(review) => Some(review),
            Self::Open | Self::Failed(_) | Self::Skipped => None,
        }
    }
}

/// What the gate makes of a pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Judgement {
    pub(super) validation: PassValidation,
    pub(super) verdict: Option<Verdict>,
    pub(super) incoherent: bool,
    pub(super) done: bool,
    pub(super) reason: JudgeReason,
}

/// The state of one pass.
#[derive(Debug, Clone)]
pub(super) struct PassState {
    pub(super) pass: Pass,
    pub(super) implemented: Option<Implemented>,
    pub(super) gate: HumanGate,
    pub(super) validation: Option<Validation>,
    pub(super) review: ReviewState,
    /// Its judgement has been recorded.
    pub(super) judged: bool,
    /// The passes before it ended alike; with an unchanged tree, this one
    /// stands still.
    pub(super) repeats: bool,
}

impl PassState {
    pub(super) const fn new(pass: Pass, repeats: bool) -> Self {
        Self {
            pass,
            implemented: None,
            gate: HumanGate::NotRaised,
            validation: None,
            review: ReviewState::Open,
            judged: false,
            repeats,
        }
    }

    pub(super) const fn gate_id(&self) -> &'static str {
        "implement"
    }

    /// The notes with which a person ended the pass.
    pub(super) fn human_notes(&self) -> Option<&GateAnswer> {
        match &self.gate {
            HumanGate::Answered(answer) if !answer.notes.is_empty() => Some(answer),
            HumanGate::Answered(_) | HumanGate::NotRaised | HumanGate::Raised => None,
        }
    }

    /// Whether the implement step changed nothing although it was to.
    fn stands_still(&self) -> bool {
        let unchanged = self
            .implemented
            .as_ref()
            .is_some_and(|done| done.tree_before == done.tree_after);
        // a person's answer is progress whatever the agent did
        unchanged && self.repeats && matches!(self.gate, HumanGate::NotRaised)
    }

    /// The gate's judgement, once everything that it depends on is there.
    pub(super) fn judge(&self, config: &RunConfig) -> Option<Judgement> {
        let unreviewed = |reason| Judgement {
            validation: PassValidation::None,
            verdict: None,
            incoherent: false,
            done: false,
            reason,
        };
        if self.human_notes().is_some() {
            return Some(unreviewed(JudgeReason::HumanNotes));
        }
        if self.stands_still() {
            return Some(unreviewed(JudgeReason::NoProgress));
        }
        let passed = self.validation.as_ref()?.passed();
        if matches!(self.review, ReviewState::Open) {
            return None;
        }
        let validation = if passed {
            PassValidation::Passed
        } else {
            PassValidation::Failed
        };
        let review = self.review.review();
        let coherence = review.map(|r| coherence(r, policy(config)));
        let effective = coherence.map(|c| c.effective);
        let incoherent = coherence.is_some_and(|c| c.incoherent);
        let done = done(validation, effective);
        let reason = match (done, passed, incoherent) {
            (true, ..) => JudgeReason::Passed,
            (false, false, _) => JudgeReason::ValidationFailed,
            (false, true, true) => JudgeReason::BlockerWithheld,
            (false, true, false) => JudgeReason::ChangesRequested,
        };
        Some(Judgement {
            validation,
            verdict: review.map(|r| r.verdict),
            incoherent,
            done,
            reason,
        })
    }

    /// What this pass tells the next one.
    pub(super) fn feedback(&self, config: &RunConfig) -> Feedback {
        if let Some(answer) = self.human_notes() {
            return Feedback {
                findings: answer.notes.clone(),
                human_patch: Some(answer.patch.clone()).filter(|p| !p.is_empty()),
                ..Feedback::default()
            };
        }
        feedback(
            self.validation.as_ref(),
            self.review.review(),
            policy(config),
        )
    }

    /// How it ended, for telling whether the run stands still.
    pub(super) fn result(&self) -> Option<PassResult> {
        Some(PassResult::of(
            self.validation.as_ref()?,
            self.review.review(),
        ))
    }

    /// The tree that would be committed now.
    pub(super) fn gated_tree(&self) -> Option<&TreeId> {
        if let Some(validation) = &self.validation {
            return Some(&validation.tree_after);
        }
        self.human_notes().map(|answer| &answer.tree)
    }
}

const fn policy(config: &RunConfig) -> BlockerPolicy {
    BlockerPolicy::from_setting(config.blocker_withholds)
}
