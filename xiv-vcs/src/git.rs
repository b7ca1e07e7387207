//! The git engine: one module per thing that it does, and this one, which
//! hands each call of the port to them.

mod commit;
mod diff;
mod failure;
mod identity;
mod index;
mod lock;
mod message;
mod options;
mod own;
mod prepare;
mod program;
mod refs;
mod repo;
mod snapshot;
mod state;
mod worktree;

use std::future::Future;
use std::path::Path;
use std::pin::pin;
use std::sync::Arc;

use async_trait::async_trait;
use futures::future::{Either, select};
use xiv_core::model::{BranchName, CommitId, RepoPath, TreeId};
use xiv_core::port::{
    BranchRequest, CommitPlan, CommitProbe, Committed, GatedTree, PreparedBranch, RefGuard,
    RefMove, Snapshot, StepContext, TreeDiff, Vcs, VcsCaps, VcsError, VcsErrorKind, WorkTreeState,
};

pub use options::GitOptions;

use program::Git;
use repo::Repo;

/// A git repository, seen from one of its work trees.
#[derive(Debug, Clone)]
pub struct GitEngine {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    repo: Repo,
    git: Git,
    options: GitOptions,
}

impl GitEngine {
    /// Opens the repository that `start` lies in.
    ///
    /// # Errors
    /// [`VcsErrorKind::NotARepository`] when there is none,
    /// [`VcsErrorKind::Refused`] when it is bare or git does not trust its
    /// owner, [`VcsErrorKind::Unsupported`] when git is too old or the
    /// repository of a kind that cannot be read,
    /// [`VcsErrorKind::Program`] when there is no git.
    ///
    /// # Cancellation
    /// Reads only; safe to drop.
    pub async fn open(start: &Path, options: GitOptions) -> Result<Self, VcsError> {
        let start = start.canonicalize().map_err(|cause| {
            VcsError::new(
                VcsErrorKind::NotARepository,
                format!("there is no folder `{}`", start.display()),
            )
            .with_source(cause)
        })?;
        let git = Git::find(&options, &start)?;
        git.check_version().await?;
        // git's own opinion first: it knows whom the user trusts
        git.read(["rev-parse", "--git-dir"]).ok().await?;
        let repo = Repo::discover(&start)?;
        let git = git.in_folder(repo.root());
        Ok(Self::of(repo, git, options))
    }

    fn of(repo: Repo, git: Git, options: GitOptions) -> Self {
        let inner = Arc::new(Inner { repo, git, options });
        Self { inner }
    }

    /// Runs a change to its end under the repository's lock. It is not stopped
    /// halfway when the caller goes away: a killed git leaves lock files.
    async fn change<T, F>(
        &self,
        work: impl FnOnce(Arc<Inner>) -> F + Send + 'static,
    ) -> Result<T, VcsError>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, VcsError>> + Send + 'static,
    {
        let inner = Arc::clone(&self.inner);
        let task = tokio::spawn(async move {
            let wait = inner.options.lock_wait;
            let _lock = lock::acquire(inner.repo.common_dir(), wait).await?;
            work(Arc::clone(&inner)).await
        });
        task.await.map_err(|cause| {
            VcsError::new(
                VcsErrorKind::Program,
                "a change of the repository broke off",
            )
            .with_source(cause)
        })?
    }
}

/// Runs something that may be stopped at any time until the step is.
async fn until_stopped<T>(
    cx: &StepContext,
    work: impl Future<Output = Result<T, VcsError>>,
) -> Result<T, VcsError> {
    match select(pin!(work), cx.cancel.clone()).await {
        Either::Left((done, _)) => done,
        Either::Right(_) => Err(VcsError::new(
            VcsErrorKind::Program,
            "git was stopped before it was done",
        )),
    }
}

#[async_trait]
impl Vcs for GitEngine {
    fn caps(&self) -> VcsCaps {
        VcsCaps {
            engine: "git",
            object_format: self.inner.repo.object_format().to_owned(),
            worktrees: true,
        }
    }

    fn root(&self) -> &Path {
        self.inner.repo.root()
    }

    fn common_dir(&self) -> &Path {
        self.inner.repo.common_dir()
    }

