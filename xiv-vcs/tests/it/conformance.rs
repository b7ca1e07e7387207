//! The rules that every engine must keep, tried on the git engine.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use xiv_core::model::{BranchName, CommitId};
use xiv_core::port::Vcs;
use xiv_core::test_support::conformance::{self, TestRepository};

use crate::world::World;

#[async_trait]
impl TestRepository for World {
    async fn open(&self) -> Arc<dyn Vcs> {
        Arc::new(self.engine().await)
    }

    fn write(&self, root: &Path, path: &str, content: &str) {
        Self::write(self, root.join(path), content);
    }

    fn remove(&self, root: &Path, path: &str) {
        Self::remove(self, root.join(path));
    }

    fn read(&self, root: &Path, path: &str) -> Option<String> {
        std::fs::read_to_string(root.join(path)).ok()
    }

    fn ignore_folder(&self, folder: &str) {
        Self::write(self, ".git/info/exclude", format!("/{folder}/\n"));
    }

    fn commit_all(&self, message: &str) -> CommitId {
        Self::commit_all(self, message)
    }

    fn branch(&self, name: &BranchName) -> Option<CommitId> {
        let full = format!("refs/heads/{name}");
        let shown = self.try_git_in(self.root(), &[], ["rev-parse", "--verify", "-q", &full]);
        CommitId::parse(String::from_utf8_lossy(&shown.stdout).trim()).ok()
    }

    fn set_branch(&self, name: &BranchName, commit: Option<&CommitId>) {
        let full = format!("refs/heads/{name}");
        match commit {
            Some(commit) => self.git(["update-ref", &full, commit.as_str()]),
            None => self.git(["update-ref", "-d", &full]),
        };
    }

    fn set_head(&self, branch: &BranchName) {
        self.git(["symbolic-ref", "HEAD", &format!("refs/heads/{branch}")]);
    }

    fn detach_head(&self, commit: &CommitId) {
        self.git(["update-ref", "--no-deref", "HEAD", commit.as_str()]);
    }

    fn spare_path(&self) -> PathBuf {
        self.beside("spare/tree")
    }
}

#[tokio::test]
async fn the_git_engine_keeps_the_rules() {
    conformance::vcs(World::new).await;
}

#[tokio::test]
async fn so_it_does_with_longer_ids() {
    conformance::vcs(|| {
        let world = World::with_format("sha256");
        World::write(&world, "a.txt", "one\n");
        World::commit_all(&world, "first");
        world
    })
    .await;
}
