//! The commit message, as the repository's `commit-msg` hook leaves it.
//!
//! The hook gets a copy of the index: it can look at what is staged but cannot
//! change what will be committed.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use xiv_core::port::{Events, VcsError, VcsErrorKind};

use super::failure::{self, GitFailure};
use super::index::PrivateIndex;
use super::program::Git;
use super::repo::Repo;
use super::snapshot::snapshot;

/// Runs the hook over a message and returns what it made of it, cleaned up as
/// `git commit` does.
pub(super) async fn final_message(
    repo: &Repo,
    git: &Git,
    message: &str,
    mark: &str,
    events: &Events,
) -> Result<String, VcsError> {
    let file = tempfile::NamedTempFile::with_prefix("xiv-message-")
        .map_err(|cause| failure::io("make a file in", &std::env::temp_dir(), cause))?;
    let path = file.path();
    std::fs::write(path, message).map_err(|cause| failure::io("write", path, cause))?;
    let before = match has_hook(repo, git).await? {
        true => Some(snapshot(repo, git).await?.tree),
        false => None,
    };
    run_hook(repo, git, path, mark).await?;
    if let Some(before) = before
        && snapshot(repo, git).await?.tree != before
    {
        events.warn("the commit-msg hook changed files; they are not part of the commit");
    }
    let written = std::fs::read(path).map_err(|cause| failure::io("read", path, cause))?;
    if written == message.as_bytes() {
        return Ok(message.to_owned());
    }
    let cleaned = git.read(["stripspace"]).stdin(written).ok().await?;
    let message = String::from_utf8(cleaned).map_err(|cause| {
        rejected("the commit-msg hook left text that is not UTF-8").with_source(cause)
    })?;
    if message.is_empty() {
        return Err(rejected("the commit-msg hook left an empty message"));
    }
    Ok(message)
}

async fn run_hook(repo: &Repo, git: &Git, message: &Path, mark: &str) -> Result<(), VcsError> {
    let index = PrivateIndex::copy_of(repo)?;
    let hook = git
        .for_hooks()
        .write(["hook", "run", "--ignore-missing", "commit-msg", "--"])
        .arg(message)
        .index(index.path())
        .swept(mark)
        .run()
        .await?;
    if hook.is_success() {
        return Ok(());
    }
    Err(rejected("the commit-msg hook refused the message").with_source(GitFailure::new(&hook)))
}

fn rejected(message: &str) -> VcsError {
    VcsError::new(VcsErrorKind::Rejected, message)
        .with_hint("run the hook by hand, or mend it, and resume the run")
}

async fn has_hook(repo: &Repo, git: &Git) -> Result<bool, VcsError> {
    let printed = git
        .write(["rev-parse", "--git-path", "hooks/commit-msg"])
        .ok()
        .await?;
    let path = printed.strip_suffix(b"\n").unwrap_or(&printed);
    Ok(repo.root().join(OsStr::from_bytes(path)).exists())
}
