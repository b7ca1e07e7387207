//! Coding agents: one call, one role, one answer.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use async_trait::async_trait;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::StepContext;
use crate::model::{Pass, RunId, Usage};
use crate::policy::extract;

/// What an agent is asked to do.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::exhaustive_enums, reason = "each role has its own settings")]
pub enum AgentRole {
    /// Make the plan.
    Plan,
    /// Do the work.
    Implement,
    /// Judge the diff.
    Review,
    /// Fix what CI or a person raised on a pull request.
    Fix,
    /// Write a pull request's text.
    Describe,
}

impl AgentRole {
    /// All roles.
    pub const ALL: [Self; 5] = [
        Self::Plan,
        Self::Implement,
        Self::Review,
        Self::Fix,
        Self::Describe,
    ];

    /// The word used in configuration, flags and `XIV_ROLE`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Plan => "plan",
            Self::Implement => "implement",
            Self::Review => "review",
            Self::Fix => "fix",
            Self::Describe => "describe",
        }
    }
}

impl fmt::Display for AgentRole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The rules that every agent gets as its system prompt. A request cannot be
/// made without them, and they always hold the never-merge rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SystemRules(String);

impl SystemRules {
    /// The hard rule. It stands first in every system prompt.
    pub const NEVER_MERGE: &str = "Never merge a pull request, never enable auto-merge and never \
        add one to a merge queue. Never push. When a pull request looks ready, stop and report \
        that it is ready for a human to review and merge.";

    /// The hard rule alone.
    #[must_use]
    pub fn new() -> Self {
        Self(Self::NEVER_MERGE.to_owned())
    }

    /// The hard rule followed by more rules.
    #[must_use]
    pub fn with_more(more: &str) -> Self {
        Self(format!("{}\n\n{}", Self::NEVER_MERGE, more.trim()))
    }

    /// The text for the system prompt.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Default for SystemRules {
    fn default() -> Self {
        Self::new()
    }
}

/// What an agent may do to the file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "each adapter must map every level")]
pub enum Access {
    /// Read, never write. Reviewers.
    ReadOnly,
    /// Write inside the work tree.
    Workspace,
    /// Whatever the user may do.
    Full,
}

/// Whether to begin a conversation or go on with one.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "each adapter must map both")]
pub enum Session {
    /// A new conversation.
    Fresh,
    /// Go on with the conversation of this id.
    Resume(String),
}

/// Limits that an agent program enforces itself. Time is not among them: the
/// driver owns it.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct TurnLimits {
    /// The most model turns.
    pub turns: Option<u32>,
    /// The most US dollars.
    pub budget_usd: Option<f64>,
}

/// The effort that a model is asked for: a word that is passed through.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub struct Effort(pub String);

/// One call of an agent.
#[derive(Debug, Clone)]
pub struct AgentRequest {
    /// What it is asked to do.
    pub role: AgentRole,
    /// The whole prompt.
    pub prompt: String,
    /// The system prompt.
    pub rules: SystemRules,
    /// The work tree.
    pub cwd: PathBuf,
    /// What it may do there.
    pub access: Access,
    /// The JSON Schema that its answer has to satisfy.
    pub schema: Option<Value>,
    /// Model name, passed through; none means the engine's default.
    pub model: Option<String>,
    /// Effort, passed through; none means the engine's default.
    pub effort: Option<Effort>,
    /// Limits that the engine enforces.
    pub limits: TurnLimits,
    /// New or resumed.
    pub session: Session,
    /// Variables to set beside the guarded environment.
    pub env: BTreeMap<String, String>,
    /// The run, for `XIV_RUN_ID`.
    pub run: Option<RunId>,
    /// The pass, for `XIV_PASS`; none outside passes.
    pub pass: Option<Pass>,
    /// Where the adapter may write transcripts and result files; none means a
    /// temporary folder.
    pub scratch: Option<PathBuf>,
}

impl AgentRequest {
    /// A request with every default: fresh session, no schema, and read-only
    /// access for [`AgentRole::Plan`], [`AgentRole::Review`] and
    /// [`AgentRole::Describe`].
    pub fn new(
        role: AgentRole,
        prompt: impl Into<String>,
        rules: SystemRules,
        cwd: impl Into<PathBuf>,
    ) -> Self {
        let access = match role {
            AgentRole::Plan | AgentRole::Review | AgentRole::Describe => Access::ReadOnly,
            AgentRole::Implement | AgentRole::Fix => Access::Workspace,
        };
        Self {
            role,
            prompt: prompt.into(),
            rules,
            cwd: cwd.into(),
            access,
            schema: None,
            model: None,
            effort: None,
            limits: TurnLimits::default(),
            session: Session::Fresh,
            env: BTreeMap::new(),
            run: None,
            pass: None,
            scratch: None,
        }
    }

    /// Asks for an answer that satisfies the schema.
    #[must_use]
    pub fn with_schema(mut self, schema: Value) -> Self {
        self.schema = Some(schema);
        self
    }

    /// Sets the session.
    #[must_use]
    pub fn with_session(mut self, session: Session) -> Self {
        self.session = session;
        self
    }
}

/// A command that an engine or the guard refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Denial {
    /// Which rule or tool refused.
    pub rule: String,
    /// What was tried.
    pub what: String,
}

/// An agent's answer. The work tree is not part of it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AgentReply {
    /// The answer as JSON, when the engine has a structured channel.
    pub json: Option<Value>,
    /// The final text.
    pub text: String,
    /// The conversation, when it can be resumed.
    pub session: Option<String>,
    /// What the call used.
    pub usage: Usage,
    /// What was refused during the call.
    pub denials: Vec<Denial>,
    /// Where the transcript is.
    pub transcript: Option<PathBuf>,
    /// Odd things that did not void the answer.
    pub warnings: Vec<String>,
}

