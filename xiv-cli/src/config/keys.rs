//! Every key of the configuration, its type and its default. Unknown keys are
//! errors everywhere; the schema and the reference file are held to this.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xiv_agents::tiers::{Overrides, Tier, agent_for};
use xiv_core::flow::{BudgetLimits, StepLimits};
use xiv_core::port::AgentRole;

use super::duration::Span;

/// The whole configuration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Config {
    /// Where issues come from.
    pub(crate) tracker: Tracker,
    /// The branch that new branches start from; unset means HEAD.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) base: Option<String>,
    /// A command that is run when a run ends or waits for a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) notify: Option<String>,
    /// The repository's own commands.
    pub(crate) validate: Validate,
    /// How each step's agent is run.
    pub(crate) steps: Steps,
    /// Programs for `engine = "command:NAME"`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) agents: BTreeMap<String, CommandAgent>,
    /// The implement loop.
    #[serde(rename = "loop")]
    pub(crate) r#loop: Loop,
    /// The human gate.
    pub(crate) gate: Gate,
    /// What a run may spend.
    #[serde(skip_serializing_if = "Budget::is_empty")]
    pub(crate) budget: Budget,
    /// The Markdown tracker.
    pub(crate) tracker_files: TrackerFiles,
    /// GitHub.
    pub(crate) github: GitHub,
    /// Linear.
    pub(crate) linear: Linear,
    /// Reviews that are posted.
    pub(crate) review: Review,
    /// The run's commit.
    pub(crate) commit: Commit,
    /// Work trees of `--worktree`.
    pub(crate) worktree: Worktree,
    /// How programs are run.
    pub(crate) runner: Runner,
    /// The record of runs.
    pub(crate) store: Store,
    /// US dollars per million tokens, by model.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) prices: BTreeMap<String, Price>,
}

impl Config {
    /// Every default, with the agents of a tier.
    pub(crate) fn of_tier(tier: Tier) -> Self {
        Self {
            tracker: Tracker::Auto,
            base: None,
            notify: None,
            validate: Validate::default(),
            steps: Steps::of_tier(tier),
            agents: BTreeMap::new(),
            r#loop: Loop::default(),
            gate: Gate::default(),
            budget: Budget::default(),
            tracker_files: TrackerFiles::default(),
            github: GitHub::default(),
            linear: Linear::default(),
            review: Review::default(),
            commit: Commit::default(),
            worktree: Worktree::default(),
            runner: Runner::default(),
            store: Store::default(),
            prices: BTreeMap::new(),
        }
    }
}

impl Default for Config {
    fn default() -> Self {
        Self::of_tier(Tier::Cheap)
    }
}

/// Where issues come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Tracker {
    /// A local file, else Linear when it has a key, else GitHub.
    Auto,
    /// Markdown files.
    Files,
    /// Linear.
    Linear,
    /// GitHub issues.
    #[serde(rename = "github")]
    GitHub,
}

/// The repository's own commands.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Validate {
    /// Run by the shell in the repository's root, in order; empty means that
    /// they are detected.
    pub(crate) commands: Vec<ValidateCommand>,
    /// Variables that validation, and no agent, may see although the guard
    /// hides them.
    pub(crate) env_allow: Vec<String>,
}

/// One validation command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ValidateCommand {
    /// A short name: `test`, `lint`.
    pub(crate) name: String,
    /// The line for the shell.
    pub(crate) run: String,
    /// Its own time limit; unset means the step's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) timeout: Option<Span>,
}

/// How each step's agent is run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Steps {
    /// Making the plan.
    pub(crate) plan: Step,
    /// Doing the work.
    pub(crate) implement: Step,
    /// Judging it.
    pub(crate) review: Step,
    /// Fixing what CI or a person raised.
    pub(crate) fix: Step,
    /// Writing a pull request's text.
    pub(crate) describe: Step,
}

impl Steps {
    fn of_tier(tier: Tier) -> Self {
        let step = |role| Step::of_tier(tier, role);
        Self {
            plan: step(AgentRole::Plan),
            implement: step(AgentRole::Implement),
            review: step(AgentRole::Review),
            fix: step(AgentRole::Fix),
            describe: step(AgentRole::Describe),
        }
    }

    /// One role's settings.
    pub(crate) const fn of(&self, role: AgentRole) -> &Step {
        match role {
            AgentRole::Plan => &self.plan,
            AgentRole::Implement => &self.implement,
            AgentRole::Review => &self.review,
            AgentRole::Fix => &self.fix,
            AgentRole::Describe => &self.describe,
        }
    }
}

impl Default for Steps {
    fn default() -> Self {
        Self::of_tier(Tier::Cheap)
    }
}

/// How one step's agent is run.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Step {
    /// `codex`, `claude`, `pi`, `command:NAME` or `scripted:FILE`.
    pub(crate) engine: String,
    /// Passed through; unset means the engine's default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) model: Option<String>,
    /// Passed through; unset means the engine's default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) effort: Option<String>,
    /// The longest that the step may take.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) timeout: Option<Span>,
    /// The longest that its agent may be silent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) idle: Option<Span>,
    /// Your own guidance, added to the prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) guidance: Option<String>,
    /// What the step may spend.
    #[serde(skip_serializing_if = "Budget::is_empty")]
    pub(crate) budget: Budget,
}

