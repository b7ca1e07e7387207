//! `mockall` mocks of every port, for tests that expect certain calls.
//!
//! A fake is mostly the better choice: it behaves. A mock says exactly which
//! calls are expected and what they return:
//!
//! ```
//! use xiv_core::port::Processes as _;
//! use xiv_core::test_support::mocks::MockProcesses;
//!
//! let mut processes = MockProcesses::new();
//! processes
//!     .expect_sweep()
//!     .withf(|mark| mark == "run/review#1/1")
//!     .times(1)
//!     .returning(|_| 2);
//! # futures::executor::block_on(async {
//! assert_eq!(processes.sweep("run/review#1/1").await, 2);
//! # });
//! ```

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use mockall::mock;

use crate::flow::{Event, Recorded};
use crate::model::{
    BranchName, CommitId, Issue, IssueKey, PrNumber, PrSignals, RepoPath, RunId, TreeId,
};
use crate::port::{
    Agent, AgentCaps, AgentError, AgentInfo, AgentReply, AgentRequest, BlobId, BranchRequest,
    Clock, CommandsRun, CommitPlan, CommitProbe, Committed, Fence, Forge, ForgeError, GateAnswer,
    GateRequest, GatedTree, Human, HumanError, IssueError, IssueSource, IssueSummary, Journal,
    JournalError, NewRun, Observer, OwnerId, PreparedBranch, ProcessId, Processes, Progress,
    RefGuard, RefMove, RunFiles, RunSummary, Snapshot, StepContext, TreeDiff, ValidateRequest,
    Validator, ValidatorError, Vcs, VcsCaps, VcsError, WorkTreeState,
};

mock! {
    /// A mock of [`Agent`].
    #[derive(Debug)]
    pub Agent {}

    #[async_trait]
    impl Agent for Agent {
        fn id(&self) -> String;
        fn caps(&self) -> AgentCaps;
        async fn preflight(&self, cx: StepContext) -> Result<AgentInfo, AgentError>;
        async fn run(
            &self,
            request: AgentRequest,
            cx: StepContext,
        ) -> Result<AgentReply, AgentError>;
    }
}

mock! {
    /// A mock of [`Clock`].
    #[derive(Debug)]
    pub Clock {}

    #[async_trait]
    impl Clock for Clock {
        fn now(&self) -> Timestamp;
        fn elapsed(&self) -> Duration;
        async fn sleep(&self, duration: Duration);
    }
}

mock! {
    /// A mock of [`Forge`]. It has no merge method either.
    #[derive(Debug)]
    pub Forge {}

    #[async_trait]
    impl Forge for Forge {
        fn id(&self) -> String;
        async fn pull_request_of(
            &self,
            branch: &BranchName,
            cx: StepContext,
        ) -> Result<Option<PrNumber>, ForgeError>;
        async fn signals(&self, pr: PrNumber, cx: StepContext) -> Result<PrSignals, ForgeError>;
    }
}

mock! {
    /// A mock of [`Human`].
    #[derive(Debug)]
    pub Human {}

    #[async_trait]
    impl Human for Human {
        async fn gate(
            &self,
            request: GateRequest,
            cx: StepContext,
        ) -> Result<Option<GateAnswer>, HumanError>;
    }
}

mock! {
    /// A mock of [`IssueSource`].
    #[derive(Debug)]
    pub IssueSource {}

    #[async_trait]
    impl IssueSource for IssueSource {
        fn id(&self) -> String;
        fn is_verbatim(&self) -> bool;
        fn normalise(&self, raw: &str) -> Result<IssueKey, IssueError>;
        async fn fetch(&self, key: &IssueKey, cx: StepContext) -> Result<Issue, IssueError>;
        async fn list(&self, cx: StepContext) -> Result<Vec<IssueSummary>, IssueError>;
    }
}

