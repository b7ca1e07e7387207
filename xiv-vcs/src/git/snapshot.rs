//! Writes the work tree as a tree object: tracked files and untracked, not
//! ignored ones, as `git add --all` would put them in.
//!
//! Filters, line endings, attributes and ignore rules are git's own, applied
//! to a private copy of the index. What git cannot store at all (a FIFO, a
//! nested repository without a commit) is left out and named, where plain
//! `git add` would give up on everything.

use std::fs::FileType;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::FileTypeExt as _;
use std::path::PathBuf;

use xiv_core::model::{RepoPath, TreeId};
use xiv_core::port::{Snapshot, VcsError, VcsErrorKind};

use super::failure;
use super::index::{PrivateIndex, fields, null_separated};
use super::own::{OWN, is_own};
use super::program::Git;
use super::repo::Repo;

/// How often a work tree may move underneath before that is an error.
const TRIES: u32 = 4;

/// How often a file may vanish between git's listing it and its reading it.
/// In a busy work tree that says nothing against the next try.
const VANISHINGS: u32 = 60;

/// Takes a snapshot.
pub(super) async fn snapshot(repo: &Repo, git: &Git) -> Result<Snapshot, VcsError> {
    let hidden = repo.hidden_entries()?;
    let index = PrivateIndex::revealing(repo, git, &hidden).await?;
    let taking = Taking { repo, git, index };
    let skipped = taking.add_all().await?;
    let tree = taking
        .call(["write-tree", "--missing-ok"])
        .line()
        .await
        .and_then(tree_id)?;
    Ok(Snapshot { tree, skipped })
}

fn tree_id(hex: String) -> Result<TreeId, VcsError> {
    TreeId::parse(hex).map_err(|cause| failure::unreadable("write-tree").with_source(cause))
}

struct Taking<'a> {
    repo: &'a Repo,
    git: &'a Git,
    index: PrivateIndex,
}

impl Taking<'_> {
    fn call<const N: usize>(&self, args: [&str; N]) -> super::program::Call {
        let settings = ["-c", "core.safecrlf=false", "-c", "index.skipHash=true"];
        self.git
            .quiet(settings.into_iter().chain(args))
            .index(self.index.path())
    }

    /// Brings the private index to the work tree and names what it could not
    /// take.
    async fn add_all(&self) -> Result<Vec<(RepoPath, String)>, VcsError> {
        let mut last = None;
        let (mut tries, mut vanishings) = (0, 0);
        while tries < TRIES {
            let Err(error) = self.add().await else {
                return Ok(Vec::new());
            };
            if error.kind != VcsErrorKind::Program {
                return Err(error);
            }
            if vanished(&error) && vanishings < VANISHINGS {
                vanishings += 1;
                continue;
            }
            tries += 1;
            let left = self.left_over().await?;
            let (skipped, broken): (Vec<_>, Vec<_>) =
                left.into_iter().partition(|left| left.reason.is_some());
            if broken.is_empty() && !skipped.is_empty() {
                return self.leave_out(skipped).await;
            }
            last = Some((error, broken));
        }
        let (cause, broken) = last.expect("at least one try was made");
        // git may give up at the first such file, before it stored the others
        let what = match broken.as_slice() {
            [one] => format!("`{}`", one.path.display()),
            _ => "the work tree".to_owned(),
        };
        Err(VcsError::new(
            VcsErrorKind::Program,
            format!("{what} cannot be put into a tree"),
        )
        .with_hint("make what git names readable, mend its filter, or ignore it")
        .with_source(cause))
    }

    async fn add(&self) -> Result<(), VcsError> {
        let own_on_disk = OWN
            .iter()
            .any(|own| self.repo.root().join(own).symlink_metadata().is_ok());
        if !own_on_disk {
            let add = self.call(["add", "--all", "--sparse", "--ignore-errors"]);
            return add.ok().await.map(drop);
        }
        // xiv's own files are taken along only where they are tracked
        let [toml, folder] = OWN.map(|own| format!(":(exclude,top,literal){own}"));
        let others = self.call([
            "add",
            "--all",
            "--sparse",
            "--ignore-errors",
            "--",
            ":(top)",
            &toml,
            &folder,
        ]);
        others.ok().await?;
        let tracked = self
            .call(["ls-files", "-z", "--", OWN[0], OWN[1]])
            .ok()
            .await?;
        if tracked.is_empty() {
            return Ok(());
        }
        self.call([
            "add",
            "--update",
            "--sparse",
            "--ignore-errors",
            "--pathspec-from-file=-",
            "--pathspec-file-nul",
        ])
        .env("GIT_LITERAL_PATHSPECS", "1")
        .stdin(tracked)
        .ok()
        .await
        .map(drop)
    }

    /// What still differs from the work tree after an attempt.
    async fn left_over(&self) -> Result<Vec<Left>, VcsError> {
        let changed = self
            .call([
                "diff-files",
                "-z",
                "--name-only",
                "--ignore-submodules=dirty",
            ])
            .ok()
            .await?;
        let untracked = self
            .call(["ls-files", "-z", "--others", "--exclude-standard"])
            .ok()
            .await?;
        let tracked = fields(&changed).map(|path| (path, true));
        let others = fields(&untracked)
            .filter(|path| !is_own(path))
            .map(|path| (path, false));
        let mut left: Vec<Left> = tracked
            .chain(others)
            .map(|(path, tracked)| Left {
                path: RepoPath::new(path.to_vec()),
                tracked,
                reason: self.reason(path),
            })
            .collect();
        left.sort_by(|a, b| a.path.cmp(&b.path));
        left.dedup_by(|a, b| a.path == b.path);
        Ok(left)
    }

    /// Why git has no way to store what is at a path; `None` when it should
    /// have been able to.
    fn reason(&self, path: &[u8]) -> Option<String> {
        let on_disk: PathBuf = self.repo.root().join(std::ffi::OsStr::from_bytes(path));
        let kind = on_disk.symlink_metadata().ok()?.file_type();
        if kind.is_dir() {
            return on_disk
                .join(".git")
                .symlink_metadata()
                .is_ok()
                .then(|| "a nested repository without a commit".to_owned());
        }
        special(kind).map(|name| format!("a {name}"))
    }

    /// Takes tracked names out that now stand for something unstorable.
    async fn leave_out(&self, left: Vec<Left>) -> Result<Vec<(RepoPath, String)>, VcsError> {
        let gone: Vec<RepoPath> = left
            .iter()
            .filter(|left| left.tracked)
            .map(|left| left.path.clone())
            .collect();
        if !gone.is_empty() {
            self.call(["update-index", "--force-remove", "-z", "--stdin"])
                .stdin(null_separated(&gone))
                .ok()
                .await?;
        }
        Ok(left
            .into_iter()
            .map(|left| (left.path, left.reason.unwrap_or_default()))
            .collect())
    }
}

/// Whether git stumbled over a file that was there a moment ago. Its messages
/// are in English whatever the user's language is.
fn vanished(error: &VcsError) -> bool {
    let mut cause: Option<&dyn std::error::Error> = Some(error);
    while let Some(this) = cause {
        if this.to_string().contains("No such file or directory") {
            return true;
        }
        cause = this.source();
    }
    false
}

/// A path that the index could not take.
struct Left {
    path: RepoPath,
    tracked: bool,
    reason: Option<String>,
}

fn special(kind: FileType) -> Option<&'static str> {
    if kind.is_fifo() {
        Some("named pipe")
    } else if kind.is_socket() {
        Some("socket")
    } else if kind.is_char_device() || kind.is_block_device() {
        Some("device")
    } else {
        None
    }
}
