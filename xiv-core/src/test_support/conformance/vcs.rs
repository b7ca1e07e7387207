//! The rules of the [`Vcs`] port, as cases that every engine must pass.

mod commit;
mod prepare;
mod refs;
mod trees;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;

use crate::model::{BranchName, CommitId, TreeId};
use crate::port::{BranchRequest, PreparedBranch, StepContext, Vcs, VcsError};
use crate::test_support::{FakeVcs, ManualClock, context};

/// A repository, and the hands of a user or an agent beside xiv.
///
/// Paths of files are relative to the work tree at `root`.
#[async_trait]
pub trait TestRepository: Send + Sync {
    /// Opens the repository's main work tree.
    async fn open(&self) -> Arc<dyn Vcs>;

    /// Writes a file.
    fn write(&self, root: &Path, path: &str, content: &str);

    /// Deletes a file.
    fn remove(&self, root: &Path, path: &str);

    /// Reads a file.
    fn read(&self, root: &Path, path: &str) -> Option<String>;

    /// Ignores what lies in a folder at the repository's root, without a file
    /// of the work tree saying so.
    fn ignore_folder(&self, folder: &str);

    /// Commits all of the main work tree on its HEAD.
    fn commit_all(&self, message: &str) -> CommitId;

    /// A branch's head.
    fn branch(&self, name: &BranchName) -> Option<CommitId>;

    /// Makes a branch or moves it, without any checkout; `None` deletes it.
    fn set_branch(&self, name: &BranchName, commit: Option<&CommitId>);

    /// Points HEAD of the main work tree at a branch; files stay.
    fn set_head(&self, branch: &BranchName);

    /// Points HEAD of the main work tree at a commit; files stay.
    fn detach_head(&self, commit: &CommitId);

    /// A path at which nothing is and a work tree may be made.
    fn spare_path(&self) -> PathBuf;
}

/// Runs every case.
///
/// `new` makes a repository with one commit on the branch `main`, which is
/// checked out and holds `a.txt` with the line `one`.
///
/// # Panics
/// When a rule is broken.
pub async fn vcs<N, R>(new: N)
where
    N: Fn() -> R + Send + Sync,
    R: TestRepository + 'static,
{
    let world = || World(Box::new(new()));
    prepare::cases(&world).await;
    trees::cases(&world).await;
    refs::cases(&world).await;
    commit::cases(&world).await;
}

fn cx() -> StepContext {
    context(&ManualClock::new())
}

fn branch(name: &str) -> BranchName {
    BranchName::parse(name).expect("the suite's branch names are branch names")
}

fn request(name: &str) -> BranchRequest {
    BranchRequest {
        branch: branch(name),
        base: None,
        isolate: None,
    }
}

/// A repository with shorthands for its main work tree.
struct World(Box<dyn TestRepository>);

impl World {
    async fn open(&self) -> Arc<dyn Vcs> {
        self.0.open().await
    }

    async fn write(&self, path: &str, content: &str) {
        self.0.write(self.open().await.root(), path, content);
    }

    async fn remove(&self, path: &str) {
        self.0.remove(self.open().await.root(), path);
    }

    async fn read(&self, path: &str) -> Option<String> {
        self.0.read(self.open().await.root(), path)
    }

    fn head_of(&self, name: &str) -> CommitId {
        let head = self.0.branch(&branch(name));
        head.unwrap_or_else(|| panic!("the branch {name} is gone"))
    }

    /// Prepares `feat/x-1` and says what came of it.
    async fn prepared(&self) -> (Arc<dyn Vcs>, PreparedBranch) {
        let vcs = self.open().await;
        let ready = vcs
            .prepare(request("feat/x-1"), cx())
            .await
            .expect("the branch is made ready");
        (vcs, ready)
    }
}

async fn snapshot(vcs: &dyn Vcs) -> TreeId {
    let snapshot = vcs.snapshot(cx()).await.expect("a snapshot");
    assert_eq!(snapshot.skipped, [], "nothing has to be left out");
    snapshot.tree
}

/// The paths that differ between two trees.
async fn changed(vcs: &dyn Vcs, from: &TreeId, to: &TreeId) -> Vec<String> {
    let diff = vcs.diff(from, to, cx()).await.expect("a diff");
    let paths = diff.files.iter().map(|file| file.path.to_string());
    let mut paths: Vec<String> = paths.collect();
    paths.sort();
    paths
}

/// What went wrong; it must have.
fn failed<T>(result: Result<T, VcsError>, deed: &str) -> VcsError {
    match result {
        Err(error) => {
            assert!(!error.message.trim().is_empty(), "{deed}: no reason given");
            error
        }
        Ok(_) => panic!("{deed} was let through"),
    }
}

#[async_trait]
impl TestRepository for FakeVcs {
    async fn open(&self) -> Arc<dyn Vcs> {
        Arc::new(self.clone())
    }

    fn write(&self, root: &Path, path: &str, content: &str) {
        Self::write(&self.work_tree(root), path, content);
    }

    fn remove(&self, root: &Path, path: &str) {
        Self::remove(&self.work_tree(root), path);
    }

    fn read(&self, root: &Path, path: &str) -> Option<String> {
        let bytes = Self::read(&self.work_tree(root), path)?;
        String::from_utf8(bytes).ok()
    }

    fn ignore_folder(&self, folder: &str) {
        self.ignore(&format!("{folder}/"));
    }

    fn commit_all(&self, message: &str) -> CommitId {
        Self::commit_all(self, message)
    }

    fn branch(&self, name: &BranchName) -> Option<CommitId> {
        Self::branch(self, name)
    }

    fn set_branch(&self, name: &BranchName, commit: Option<&CommitId>) {
        match commit {
            Some(commit) => Self::set_branch(self, name, commit),
            None => self.delete_branch(name),
        }
    }

    fn set_head(&self, branch: &BranchName) {
        Self::set_head(self, branch);
    }

    fn detach_head(&self, commit: &CommitId) {
        Self::detach_head(self, commit);
    }

    fn spare_path(&self) -> PathBuf {
        PathBuf::from("/elsewhere/work")
    }
}
