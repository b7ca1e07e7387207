//! `Arc<T>` and `Box<T>` of a port are that port.
//!
//! Every method is forwarded explicitly, and the lint below fails the build
//! when a new one is forgotten.
#![deny(clippy::missing_trait_methods)]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;

use super::{
    Agent, AgentCaps, AgentError, AgentInfo, AgentReply, AgentRequest, BlobId, BranchRequest,
    Clock, CommandsRun, CommitPlan, CommitProbe, Committed, Fence, Forge, ForgeError, GateAnswer,
    GateRequest, GatedTree, Human, HumanError, IssueError, IssueSource, IssueSummary, Journal,
    JournalError, NewRun, Observer, OwnerId, PreparedBranch, ProcessId, Processes, Progress,
    RefGuard, RefMove, RunFiles, RunSummary, Snapshot, StepContext, TreeDiff, ValidateRequest,
    Validator, ValidatorError, Vcs, VcsCaps, VcsError, WorkTreeState,
};
use crate::flow::{Event, Recorded};
use crate::model::{
    BranchName, CommitId, Issue, IssueKey, PrNumber, PrSignals, RepoPath, RunId, TreeId,
};

macro_rules! forward_ports {
    ($($pointer:ident),+) => {$(
        #[async_trait]
        impl<T: Agent + ?Sized> Agent for $pointer<T> {
            fn id(&self) -> String {
                (**self).id()
            }
            fn caps(&self) -> AgentCaps {
                (**self).caps()
            }
            async fn preflight(&self, cx: StepContext) -> Result<AgentInfo, AgentError> {
                (**self).preflight(cx).await
            }
            async fn run(
                &self,
                request: AgentRequest,
                cx: StepContext,
            ) -> Result<AgentReply, AgentError> {
                (**self).run(request, cx).await
            }
        }

        #[async_trait]
        impl<T: Clock + ?Sized> Clock for $pointer<T> {
            fn now(&self) -> Timestamp {
                (**self).now()
            }
            fn elapsed(&self) -> Duration {
                (**self).elapsed()
            }
            async fn sleep(&self, duration: Duration) {
                (**self).sleep(duration).await;
            }
        }

        #[async_trait]
        impl<T: Forge + ?Sized> Forge for $pointer<T> {
            fn id(&self) -> String {
                (**self).id()
            }
            async fn pull_request_of(
                &self,
                branch: &BranchName,
                cx: StepContext,
            ) -> Result<Option<PrNumber>, ForgeError> {
                (**self).pull_request_of(branch, cx).await
            }
            async fn signals(&self, pr: PrNumber, cx: StepContext) -> Result<PrSignals, ForgeError> {
                (**self).signals(pr, cx).await
            }
        }

        #[async_trait]
        impl<T: Human + ?Sized> Human for $pointer<T> {
            async fn gate(
                &self,
                request: GateRequest,
                cx: StepContext,
            ) -> Result<Option<GateAnswer>, HumanError> {
                (**self).gate(request, cx).await
            }
        }

        #[async_trait]
        impl<T: IssueSource + ?Sized> IssueSource for $pointer<T> {
            fn id(&self) -> String {
                (**self).id()
            }
            fn is_verbatim(&self) -> bool {
                (**self).is_verbatim()
            }
            fn normalise(&self, raw: &str) -> Result<IssueKey, IssueError> {
                (**self).normalise(raw)
            }
            async fn fetch(&self, key: &IssueKey, cx: StepContext) -> Result<Issue, IssueError> {
                (**self).fetch(key, cx).await
            }
            async fn list(&self, cx: StepContext) -> Result<Vec<IssueSummary>, IssueError> {
                (**self).list(cx).await
            }
        }

        #[async_trait]
        impl<T: Journal + ?Sized> Journal for $pointer<T> {
            async fn create(
                &self,
                run: NewRun,
                owner: OwnerId,
                lease: Duration,
            ) -> Result<Fence, JournalError> {
                (**self).create(run, owner, lease).await
            }
            async fn acquire(
                &self,
                run: &RunId,
                owner: OwnerId,
                lease: Duration,
            ) -> Result<Fence, JournalError> {
                (**self).acquire(run, owner, lease).await
            }
            async fn renew(&self, fence: &Fence, lease: Duration) -> Result<(), JournalError> {
                (**self).renew(fence, lease).await
            }
            async fn release(&self, fence: &Fence) -> Result<(), JournalError> {
                (**self).release(fence).await
            }
            async fn append(
                &self,
                fence: &Fence,
                seq: u64,
                at: Timestamp,
                event: &Event,
            ) -> Result<(), JournalError> {
                (**self).append(fence, seq, at, event).await
            }
            async fn load(&self, run: &RunId) -> Result<Vec<Recorded>, JournalError> {
                (**self).load(run).await
            }
            async fn list(&self) -> Result<Vec<RunSummary>, JournalError> {
                (**self).list().await
            }
            async fn lock(&self, fence: &Fence, resource: &str) -> Result<(), JournalError> {
                (**self).lock(fence, resource).await
            }
            async fn unlock_all(&self, fence: &Fence) -> Result<(), JournalError> {
                (**self).unlock_all(fence).await
            }
            async fn put_blob(&self, content: &[u8]) -> Result<BlobId, JournalError> {
                (**self).put_blob(content).await
            }
            async fn get_blob(&self, id: &BlobId) -> Result<Vec<u8>, JournalError> {
                (**self).get_blob(id).await
            }
            async fn remove(&self, run: &RunId) -> Result<(), JournalError> {
                (**self).remove(run).await
            }
        }

        #[async_trait]
        impl<T: RunFiles + ?Sized> RunFiles for $pointer<T> {
            fn folder(&self, run: &RunId) -> PathBuf {
                (**self).folder(run)
            }
            async fn write(
                &self,
                run: &RunId,
                name: &str,
                content: &[u8],
            ) -> Result<PathBuf, std::io::Error> {
                (**self).write(run, name, content).await
            }
        }

        impl<T: Observer + ?Sized> Observer for $pointer<T> {
            fn recorded(&self, run: &RunId, recorded: &Recorded) {
                (**self).recorded(run, recorded);
            }
            fn progress(&self, progress: &Progress) {
                (**self).progress(progress);
            }
        }

        #[async_trait]
        impl<T: Processes + ?Sized> Processes for $pointer<T> {
            fn current(&self) -> ProcessId {
                (**self).current()
            }
            fn is_alive(&self, process: &ProcessId) -> bool {
                (**self).is_alive(process)
            }
            async fn sweep(&self, mark: &str) -> usize {
                (**self).sweep(mark).await
            }
        }

        #[async_trait]
        impl<T: Validator + ?Sized> Validator for $pointer<T> {
            async fn validate(
                &self,
                request: ValidateRequest,
                cx: StepContext,
            ) -> Result<CommandsRun, ValidatorError> {
                (**self).validate(request, cx).await
            }
        }

        #[async_trait]
        impl<T: Vcs + ?Sized> Vcs for $pointer<T> {
            fn caps(&self) -> VcsCaps {
                (**self).caps()
            }
            fn root(&self) -> &Path {
                (**self).root()
            }
            fn common_dir(&self) -> &Path {
                (**self).common_dir()
            }
            fn at(&self, root: &Path) -> Result<Arc<dyn Vcs>, VcsError> {
                (**self).at(root)
            }
            async fn state(&self, cx: StepContext) -> Result<WorkTreeState, VcsError> {
                (**self).state(cx).await
            }
            async fn prepare(
                &self,
                request: BranchRequest,
                cx: StepContext,
            ) -> Result<PreparedBranch, VcsError> {
                (**self).prepare(request, cx).await
            }
            async fn snapshot(&self, cx: StepContext) -> Result<Snapshot, VcsError> {
                (**self).snapshot(cx).await
            }
            async fn pin(&self, tree: &TreeId, name: &str, cx: StepContext) -> Result<(), VcsError> {
                (**self).pin(tree, name, cx).await
            }
            async fn gate_tree(
                &self,
                before: &TreeId,
                after: &TreeId,
                leftovers: &[RepoPath],
                cx: StepContext,
            ) -> Result<GatedTree, VcsError> {
                (**self).gate_tree(before, after, leftovers, cx).await
            }
            async fn diff(
                &self,
                from: &TreeId,
                to: &TreeId,
                cx: StepContext,
            ) -> Result<TreeDiff, VcsError> {
                (**self).diff(from, to, cx).await
            }
            async fn guard(&self, branch: &BranchName, cx: StepContext) -> Result<RefGuard, VcsError> {
                (**self).guard(branch, cx).await
            }
            async fn restore(
                &self,
                guard: &RefGuard,
                cx: StepContext,
            ) -> Result<Vec<RefMove>, VcsError> {
                (**self).restore(guard, cx).await
            }
            async fn commits_between(
                &self,
                from: &CommitId,
                to: &CommitId,
                cx: StepContext,
            ) -> Result<Vec<CommitId>, VcsError> {
                (**self).commits_between(from, to, cx).await
            }
            async fn final_message(&self, message: &str, cx: StepContext) -> Result<String, VcsError> {
                (**self).final_message(message, cx).await
            }
            async fn probe_commit(
                &self,
                plan: &CommitPlan,
                cx: StepContext,
            ) -> Result<CommitProbe, VcsError> {
                (**self).probe_commit(plan, cx).await
            }
            async fn commit(&self, plan: &CommitPlan, cx: StepContext) -> Result<Committed, VcsError> {
                (**self).commit(plan, cx).await
            }
        }
    )+};
}

forward_ports!(Arc, Box);
