//! The two signals that only a forge can give: CI state and human comments.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CommitId, PrNumber};

/// The aggregate state of a head commit's checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(
    clippy::exhaustive_enums,
    reason = "every consumer must decide on each state"
)]
pub enum CiState {
    /// At least one check, and every one is green.
    Passing,
    /// Some check is red.
    Failing,
    /// Some check has not ended.
    Pending,
    /// The head has no checks.
    None,
    /// The state could not be read; never clean.
    Unknown,
}

/// Who raised a finding on a pull request. No default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::exhaustive_enums, reason = "there are exactly two signals")]
pub enum FindingSource {
    /// A check.
    Ci,
    /// A person.
    Human,
}

/// Something on a pull request that wants an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PrFinding {
    /// Who raised it.
    pub source: FindingSource,
    /// The check's name or the person's login.
    pub origin: String,
    /// Repository-relative path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Line on the new side, or the original line when outdated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The code under it has changed since. Outdated is not addressed.
    #[serde(default)]
    pub outdated: bool,
    /// Markdown, or the failure text of a check.
    pub body: String,
}

/// One read-only snapshot of a pull request's signals.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PrSignals {
    /// Aggregate check state of the head.
    pub ci: CiState,
    /// Names of the failing checks.
    pub failing_checks: Vec<String>,
    /// What wants an answer.
    pub findings: Vec<PrFinding>,
    /// CI is passing or none, and no human finding is open.
    #[serde(default)]
    pub clean: bool,
    /// The commit that the snapshot is of.
    pub head_sha: CommitId,
    /// When it was taken.
    #[schemars(with = "String")]
    pub snapshot_at: jiff::Timestamp,
}

/// A finding that a fix round took care of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AddressedFinding {
    /// The finding.
    pub finding: PrFinding,
    /// The commit that addresses it.
    pub commit: CommitId,
}

/// A finding that a fix round left open.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SkippedFinding {
    /// The finding.
    pub finding: PrFinding,
    /// Why it stays open.
    pub reason: String,
}

/// What a fix round did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AddressReport {
    /// Fixed, with the commit.
    pub addressed: Vec<AddressedFinding>,
    /// Left open, with the reason.
    pub skipped: Vec<SkippedFinding>,
    /// The head after the round.
    pub head_sha: CommitId,
}

/// One snapshot and the fix that it led to, if any.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PrRound {
    /// The signals.
    pub signals: PrSignals,
    /// The fix, when there was something to fix.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<AddressReport>,
}

/// The result of refining or fixing one pull request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PrReview {
    /// The pull request.
    pub pr_number: PrNumber,
    /// Where a person can read it.
    pub pr_url: String,
    /// Every round, in order.
    pub rounds: Vec<PrRound>,
    /// Clean at the end.
    pub resolved: bool,
    /// What is still open, and who must act.
    pub pending: Vec<String>,
    /// Markdown.
    pub summary: String,
}