/// What an agent can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(clippy::struct_excessive_bools, reason = "a capability list")]
pub struct AgentCaps {
    /// It can be held to a JSON Schema.
    pub schema: bool,
    /// It can go on with an earlier conversation.
    pub resume: bool,
    /// It can be kept from writing.
    pub read_only: bool,
    /// It tells what it cost.
    pub cost: bool,
}

/// Whether an agent is logged in.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "preflight must decide on each")]
pub enum Login {
    /// It is.
    Yes,
    /// It is not; the text says how to.
    No {
        /// The command or the setting that logs it in.
        fix: String,
    },
    /// It cannot be told without a call.
    Unknown,
}

/// What preflight found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentInfo {
    /// The program's version, as it prints it.
    pub version: Option<String>,
    /// Whether it is logged in.
    pub login: Login,
}

/// Which limit of the driver ran out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::exhaustive_enums, reason = "there are two timers")]
pub enum TimeoutKind {
    /// Nothing was heard for too long.
    Idle,
    /// The step's whole time is spent.
    Total,
}

/// Why an agent call gave no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum AgentErrorKind {
    /// Not logged in, or the login was refused. Never retried.
    Auth,
    /// A usage limit; the run can go on at the time given.
    Quota {
        /// When the limit is lifted, if known.
        resets_at: Option<Timestamp>,
    },
    /// Too many requests.
    RateLimited {
        /// How long to wait, in milliseconds, if known.
        retry_after_ms: Option<u64>,
    },
    /// A fault that may pass: 5xx, network, cut stream.
    Transient,
    /// The prompt does not fit.
    ContextOverflow,
    /// The program or its arguments are wrong.
    Config,
    /// A limit that the engine enforces was reached.
    LimitReached,
    /// The model refused.
    Refused,
    /// The driver's time ran out.
    TimedOut(TimeoutKind),
    /// It was told to stop.
    Cancelled,
    /// The program ended without a final word, or was not found.
    Crashed,
    /// There was an answer, but not of the wanted form.
    Unparseable,
    /// A human gate held the prompt back.
    GateBlocked,
    /// Anything else; the text is kept raw.
    Other,
}

/// A failed agent call. What it used and did stays known.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct AgentError {
    /// What callers branch on.
    pub kind: AgentErrorKind,
    /// What happened, for people; secrets are masked.
    pub message: String,
    /// How to mend it.
    pub hints: Vec<String>,
    /// What the failed call used.
    pub usage: Usage,
    /// The conversation, when it can be resumed.
    pub session: Option<String>,
    /// The text that was not of the wanted form.
    pub raw: Option<String>,
}

impl AgentError {
    /// An error without hints.
    pub fn new(kind: AgentErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            hints: Vec::new(),
            usage: Usage::default(),
            session: None,
            raw: None,
        }
    }

    /// Adds a hint.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Whether trying again may help.
    #[must_use]
    pub const fn is_temporary(&self) -> bool {
        matches!(
            self.kind,
            AgentErrorKind::Transient | AgentErrorKind::RateLimited { .. }
        )
    }
}

/// A coding agent.
#[async_trait]
pub trait Agent: fmt::Debug + Send + Sync + 'static {
    /// A short name: `codex`, `command:mine`.
    fn id(&self) -> String;

    /// What it can do.
    fn caps(&self) -> AgentCaps;

    /// Looks whether it can be used, without calling a model.
    ///
    /// # Errors
    /// [`AgentErrorKind::Config`] or [`AgentErrorKind::Crashed`] when the
    /// program is missing or does not start.
    async fn preflight(&self, cx: StepContext) -> Result<AgentInfo, AgentError>;

    /// Runs one call to its end. When it returns, no process that it started
    /// is left.
    ///
    /// # Errors
    /// Any [`AgentErrorKind`].
    ///
    /// # Cancellation
    /// Returns [`AgentErrorKind::Cancelled`] soon after the context's signal.
    /// Dropping the future ends every process, at once.
    async fn run(&self, request: AgentRequest, cx: StepContext) -> Result<AgentReply, AgentError>;
}

const _: Option<&dyn Agent> = None;

/// Conveniences for callers of any [`Agent`].
#[async_trait]
pub trait AgentExt: Agent {
    /// Asks for a value of a type: its schema goes with the request, and the
    /// answer must parse.
    ///
    /// # Errors
    /// What [`Agent::run`] returns, and [`AgentErrorKind::Unparseable`] when
    /// there is no such value in the answer.
    ///
    /// # Cancellation
    /// As [`Agent::run`].
    async fn ask<T>(
        &self,
        request: AgentRequest,
        cx: StepContext,
    ) -> Result<(T, AgentReply), AgentError>
    where
        T: extract::Extract + DeserializeOwned + Serialize + JsonSchema + Send,
    {
        let request = request.with_schema(schemars::schema_for!(T).to_value());
        let events = cx.events.clone();
        let mut reply = self.run(request, cx).await?;
        match extract::from_reply_noting::<T>(reply.json.as_ref(), &reply.text) {
            Ok(extract::Extracted { value, unknown }) => {
                if !unknown.is_empty() {
                    let names = unknown.join(", ");
                    let warning = format!("unknown fields of the answer were ignored: {names}");
                    events.warn(warning.as_str());
                    reply.warnings.push(warning);
                }
                Ok((value, reply))
            }
            Err(error) => Err(AgentError {
                usage: reply.usage,
                session: reply.session.clone(),
                raw: Some(reply.text.clone()),
                ..AgentError::new(AgentErrorKind::Unparseable, error.to_string())
            }),
        }
    }
}

impl<A: Agent + ?Sized> AgentExt for A {}
