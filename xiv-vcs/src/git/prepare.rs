//! Gets a run's branch ready: made from its base or re-used, and checked out
//! in the user's work tree or in one of its own.
//!
//! Every step looks first whether it is done already, so that a second call
//! after a crash completes the first. Files of the user are never overwritten:
//! git refuses the checkout, ignored files included.

use std::path::{Path, PathBuf};
use std::time::Duration;

use xiv_core::model::{BranchName, CommitId};
use xiv_core::port::{BranchRequest, PreparedBranch, VcsError, VcsErrorKind, WorkTreeState};

use super::failure::{failed, refused, unreadable};
use super::lock::patiently;
use super::program::Git;
use super::refs::{Before, Update, branch_ref, delete_branch, transaction};
use super::repo::Repo;
use super::state::state;
use super::worktree;

/// How many paths a message names.
const NAMED: usize = 5;

/// Prepares the branch. The caller holds the repository's lock.
pub(super) async fn prepare(
    repo: &Repo,
    git: &Git,
    wait: Duration,
    request: &BranchRequest,
) -> Result<PreparedBranch, VcsError> {
    let preparing = Preparing {
        repo,
        git,
        wait,
        branch: &request.branch,
    };
    let base = preparing.base(request.base.as_deref()).await?;
    match &request.isolate {
        None => preparing.in_place(base).await,
        Some(path) => preparing.isolated(base, &repo.root().join(path)).await,
    }
}

/// What the branch starts from.
struct Base {
    name: String,
    commit: CommitId,
}

/// The branch as it is now.
struct Start {
    commit: CommitId,
    /// It was made by this call.
    fresh: bool,
}

struct Preparing<'a> {
    repo: &'a Repo,
    git: &'a Git,
    wait: Duration,
    branch: &'a BranchName,
}

