//! Work trees of one repository: which branch is checked out where, and making
//! one more.

use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use xiv_core::model::BranchName;
use xiv_core::port::VcsError;

use super::failure::{io, refused};
use super::lock::patiently;
use super::program::Git;

/// One work tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct WorkTree {
    pub(super) path: PathBuf,
    /// Full name of the branch that it is on.
    pub(super) branch: Option<String>,
    /// Its checkout did not finish.
    pub(super) unfinished: bool,
}

impl WorkTree {
    fn is_on(&self, branch: &BranchName) -> bool {
        self.branch.as_deref() == Some(format!("refs/heads/{branch}").as_str())
    }
}

/// All work trees, the main one first.
pub(super) async fn list(git: &Git) -> Result<Vec<WorkTree>, VcsError> {
    let printed = git
        .read(["worktree", "list", "--porcelain", "-z"])
        .ok()
        .await?;
    Ok(parse(&printed))
}

/// Reads records of `key value` fields; an empty field ends a record.
fn parse(printed: &[u8]) -> Vec<WorkTree> {
    let mut trees: Vec<WorkTree> = Vec::new();
    for field in printed.split(|&byte| byte == 0) {
        let at = field.iter().position(|&byte| byte == b' ');
        let (key, value) = at.map_or((field, &b""[..]), |at| (&field[..at], &field[at + 1..]));
        if key == b"worktree" {
            trees.push(WorkTree {
                path: PathBuf::from(std::ffi::OsStr::from_bytes(value)),
                branch: None,
                unfinished: false,
            });
        } else if let Some(tree) = trees.last_mut() {
            match key {
                b"branch" => tree.branch = Some(String::from_utf8_lossy(value).into_owned()),
                b"locked" => tree.unfinished = value == b"initializing",
                _ => {}
            }
        }
    }
    trees
}

/// Refuses when a branch is checked out in another work tree than `here`.
pub(super) fn refuse_elsewhere(
    trees: &[WorkTree],
    branch: &BranchName,
    here: &Path,
) -> Result<(), VcsError> {
    let elsewhere = trees
        .iter()
        .find(|tree| tree.is_on(branch) && !same(&tree.path, here));
    match elsewhere {
        None => Ok(()),
        Some(tree) => Err(refused(format!(
            "branch `{branch}` is checked out in `{}`",
            tree.path.display()
        ))
        .with_hint("run xiv there, or switch that work tree to another branch")),
    }
}

/// What is at the place of a wished work tree.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Site {
    /// Nothing yet.
    Free,
    /// A work tree on the wished branch.
    Ready,
    /// git still lists a work tree whose folder is gone.
    Vanished,
}

/// Looks whether a work tree for the branch can be, or is, at `path`.
pub(super) fn site(trees: &[WorkTree], branch: &BranchName, path: &Path) -> Result<Site, VcsError> {
    refuse_elsewhere(trees, branch, path)?;
    let shown = path.display();
    let Some(tree) = trees.iter().find(|tree| same(&tree.path, path)) else {
        let taken = path.read_dir().map_or_else(
            |_| path.symlink_metadata().is_ok(),
            |mut dir| dir.next().is_some(),
        );
        return if taken {
            Err(refused(format!(
                "`{shown}` exists and is not a work tree of this repository"
            )))
        } else {
            Ok(Site::Free)
        };
    };
    if tree.path.symlink_metadata().is_err() {
        Ok(Site::Vanished)
    } else if tree.unfinished {
        Err(
            refused(format!("the work tree at `{shown}` was never completed"))
                .with_hint(format!("git worktree remove --force --force '{shown}'")),
        )
    } else if tree.is_on(branch) {
        Ok(Site::Ready)
    } else {
        Err(refused(format!(
            "the work tree at `{shown}` is not on branch `{branch}`"
        ))
        .with_hint(format!(
            "git -C '{shown}' switch {branch}, or git worktree remove '{shown}'"
        )))
    }
}

/// Checks an existing branch out in a new work tree.
pub(super) async fn add(
    git: &Git,
    wait: Duration,
    branch: &BranchName,
    path: &Path,
    site: Site,
) -> Result<(), VcsError> {
    if site == Site::Ready {
        return Ok(());
    }
    if site == Site::Vanished {
        let forget = git.write(["worktree".as_ref(), "remove".as_ref(), path.as_os_str()]);
        forget.ok().await?;
    }
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent).map_err(|cause| io("create", parent, cause))?;
    }
    patiently(wait, || {
        git.write([
            "worktree".as_ref(),
            "add".as_ref(),
            "--quiet".as_ref(),
            path.as_os_str(),
            branch.as_str().as_ref(),
        ])
        .ok()
    })
    .await
    .map(drop)
}

/// Whether two paths mean the same place, also when it does not exist (yet).
fn same(a: &Path, b: &Path) -> bool {
    resolved(a) == resolved(b)
}

/// The path with links resolved as far as it exists.
fn resolved(path: &Path) -> PathBuf {
    if let Ok(real) = path.canonicalize() {
        return real;
    }
    match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) => resolved(parent).join(name),
        _ => path.to_path_buf(),
    }
}

#[cfg(test)]
mod tests {
    use super::{WorkTree, parse};

    #[test]
    fn records_are_read_whatever_is_in_a_path() {
        let printed = b"worktree /a b\nc\0HEAD 1\0branch refs/heads/main\0\0\
            worktree /d\0HEAD 2\0detached\0locked initializing\0\0";
        let want = [
            WorkTree {
                path: "/a b\nc".into(),
                branch: Some("refs/heads/main".into()),
                unfinished: false,
            },
            WorkTree {
                path: "/d".into(),
                branch: None,
                unfinished: true,
            },
        ];
        assert_eq!(parse(printed), want);
    }
}
