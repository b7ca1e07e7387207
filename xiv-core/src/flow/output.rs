//! The result of a run, composed from its state: also of one that stands.

use super::Wait;
use super::event::Event;
use super::implement::{Finalized, ImplementFlow};
use super::pass::ReviewState;
use crate::model::{ImplementOutput, KnownGap, Outcome, ReviewFailureNote, Usage};
use crate::policy::coherence::{BlockerPolicy, coherence};
use crate::policy::gaps::{known_gaps, outstanding};

impl ImplementFlow {
    /// The result with this outcome, waiting for this.
    pub(super) fn output(
        &self,
        outcome: Outcome,
        wait: Option<&Wait>,
        usage: Usage,
    ) -> ImplementOutput {
        let last = self.final_pass();
        let review = last.and_then(|p| p.review.review());
        let policy = BlockerPolicy::from_setting(self.config.blocker_withholds);
        let reviews = self
            .passes
            .iter()
            .filter(|p| last.is_some_and(|l| p.pass <= l.pass))
            .map(|p| p.review.review());
        ImplementOutput {
            branch: self.prepared.as_ref().map(|p| p.branch.clone()),
            head_sha: self.head(),
            issue_key: self
                .issue
                .as_ref()
                .map(|i| i.key.clone())
                .or_else(|| self.key()),
            title: self
                .issue
                .as_ref()
                .map(|i| i.title.clone())
                .unwrap_or_default(),
            acceptance_criteria: self
                .issue
                .as_ref()
                .map(|i| i.acceptance_criteria.clone())
                .unwrap_or_default(),
            summary: self.summary(),
            review_verdict: review.map(|r| r.verdict),
            known_gaps: self.known_gaps(),
            outstanding: outstanding(reviews),
            evidence: last
                .and_then(|p| p.implemented.as_ref()?.report.as_ref())
                .map(|r| r.evidence.clone())
                .unwrap_or_default(),
            review_failures: self.review_failures(),
            incoherent: review.is_some_and(|r| coherence(r, policy).incoherent),
            outcome,
            passes: self.passes.last().map_or(0, |p| p.pass.get()),
            run_id: self.run.clone(),
            usage,
            worktree: self.worktree(),
            paused_until: match wait {
                Some(Wait::Until { at, .. }) => *at,
                _ => None,
            },
            failed_step: match wait {
                Some(Wait::StepFailed { step, .. }) => Some(step.clone()),
                _ => None,
            },
            error: match wait {
                Some(Wait::StepFailed { error, .. }) => Some(error.clone()),
                Some(Wait::Until { message, .. }) => Some(message.clone()),
                _ => self.refused.clone(),
            },
        }
    }

    /// The final pass's findings; notes of a person who ended the last pass
    /// count as such.
    fn known_gaps(&self) -> Vec<KnownGap> {
        let Some(last) = self.final_pass() else {
            return Vec::new();
        };
        match last.human_notes() {
            Some(answer) => answer.notes.iter().map(KnownGap::from).collect(),
            None => known_gaps(last.review.review()),
        }
    }

    fn review_failures(&self) -> Vec<ReviewFailureNote> {
        let failed = self.passes.iter().filter_map(|p| match &p.review {
            ReviewState::Failed(failure) => Some(ReviewFailureNote {
                pass: p.pass,
                reason: failure.message.clone(),
            }),
            ReviewState::Open | ReviewState::Present(_) | ReviewState::Skipped => None,
        });
        failed.collect()
    }

    fn head(&self) -> Option<crate::model::CommitId> {
        match &self.finalized {
            Some(Finalized::Committed(commit)) => Some(commit.clone()),
            Some(Finalized::NothingToCommit) | None => {
                self.prepared.as_ref().map(|p| p.start.clone())
            }
        }
    }

    fn worktree(&self) -> Option<String> {
        self.config.worktree.as_ref()?;
        self.prepared.as_ref().map(|p| p.root.clone())
    }
}

/// What an event says was used.
pub(super) const fn usage_of(event: &Event) -> Option<&Usage> {
    match event {
        Event::PlanMade { usage, .. }
        | Event::Implemented { usage, .. }
        | Event::Reviewed { usage, .. }
        | Event::ReviewFailed { usage, .. }
        | Event::Retried { usage, .. }
        | Event::ChildFinished { usage, .. }
        | Event::Suspended { usage, .. } => Some(usage),
        _ => None,
    }
}
