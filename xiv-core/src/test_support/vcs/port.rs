//! The `Vcs` port over the repository in memory.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;

use super::fault::{VcsOp, When};
use super::repo::{Head, Repo};
use super::{FakeCommit, FakeVcs, diff};
use crate::model::{BranchName, CommitId, RepoPath, TreeId};
use crate::port::{
    BranchRequest, CommitPlan, CommitProbe, Committed, GatedTree, PreparedBranch, RefGuard,
    RefMove, Snapshot, StepContext, TreeDiff, Vcs, VcsCaps, VcsError, VcsErrorKind, WorkTreeState,
};

impl FakeVcs {
    /// Carries an operation out between the faults that are meant for it.
    async fn operate<T>(
        &self,
        op: VcsOp,
        effect: impl FnOnce(&mut Repo) -> Result<T, VcsError> + Send,
    ) -> Result<T, VcsError> {
        let fault = self.repo().faults.begin(op);
        match fault {
            Some((When::Before, fault)) => fault.strike(op).await,
            Some((When::After, fault)) => {
                effect(&mut self.repo())?;
                fault.strike(op).await
            }
            None => effect(&mut self.repo()),
        }
    }
}

fn refused(message: String) -> VcsError {
    VcsError::new(VcsErrorKind::Refused, message)
}

fn branch_head(repo: &Repo, branch: &BranchName) -> Result<CommitId, VcsError> {
    repo.branches.get(branch).cloned().ok_or_else(|| {
        VcsError::new(
            VcsErrorKind::RefMoved,
            format!("the branch {branch} is gone"),
        )
    })
}

fn prepare(
    repo: &mut Repo,
    root: &Path,
    request: &BranchRequest,
) -> Result<PreparedBranch, VcsError> {
    let branch = &request.branch;
    let target = request.isolate.as_deref().unwrap_or(root);
    if repo.has_work_tree(target) {
        check_clean(repo, target)?;
    }
    let head = repo.head(root);
    let (base, base_commit) = match &request.base {
        Some(base) => (base.clone(), repo.resolve(base)),
        None => {
            let commit = head.commit.as_ref().map(ToString::to_string);
            let name = head.branch.map(String::from).or(commit);
            (name.unwrap_or_else(|| "HEAD".to_owned()), head.commit)
        }
    };
    let base_commit =
        base_commit.ok_or_else(|| refused(format!("the base {base} is not known")))?;
    if let Some(elsewhere) = repo.checked_out_elsewhere(branch, target) {
        let place = elsewhere.display();
        return Err(refused(format!("{branch} is checked out at {place}")));
    }
    check_target(repo, root, target, branch)?;
    let reused = repo.branches.contains_key(branch);
    if !reused {
        if let Some(other) = repo.name_in_the_way(branch) {
            let message = format!("the branch {other} does not leave room for {branch}");
            return Err(refused(message));
        }
        repo.branches.insert(branch.clone(), base_commit.clone());
    }
    if let Err(error) = repo.check_out(target, branch) {
        if !reused {
            repo.branches.remove(branch);
        }
        return Err(error);
    }
    let start = branch_head(repo, branch)?;
    let start_tree = repo.commits[&start].tree.clone();
    let behind = repo.between(&start, &base_commit).len();
    Ok(PreparedBranch {
        root: target.to_path_buf(),
        base,
        start,
        start_tree,
        reused,
        behind: u32::try_from(behind).unwrap_or(u32::MAX),
    })
}

fn check_clean(repo: &Repo, root: &Path) -> Result<(), VcsError> {
    if let Some(operation) = repo.operation(root) {
        let message = format!("a {operation} is under way");
        return Err(VcsError::new(VcsErrorKind::OperationInProgress, message));
    }
    let dirty = repo.dirty(root);
    if dirty.is_empty() {
        return Ok(());
    }
    let names: Vec<_> = dirty.iter().map(RepoPath::display).collect();
    let message = format!("the work tree has changes: {}", names.join(", "));
    Err(VcsError::new(VcsErrorKind::Dirty, message))
}

/// A work tree of its own is new, or has this very branch checked out.
fn check_target(
    repo: &Repo,
    root: &Path,
    target: &Path,
    branch: &BranchName,
) -> Result<(), VcsError> {
    let mine = |repo: &Repo| repo.head(target).branch.as_ref() == Some(branch);
    if target == root || !repo.has_work_tree(target) || mine(repo) {
        return Ok(());
    }
    let place = target.display();
    Err(refused(format!("{place} has another branch checked out")))
}

