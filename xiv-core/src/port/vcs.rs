//! Version control, as far as a run needs it: where the work tree stands, what
//! is in it, and one commit at the end.
//!
//! Two rules hold for every method: user edits are never discarded (nothing
//! resets or cleans), and only what the run owns is written: its branch,
//! `refs/xiv/*` and its own work tree.

use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::StepContext;
use crate::model::{BranchName, CommitId, RepoPath, TreeId};

/// What a repository and its engine can do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VcsCaps {
    /// `git` or `jj`.
    pub engine: &'static str,
    /// `sha1` or `sha256`.
    pub object_format: String,
    /// More than one work tree is possible.
    pub worktrees: bool,
}

/// What HEAD is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HeadState {
    /// The branch; `None` when detached.
    pub branch: Option<BranchName>,
    /// The commit; `None` on an unborn branch.
    pub commit: Option<CommitId>,
}

/// Where the work tree stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkTreeState {
    /// What HEAD is.
    pub head: HeadState,
    /// A merge, rebase, cherry-pick, revert or bisect under way, by its name.
    pub operation: Option<String>,
    /// Changed tracked files and untracked, not ignored ones; without xiv's own
    /// untracked files (`xiv.toml`, `.xiv/`).
    pub dirty: Vec<RepoPath>,
}

/// The branch to work on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BranchRequest {
    /// Its name.
    pub branch: BranchName,
    /// What it starts from when it does not exist: a branch, tag or commit.
    /// `None` means the current HEAD.
    pub base: Option<String>,
    /// Check it out in a work tree of its own at this path, and leave the
    /// user's work tree alone.
    pub isolate: Option<PathBuf>,
}

/// A branch that is checked out and ready.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreparedBranch {
    /// Root of the work tree that it is checked out in.
    pub root: PathBuf,
    /// The base's name, for people.
    pub base: String,
    /// Its head now: the start of the run.
    pub start: CommitId,
    /// That commit's tree.
    pub start_tree: TreeId,
    /// It existed before.
    pub reused: bool,
    /// How many commits of the base it lacks.
    pub behind: u32,
}

/// The work tree as a tree object: tracked and untracked files, without
/// ignored ones and without xiv's own untracked files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// The tree.
    pub tree: TreeId,
    /// What could not be put into it, with the reason.
    pub skipped: Vec<(RepoPath, String)>,
}

/// The tree that is gated: what validation left, without what only it made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GatedTree {
    /// The tree.
    pub tree: TreeId,
    /// Files of the later snapshot that the earlier one lacks; left out.
    pub created: Vec<RepoPath>,
}

/// One changed file in a [`TreeDiff`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeDiffFile {
    /// Its path on the new side, or on the old side when it was deleted.
    pub path: RepoPath,
    /// Lines added; 0 for a binary file.
    pub added: u32,
    /// Lines deleted; 0 for a binary file.
    pub deleted: u32,
    /// Its content is not shown: it is binary or generated.
    pub by_name_only: bool,
}

/// The difference of two trees, made with fixed settings whatever the user's
/// configuration says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeDiff {
    /// A unified git diff.
    pub patch: Vec<u8>,
    /// The changed files, in the patch's order.
    pub files: Vec<TreeDiffFile>,
}

/// What a step must leave as it found it: HEAD and the run's own branch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RefGuard {
    /// What HEAD was.
    pub head: HeadState,
    /// The run's branch.
    pub branch: BranchName,
    /// The branch's commit.
    pub commit: CommitId,
}

/// A guarded ref that did not stay where it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RefMove {
    /// `HEAD` or a full ref name.
    pub name: String,
    /// What it was.
    pub from: String,
    /// What it is now.
    pub to: String,
}

/// The one commit of a run. Everything that its id depends on is in here, so
/// that it can be found again after a crash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CommitPlan {
    /// The branch that it goes on.
    pub branch: BranchName,
    /// The branch start: the commit's only parent.
    pub parent: CommitId,
    /// Exactly the gated tree.
    pub tree: TreeId,
    /// The final message, after hooks.
    pub message: String,
    /// Author and committer date, in whole seconds.
    #[schemars(with = "String")]
    pub date: Timestamp,
    /// Where the branch is expected to be: its start, or the agent's own
    /// last commit.
    pub expected: CommitId,
    /// Keeps the agent's own commits reachable, when there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backup_ref: Option<String>,
}

/// Whether a planned commit exists already.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "redo must decide on each")]
pub enum CommitProbe {
    /// It does, and the branch is there.
    Found(CommitId),
    /// It does not: the branch is where the plan expects it.
    Absent,
    /// The branch is somewhere else; a person has to look.
    Moved(CommitId),
}

/// A commit that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Committed {
    /// Its id.
    pub commit: CommitId,
    /// Odd things, for instance an index that could not be refreshed.
    pub warnings: Vec<String>,
}

/// What callers branch on when version control failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum VcsErrorKind {
    /// There is no repository here.
    NotARepository,
    /// The work tree has changes.
    Dirty,
    /// A merge, rebase, cherry-pick, revert or bisect is under way.
    OperationInProgress,
    /// A ref is not where it was expected.
    RefMoved,
    /// Another process holds a lock.
    Locked,
    /// xiv will not do this.
    Refused,
    /// This repository or engine cannot do this.
    Unsupported,
    /// A hook or a server said no.
    Rejected,
    /// A program failed.
    Program,
}

