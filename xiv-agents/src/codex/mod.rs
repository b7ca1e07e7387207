//! Codex: `codex exec`, one process per call.
//!
//! Three pure parts (`plan`, `feed`, `classify`) around the shared runner.

mod classify;
mod feed;
mod plan;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use xiv_core::model::Usage;
use xiv_core::port::{
    Agent, AgentCaps, AgentError, AgentInfo, AgentReply, AgentRequest, AgentRole, Login, Session,
    StepContext,
};

use self::feed::Codex as Parsed;
use crate::engine::preflight::{ask, version_of};
use crate::engine::program::{Shim, locate};
use crate::engine::runner::{Call, exchange_folder};
use crate::host::Host;

const SHIM: Shim = Shim {
    scope: "@openai",
    prefix: "codex-",
    program: "codex",
};
const INSTALL: &str = "install it: npm install -g @openai/codex";

/// Settings of the Codex adapter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CodexOptions {
    /// The program. Default: `codex` on `PATH`.
    pub program: Option<PathBuf>,
    /// Arguments put right after `exec`, such as `-c model_provider="mine"`. Default: none. What xiv
    /// itself sets (sandbox, approvals, rules) comes later and wins.
    pub extra_args: Vec<String>,
}

/// The Codex adapter.
#[derive(Debug)]
pub struct Codex {
    host: Host,
    options: CodexOptions,
    /// What each thread had used before: a resumed thread counts from its beginning.
    used: Mutex<HashMap<String, Usage>>,
}

impl Codex {
    /// An adapter on this host.
    #[must_use]
    pub fn new(host: Host, options: CodexOptions) -> Self {
        Self {
            host,
            options,
            used: Mutex::default(),
        }
    }

    fn program(&self) -> Result<PathBuf, AgentError> {
        locate(
            self.options.program.as_deref(),
            "codex",
            SHIM,
            self.host.environment(),
            INSTALL,
        )
    }

    /// Takes from the thread's total what earlier calls had used of it.
    fn own_share(&self, request: &AgentRequest, parsed: &mut Parsed) {
        let Some(total) = parsed.usage else { return };
        let Some(thread) = parsed.thread.clone() else {
            return;
        };
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        let before = used.insert(thread, total);
        if let (Session::Resume(_), Some(before)) = (&request.session, before) {
            parsed.usage = Some(Usage {
                input_tokens: total.input_tokens.saturating_sub(before.input_tokens),
                cached_input_tokens: total
                    .cached_input_tokens
                    .saturating_sub(before.cached_input_tokens),
                output_tokens: total.output_tokens.saturating_sub(before.output_tokens),
                ..total
            });
        }
    }

    /// Whether calls go to a provider that needs no login at OpenAI's, as far as can be seen from here.
    fn may_use_another_login(&self) -> bool {
        let environment = self.host.environment();
        let key = ["CODEX_API_KEY", "OPENAI_API_KEY"]
            .iter()
            .any(|name| environment.get(name).is_some());
        let home = environment
            .get("CODEX_HOME")
            .map(PathBuf::from)
            .or_else(|| {
                environment
                    .get("HOME")
                    .map(|home| Path::new(home).join(".codex"))
            });
        let config = home.and_then(|home| std::fs::read_to_string(home.join("config.toml")).ok());
        let provider = |text: &str| text.trim_start().starts_with("model_provider");
        key || config.is_some_and(|text| text.lines().any(provider))
            || self
                .options
                .extra_args
                .iter()
                .any(|argument| provider(argument))
    }
}

#[async_trait]
impl Agent for Codex {
    fn id(&self) -> String {
        "codex".into()
    }

    fn caps(&self) -> AgentCaps {
        AgentCaps {
            schema: true,
            resume: true,
            read_only: true,
            cost: false,
        }
    }

    async fn preflight(&self, cx: StepContext) -> Result<AgentInfo, AgentError> {
        let program = self.program()?;
        let version = version_of("codex", &program, &self.host, &cx).await?;
        let status = ask(&program, &["login", "status"], &self.host, &cx).await?;
        let login = if status.is_success() {
            Login::Yes
        } else if self.may_use_another_login() {
            Login::Unknown
        } else {
            Login::No {
                fix: "run `codex login`".into(),
            }
        };
        Ok(AgentInfo { version, login })
    }

    async fn run(&self, request: AgentRequest, cx: StepContext) -> Result<AgentReply, AgentError> {
        let program = self.program()?;
        let folder = exchange_folder(&request)?;
        let plan = plan::plan(&request, &self.options, folder.path());
        let mut parsed = Parsed::default();
        let call = Call {
            name: "codex",
            host: &self.host,
            request: &request,
            cx: &cx,
        };
        let report = call.execute(program, plan, &mut parsed).await?;
        self.own_share(&request, &mut parsed);
        let usage = parsed.usage.get_or_insert(Usage {
            calls: 1,
            cost_complete: false,
            ..Usage::default()
        });
        usage.wall_ms = report.wall_ms();
        if request.role == AgentRole::Review {
            // an ephemeral thread cannot be resumed
            parsed.thread = None;
        }
        let outcome = classify::classify(&parsed, request.role, &report.end);
        self.host
            .masked(outcome.map(|reply| report.recorded(reply)))
    }
}