impl Preparing<'_> {
    async fn base(&self, wanted: Option<&str>) -> Result<Base, VcsError> {
        let Some(name) = wanted else {
            let head = self.repo.head()?;
            let Some(commit) = head.commit else {
                return Err(refused("the repository has no commit yet")
                    .with_hint("make a first one: git commit --allow-empty -m \"first commit\""));
            };
            let name = match head.branch {
                Some(branch) => branch.to_string(),
                None => commit.as_str()[..12].to_owned(),
            };
            return Ok(Base { name, commit });
        };
        let unknown = || {
            refused(format!(
                "there is no branch, tag or commit `{name}` to start from"
            ))
            .with_hint("name the base with --base or `base` in xiv.toml")
        };
        // a clone of one branch may know the base by its remote only
        for candidate in [
            format!("refs/heads/{name}"),
            name.to_owned(),
            format!("refs/remotes/origin/{name}"),
        ] {
            let resolved = self
                .git
                .read(["rev-parse", "--verify", "--quiet", "--end-of-options"])
                .arg(format!("{candidate}^{{commit}}"))
                .run()
                .await?;
            if resolved.is_success() {
                let id = String::from_utf8_lossy(&resolved.stdout);
                return Ok(Base {
                    name: name.to_owned(),
                    commit: CommitId::parse(id.trim())
                        .map_err(|cause| unreadable("rev-parse").with_source(cause))?,
                });
            }
        }
        Err(unknown())
    }

    async fn in_place(&self, base: Base) -> Result<PreparedBranch, VcsError> {
        let root = self.repo.root();
        let state = state(self.repo, self.git).await?;
        refuse_unready(&state, root, Where::UserTree)?;
        worktree::refuse_elsewhere(&worktree::list(self.git).await?, self.branch, root)?;
        let start = self.branch_from(&base).await?;
        if state.head.branch.as_ref() != Some(self.branch) {
            self.or_undo(&start, self.check_out()).await?;
        }
        self.prepared(root.to_path_buf(), base, start).await
    }

    async fn isolated(&self, base: Base, path: &Path) -> Result<PreparedBranch, VcsError> {
        let site = worktree::site(&worktree::list(self.git).await?, self.branch, path)?;
        if site == worktree::Site::Ready {
            let there = Repo::open(path)?;
            let state = state(&there, &self.git.in_folder(there.root())).await?;
            refuse_unready(&state, path, Where::OwnTree)?;
        }
        let start = self.branch_from(&base).await?;
        let added = worktree::add(self.git, self.wait, self.branch, path, site);
        self.or_undo(&start, added).await?;
        let root = Repo::open(path)?.root().to_path_buf();
        self.prepared(root, base, start).await
    }

    /// The branch's head; the branch is made when there is none.
    async fn branch_from(&self, base: &Base) -> Result<Start, VcsError> {
        if let Some(commit) = self.repo.branch(self.branch)? {
            return Ok(Start {
                commit,
                fresh: false,
            });
        }
        self.refuse_name_in_the_way()?;
        let update = Update {
            name: branch_ref(self.branch),
            to: base.commit.to_string(),
            before: Before::Missing,
        };
        let why = format!("branch: Created from {}", base.name);
        transaction(self.repo, self.git, self.wait, &why, &[update]).await?;
        Ok(Start {
            commit: base.commit.clone(),
            fresh: true,
        })
    }

    /// A branch `feat` leaves no room for `feat/x`, and the other way round.
    fn refuse_name_in_the_way(&self) -> Result<(), VcsError> {
        let name = self.branch.as_str();
        let blocker = name
            .match_indices('/')
            .filter_map(|(at, _)| BranchName::parse(&name[..at]).ok())
            .find_map(|parent| match self.repo.branch(&parent) {
                Ok(None) => None,
                Ok(Some(_)) => Some(Ok(parent.to_string())),
                Err(error) => Some(Err(error)),
            })
            .transpose()?;
        let blocker = match blocker {
            Some(blocker) => Some(blocker),
            None => self.repo.first_branch_below(self.branch)?,
        };
        match blocker {
            None => Ok(()),
            Some(other) => Err(refused(format!(
                "branch `{name}` cannot be made while there is a branch `{other}`: \
                 git keeps one as a file where the other needs a folder"
            ))
            .with_hint(format!("rename it: git branch -m {other} <other-name>"))),
        }
    }

    async fn check_out(&self) -> Result<(), VcsError> {
        patiently(self.wait, || async {
            let captured = self
                .git
                .write(["checkout", "--quiet", "--no-guess", "--no-overwrite-ignore"])
                .arg(self.branch.as_str())
                .arg("--")
                .run()
                .await?;
            if captured.is_success() {
                return Ok(());
            }
            let error = failed("checkout", &captured);
            Err(if error.kind == VcsErrorKind::Program {
                VcsError {
                    kind: VcsErrorKind::Refused,
                    message: format!("git cannot switch to branch `{}`", self.branch),
                    ..error
                }
                .with_hint("move the files that git names out of the way")
            } else {
                error
            })
        })
        .await
    }

    /// When `work` fails, takes away a branch that this call has made.
    async fn or_undo(
        &self,
        start: &Start,
        work: impl Future<Output = Result<(), VcsError>>,
    ) -> Result<(), VcsError> {
        let Err(error) = work.await else {
            return Ok(());
        };
        let on_it = self.repo.head()?.branch.as_ref() == Some(self.branch);
        if start.fresh && !on_it {
            // what went wrong first is what people must hear
            let _undone = delete_branch(self.git, self.wait, self.branch, &start.commit).await;
        }
        Err(error)
    }

    async fn prepared(
        &self,
        root: PathBuf,
        base: Base,
        start: Start,
    ) -> Result<PreparedBranch, VcsError> {
        let behind = self
            .git
            .read(["rev-list", "--count"])
            .arg(format!("{}..{}", start.commit, base.commit))
            .line()
            .await?;
        Ok(PreparedBranch {
            root,
            base: base.name,
            start_tree: self.repo.commit(&start.commit)?.tree,
            start: start.commit,
            reused: !start.fresh,
            behind: behind
                .parse()
                .map_err(|cause| unreadable("rev-list").with_source(cause))?,
        })
    }
}

/// Whose work tree is looked at.
#[derive(Clone, Copy)]
enum Where {
    UserTree,
    OwnTree,
}

/// Refuses a work tree in which something is under way or not committed.
fn refuse_unready(state: &WorkTreeState, root: &Path, place: Where) -> Result<(), VcsError> {
    let shown = root.display();
    if let Some(operation) = &state.operation {
        return Err(VcsError::new(
            VcsErrorKind::OperationInProgress,
            format!("a {operation} is under way in `{shown}`"),
        )
        .with_hint(format!(
            "finish it, or give it up: git {}",
            way_out(operation)
        )));
    }
    if state.dirty.is_empty() {
        return Ok(());
    }
    let mut names: Vec<_> = state
        .dirty
        .iter()
        .take(NAMED)
        .map(|path| path.display().into_owned())
        .collect();
    if state.dirty.len() > NAMED {
        names.push(format!("{} more", state.dirty.len() - NAMED));
    }
    let error = VcsError::new(
        VcsErrorKind::Dirty,
        format!(
            "`{shown}` has changes that are not committed: {}",
            names.join(", ")
        ),
    );
    Err(match place {
        Where::UserTree => error
            .with_hint("commit or stash them")
            .with_hint("or leave them alone with --worktree, which works in a checkout of its own"),
        Where::OwnTree => {
            error.with_hint(format!("commit or discard them: git -C '{shown}' status"))
        }
    })
}

/// The arguments that end an operation without finishing it.
fn way_out(operation: &str) -> String {
    if operation == "bisect" {
        "bisect reset".to_owned()
    } else {
        format!("{operation} --abort")
    }
}