mock! {
    /// A mock of [`Journal`].
    #[derive(Debug)]
    pub Journal {}

    #[async_trait]
    impl Journal for Journal {
        async fn create(
            &self,
            run: NewRun,
            owner: OwnerId,
            lease: Duration,
        ) -> Result<Fence, JournalError>;
        async fn acquire(
            &self,
            run: &RunId,
            owner: OwnerId,
            lease: Duration,
        ) -> Result<Fence, JournalError>;
        async fn renew(&self, fence: &Fence, lease: Duration) -> Result<(), JournalError>;
        async fn release(&self, fence: &Fence) -> Result<(), JournalError>;
        async fn append(
            &self,
            fence: &Fence,
            seq: u64,
            at: Timestamp,
            event: &Event,
        ) -> Result<(), JournalError>;
        async fn load(&self, run: &RunId) -> Result<Vec<Recorded>, JournalError>;
        async fn list(&self) -> Result<Vec<RunSummary>, JournalError>;
        async fn lock(&self, fence: &Fence, resource: &str) -> Result<(), JournalError>;
        async fn unlock_all(&self, fence: &Fence) -> Result<(), JournalError>;
        async fn put_blob(&self, content: &[u8]) -> Result<BlobId, JournalError>;
        async fn get_blob(&self, id: &BlobId) -> Result<Vec<u8>, JournalError>;
        async fn remove(&self, run: &RunId) -> Result<(), JournalError>;
    }
}

mock! {
    /// A mock of [`Observer`].
    #[derive(Debug)]
    pub Observer {}

    impl Observer for Observer {
        fn recorded(&self, run: &RunId, recorded: &Recorded);
        fn progress(&self, progress: &Progress);
    }
}

mock! {
    /// A mock of [`Processes`].
    #[derive(Debug)]
    pub Processes {}

    #[async_trait]
    impl Processes for Processes {
        fn current(&self) -> ProcessId;
        fn is_alive(&self, process: &ProcessId) -> bool;
        async fn sweep(&self, mark: &str) -> usize;
    }
}

mock! {
    /// A mock of [`RunFiles`].
    #[derive(Debug)]
    pub RunFiles {}

    #[async_trait]
    impl RunFiles for RunFiles {
        fn folder(&self, run: &RunId) -> PathBuf;
        async fn write(
            &self,
            run: &RunId,
            name: &str,
            content: &[u8],
        ) -> Result<PathBuf, std::io::Error>;
    }
}

mock! {
    /// A mock of [`Validator`].
    #[derive(Debug)]
    pub Validator {}

    #[async_trait]
    impl Validator for Validator {
        async fn validate(
            &self,
            request: ValidateRequest,
            cx: StepContext,
        ) -> Result<CommandsRun, ValidatorError>;
    }
}

mock! {
    /// A mock of [`Vcs`].
    #[derive(Debug)]
    pub Vcs {}

    #[async_trait]
    impl Vcs for Vcs {
        fn caps(&self) -> VcsCaps;
        fn root(&self) -> &Path;
        fn common_dir(&self) -> &Path;
        fn at(&self, root: &Path) -> Result<Arc<dyn Vcs>, VcsError>;
        async fn state(&self, cx: StepContext) -> Result<WorkTreeState, VcsError>;
        async fn prepare(
            &self,
            request: BranchRequest,
            cx: StepContext,
        ) -> Result<PreparedBranch, VcsError>;
        async fn snapshot(&self, cx: StepContext) -> Result<Snapshot, VcsError>;
        async fn pin(&self, tree: &TreeId, name: &str, cx: StepContext) -> Result<(), VcsError>;
        async fn gate_tree(
            &self,
            before: &TreeId,
            after: &TreeId,
            leftovers: &[RepoPath],
            cx: StepContext,
        ) -> Result<GatedTree, VcsError>;
        async fn diff(
            &self,
            from: &TreeId,
            to: &TreeId,
            cx: StepContext,
        ) -> Result<TreeDiff, VcsError>;
        async fn guard(&self, branch: &BranchName, cx: StepContext) -> Result<RefGuard, VcsError>;
        async fn restore(
            &self,
            guard: &RefGuard,
            cx: StepContext,
        ) -> Result<Vec<RefMove>, VcsError>;
        async fn commits_between(
            &self,
            from: &CommitId,
            to: &CommitId,
            cx: StepContext,
        ) -> Result<Vec<CommitId>, VcsError>;
        async fn final_message(&self, message: &str, cx: StepContext) -> Result<String, VcsError>;
        async fn probe_commit(
            &self,
            plan: &CommitPlan,
            cx: StepContext,
        ) -> Result<CommitProbe, VcsError>;
        async fn commit(&self, plan: &CommitPlan, cx: StepContext) -> Result<Committed, VcsError>;
    }
}