    fn at(&self, root: &Path) -> Result<Arc<dyn Vcs>, VcsError> {
        let repo = Repo::open(root)?;
        if repo.common_dir() != self.common_dir() {
            return Err(VcsError::new(
                VcsErrorKind::NotARepository,
                format!(
                    "`{}` is not a work tree of the repository at `{}`",
                    root.display(),
                    self.root().display()
                ),
            ));
        }
        let git = self.inner.git.in_folder(repo.root());
        Ok(Arc::new(Self::of(repo, git, self.inner.options.clone())))
    }

    async fn state(&self, cx: StepContext) -> Result<WorkTreeState, VcsError> {
        let Inner { repo, git, .. } = &*self.inner;
        until_stopped(&cx, state::state(repo, git)).await
    }

    async fn prepare(
        &self,
        request: BranchRequest,
        cx: StepContext,
    ) -> Result<PreparedBranch, VcsError> {
        until_stopped(&cx, identity::check(&self.inner.git)).await?;
        self.change(move |inner| async move {
            let Inner { repo, git, options } = &*inner;
            prepare::prepare(repo, git, options.lock_wait, &request).await
        })
        .await
    }

    async fn snapshot(&self, cx: StepContext) -> Result<Snapshot, VcsError> {
        let Inner { repo, git, .. } = &*self.inner;
        until_stopped(&cx, snapshot::snapshot(repo, git)).await
    }

    async fn pin(&self, tree: &TreeId, name: &str, _: StepContext) -> Result<(), VcsError> {
        let (tree, name) = (tree.clone(), name.to_owned());
        self.change(move |inner| async move {
            let Inner { repo, git, options } = &*inner;
            refs::pin(repo, git, options.lock_wait, &tree, &name).await
        })
        .await
    }

    async fn gate_tree(
        &self,
        before: &TreeId,
        after: &TreeId,
        leftovers: &[RepoPath],
        _: StepContext,
    ) -> Result<GatedTree, VcsError> {
        let (tree, created) = self.inner.repo.without_created(before, after, leftovers)?;
        Ok(GatedTree { tree, created })
    }

    async fn diff(
        &self,
        from: &TreeId,
        to: &TreeId,
        cx: StepContext,
    ) -> Result<TreeDiff, VcsError> {
        until_stopped(&cx, diff::diff(&self.inner.git, from, to)).await
    }

    async fn guard(&self, branch: &BranchName, _: StepContext) -> Result<RefGuard, VcsError> {
        refs::guard(&self.inner.repo, branch)
    }

    async fn restore(&self, guard: &RefGuard, _: StepContext) -> Result<Vec<RefMove>, VcsError> {
        let guard = guard.clone();
        self.change(move |inner| async move {
            let Inner { repo, git, options } = &*inner;
            refs::restore(repo, git, options.lock_wait, &guard).await
        })
        .await
    }

    async fn commits_between(
        &self,
        from: &CommitId,
        to: &CommitId,
        cx: StepContext,
    ) -> Result<Vec<CommitId>, VcsError> {
        let walk = self
            .inner
            .git
            .read(["rev-list", "--reverse", "--topo-order", "--end-of-options"])
            .arg(format!("{from}..{to}"))
            .line();
        let listed = until_stopped(&cx, walk).await?;
        listed
            .lines()
            .map(|id| {
                CommitId::parse(id)
                    .map_err(|cause| failure::unreadable("rev-list").with_source(cause))
            })
            .collect()
    }

    async fn final_message(&self, message: &str, cx: StepContext) -> Result<String, VcsError> {
        let Inner { repo, git, .. } = &*self.inner;
        let work = message::final_message(repo, git, message, &cx.mark, &cx.events);
        until_stopped(&cx, work).await
    }

    async fn probe_commit(
        &self,
        plan: &CommitPlan,
        _: StepContext,
    ) -> Result<CommitProbe, VcsError> {
        commit::probe(&self.inner.repo, plan)
    }

    async fn commit(&self, plan: &CommitPlan, cx: StepContext) -> Result<Committed, VcsError> {
        let fresh = match commit::probe(&self.inner.repo, plan)? {
            CommitProbe::Found(_) => None,
            CommitProbe::Absent => {
                let Inner { repo, git, .. } = &*self.inner;
                Some(until_stopped(&cx, commit::create(repo, git, plan)).await?)
            }
            CommitProbe::Moved(to) => return Err(commit::moved(plan, &to)),
        };
        let plan = plan.clone();
        self.change(move |inner| async move {
            let Inner { repo, git, options } = &*inner;
            commit::complete(repo, git, options.lock_wait, &plan, fresh).await
        })
        .await
    }
}
