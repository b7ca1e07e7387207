//! The one commit of a run: made from a tree, put on its branch by
//! compare-and-swap, and the index brought to it.
//!
//! Neither the work tree nor the index has a say in what is committed, so
//! whatever was written after the gate stays out and is what `git status`
//! shows afterwards.

use std::path::Path;
use std::time::Duration;

use xiv_core::model::CommitId;
use xiv_core::port::{CommitPlan, CommitProbe, Committed, VcsError, VcsErrorKind};

use super::failure::unreadable;
use super::identity::{self, NO_GUESSING};
use super::lock::patiently;
use super::program::Git;
use super::refs::{Before, Update, branch_ref, commit_of, private_ref, transaction};
use super::repo::{CommitFacts, Repo};

/// How far back from the branch's head the planned commit is looked for.
const FAR_BACK: usize = 1000;

/// Looks for the planned commit on the branch.
pub(super) fn probe(repo: &Repo, plan: &CommitPlan) -> Result<CommitProbe, VcsError> {
    let head = commit_of(repo, &plan.branch)?;
    let mut candidate = head.clone();
    for _ in 0..FAR_BACK {
        if candidate == plan.parent {
            break;
        }
        let facts = repo.commit(&candidate)?;
        if is_planned(&facts, plan) {
            return Ok(CommitProbe::Found(candidate));
        }
        let Some(parent) = facts.parents.into_iter().next() else {
            break;
        };
        candidate = parent;
    }
    Ok(if head == plan.expected {
        CommitProbe::Absent
    } else {
        CommitProbe::Moved(head)
    })
}

fn is_planned(facts: &CommitFacts, plan: &CommitPlan) -> bool {
    let date = plan.date.as_second();
    facts.parents == [plan.parent.clone()]
        && facts.tree == plan.tree
        && facts.message.trim_ascii_end() == plan.message.as_bytes().trim_ascii_end()
        && facts.authored == date
        && facts.committed == date
}

/// Makes the commit object; no ref moves yet. Signing may ask for a
/// passphrase, so this part can be cancelled.
pub(super) async fn create(
    repo: &Repo,
    git: &Git,
    plan: &CommitPlan,
) -> Result<CommitId, VcsError> {
    if let Some(operation) = repo.operation() {
        return Err(under_way(&operation, repo.root()));
    }
    identity::check(git).await?;
    let date = format!("@{} +0000", plan.date.as_second());
    let sign = git
        .read(["config", "--type=bool", "--get", "commit.gpgsign"])
        .run()
        .await?;
    let encoding = ["-c", "i18n.commitEncoding=UTF-8"];
    let mut call = git.write(
        NO_GUESSING
            .into_iter()
            .chain(encoding)
            .chain(["commit-tree"]),
    );
    if sign.stdout.trim_ascii() == b"true" {
        call = call.arg("-S");
    }
    let id = call
        .arg("-p")
        .arg(plan.parent.as_str())
        .arg(plan.tree.as_str())
        .env("GIT_AUTHOR_DATE", &date)
        .env("GIT_COMMITTER_DATE", &date)
        .stdin(format!("{}\n", plan.message.trim_end()))
        .line()
        .await?;
    CommitId::parse(id).map_err(|cause| unreadable("commit-tree").with_source(cause))
}

/// Puts a commit that was just created on its branch, or finds the one that is
/// there already, and brings the index to it.
pub(super) async fn complete(
    repo: &Repo,
    git: &Git,
    wait: Duration,
    plan: &CommitPlan,
    fresh: Option<CommitId>,
) -> Result<Committed, VcsError> {
    // once more, now that nobody else can move the branch
    let commit = match (probe(repo, plan)?, fresh) {
        (CommitProbe::Found(commit), _) => commit,
        (CommitProbe::Absent, Some(commit)) => {
            publish(repo, git, wait, plan, &commit).await?;
            commit
        }
        (CommitProbe::Absent, None) => return Err(moved(plan, &commit_of(repo, &plan.branch)?)),
        (CommitProbe::Moved(to), _) => return Err(moved(plan, &to)),
    };
    Ok(Committed {
        warnings: refresh_index(repo, git, wait, plan, &commit).await?,
        commit,
    })
}

/// The error for an operation that somebody began and did not finish. Its way
/// out is the one that leaves the files as they are.
fn under_way(operation: &str, root: &Path) -> VcsError {
    let end = match operation {
        "bisect" => "bisect reset HEAD".to_owned(),
        other => format!("{other} --quit"),
    };
    VcsError::new(
        VcsErrorKind::OperationInProgress,
        format!("a {operation} is under way in `{}`", root.display()),
    )
    .with_hint(format!("end it and keep the files: git {end}"))
}

/// Moves the branch to the commit, keeping the agent's own ones reachable.
async fn publish(
    repo: &Repo,
    git: &Git,
    wait: Duration,
    plan: &CommitPlan,
    commit: &CommitId,
) -> Result<(), VcsError> {
    let mut updates = vec![Update {
        name: branch_ref(&plan.branch),
        to: commit.to_string(),
        before: Before::At(plan.expected.clone()),
    }];
    if let Some(backup) = &plan.backup_ref {
        private_ref(backup)?;
        updates.push(Update {
            name: backup.clone(),
            to: plan.expected.to_string(),
            before: Before::Whatever,
        });
    }
    let subject = plan.message.lines().next().unwrap_or_default();
    transaction(repo, git, wait, &format!("commit: {subject}"), &updates).await
}

/// The error for a branch that somebody else has moved.
pub(super) fn moved(plan: &CommitPlan, to: &CommitId) -> VcsError {
    VcsError::new(
        VcsErrorKind::RefMoved,
        format!(
            "branch `{}` is at {to}, expected {}",
            plan.branch, plan.expected
        ),
    )
    .with_hint("somebody else has moved it: look at it with git log before going on")
}

/// Brings the index to the committed tree, so that `git status` shows what is
/// not in it. Says what did not work; the commit stands in any case.
async fn refresh_index(
    repo: &Repo,
    git: &Git,
    wait: Duration,
    plan: &CommitPlan,
    commit: &CommitId,
) -> Result<Vec<String>, VcsError> {
    let head = repo.head()?;
    if head.branch.as_ref() != Some(&plan.branch) || head.commit.as_ref() != Some(commit) {
        return Ok(vec![format!(
            "HEAD is not at the new commit of branch `{}`, so the index was left alone",
            plan.branch
        )]);
    }
    let merged = read_tree(git, wait, ["-i", "-m"], plan).await;
    let read = match merged {
        // an index with conflicts in it: nothing to merge with
        Err(error) if error.kind == VcsErrorKind::Program => {
            read_tree(git, wait, ["-i", "--reset"], plan).await
        }
        other => other,
    };
    if let Err(error) = read {
        return Ok(vec![format!(
            "the index could not be brought to the new commit ({error}); run `git reset` to do so"
        )]);
    }
    // it exits with 1 when files differ from the index, which is no failure
    let _differs = git
        .for_hooks()
        .write(["update-index", "-q", "--refresh"])
        .run()
        .await?;
    Ok(Vec::new())
}

async fn read_tree(
    git: &Git,
    wait: Duration,
    how: [&str; 2],
    plan: &CommitPlan,
) -> Result<(), VcsError> {
    patiently(wait, || {
        git.for_hooks()
            .write(["read-tree"].into_iter().chain(how))
            .arg(plan.tree.as_str())
            .ok()
    })
    .await
    .map(drop)
}
