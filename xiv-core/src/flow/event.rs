//! What can happen in a run. Facts in the past tense, recorded for good; a
//! run's whole state is a fold over them.

use std::collections::BTreeMap;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Wait;
use crate::model::{
    BranchName, CommitId, ImplementInput, ImplementOutput, ImplementReport, Issue, LocalReview,
    Outcome, Pass, Plan, RunId, StepId, TreeId, Usage, Validation, ValidationCommand, Verdict,
};
use crate::port::{AgentRole, CommitPlan, GateAnswer};

/// The version of the decisions in this crate. A change of what a machine
/// decides over an old history is a new version.
pub type CoreVersion = u32;

/// This crate's [`CoreVersion`]; 0 until the first release.
pub const CORE_VERSION: CoreVersion = 0;

/// An event with its place and time in the journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Recorded {
    /// Its number in the run; the first is 1.
    pub seq: u64,
    /// When it was recorded.
    #[schemars(with = "String")]
    pub at: Timestamp,
    /// What happened.
    pub event: Event,
}

/// What a run is to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(
    tag = "type",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
#[expect(clippy::exhaustive_enums, reason = "each kind of run has its machine")]
pub enum RunSpec {
    /// Implement an issue on a branch of its own.
    Implement {
        /// What and how.
        input: ImplementInput,
    },
}

impl RunSpec {
    /// The word used in lists: `implement`.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Implement { .. } => "implement",
        }
    }
}

/// How one role's agent is run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentSettings {
    /// `codex`, `claude`, `command:NAME`, `scripted:FILE`.
    pub engine: String,
    /// Passed through; none means the engine's default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Passed through; none means the engine's default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<String>,
    /// The user's own guidance, appended to the prompt inside a fence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guidance: Option<String>,
    /// Time limits.
    pub limits: StepLimits,
    /// This step's own budget.
    #[serde(default)]
    pub budget: BudgetLimits,
}

/// A step's time limits in milliseconds, kept by the driver.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StepLimits {
    /// The whole step.
    pub total_ms: u64,
    /// Silence; none means that silence is fine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_ms: Option<u64>,
}

/// What may be spent. None means without limit.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BudgetLimits {
    /// US dollars.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usd: Option<f64>,
    /// Tokens, input and output together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Agent wall time in minutes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minutes: Option<u64>,
    /// Agent calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<u64>,
}

/// Everything of the configuration that a run depends on, taken when it
/// started. A setting changed later never changes an old run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunConfig {
    /// The validation commands. Empty is refused before any agent call.
    pub validate: Vec<ValidationCommand>,
    /// Limits of the validate step.
    pub validate_limits: StepLimits,
    /// Variables that validation may see although the guard hides them.
    #[serde(default)]
    pub env_allow: Vec<String>,
    /// How each role's agent is run.
    pub steps: BTreeMap<AgentRole, AgentSettings>,
    /// An approval with a blocker is gated as `request_changes`.
    pub blocker_withholds: bool,
    /// End a run that stands still.
    pub stop_on_no_progress: bool,
    /// Ask a person after each implement step.
    pub gate_implement: bool,
    /// The run's budget.
    #[serde(default)]
    pub budget: BudgetLimits,
    /// Write `Xiv-Run` and `Xiv-Step` trailers.
    #[serde(default)]
    pub commit_trailers: bool,
    /// Work in a work tree of its own at this path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worktree: Option<String>,
    /// The branch that new branches start from; none means HEAD.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
}

impl RunConfig {
    /// A configuration with these validation commands, no agent settings and
    /// every default.
    #[must_use]
    pub fn new(validate: Vec<ValidationCommand>) -> Self {
        Self {
            validate,
            validate_limits: StepLimits {
                total_ms: 30 * 60 * 1000,
                idle_ms: None,
            },
            env_allow: Vec::new(),
            steps: BTreeMap::new(),
            blocker_withholds: false,
            stop_on_no_progress: true,
            gate_implement: false,
            budget: BudgetLimits::default(),
            commit_trailers: false,
            worktree: None,
            base: None,
        }
    }
}

/// Whether the run's programs see the guarding `git`, `gh` and `jj`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::exhaustive_enums, reason = "there are two")]
pub enum GuardStatus {
    /// They do.
    Shims,
    /// The host program cannot act as shims; only the environment is guarded.
    EnvironmentOnly,
}

/// What the fetch step brought.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(
    tag = "type",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
#[expect(clippy::exhaustive_enums, reason = "the gate decides on each")]
pub enum FetchOutcome {
    /// An issue. The fetch gate still looks at it.
    Fetched {
        /// The issue.
        issue: Issue,
        /// Its text was handed in as it is, so that it may be an error message
        /// in disguise.
        verbatim: bool,
    },
    /// No issue.
    NotFetched {
        /// Why, naming the cause.
        error: String,
        /// How to mend it.
        #[serde(default)]
        hints: Vec<String>,
    },
}

