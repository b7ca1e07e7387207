//! Makes a new work tree ready: copies the configured untracked files into it
//! and runs the configured shell line, once. For everything else it hands on.

use std::fs;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use xiv_core::model::{BranchName, CommitId, RepoPath, TreeId};
use xiv_core::port::{
    BranchRequest, CommitPlan, CommitProbe, Committed, GatedTree, PreparedBranch, RefGuard,
    RefMove, Snapshot, StepContext, TreeDiff, Vcs, VcsCaps, VcsError, VcsErrorKind, WorkTreeState,
};
use xiv_core::rt::process::{Environment, ProcessSpec, output};

use crate::config::Config;

/// The note in a work tree's git folder that it is ready.
const DONE: &str = "xiv-set-up";

/// A repository whose new work trees are made ready.
#[derive(Debug)]
pub(crate) struct SetUp {
    inner: Arc<dyn Vcs>,
    from: PathBuf,
    copy: Vec<String>,
    setup: Option<String>,
}

impl SetUp {
    /// Wraps a repository whose main work tree is `from`; without any setting
    /// it stays as it is.
    pub(crate) fn over(inner: Arc<dyn Vcs>, config: &Config, from: &Path) -> Arc<dyn Vcs> {
        let settings = &config.worktree;
        if settings.copy.is_empty() && settings.setup.is_none() {
            return inner;
        }
        Arc::new(Self {
            inner,
            from: from.to_owned(),
            copy: settings.copy.clone(),
            setup: settings.setup.clone(),
        })
    }

    /// The files of the main work tree that are configured to be copied; those
    /// that are missing there are left out.
    fn copy_files(&self, to: &Path) -> Result<(), VcsError> {
        for name in &self.copy {
            let inside = Path::new(name)
                .components()
                .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
            if !inside {
                let message =
                    format!("`worktree.copy` names {name}, which is not in the repository");
                return Err(VcsError::new(VcsErrorKind::Refused, message));
            }
            let (source, target) = (self.from.join(name), to.join(name));
            if !source.exists() || target.exists() {
                continue;
            }
            let copied = target
                .parent()
                .map_or(Ok(()), fs::create_dir_all)
                .and_then(|()| fs::copy(&source, &target));
            copied.map_err(|e| {
                let message = format!("{name} could not be copied into the new work tree");
                VcsError::new(VcsErrorKind::Program, message).with_source(e)
            })?;
        }
        Ok(())
    }

    async fn run_setup(&self, root: &Path, cx: &StepContext) -> Result<(), VcsError> {
        let Some(line) = &self.setup else {
            return Ok(());
        };
        let failed = |why: String| {
            VcsError::new(
                VcsErrorKind::Program,
                format!("`{line}`, the setup of the work tree, failed"),
            )
            .with_hint("see `worktree.setup` in the configuration")
            .with_source(why)
        };
        let environment = Environment::inherited().without_git();
        let spec = ProcessSpec::new("/bin/sh", environment, root).with_args(["-c", line]);
        let captured = tokio::select! {
            captured = output(spec) => captured.map_err(|e| failed(e.to_string()))?,
            _ = cx.cancel.clone() => return Err(failed("it was stopped".to_owned())),
        };
        if captured.is_success() {
            Ok(())
        } else {
            Err(failed(captured.stderr_text()))
        }
    }
}

/// A work tree's own git folder.
fn git_folder(root: &Path) -> PathBuf {
    let dot_git = root.join(".git");
    fs::read_to_string(&dot_git)
        .ok()
        .and_then(|text| Some(root.join(text.strip_prefix("gitdir:")?.trim())))
        .unwrap_or(dot_git)
}

#[async_trait]
impl Vcs for SetUp {
    async fn prepare(
        &self,
        request: BranchRequest,
        cx: StepContext,
    ) -> Result<PreparedBranch, VcsError> {
        let isolated = request.isolate.is_some();
        let prepared = self.inner.prepare(request, cx.clone()).await?;
        let done = git_folder(&prepared.root).join(DONE);
        if isolated && !done.exists() {
            self.copy_files(&prepared.root)?;
            self.run_setup(&prepared.root, &cx).await?;
            // without the note the set-up is only repeated
            let _unwritable = fs::write(done, "");
        }
        Ok(prepared)
    }

    fn at(&self, root: &Path) -> Result<Arc<dyn Vcs>, VcsError> {
        self.inner.at(root)
    }

    fn caps(&self) -> VcsCaps {
        self.inner.caps()
    }

    fn root(&self) -> &Path {
        self.inner.root()
    }

    fn common_dir(&self) -> &Path {
        self.inner.common_dir()
    }

    async fn state(&self, cx: StepContext) -> Result<WorkTreeState, VcsError> {
        self.inner.state(cx).await
    }

    async fn snapshot(&self, cx: StepContext) -> Result<Snapshot, VcsError> {
        self.inner.snapshot(cx).await
    }

    async fn pin(&self, tree: &TreeId, name: &str, cx: StepContext) -> Result<(), VcsError> {
        self.inner.pin(tree, name, cx).await
    }

    async fn gate_tree(
        &self,
        before: &TreeId,
        after: &TreeId,
        leftovers: &[RepoPath],
        cx: StepContext,
    ) -> Result<GatedTree, VcsError> {
        self.inner.gate_tree(before, after, leftovers, cx).await
    }

    async fn diff(
        &self,
        from: &TreeId,
        to: &TreeId,
        cx: StepContext,
    ) -> Result<TreeDiff, VcsError> {
        self.inner.diff(from, to, cx).await
    }

    async fn guard(&self, branch: &BranchName, cx: StepContext) -> Result<RefGuard, VcsError> {
        self.inner.guard(branch, cx).await
    }

    async fn restore(&self, guard: &RefGuard, cx: StepContext) -> Result<Vec<RefMove>, VcsError> {
        self.inner.restore(guard, cx).await
    }

    async fn commits_between(
        &self,
        from: &CommitId,
        to: &CommitId,
        cx: StepContext,
    ) -> Result<Vec<CommitId>, VcsError> {
        self.inner.commits_between(from, to, cx).await
    }

    async fn final_message(&self, message: &str, cx: StepContext) -> Result<String, VcsError> {
        self.inner.final_message(message, cx).await
    }

    async fn probe_commit(
        &self,
        plan: &CommitPlan,
        cx: StepContext,
    ) -> Result<CommitProbe, VcsError> {
        self.inner.probe_commit(plan, cx).await
    }

    async fn commit(&self, plan: &CommitPlan, cx: StepContext) -> Result<Committed, VcsError> {
        self.inner.commit(plan, cx).await
    }
}
