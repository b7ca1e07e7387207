//! What to do next. Derived from the events, never stored as truth.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::event::StepLimits;
use crate::model::{
    BranchName, CommandResult, CommitId, FailureCause, Finding, ImplementReport, Issue, MaxPasses,
    Outcome, Pass, Plan, RepoPath, StepId, TreeId, ValidationCommand, Verdict,
};
use crate::port::AgentRole;

/// What a machine wants.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "a driver must handle each")]
#[expect(clippy::large_enum_variant, reason = "held once at a time")]
pub enum Next {
    /// Carry this out and record the event that it leads to.
    Do(Command),
    /// Nothing can be done before this is over.
    Wait(Wait),
    /// The run is over; record it, unless that has been done.
    Finish(Outcome),
}

/// What a suspended run waits for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(
    tag = "type",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
#[expect(clippy::exhaustive_enums, reason = "a driver must handle each")]
pub enum Wait {
    /// A person's decision.
    Human {
        /// The gate.
        gate: String,
    },
    /// A usage limit.
    Until {
        /// When it is lifted; null when that is not known.
        #[schemars(with = "Option<String>")]
        at: Option<Timestamp>,
        /// The step that met it.
        step: StepId,
        /// What the engine said.
        message: String,
    },
    /// More budget.
    Budget {
        /// Which budget is spent: `usd`, `tokens`, `minutes`, `calls`.
        which: String,
        /// The step that met it.
        step: StepId,
    },
    /// Somebody to resume it: Ctrl-C, a crash, a lost lease.
    Interrupted,
    /// Somebody to mend what failed.
    StepFailed {
        /// The step.
        step: StepId,
        /// Whose fault it is.
        cause: FailureCause,
        /// What went wrong, naming the cause.
        error: String,
        /// How to mend it.
        #[serde(default)]
        hints: Vec<String>,
    },
}

impl Wait {
    /// The outcome that a run has while it waits for this.
    #[must_use]
    pub const fn outcome(&self) -> Outcome {
        match self {
            Self::Human { .. } => Outcome::AwaitingHuman,
            Self::Until { .. } => Outcome::Paused,
            Self::Budget { .. } => Outcome::BudgetExhausted,
            Self::Interrupted => Outcome::Interrupted,
            Self::StepFailed { .. } => Outcome::Failed,
        }
    }
}

/// What a pass tells the next one. Computed from one pass alone.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Feedback {
    /// Validation commands that did not pass.
    pub failures: Vec<CommandResult>,
    /// No validation command ran at all.
    pub nothing_ran: bool,
    /// The effective verdict, when there was a review that did not plainly approve.
    pub verdict: Option<Verdict>,
    /// That review's summary.
    pub summary: Option<String>,
    /// That review's findings, or a person's notes.
    pub findings: Vec<Finding>,
    /// A person's own edits, as a patch.
    pub human_patch: Option<String>,
}

impl Feedback {
    /// Whether there is anything to tell.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Check the branch out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrepareCommand {
    /// The branch.
    pub branch: BranchName,
    /// What a new one starts from; none means HEAD.
    pub base: Option<String>,
    /// Path of a work tree of its own.
    pub worktree: Option<String>,
}

/// Make the plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanCommand {
    /// The issue.
    pub issue: Issue,
    /// Test steps first.
    pub tdd: bool,
}

/// Do the work of one pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImplementCommand {
    /// The pass.
    pub pass: Pass,
    /// The most passes.
    pub max: MaxPasses,
    /// The issue.
    pub issue: Issue,
    /// The plan.
    pub plan: Plan,
    /// Tests first.
    pub tdd: bool,
    /// What the pass before this one left to do.
    pub feedback: Feedback,
    /// The run's branch.
    pub branch: BranchName,
}

/// Run the repository's own commands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValidateCommand {
    /// The pass.
    pub pass: Pass,
    /// The commands.
    pub commands: Vec<ValidationCommand>,
    /// Variables that they may see although the guard hides them.
    pub env_allow: Vec<String>,
    /// The work tree before and after this pass's implement step.
    pub worked: (TreeId, TreeId),
    /// Files that earlier validations of this run made. Unless the implement
    /// step changed them they stay out of the gated tree.
    pub leftovers: Vec<RepoPath>,
}

/// Judge the difference between the branch start and the gated tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReviewCommand {
    /// The pass.
    pub pass: Pass,
    /// The issue.
    pub issue: Issue,
    /// The plan.
    pub plan: Plan,
    /// The implementing agent's account, when it gave one.
    pub report: Option<ImplementReport>,
    /// Tree of the branch start.
    pub start_tree: TreeId,
    /// The gated tree.
    pub tree: TreeId,
    /// What validation said, one line per command.
    pub validation: Vec<CommandResult>,
    /// The run's branch.
    pub branch: BranchName,
}

/// Commit the gated tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FinalizeCommand {
    /// The branch.
    pub branch: BranchName,
    /// Its start: the commit's parent.
    pub start: CommitId,
    /// The start's tree; the same as `tree` means that there is nothing to commit.
    pub start_tree: TreeId,
    /// Exactly this is committed.
    pub tree: TreeId,
    /// The message before hooks.
    pub message: String,
}

/// One thing to do.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a driver must handle each")]
pub enum Command {
    /// Ask the tracker for the issue.
    Fetch {
        /// As the user named it.
        issue_id: String,
    },
    /// Check the branch out.
    Prepare(PrepareCommand),
    /// Make the plan.
    Plan(PlanCommand),
    /// Do the work of one pass.
    Implement(ImplementCommand),
    /// Run the repository's own commands.
    Validate(ValidateCommand),
    /// Have the work judged.
    Review(ReviewCommand),
    /// Commit the gated tree.
    Finalize(FinalizeCommand),
}

impl Command {
    /// The step that this is. Stable: it depends on the history alone.
    #[must_use]
    pub fn step(&self) -> StepId {
        match self {
            Self::Fetch { .. } => StepId::once("fetch"),
            Self::Prepare(_) => StepId::once("prepare"),
            Self::Plan(_) => StepId::once("plan"),
            Self::Implement(c) => StepId::of_pass("implement", c.pass),
            Self::Validate(c) => StepId::of_pass("validate", c.pass),
            Self::Review(c) => StepId::of_pass("review", c.pass),
            Self::Finalize(_) => StepId::once("finalize"),
        }
    }

    /// The agent role that carries it out; none for what xiv does itself.
    #[must_use]
    pub const fn role(&self) -> Option<AgentRole> {
        match self {
            Self::Plan(_) => Some(AgentRole::Plan),
            Self::Implement(_) => Some(AgentRole::Implement),
            Self::Review(_) => Some(AgentRole::Review),
            Self::Fetch { .. } | Self::Prepare(_) | Self::Validate(_) | Self::Finalize(_) => None,
        }
    }
}

impl StepLimits {
    /// The limits of a role's agent unless configured: 30 minutes in all and
    /// 10 of silence for implement, review and fix; 15 and 5 for plan and
    /// describe.
    #[must_use]
    pub const fn for_role(role: AgentRole) -> Self {
        const MINUTE: u64 = 60 * 1000;
        match role {
            AgentRole::Implement | AgentRole::Review | AgentRole::Fix => Self {
                total_ms: 30 * MINUTE,
                idle_ms: Some(10 * MINUTE),
            },
            AgentRole::Plan | AgentRole::Describe => Self {
                total_ms: 15 * MINUTE,
                idle_ms: Some(5 * MINUTE),
            },
        }
    }
}
