//! Claude Code: `claude -p`, one process per call.
//!
//! Three pure parts (`plan`, `feed`, `classify`) around the shared runner.

mod classify;
mod feed;
mod plan;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use serde_json::Value;
use xiv_core::port::{
    Agent, AgentCaps, AgentError, AgentInfo, AgentReply, AgentRequest, AgentRole, Login, Session,
    StepContext,
};

use self::classify::Schema;
use self::feed::Claude as Parsed;
use crate::engine::preflight::{ask, version_of};
use crate::engine::program::{Shim, locate};
use crate::engine::runner::Call;
use crate::host::Host;

const SHIM: Shim = Shim {
    scope: "@anthropic-ai",
    prefix: "claude-code-",
    program: "claude",
};
const INSTALL: &str = "install it: npm install -g @anthropic-ai/claude-code";

/// Settings of the Claude adapter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClaudeOptions {
    /// The program. Default: `claude` on `PATH`.
    pub program: Option<PathBuf>,
    /// Which of the user's settings the engine loads: `user,project,local`. Default: none, so that no
    /// hook or permission of a machine changes a run.
    pub setting_sources: String,
    /// Arguments put at the end. Default: none.
    pub extra_args: Vec<String>,
}

/// The Claude Code adapter.
#[derive(Debug)]
pub struct Claude {
    host: Host,
    options: ClaudeOptions,
    /// What each session had cost before: a resumed session counts from its beginning.
    cost: Mutex<HashMap<String, f64>>,
}

impl Claude {
    /// An adapter on this host.
    #[must_use]
    pub fn new(host: Host, options: ClaudeOptions) -> Self {
        Self {
            host,
            options,
            cost: Mutex::default(),
        }
    }

    fn program(&self) -> Result<PathBuf, AgentError> {
        locate(
            self.options.program.as_deref(),
            "claude",
            SHIM,
            self.host.environment(),
            INSTALL,
        )
    }

    /// Takes from the session's cost what earlier calls had cost.
    fn own_share(&self, request: &AgentRequest, parsed: &mut Parsed) {
        let (Some(total), Some(session)) = (parsed.usage.cost_usd, parsed.session.clone()) else {
            return;
        };
        let mut cost = self.cost.lock().unwrap_or_else(PoisonError::into_inner);
        let mut before = cost.insert(session, total);
        if let Session::Resume(id) = &request.session {
            before = before.or_else(|| cost.get(id).copied());
            parsed.usage.cost_usd = Some((total - before.unwrap_or(0.0)).max(0.0));
        }
    }
}

#[async_trait]
impl Agent for Claude {
    fn id(&self) -> String {
        "claude".into()
    }

    fn caps(&self) -> AgentCaps {
        AgentCaps {
            schema: true,
            resume: true,
            read_only: true,
            cost: true,
        }
    }

    async fn preflight(&self, cx: StepContext) -> Result<AgentInfo, AgentError> {
        let program = self.program()?;
        let version = version_of("claude", &program, &self.host, &cx).await?;
        let status = ask(&program, &["auth", "status"], &self.host, &cx).await?;
        let status: Value = serde_json::from_slice(&status.stdout).unwrap_or_default();
        let login = match (status["loggedIn"].as_bool(), status["apiProvider"].as_str()) {
            (Some(true), _) => Login::Yes,
            (Some(false), Some("firstParty")) => Login::No {
                fix: "run `claude` and log in with /login, or set ANTHROPIC_API_KEY".into(),
            },
            _ => Login::Unknown,
        };
        Ok(AgentInfo { version, login })
    }

    async fn run(&self, request: AgentRequest, cx: StepContext) -> Result<AgentReply, AgentError> {
        let program = self.program()?;
        let plan = plan::plan(&request, &self.options, request.scratch.as_deref());
        let mut parsed = Parsed::default();
        let call = Call {
            name: "claude",
            host: &self.host,
            request: &request,
            cx: &cx,
        };
        let report = call.execute(program, plan, &mut parsed).await?;
        self.own_share(&request, &mut parsed);
        parsed.usage.calls = 1;
        parsed.usage.cost_complete &= parsed.result.is_some();
        parsed.usage.wall_ms = report.wall_ms();
        if request.role == AgentRole::Review {
            // a session that was not stored cannot be resumed
            parsed.session = None;
        }
        let schema = if request.schema.is_some() {
            Schema::Wanted
        } else {
            Schema::Free
        };
        let outcome = classify::classify(&parsed, request.role, schema, &report.end);
        self.host
            .masked(outcome.map(|reply| report.recorded(reply)))
    }
}