/// A failed version control operation. Nothing was lost.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct VcsError {
    /// What callers branch on.
    pub kind: VcsErrorKind,
    /// What happened, for people.
    pub message: String,
    /// How to mend it.
    pub hints: Vec<String>,
    /// What caused it.
    #[source]
    pub source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl VcsError {
    /// An error without hints and without a cause.
    pub fn new(kind: VcsErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            hints: Vec::new(),
            source: None,
        }
    }

    /// Adds a hint.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Sets the cause.
    #[must_use]
    pub fn with_source(
        mut self,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        self.source = Some(source.into());
        self
    }

    /// Whether trying again may help.
    #[must_use]
    pub const fn is_temporary(&self) -> bool {
        matches!(self.kind, VcsErrorKind::Locked)
    }
}

/// A repository and one of its work trees.
#[async_trait]
pub trait Vcs: Debug + Send + Sync + 'static {
    /// What it can do.
    fn caps(&self) -> VcsCaps;

    /// Canonical path of the work tree's root.
    fn root(&self) -> &Path;

    /// Canonical path of what all work trees share (`.git`).
    fn common_dir(&self) -> &Path;

    /// The same repository, seen from another of its work trees.
    ///
    /// # Errors
    /// [`VcsErrorKind::NotARepository`] when it is none of its work trees.
    fn at(&self, root: &Path) -> Result<Arc<dyn Vcs>, VcsError>;

    /// Where the work tree stands.
    ///
    /// # Errors
    /// [`VcsErrorKind::Program`].
    ///
    /// # Cancellation
    /// Reads only; safe to drop.
    async fn state(&self, cx: StepContext) -> Result<WorkTreeState, VcsError>;

    /// Checks the branch out, made from its base when it does not exist. A
    /// second call finds everything done and changes nothing.
    ///
    /// # Errors
    /// Without `isolate`: [`VcsErrorKind::Dirty`],
    /// [`VcsErrorKind::OperationInProgress`]. Always:
    /// [`VcsErrorKind::Refused`] when the branch is checked out elsewhere, the
    /// base is unknown, or another branch's name is in its way.
    ///
    /// # Cancellation
    /// After a drop the branch may exist without being checked out; a second
    /// call completes it.
    async fn prepare(
        &self,
        request: BranchRequest,
        cx: StepContext,
    ) -> Result<PreparedBranch, VcsError>;

    /// Writes the work tree as a tree object. Touches neither index nor files.
    ///
    /// # Errors
    /// [`VcsErrorKind::Program`].
    ///
    /// # Cancellation
    /// Safe to drop; loose objects may stay.
    async fn snapshot(&self, cx: StepContext) -> Result<Snapshot, VcsError>;

    /// Keeps a tree reachable under a ref below `refs/xiv/`.
    ///
    /// # Errors
    /// [`VcsErrorKind::Refused`] for any other ref.
    async fn pin(&self, tree: &TreeId, name: &str, cx: StepContext) -> Result<(), VcsError>;

    /// Takes the files that only the later tree has out of it.
    ///
    /// `leftovers` are files that an earlier validation made and nobody has
    /// changed since; they count as if the earlier tree lacked them.
    ///
    /// # Errors
    /// [`VcsErrorKind::Program`].
    async fn gate_tree(
        &self,
        before: &TreeId,
        after: &TreeId,
        leftovers: &[RepoPath],
        cx: StepContext,
    ) -> Result<GatedTree, VcsError>;

    /// The difference of two trees.
    ///
    /// # Errors
    /// [`VcsErrorKind::Program`].
    ///
    /// # Cancellation
    /// Reads only; safe to drop.
    async fn diff(&self, from: &TreeId, to: &TreeId, cx: StepContext)
    -> Result<TreeDiff, VcsError>;

    /// Notes what HEAD and the branch are.
    ///
    /// # Errors
    /// [`VcsErrorKind::RefMoved`] when the branch is gone.
    async fn guard(&self, branch: &BranchName, cx: StepContext) -> Result<RefGuard, VcsError>;

    /// Puts HEAD and the branch back by compare-and-swap and says what had
    /// moved. The work tree's files stay as they are.
    ///
    /// # Errors
    /// [`VcsErrorKind::RefMoved`] when they move again meanwhile.
    async fn restore(&self, guard: &RefGuard, cx: StepContext) -> Result<Vec<RefMove>, VcsError>;

    /// The commits that `to` has and `from` lacks, oldest first.
    ///
    /// # Errors
    /// [`VcsErrorKind::Program`].
    async fn commits_between(
        &self,
        from: &CommitId,
        to: &CommitId,
        cx: StepContext,
    ) -> Result<Vec<CommitId>, VcsError>;

    /// Runs the repository's `commit-msg` hook over a message and returns what
    /// it made of it. The hook may not change the tree.
    ///
    /// # Errors
    /// [`VcsErrorKind::Rejected`] when the hook says no.
    async fn final_message(&self, message: &str, cx: StepContext) -> Result<String, VcsError>;

    /// Looks whether the planned commit exists: same parent, tree, message and
    /// dates, on the branch.
    ///
    /// # Errors
    /// [`VcsErrorKind::RefMoved`] when the branch is gone.
    async fn probe_commit(
        &self,
        plan: &CommitPlan,
        cx: StepContext,
    ) -> Result<CommitProbe, VcsError>;

    /// Makes the commit, moves the branch by compare-and-swap and brings the
    /// index to the new tree. Files are not touched. Never pushes.
    ///
    /// # Errors
    /// [`VcsErrorKind::RefMoved`] when the branch is not where the plan expects
    /// it.
    ///
    /// # Cancellation
    /// After a drop [`Vcs::probe_commit`] tells whether it was made.
    async fn commit(&self, plan: &CommitPlan, cx: StepContext) -> Result<Committed, VcsError>;
}

const _: Option<&dyn Vcs> = None;
