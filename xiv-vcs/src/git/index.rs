//! A private copy of the index, so that the work tree can be looked at without
//! touching the real one.
//!
//! The copy keeps the original's modification time: git trusts an entry's
//! recorded size and times only when they are older than the index, so a newer
//! copy would hide a same-second edit of the same size.

use std::fs::{File, FileTimes};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use xiv_core::model::RepoPath;
use xiv_core::port::VcsError;

use super::failure;
use super::program::Git;
use super::repo::{Hidden, Repo};

/// The copy; gone when dropped.
#[derive(Debug)]
pub(super) struct PrivateIndex {
    _folder: TempDir,
    path: PathBuf,
}

impl PrivateIndex {
    /// Copies the index of a work tree. Without one the copy is empty.
    pub(super) fn copy_of(repo: &Repo) -> Result<Self, VcsError> {
        let original = repo.index_path();
        let folder = tempfile::Builder::new()
            .prefix("xiv-index-")
            .tempdir()
            .map_err(|cause| failure::io("make a folder in", &std::env::temp_dir(), cause))?;
        let path = folder.path().join("index");
        match copy_with_time(&original, &path) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(cause) => return Err(failure::io("copy", &original, cause)),
        }
        Ok(Self {
            _folder: folder,
            path,
        })
    }

    /// Copies the index and takes the bits off that would hide edits.
    pub(super) async fn revealing(
        repo: &Repo,
        git: &Git,
        hidden: &Hidden,
    ) -> Result<Self, VcsError> {
        let copy = Self::copy_of(repo)?;
        for (bit, paths) in [
            ("--no-assume-unchanged", &hidden.assumed),
            ("--no-skip-worktree", &hidden.skipped),
        ] {
            if !paths.is_empty() {
                git.quiet(["update-index", bit, "-z", "--stdin"])
                    .index(copy.path())
                    .stdin(null_separated(paths))
                    .ok()
                    .await?;
            }
        }
        Ok(copy)
    }

    /// Where the copy is.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

fn copy_with_time(from: &Path, to: &Path) -> std::io::Result<()> {
    let mut source = File::open(from)?;
    // of the open file: the name may stand for a newer one by now
    let modified = source.metadata()?.modified()?;
    let mut target = File::create_new(to)?;
    std::io::copy(&mut source, &mut target)?;
    target.set_times(FileTimes::new().set_modified(modified))
}

/// Paths as git reads them with `-z --stdin`.
pub(super) fn null_separated(paths: &[RepoPath]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for path in paths {
        bytes.extend_from_slice(path.as_bytes());
        bytes.push(0);
    }
    bytes
}

/// Splits what git prints with `-z`.
pub(super) fn fields(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let bytes = bytes.strip_suffix(b"\0").unwrap_or(bytes);
    bytes
        .split(|&byte| byte == 0)
        .filter(move |_| !bytes.is_empty())
}
