//! Where the core touches the world: one object-safe trait per concern.
//!
//! Each port has a contract for implementers (required methods only, so that a
//! wrapper can forget none) and, where it helps, an extension trait with
//! conveniences for callers. Adapters implement ports; flows never call them
//! themselves, only the driver does. **No port has a merge operation.**

mod agent;
mod clock;
mod context;
mod forge;
mod forward;
mod human;
mod issues;
mod journal;
mod observer;
mod processes;
mod run_files;
mod validator;
mod vcs;

pub use agent::{
    Access, Agent, AgentCaps, AgentError, AgentErrorKind, AgentExt, AgentInfo, AgentReply,
    AgentRequest, AgentRole, Denial, Effort, Login, Session, SystemRules, TimeoutKind, TurnLimits,
};
pub use clock::Clock;
pub use context::{Cancel, CancelReason, Canceller, Events, StepContext, StepEvent};
pub use forge::{Forge, ForgeError, ForgeErrorKind};
pub use human::{GateAnswer, GateRequest, Human, HumanError};
pub use issues::{IssueError, IssueErrorKind, IssueSource, IssueSummary};
pub use journal::{
    BlobId, Fence, Journal, JournalError, JournalErrorKind, NewRun, OwnerId, ProcessId, RunStatus,
    RunSummary,
};
pub use observer::{NullObserver, Observer, Progress};
pub use processes::Processes;
pub use run_files::RunFiles;
pub use validator::{CommandsRun, ValidateRequest, Validator, ValidatorError};
pub use vcs::{
    BranchRequest, CommitPlan, CommitProbe, Committed, GatedTree, HeadState, PreparedBranch,
    RefGuard, RefMove, Snapshot, TreeDiff, TreeDiffFile, Vcs, VcsCaps, VcsError, VcsErrorKind,
    WorkTreeState,
};