impl Step {
    fn of_tier(tier: Tier, role: AgentRole) -> Self {
        let agent = agent_for(tier, role, Overrides::default());
        let limits = StepLimits::for_role(role);
        Self {
            engine: agent.engine.to_string(),
            model: agent.model,
            effort: agent.effort.map(|effort| effort.0),
            timeout: Some(Span::from_ms(limits.total_ms)),
            idle: limits.idle_ms.map(Span::from_ms),
            guidance: None,
            budget: Budget::default(),
        }
    }
}

/// What may be spent; an unset key is without limit.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Budget {
    /// US dollars.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) usd: Option<f64>,
    /// Tokens, input and output together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tokens: Option<u64>,
    /// Minutes of agent time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) minutes: Option<u64>,
    /// Agent calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) calls: Option<u64>,
}

impl Budget {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl From<Budget> for BudgetLimits {
    fn from(budget: Budget) -> Self {
        Self {
            usd: budget.usd,
            tokens: budget.tokens,
            minutes: budget.minutes,
            calls: budget.calls,
        }
    }
}

/// A program that speaks the `command` agent's protocol.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CommandAgent {
    /// The program and its arguments.
    pub(crate) command: Vec<String>,
}

/// The implement loop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Loop {
    /// The most passes, 1 to 10.
    pub(crate) max_iterations: i64,
    /// Leave the review out; nothing can switch it on again.
    pub(crate) skip_acceptance_review: bool,
    /// An approval with a blocker counts as `request_changes`.
    pub(crate) blocker_withholds: bool,
    /// End a run that stands still.
    pub(crate) stop_on_no_progress: bool,
}

impl Default for Loop {
    fn default() -> Self {
        Self {
            max_iterations: 3,
            skip_acceptance_review: false,
            blocker_withholds: false,
            stop_on_no_progress: true,
        }
    }
}

/// The human gate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Gate {
    /// Ask a person after each implement step.
    pub(crate) implement: bool,
    /// Where the gate's files lie: in the git folder (`git`) or in
    /// `.pi/agent-review/` (`pi`).
    pub(crate) state: GateState,
    /// A stop hook waits for the decision.
    pub(crate) stop_waits: bool,
    /// Ask somebody else after this time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) escalate_after: Option<Span>,
}

impl Default for Gate {
    fn default() -> Self {
        Self {
            implement: false,
            state: GateState::Git,
            stop_waits: false,
            escalate_after: None,
        }
    }
}

/// Where the gate's files lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum GateState {
    /// In the work tree's git folder.
    Git,
    /// In `.pi/agent-review/`.
    Pi,
}

/// The Markdown tracker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct TrackerFiles {
    /// The folder of issues, from the repository's root.
    pub(crate) dir: String,
}

impl Default for TrackerFiles {
    fn default() -> Self {
        Self {
            dir: ".xiv/issues".to_owned(),
        }
    }
}

/// GitHub.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct GitHub {
    /// The host.
    pub(crate) host: String,
    /// The variable that holds the token.
    pub(crate) token_env: String,
    /// Logins that are bots although the forge does not say so.
    pub(crate) bots: Vec<String>,
    /// Logins whose comments are taken as instructions.
    pub(crate) trust: Vec<String>,
}

impl Default for GitHub {
    fn default() -> Self {
        Self {
            host: "github.com".to_owned(),
            token_env: "GH_TOKEN".to_owned(),
            bots: Vec::new(),
            trust: Vec::new(),
        }
    }
}

/// Linear.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Linear {
    /// The variable that holds the key.
    pub(crate) token_env: String,
}

impl Default for Linear {
    fn default() -> Self {
        Self {
            token_env: "LINEAR_API_KEY".to_owned(),
        }
    }
}

/// Reviews that are posted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Review {
    /// The most comments on lines; the rest goes into the text.
    pub(crate) max_inline: u32,
}

impl Default for Review {
    fn default() -> Self {
        Self { max_inline: 30 }
    }
}

/// The run's commit.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Commit {
    /// Write `Xiv-Run` and `Xiv-Step` trailers.
    pub(crate) trailers: bool,
    /// Sign it; unset means what git's own configuration says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) sign: Option<bool>,
}

/// Work trees of `--worktree`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Worktree {
    /// The folder that they are made in; unset means the state folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) dir: Option<String>,
    /// A shell line that is run in a new one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) setup: Option<String>,
    /// Untracked files that are copied into a new one.
    pub(crate) copy: Vec<String>,
}

/// How programs are run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Runner {
    /// Programs that may outlive the step that started them.
    pub(crate) keep: Vec<String>,
}

impl Default for Runner {
    fn default() -> Self {
        Self {
            keep: vec!["sccache".to_owned()],
        }
    }
}

/// The record of runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Store {
    /// Ended runs older than this may be removed.
    pub(crate) retention_days: u32,
}

impl Default for Store {
    fn default() -> Self {
        Self { retention_days: 90 }
    }
}

/// US dollars per million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Price {
    /// For tokens read.
    pub(crate) input: f64,
    /// For tokens written.
    pub(crate) output: f64,
}