/// Why a pass has no review.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum ReviewFailureKind {
    /// The reviewer is not logged in.
    Auth,
    /// The reviewer is over its usage limit.
    Quota,
    /// Too many requests, also after waiting.
    RateLimited,
    /// Network or server, also after trying again.
    Transient,
    /// The prompt did not fit.
    ContextOverflow,
    /// The reviewer's program or arguments are wrong.
    Config,
    /// A limit that the engine enforces was reached.
    LimitReached,
    /// The model refused.
    Refused,
    /// It took too long or fell silent.
    TimedOut,
    /// The program ended without a final word, or was not found.
    Crashed,
    /// There was an answer, but no review in it.
    Unparseable,
    /// A human gate held the prompt back.
    GateBlocked,
    /// The step's own budget is spent.
    StepBudget,
    /// The tree, HEAD or the branch changed while it looked.
    Tampered,
    /// Anything else.
    Other,
}

/// Why a pass has no review, with what is known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReviewFailure {
    /// The kind.
    pub kind: ReviewFailureKind,
    /// For people.
    pub message: String,
}

/// An effect on the world that is about to be made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(
    tag = "type",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
#[expect(clippy::exhaustive_enums, reason = "redo must know how to probe each")]
pub enum Intent {
    /// The run's commit.
    Commit {
        /// All that its id depends on.
        plan: CommitPlan,
    },
}

/// What an effect came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(
    tag = "type",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
#[expect(clippy::exhaustive_enums, reason = "one per intent")]
pub enum EffectResult {
    /// The commit.
    Commit {
        /// Its id.
        commit: CommitId,
    },
}

/// What validation said in a pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::exhaustive_enums, reason = "the gate decides on each")]
pub enum PassValidation {
    /// Every command exited 0.
    Passed,
    /// Some command did not.
    Failed,
    /// It did not run in this pass.
    None,
}

/// Which rule judged a pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::exhaustive_enums, reason = "`explain` words each")]
pub enum JudgeReason {
    /// Validation passed and no review withheld: done.
    Passed,
    /// Validation did not pass.
    ValidationFailed,
    /// The review asked for changes.
    ChangesRequested,
    /// The review approved with a blocker, and the configuration lets that
    /// withhold.
    BlockerWithheld,
    /// A person's notes ended the pass.
    HumanNotes,
    /// The implement step changed nothing, and the pass before it failed as
    /// the one before that.
    NoProgress,
}

/// What happened. The first event of a run is always [`Event::RunStarted`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(
    tag = "type",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
