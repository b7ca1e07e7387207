//! A repository in memory: files, trees, commits, branches and work trees.
//!
//! It keeps the rules of the [`Vcs`](crate::port::Vcs) port. Tests use the
//! methods here to be the user or the agent beside xiv: to write files, to
//! commit, to move HEAD.

mod diff;
mod fault;
mod port;
mod repo;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use jiff::Timestamp;

pub use fault::{Fault, VcsOp, When};
use repo::{Files, Head, Repo};

use super::lock;
use crate::model::{BranchName, CommitId, RepoPath, TreeId};
use crate::port::HeadState;

/// A commit of a [`FakeVcs`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FakeCommit {
    /// Its parent; none for the first.
    pub parent: Option<CommitId>,
    /// Its tree.
    pub tree: TreeId,
    /// Its message.
    pub message: String,
    /// Author and committer date.
    pub date: Timestamp,
}

/// A repository in memory, seen from one of its work trees. Clones and
/// [`FakeVcs::work_tree`] share the repository.
#[derive(Clone)]
pub struct FakeVcs {
    repo: Arc<Mutex<Repo>>,
    root: PathBuf,
    common_dir: PathBuf,
}

impl FakeVcs {
    /// A repository at `/repo` with one commit on `main`, which holds
    /// `README.md`.
    #[must_use]
    pub fn new() -> Self {
        Self::with_files([("README.md", "# repo\n")])
    }

    /// A repository at `/repo` with one commit on `main`, which holds these
    /// files.
    #[must_use]
    pub fn with_files<P: AsRef<str>, C: Into<Vec<u8>>>(
        files: impl IntoIterator<Item = (P, C)>,
    ) -> Self {
        let root = PathBuf::from("/repo");
        let files = files
            .into_iter()
            .map(|(path, content)| (RepoPath::from(path.as_ref()), content.into()))
            .collect();
        Self {
            repo: Arc::new(Mutex::new(Repo::new(&root, files))),
            common_dir: root.join(".git"),
            root,
        }
    }

    fn repo(&self) -> MutexGuard<'_, Repo> {
        lock(&self.repo)
    }

    fn seen_from(&self, root: &Path) -> Self {
        Self {
            root: root.to_path_buf(),
            ..self.clone()
        }
    }

    /// The same repository, seen from another of its work trees.
    ///
    /// # Panics
    /// When there is no work tree at this path.
    #[must_use]
    pub fn work_tree(&self, root: &Path) -> Self {
        assert!(
            self.repo().has_work_tree(root),
            "{} is no work tree of the repository",
            root.display()
        );
        self.seen_from(root)
    }

    /// Writes a file into the work tree.
    pub fn write(&self, path: &str, content: impl Into<Vec<u8>>) {
        let mut repo = self.repo();
        let files = &mut repo.work_tree(&self.root).files;
        files.insert(RepoPath::from(path), content.into());
    }

    /// Deletes a file from the work tree.
    pub fn remove(&self, path: &str) {
        let mut repo = self.repo();
        let files = &mut repo.work_tree(&self.root).files;
        files.remove(&RepoPath::from(path));
    }

    /// Reads a file of the work tree.
    #[must_use]
    pub fn read(&self, path: &str) -> Option<Vec<u8>> {
        let mut repo = self.repo();
        let files = &repo.work_tree(&self.root).files;
        files.get(&RepoPath::from(path)).cloned()
    }

    /// Ignores untracked files whose path starts like this.
    pub fn ignore(&self, prefix: &str) {
        self.repo().ignored.push(prefix.as_bytes().to_vec());
    }

    /// Commits the whole work tree on HEAD, as an agent or a person would.
    pub fn commit_all(&self, message: &str) -> CommitId {
        self.repo().commit_all(&self.root, message)
    }

    /// Commits that were made through the port.
    #[must_use]
    pub fn commits_made(&self) -> usize {
        self.repo().commits_made
    }

    /// What a commit is.
    #[must_use]
    pub fn commit_info(&self, commit: &CommitId) -> Option<FakeCommit> {
        self.repo().commits.get(commit).cloned()
    }

    /// A branch's commits, newest first.
    #[must_use]
    pub fn history(&self, branch: &BranchName) -> Vec<CommitId> {
        let repo = self.repo();
        let head = repo.branches.get(branch);
        head.map_or_else(Vec::new, |head| repo.ancestry(head))
    }

    /// The files of a tree.
    #[must_use]
    pub fn tree_files(&self, tree: &TreeId) -> Option<Vec<(RepoPath, Vec<u8>)>> {
        let files = self.repo().trees.get(tree).cloned()?;
        Some(files.into_iter().collect())
    }

    /// The tree that a snapshot would give now.
    #[must_use]
    pub fn current_tree(&self) -> TreeId {
        self.repo().snapshot(&self.root)
    }

    /// A branch's head.
    #[must_use]
    pub fn branch(&self, name: &BranchName) -> Option<CommitId> {
        self.repo().branches.get(name).cloned()
    }

    /// Makes a branch or moves it, whatever it was before.
    pub fn set_branch(&self, name: &BranchName, commit: &CommitId) {
        self.repo().branches.insert(name.clone(), commit.clone());
    }

    /// Deletes a branch.
    pub fn delete_branch(&self, name: &BranchName) {
        self.repo().branches.remove(name);
    }

    /// What HEAD is.
    #[must_use]
    pub fn head(&self) -> HeadState {
        self.repo().head(&self.root)
    }

    /// Points HEAD at a branch; files stay as they are.
    pub fn set_head(&self, branch: &BranchName) {
        self.repo().work_tree(&self.root).head = Head::Branch(branch.clone());
    }

    /// Points HEAD at a commit; files stay as they are.
    pub fn detach_head(&self, commit: &CommitId) {
        self.repo().work_tree(&self.root).head = Head::Detached(commit.clone());
    }

    /// What a ref below `refs/xiv/` points at, as hex digits.
    #[must_use]
    pub fn reference(&self, name: &str) -> Option<String> {
        self.repo().refs.get(name).cloned()
    }

    /// Leaves a merge, rebase or the like under way (`Some`), or ends it.
    pub fn set_operation(&self, operation: Option<&str>) {
        self.repo().work_tree(&self.root).operation = operation.map(str::to_owned);
    }

    /// Installs a `commit-msg` hook: it returns the message to use, or why it
    /// refuses.
    pub fn set_commit_msg_hook(
        &self,
        hook: impl Fn(&str) -> Result<String, String> + Send + Sync + 'static,
    ) {
        self.repo().commit_msg = Some(Arc::new(hook));
    }

    /// Makes the next call of an operation fail or crash. Several for the same
    /// operation hit one call each, in order.
    pub fn inject(&self, op: VcsOp, when: When, fault: Fault) {
        self.repo().faults.inject(op, when, fault);
    }

    /// How often an operation was called.
    #[must_use]
    pub fn calls(&self, op: VcsOp) -> usize {
        self.repo().faults.calls(op)
    }
}

impl Default for FakeVcs {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for FakeVcs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FakeVcs")
            .field("root", &self.root)
            .field("head", &self.head())
            .finish_non_exhaustive()
    }
}