fn restore(repo: &mut Repo, root: &Path, guard: &RefGuard) -> Vec<RefMove> {
    let mut moves = Vec::new();
    let now = repo.branches.get(&guard.branch).cloned();
    if now.as_ref() != Some(&guard.commit) {
        moves.push(RefMove {
            name: guard.branch.to_ref(),
            from: guard.commit.to_string(),
            to: now.map_or_else(String::new, String::from),
        });
        repo.branches
            .insert(guard.branch.clone(), guard.commit.clone());
    }
    let wanted = match (&guard.head.branch, &guard.head.commit) {
        (Some(branch), _) => Head::Branch(branch.clone()),
        (None, Some(commit)) => Head::Detached(commit.clone()),
        (None, None) => return moves,
    };
    let work_tree = repo.work_tree(root);
    if work_tree.head != wanted {
        moves.push(RefMove {
            name: "HEAD".to_owned(),
            from: head_name(&wanted),
            to: head_name(&work_tree.head),
        });
        work_tree.head = wanted;
    }
    moves
}

fn head_name(head: &Head) -> String {
    match head {
        Head::Branch(branch) => branch.to_ref(),
        Head::Detached(commit) => commit.to_string(),
    }
}

fn is_planned(repo: &Repo, commit: &CommitId, plan: &CommitPlan) -> bool {
    repo.commits.get(commit).is_some_and(|found| {
        found.parent.as_ref() == Some(&plan.parent)
            && found.tree == plan.tree
            && found.message == plan.message
            && found.date.as_second() == plan.date.as_second()
    })
}

fn probe(repo: &Repo, plan: &CommitPlan) -> Result<CommitProbe, VcsError> {
    let head = branch_head(repo, &plan.branch)?;
    let mut history = repo.ancestry(&head).into_iter();
    Ok(
        match history.find(|commit| is_planned(repo, commit, plan)) {
            Some(found) => CommitProbe::Found(found),
            None if head == plan.expected => CommitProbe::Absent,
            None => CommitProbe::Moved(head),
        },
    )
}

fn commit(repo: &mut Repo, plan: &CommitPlan) -> Result<Committed, VcsError> {
    match probe(repo, plan)? {
        CommitProbe::Found(commit) => Ok(Committed {
            commit,
            warnings: Vec::new(),
        }),
        CommitProbe::Absent => make_commit(repo, plan),
        CommitProbe::Moved(head) => {
            let message = format!("{} is at {head}, not at {}", plan.branch, plan.expected);
            Err(VcsError::new(VcsErrorKind::RefMoved, message))
        }
    }
}

fn make_commit(repo: &mut Repo, plan: &CommitPlan) -> Result<Committed, VcsError> {
    repo.files_of(&plan.tree)?;
    repo.files_at(&plan.parent)?;
    if let Some(backup) = &plan.backup_ref {
        check_own_ref(backup)?;
        repo.refs.insert(backup.clone(), plan.expected.to_string());
    }
    let commit = repo.store_commit(FakeCommit {
        parent: Some(plan.parent.clone()),
        tree: plan.tree.clone(),
        message: plan.message.clone(),
        date: plan.date,
    });
    repo.branches.insert(plan.branch.clone(), commit.clone());
    repo.commits_made += 1;
    Ok(Committed {
        commit,
        warnings: Vec::new(),
    })
}

fn check_own_ref(name: &str) -> Result<(), VcsError> {
    let below = name.strip_prefix("refs/xiv/");
    if below.is_some_and(|rest| BranchName::parse(rest).is_ok()) {
        Ok(())
    } else {
        Err(refused(format!("{name} is not a ref of xiv")))
    }
}

#[async_trait]
impl Vcs for FakeVcs {
    fn caps(&self) -> VcsCaps {
        VcsCaps {
            engine: "git",
            object_format: "sha1".to_owned(),
            worktrees: true,
        }
    }

    fn root(&self) -> &Path {
        &self.root
    }

    fn common_dir(&self) -> &Path {
        &self.common_dir
    }

    fn at(&self, root: &Path) -> Result<Arc<dyn Vcs>, VcsError> {
        if self.repo().has_work_tree(root) {
            return Ok(Arc::new(self.seen_from(root)));
        }
        let message = format!("{} is no work tree of this repository", root.display());
        Err(VcsError::new(VcsErrorKind::NotARepository, message))
    }

