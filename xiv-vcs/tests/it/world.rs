//! A repository in a temporary folder, with a home of its own: nothing of the
//! machine's git configuration reaches it.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use tempfile::TempDir;
use xiv_core::model::{BranchName, CommitId, TreeId};
use xiv_core::port::{BranchRequest, CommitPlan, StepContext, Vcs};
use xiv_core::rt::process::Environment;
use xiv_core::test_support::ManualClock;
use xiv_vcs::{GitEngine, GitOptions};

/// The repository, its home and what is around it.
pub(crate) struct World {
    folder: TempDir,
    environment: Environment,
    root: PathBuf,
}

impl World {
    /// An empty repository on the unborn branch `main`.
    pub(crate) fn unborn() -> Self {
        Self::with_format("sha1")
    }

    pub(crate) fn with_format(format: &str) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let base = folder.path().canonicalize().expect("it exists");
        let root = base.join("repo");
        let config = base.join("gitconfig");
        std::fs::write(
            &config,
            "[user]\n name = A U Thor\n email = author@example.com\n\
             [init]\n defaultBranch = main\n[protocol \"file\"]\n allow = always\n",
        )
        .expect("the configuration is written");
        let environment = Environment::empty()
            .with("PATH", std::env::var_os("PATH").expect("a PATH"))
            .with("HOME", &base)
            .with("XDG_CONFIG_HOME", base.join("config"))
            .with("GIT_CONFIG_NOSYSTEM", "1")
            .with("GIT_CONFIG_GLOBAL", &config)
            .with("LC_ALL", "C.UTF-8");
        let world = Self {
            folder,
            environment,
            root,
        };
        std::fs::create_dir(world.root()).expect("the root is made");
        world.git(["init", "-q", &format!("--object-format={format}")]);
        world
    }

    /// A repository with one commit that holds `a.txt`.
    pub(crate) fn new() -> Self {
        let world = Self::unborn();
        world.write("a.txt", "one\n");
        world.commit_all("first");
        world
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// A path beside the repository.
    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        self.root.parent().expect("it lies in a folder").join(name)
    }

    pub(crate) fn environment_mut(&mut self) -> &mut Environment {
        &mut self.environment
    }

    pub(crate) fn options(&self) -> GitOptions {
        GitOptions::default()
            .with_environment(self.environment.clone())
            .with_lock_wait(Duration::from_millis(300))
    }

    pub(crate) async fn engine(&self) -> GitEngine {
        GitEngine::open(self.root(), self.options())
            .await
            .expect("the repository opens")
    }

    pub(crate) fn at(&self, path: impl AsRef<OsStr>) -> PathBuf {
        self.root.join(Path::new(path.as_ref()))
    }

    pub(crate) fn write(&self, path: impl AsRef<OsStr>, content: impl AsRef<[u8]>) {
        let path = self.at(path);
        std::fs::create_dir_all(path.parent().expect("it lies in a folder")).expect("folders");
        std::fs::write(path, content).expect("the file is written");
    }

    pub(crate) fn executable(&self, path: &str, content: &str) {
        self.write(path, content);
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(self.at(path), mode).expect("the mode is set");
    }

    pub(crate) fn read(&self, path: impl AsRef<OsStr>) -> String {
        std::fs::read_to_string(self.at(path)).expect("the file is read")
    }

    pub(crate) fn remove(&self, path: impl AsRef<OsStr>) {
        let path = self.at(path);
        if path.is_dir() && !path.is_symlink() {
            std::fs::remove_dir_all(path).expect("the folder is removed");
        } else {
            std::fs::remove_file(path).expect("the file is removed");
        }
    }

    /// Runs git in a folder, with more environment.
    pub(crate) fn try_git_in<A: AsRef<OsStr>>(
        &self,
        folder: &Path,
        env: &[(&str, &OsStr)],
        args: impl IntoIterator<Item = A>,
    ) -> Output {
        Command::new("git")
            .args(args)
            .current_dir(folder)
            .env_clear()
            .envs(self.environment.iter())
            .env("GIT_AUTHOR_DATE", "@1700000000 +0000")
            .env("GIT_COMMITTER_DATE", "@1700000000 +0000")
            .envs(env.iter().copied())
            .output()
            .expect("git runs")
    }

    /// Runs git in the repository and returns what it printed.
    pub(crate) fn git<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> String {
        self.git_in(self.root(), args)
    }

    pub(crate) fn git_in<A: AsRef<OsStr>>(
        &self,
        folder: &Path,
        args: impl IntoIterator<Item = A>,
    ) -> String {
        let output = self.try_git_in(folder, &[], args);
        assert!(
            output.status.success(),
            "git failed: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8_lossy(&output.stdout)
            .trim_end_matches('\n')
            .to_owned()
    }

    pub(crate) fn commit_all(&self, message: &str) -> CommitId {
        self.git(["add", "--all"]);
        self.git(["commit", "-q", "--allow-empty", "-m", message]);
        self.commit_of("HEAD")
    }

    pub(crate) fn commit_of(&self, name: &str) -> CommitId {
        CommitId::parse(self.git(["rev-parse", name])).expect("a commit id")
    }

    pub(crate) fn tree_of(&self, name: &str) -> TreeId {
        TreeId::parse(self.git(["rev-parse", &format!("{name}^{{tree}}")])).expect("a tree id")
    }

    /// `git status --porcelain`, one entry a line.
    pub(crate) fn status(&self) -> String {
        self.git(["status", "--porcelain", "-uall"])
    }

    /// The names in a tree, one a line.
    pub(crate) fn names(&self, tree: &TreeId) -> String {
        self.git(["ls-tree", "-r", "--name-only", tree.as_str()])
    }

    /// The tree by the book: `git add --all` on a copy of the index.
    pub(crate) fn tree_by_the_book(&self, flags: &[&str]) -> TreeId {
        let copy = self.folder.path().join("index-by-the-book");
        let real = self.git(["rev-parse", "--git-path", "index"]);
        let copied = Command::new("cp")
            .arg("-p")
            .arg(self.at(real))
            .arg(&copy)
            .status()
            .expect("cp runs");
        let env = [("GIT_INDEX_FILE", copy.as_os_str())];
        let mut args = vec!["add", "--all"];
        args.extend(flags);
        let added = self.try_git_in(self.root(), &env, args);
        assert!(
            added.status.success(),
            "{}",
            String::from_utf8_lossy(&added.stderr)
        );
        let tree = self.try_git_in(self.root(), &env, ["write-tree"]);
        if copied.success() || copy.exists() {
            std::fs::remove_file(&copy).expect("the copy is removed");
        }
        let tree = String::from_utf8(tree.stdout).expect("a tree id");
        TreeId::parse(tree.trim()).expect("a tree id")
    }

    pub(crate) fn index_bytes(&self) -> Vec<u8> {
        let index = self.git(["rev-parse", "--git-path", "index"]);
        std::fs::read(self.at(index)).unwrap_or_default()
    }

    /// The plan for a commit of `tree` on the branch that HEAD is on.
    pub(crate) fn plan(&self, tree: &TreeId, parent: &CommitId, message: &str) -> CommitPlan {
        let branch = self.git(["symbolic-ref", "--short", "HEAD"]);
        CommitPlan {
            branch: BranchName::parse(branch).expect("a branch"),
            parent: parent.clone(),
            tree: tree.clone(),
            message: message.to_owned(),
            date: Timestamp::from_second(1_750_000_000).expect("a time"),
            expected: self.commit_of("HEAD"),
            backup_ref: None,
        }
    }
}

/// A context whose signal is never given.
pub(crate) fn cx() -> StepContext {
    StepContext::new(Arc::new(ManualClock::default()), "vcs-test")
}

/// A name from bytes that need not be text.
pub(crate) fn name(bytes: &[u8]) -> &OsStr {
    OsStr::from_bytes(bytes)
}

pub(crate) fn branch(name: &str) -> BranchName {
    BranchName::parse(name).expect("a branch name")
}

/// A request for a branch in the user's own work tree.
pub(crate) fn request(name: &str) -> BranchRequest {
    BranchRequest {
        branch: branch(name),
        base: None,
        isolate: None,
    }
}

/// Snapshots and returns the tree; nothing may be skipped.
pub(crate) async fn snapshot(engine: &dyn Vcs) -> TreeId {
    let snapshot = engine.snapshot(cx()).await.expect("a snapshot");
    assert_eq!(snapshot.skipped, [], "nothing is skipped");
    snapshot.tree
}