#[expect(
    clippy::exhaustive_enums,
    reason = "machines and reports must handle each event"
)]
pub enum Event {
    /// The run began.
    RunStarted {
        /// The run.
        run: RunId,
        /// What it is to do.
        spec: RunSpec,
        /// The configuration that it will keep.
        config: RunConfig,
        /// Whose decisions these are.
        core_version: CoreVersion,
        /// The run's only randomness.
        seed: u64,
        /// How its programs are guarded.
        guard: GuardStatus,
    },
    /// A step was begun.
    StepStarted {
        /// The step.
        step: StepId,
        /// Its attempt; the first is 1.
        attempt: u32,
        /// Hash of the rendered prompt, whose text is a blob. Never compared.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        prompt_sha256: Option<String>,
        /// The work tree then, where that matters for a repeated attempt.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tree: Option<TreeId>,
    },
    /// An effect is about to be made. It is probed before it is made again.
    Intended {
        /// The step.
        step: StepId,
        /// By what it is found again.
        marker: String,
        /// What will be done.
        intent: Intent,
    },
    /// An effect was made, or found made.
    EffectDone {
        /// The step.
        step: StepId,
        /// The marker of its intent.
        marker: String,
        /// What it came to.
        result: EffectResult,
    },
    /// The issue was asked for.
    IssueFetched {
        /// The step.
        step: StepId,
        /// What came.
        outcome: FetchOutcome,
    },
    /// The branch is checked out.
    BranchPrepared {
        /// The step.
        step: StepId,
        /// The branch.
        branch: BranchName,
        /// What it was made from, for people.
        base: String,
        /// Its head now.
        start: CommitId,
        /// That commit's tree.
        start_tree: TreeId,
        /// It existed before.
        reused: bool,
        /// How many commits of the base it lacks.
        behind: u32,
        /// Root of the work tree.
        root: String,
    },
    /// The plan was made.
    PlanMade {
        /// The step.
        step: StepId,
        /// The plan.
        plan: Plan,
        /// What it used.
        usage: Usage,
    },
    /// The implement step ended.
    Implemented {
        /// The step.
        step: StepId,
        /// The pass.
        pass: Pass,
        /// The agent's account; null when it gave none that parses.
        report: Option<ImplementReport>,
        /// The work tree before.
        tree_before: TreeId,
        /// The work tree after.
        tree_after: TreeId,
        /// The conversation, when it can be resumed.
        session: Option<String>,
        /// What it used.
        usage: Usage,
    },
    /// The agent made commits of its own on the run's branch. Allowed.
    AgentCommitted {
        /// The step.
        step: StepId,
        /// The commits, oldest first.
        commits: Vec<CommitId>,
    },
    /// A person has to look.
    GateRaised {
        /// The gate.
        gate: String,
        /// The pass.
        pass: Pass,
        /// The work tree as the agent left it.
        tree: TreeId,
    },
    /// The person decided.
    GateAnswered {
        /// The gate.
        gate: String,
        /// The decision.
        answer: GateAnswer,
    },
    /// The commands were run.
    Validated {
        /// The step.
        step: StepId,
        /// The pass.
        pass: Pass,
        /// What they said.
        validation: Validation,
    },
    /// There is a review.
    Reviewed {
        /// The step.
        step: StepId,
        /// The pass.
        pass: Pass,
        /// The review.
        review: LocalReview,
        /// What it used.
        usage: Usage,
    },
    /// There is no review, and there should be one. Never fails a run.
    ReviewFailed {
        /// The step.
        step: StepId,
        /// The pass.
        pass: Pass,
        /// Why.
        reason: ReviewFailure,
        /// What it used.
        usage: Usage,
    },
    /// There is no review because none was wanted.
    ReviewSkipped {
        /// The pass.
        pass: Pass,
    },
    /// The gate looked at a pass. Derived from the events before it, recorded
    /// so that it can be read and re-computed.
    PassJudged {
        /// The pass.
        pass: Pass,
        /// What validation said.
        validation: PassValidation,
        /// What the review said; null without one.
        verdict: Option<Verdict>,
        /// The review approved and named a blocker all the same.
        incoherent: bool,
        /// The gate opened.
        done: bool,
        /// Which rule decided.
        reason: JudgeReason,
    },
    /// The work is committed.
    Committed {
        /// The step.
        step: StepId,
        /// The commit.
        commit: CommitId,
        /// Its tree: the gated one.
        tree: TreeId,
    },
    /// The gated tree is the start's: there is nothing to commit.
    NothingToCommit {
        /// The step.
        step: StepId,
    },
    /// A child run ended or was suspended.
    ChildFinished {
        /// Its place among the children.
        index: u32,
        /// The child.
        run: RunId,
        /// How it ended or why it stands.
        outcome: Outcome,
        /// What it used.
        usage: Usage,
    },
    /// A program of the run tried what the guard refuses.
    Denied {
        /// The step.
        step: StepId,
        /// The rule.
        rule: String,
        /// The command line.
        argv: Vec<String>,
    },
    /// A step changed what it must not change.
    Violated {
        /// The step.
        step: StepId,
        /// What changed, for people.
        what: String,
    },
    /// A step is tried again.
    Retried {
        /// The step.
        step: StepId,
        /// The attempt that failed.
        attempt: u32,
        /// Why.
        reason: String,
        /// How long is waited first, in milliseconds.
        delay_ms: u64,
        /// What the failed attempt used.
        #[serde(default)]
        usage: Usage,
    },
    /// The run stands still and can be resumed.
    Suspended {
        /// Until what.
        wait: Wait,
        /// What the step that stopped had used.
        #[serde(default)]
        usage: Usage,
        /// Its conversation, when it can be resumed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session: Option<String>,
    },
    /// The run goes on.
    Resumed {
        /// The budget from now on, when it was changed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        budget: Option<BudgetLimits>,
    },
    /// The run is over. Exactly once, and nothing follows.
    RunFinished {
        /// How.
        outcome: Outcome,
        /// The result.
        output: ImplementOutput,
    },
}

/// An event's type alone.
pub type EventKind = &'static str;

impl Event {
    /// The `type` word of the wire form.
    #[must_use]
    pub const fn kind(&self) -> EventKind {
        match self {
            Self::RunStarted { .. } => "runStarted",
            Self::StepStarted { .. } => "stepStarted",
            Self::Intended { .. } => "intended",
            Self::EffectDone { .. } => "effectDone",
            Self::IssueFetched { .. } => "issueFetched",
            Self::BranchPrepared { .. } => "branchPrepared",
            Self::PlanMade { .. } => "planMade",
            Self::Implemented { .. } => "implemented",
            Self::AgentCommitted { .. } => "agentCommitted",
            Self::GateRaised { .. } => "gateRaised",
            Self::GateAnswered { .. } => "gateAnswered",
            Self::Validated { .. } => "validated",
            Self::Reviewed { .. } => "reviewed",
            Self::ReviewFailed { .. } => "reviewFailed",
            Self::ReviewSkipped { .. } => "reviewSkipped",
            Self::PassJudged { .. } => "passJudged",
            Self::Committed { .. } => "committed",
            Self::NothingToCommit { .. } => "nothingToCommit",
            Self::ChildFinished { .. } => "childFinished",
            Self::Denied { .. } => "denied",
            Self::Violated { .. } => "violated",
            Self::Retried { .. } => "retried",
            Self::Suspended { .. } => "suspended",
            Self::Resumed { .. } => "resumed",
            Self::RunFinished { .. } => "runFinished",
        }
    }
}