    async fn state(&self, _cx: StepContext) -> Result<WorkTreeState, VcsError> {
        self.operate(VcsOp::State, |repo| {
            Ok(WorkTreeState {
                head: repo.head(&self.root),
                operation: repo.operation(&self.root),
                dirty: repo.dirty(&self.root),
            })
        })
        .await
    }

    async fn prepare(
        &self,
        request: BranchRequest,
        _cx: StepContext,
    ) -> Result<PreparedBranch, VcsError> {
        self.operate(VcsOp::Prepare, |repo| prepare(repo, &self.root, &request))
            .await
    }

    async fn snapshot(&self, _cx: StepContext) -> Result<Snapshot, VcsError> {
        self.operate(VcsOp::Snapshot, |repo| {
            Ok(Snapshot {
                tree: repo.snapshot(&self.root),
                skipped: Vec::new(),
            })
        })
        .await
    }

    async fn pin(&self, tree: &TreeId, name: &str, _cx: StepContext) -> Result<(), VcsError> {
        self.operate(VcsOp::Pin, |repo| {
            check_own_ref(name)?;
            repo.files_of(tree)?;
            repo.refs.insert(name.to_owned(), tree.to_string());
            Ok(())
        })
        .await
    }

    async fn gate_tree(
        &self,
        before: &TreeId,
        after: &TreeId,
        leftovers: &[RepoPath],
        _cx: StepContext,
    ) -> Result<GatedTree, VcsError> {
        self.operate(VcsOp::GateTree, |repo| {
            let before = repo.files_of(before)?;
            let known = |path: &RepoPath| before.contains_key(path) && !leftovers.contains(path);
            let after = repo.files_of(after)?.clone().into_iter();
            let (kept, created): (Vec<_>, Vec<_>) = after.partition(|(path, _)| known(path));
            Ok(GatedTree {
                tree: repo.store_tree(kept.into_iter().collect()),
                created: created.into_iter().map(|(path, _)| path).collect(),
            })
        })
        .await
    }

    async fn diff(
        &self,
        from: &TreeId,
        to: &TreeId,
        _cx: StepContext,
    ) -> Result<TreeDiff, VcsError> {
        self.operate(VcsOp::Diff, |repo| {
            Ok(diff::diff(repo.files_of(from)?, repo.files_of(to)?))
        })
        .await
    }

    async fn guard(&self, branch: &BranchName, _cx: StepContext) -> Result<RefGuard, VcsError> {
        self.operate(VcsOp::Guard, |repo| {
            Ok(RefGuard {
                head: repo.head(&self.root),
                branch: branch.clone(),
                commit: branch_head(repo, branch)?,
            })
        })
        .await
    }

    async fn restore(&self, guard: &RefGuard, _cx: StepContext) -> Result<Vec<RefMove>, VcsError> {
        self.operate(VcsOp::Restore, |repo| Ok(restore(repo, &self.root, guard)))
            .await
    }

    async fn commits_between(
        &self,
        from: &CommitId,
        to: &CommitId,
        _cx: StepContext,
    ) -> Result<Vec<CommitId>, VcsError> {
        self.operate(VcsOp::CommitsBetween, |repo| {
            repo.files_at(from)?;
            repo.files_at(to)?;
            Ok(repo.between(from, to))
        })
        .await
    }

    async fn final_message(&self, message: &str, _cx: StepContext) -> Result<String, VcsError> {
        self.operate(VcsOp::FinalMessage, |repo| match &repo.commit_msg {
            None => Ok(message.to_owned()),
            Some(hook) => hook(message).map_err(|reason| {
                VcsError::new(
                    VcsErrorKind::Rejected,
                    format!("the commit-msg hook says no: {reason}"),
                )
            }),
        })
        .await
    }

    async fn probe_commit(
        &self,
        plan: &CommitPlan,
        _cx: StepContext,
    ) -> Result<CommitProbe, VcsError> {
        self.operate(VcsOp::ProbeCommit, |repo| probe(repo, plan))
            .await
    }

    async fn commit(&self, plan: &CommitPlan, _cx: StepContext) -> Result<Committed, VcsError> {
        self.operate(VcsOp::Commit, |repo| commit(repo, plan)).await
    }
}
