//! What the implement flow takes and what it hands back.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    BranchName, CommitId, Evidence, Finding, IssueKey, KnownGap, MaxPasses, Outcome, Pass, RunId,
    Usage, Verdict,
};

/// What to implement, and how.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImplementInput {
    /// The issue as the user named it. An empty one is refused by the fetch gate.
    #[serde(default)]
    pub issue_id: String,
    /// Plan and work tests first. Default: false.
    #[serde(default)]
    pub tdd: bool,
    /// Leave the review step out; nothing can switch it on again. Default: false.
    #[serde(default)]
    pub skip_acceptance_review: bool,
    /// The most passes. Default: 3.
    #[serde(default)]
    pub max_iterations: MaxPasses,
    /// Branch to start from; none means the configured base.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
}

impl ImplementInput {
    /// The input for an issue, with every default.
    pub fn new(issue_id: impl Into<String>) -> Self {
        Self {
            issue_id: issue_id.into(),
            tdd: false,
            skip_acceptance_review: false,
            max_iterations: MaxPasses::default(),
            base: None,
        }
    }

    /// Sets the most passes.
    #[must_use]
    pub const fn with_max_iterations(mut self, max: MaxPasses) -> Self {
        self.max_iterations = max;
        self
    }
}

/// A pass whose review could not be had, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReviewFailureNote {
    /// The pass.
    pub pass: Pass,
    /// Why it has no review.
    pub reason: String,
}

/// The result of an implement run, ended or suspended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImplementOutput {
    /// The branch the work is on; null before it was prepared.
    pub branch: Option<BranchName>,
    /// The branch's head; null before a commit was made or re-used.
    pub head_sha: Option<CommitId>,
    /// The issue's key; null when no key could be made of the input.
    pub issue_key: Option<IssueKey>,
    /// The issue's title.
    pub title: String,
    /// The criteria, as fetched.
    pub acceptance_criteria: Vec<String>,
    /// The last pass's report, else the plan's summary.
    pub summary: String,
    /// The **final pass's** verdict; null when that pass had no review.
    pub review_verdict: Option<Verdict>,
    /// Every finding of the final pass's review, in its order.
    pub known_gaps: Vec<KnownGap>,
    /// Findings of earlier passes that no later review covered.
    pub outstanding: Vec<Finding>,
    /// Evidence per criterion, as the last report gave it.
    pub evidence: Vec<Evidence>,
    /// Passes without a review that should have had one.
    pub review_failures: Vec<ReviewFailureNote>,
    /// The final review approved and named a blocker all the same.
    pub incoherent: bool,
    /// How the run ended or why it stands.
    pub outcome: Outcome,
    /// Passes begun.
    pub passes: u32,
    /// The run.
    pub run_id: RunId,
    /// What the agents used.
    pub usage: Usage,
    /// With `--worktree`: where the work is checked out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worktree: Option<String>,
    /// With [`Outcome::Paused`]: when it can go on, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub paused_until: Option<jiff::Timestamp>,
    /// With [`Outcome::Failed`]: the step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed_step: Option<super::StepId>,
    /// With [`Outcome::Failed`] or [`Outcome::Refused`]: what went wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}
