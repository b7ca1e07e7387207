//! The stack map: one feature as stacked branches, over one or more repositories.
//!
//! Readers are tolerant: fields that this version does not know are no error.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ChangeId, CommitId, KnownGap, Outcome, PrNumber, RunId};

/// Which engine moves the branches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[expect(clippy::exhaustive_enums, reason = "there are two engines")]
pub enum StackEngine {
    /// Jujutsu, colocated.
    Jj,
    /// Plain git.
    Git,
}

/// Where an entry stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[expect(clippy::exhaustive_enums, reason = "triage must decide on each status")]
pub enum StackStatus {
    /// Not begun.
    Pending,
    /// Its run is under way.
    Implementing,
    /// Its run has ended; not pushed yet.
    Implemented,
    /// Pushed, no pull request yet.
    Pushed,
    /// Its pull request is open.
    PrOpen,
    /// Its pull request was merged by a person.
    Merged,
    /// Its pull request was closed.
    Closed,
}

/// One repository of the stack.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StackRepo {
    /// Path of the checkout.
    pub path: String,
    /// The trunk. Default: `main`.
    #[serde(default = "main_branch")]
    pub base_branch: String,
    /// Name of the remote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remote: Option<String>,
}

fn main_branch() -> String {
    "main".to_owned()
}

/// An issue that the stack leaves out, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Excluded {
    /// The issue.
    pub issue_id: String,
    /// Why it is left out.
    pub reason: String,
}

/// Where the stack's issues came from.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StackSource {
    /// A Linear project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub linear_project_id: Option<String>,
    /// An issue with sub-issues.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_issue_id: Option<String>,
    /// Every issue of the source.
    #[serde(default)]
    pub issue_ids: Vec<String>,
    /// Those left out.
    #[serde(default)]
    pub excluded: Vec<Excluded>,
}

/// One issue of the stack and the branch that it lives on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StackEntry {
    /// Place in the whole stack, bottom first.
    pub position: u32,
    /// The issue.
    pub issue_id: String,
    /// Its title.
    #[serde(default)]
    pub issue_title: String,
    /// Key of its repository.
    pub repo: String,
    /// Its branch.
    pub branch_name: String,
    /// The jj change; null on plain git.
    #[serde(default)]
    pub change_id: Option<ChangeId>,
    /// What it is stacked on.
    pub base_branch: String,
    /// The branch's head.
    #[serde(default)]
    pub head_sha: Option<CommitId>,
    /// Where it stands.
    pub status: StackStatus,
    /// Its pull request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pr_number: Option<PrNumber>,
    /// Where a person can read it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pr_url: Option<String>,
    /// The head that was last pushed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pushed_sha: Option<CommitId>,
    /// Issues that must come before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depends_on: Option<Vec<String>>,
    /// What its run shipped unfixed.
    #[serde(default)]
    pub known_gaps: Vec<KnownGap>,
    /// How its run ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
    /// Its run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<RunId>,
}

/// A feature's stack.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StackMap {
    /// Format version; 1.
    pub version: u32,
    /// The feature's name.
    pub feature: String,
    /// Name of the main repository.
    #[serde(default)]
    pub repo_slug: String,
    /// Repositories by key.
    pub repos: BTreeMap<String, StackRepo>,
    /// Topmost branch per repository.
    #[serde(default)]
    pub tips: BTreeMap<String, String>,
    /// Which engine moves the branches.
    pub engine: StackEngine,
    /// Leave reviews out for the whole feature. The key exists only when true.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub skip_acceptance_review: bool,
    /// Where the issues came from.
    #[serde(default)]
    pub source: StackSource,
    /// Bottom first.
    pub entries: Vec<StackEntry>,
    /// When the map was made.
    #[schemars(with = "String")]
    pub created_at: jiff::Timestamp,
    /// When it was last written.
    #[schemars(with = "String")]
    pub updated_at: jiff::Timestamp,
}
