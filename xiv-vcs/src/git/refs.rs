//! Moving refs by compare-and-swap, and putting back what a step has moved.
//!
//! All of it goes through `git update-ref`, one transaction per change, so
//! reflogs, ref hooks and checks are git's own.

use std::time::Duration;

use xiv_core::model::{BranchName, CommitId, TreeId};
use xiv_core::port::{HeadState, RefGuard, RefMove, VcsError, VcsErrorKind};

use super::failure::{self, refused};
use super::lock::patiently;
use super::program::Git;
use super::repo::Repo;

/// What a ref must be before it is moved.
#[derive(Debug, Clone)]
pub(super) enum Before {
    /// Anything, or nothing.
    Whatever,
    /// It must not exist.
    Missing,
    /// It must be there.
    At(CommitId),
}

/// One ref to move.
#[derive(Debug, Clone)]
pub(super) struct Update {
    /// Its full name.
    pub(super) name: String,
    /// What it becomes.
    pub(super) to: String,
    /// What it must be now.
    pub(super) before: Before,
}

/// The full name of a branch.
pub(super) fn branch_ref(branch: &BranchName) -> String {
    format!("refs/heads/{branch}")
}

/// Moves refs, all or none.
pub(super) async fn transaction(
    repo: &Repo,
    git: &Git,
    wait: Duration,
    why: &str,
    updates: &[Update],
) -> Result<(), VcsError> {
    let mut input = Vec::new();
    for Update { name, to, before } in updates {
        let before = match before {
            Before::Whatever => String::new(),
            Before::Missing => repo.null_id(),
            Before::At(commit) => commit.to_string(),
        };
        input.extend_from_slice(format!("update {name}\0{to}\0{before}\0").as_bytes());
    }
    swap(
        git,
        wait,
        &["-m", why, "--no-deref", "-z", "--stdin"],
        &input,
    )
    .await
}

/// Takes a branch away again that is still where it was made.
pub(super) async fn delete_branch(
    git: &Git,
    wait: Duration,
    branch: &BranchName,
    at: &CommitId,
) -> Result<(), VcsError> {
    let input = format!("delete {}\0{at}\0", branch_ref(branch));
    swap(
        git,
        wait,
        &["--no-deref", "-z", "--stdin"],
        input.as_bytes(),
    )
    .await
}

async fn swap(git: &Git, wait: Duration, args: &[&str], input: &[u8]) -> Result<(), VcsError> {
    patiently(wait, || async {
        let captured = git
            .for_hooks()
            .write(["update-ref"].iter().chain(args).copied())
            .stdin(input)
            .run()
            .await?;
        if captured.is_success() {
            return Ok(());
        }
        let said = captured.stderr_text();
        let moved = [
            "but expected",
            "reference already exists",
            "unable to resolve reference",
            "reference is missing",
        ];
        let error = failure::failed("update-ref", &captured);
        if error.kind != VcsErrorKind::Program {
            Err(error)
        } else if moved.iter().any(|words| said.contains(words)) {
            Err(VcsError {
                kind: VcsErrorKind::RefMoved,
                message: "a ref is not where it was expected".to_owned(),
                ..error
            })
        } else {
            Err(error)
        }
    })
    .await
}

/// Keeps a tree reachable under one of xiv's own refs.
pub(super) async fn pin(
    repo: &Repo,
    git: &Git,
    wait: Duration,
    tree: &TreeId,
    name: &str,
) -> Result<(), VcsError> {
    private_ref(name)?;
    let update = Update {
        name: name.to_owned(),
        to: tree.to_string(),
        before: Before::Whatever,
    };
    transaction(repo, git, wait, "xiv: pin", &[update]).await
}

/// Refuses every ref that is not below `refs/xiv/`.
pub(super) fn private_ref(name: &str) -> Result<(), VcsError> {
    let below = name.strip_prefix("refs/xiv/");
    match below.map(BranchName::parse) {
        Some(Ok(_)) => Ok(()),
        _ => Err(refused(format!(
            "`{name}` is not a ref that xiv writes: its own are below `refs/xiv/`"
        ))),
    }
}

/// Notes where HEAD and the branch are.
pub(super) fn guard(repo: &Repo, branch: &BranchName) -> Result<RefGuard, VcsError> {
    Ok(RefGuard {
        head: repo.head()?,
        branch: branch.clone(),
        commit: commit_of(repo, branch)?,
    })
}

/// The commit of a branch that has to exist.
pub(super) fn commit_of(repo: &Repo, branch: &BranchName) -> Result<CommitId, VcsError> {
    repo.branch(branch)?.ok_or_else(|| {
        VcsError::new(
            VcsErrorKind::RefMoved,
            format!("branch `{branch}` does not exist any more"),
        )
    })
}

/// Puts HEAD and the branch back where the guard saw them.
pub(super) async fn restore(
    repo: &Repo,
    git: &Git,
    wait: Duration,
    guard: &RefGuard,
) -> Result<Vec<RefMove>, VcsError> {
    let mut moves = Vec::new();
    let now = repo.branch(&guard.branch)?;
    if now.as_ref() != Some(&guard.commit) {
        moves.push(RefMove {
            name: branch_ref(&guard.branch),
            from: guard.commit.to_string(),
            to: now.as_ref().map_or_else(String::new, CommitId::to_string),
        });
        let update = Update {
            name: branch_ref(&guard.branch),
            to: guard.commit.to_string(),
            before: now.map_or(Before::Missing, Before::At),
        };
        transaction(repo, git, wait, "xiv: put back", &[update]).await?;
    }
    let head = repo.head()?;
    if place(&head) != place(&guard.head) {
        moves.push(RefMove {
            name: "HEAD".to_owned(),
            from: place(&guard.head),
            to: place(&head),
        });
        put_head_back(repo, git, wait, &head, &guard.head).await?;
    }
    Ok(moves)
}

/// What HEAD itself holds: a branch's full name, or a commit.
fn place(head: &HeadState) -> String {
    match (&head.branch, &head.commit) {
        (Some(branch), _) => branch_ref(branch),
        (None, Some(commit)) => commit.to_string(),
        (None, None) => String::new(),
    }
}

async fn put_head_back(
    repo: &Repo,
    git: &Git,
    wait: Duration,
    now: &HeadState,
    then: &HeadState,
) -> Result<(), VcsError> {
    match (&then.branch, &then.commit) {
        (Some(branch), _) => {
            let target = branch_ref(branch);
            patiently(wait, || {
                git.for_hooks()
                    .write(["symbolic-ref", "-m", "xiv: put back", "HEAD", &target])
                    .ok()
            })
            .await
            .map(drop)
        }
        (None, Some(commit)) => {
            let update = Update {
                name: "HEAD".to_owned(),
                to: commit.to_string(),
                before: now.commit.clone().map_or(Before::Whatever, Before::At),
            };
            transaction(repo, git, wait, "xiv: put back", &[update]).await
        }
        (None, None) => Ok(()),
    }
}
