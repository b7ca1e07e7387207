//! A deterministic agent from a TOML file, in this process: for tests, demos and trying out a setup.
//!
//! ```toml
//! [[turn]]
//! role = "implement"
//! pass = 1
//! write = { "hello.txt" = "hello\n" }
//! reply = { summary = "wrote hello.txt" }
//!
//! [[turn]]
//! role = "review"
//! reply = { verdict = "approve", summary = "fine" }
//! ```
//!
//! A call takes the first unused turn whose `role` (and `pass`, where it is given) matches. None left is a
//! crash with a clear message. A turn waits `delay_ms`, deletes and writes files of the work tree, runs
//! `run` through the shell in the guarded environment, emits `events`, and ends with `reply` (JSON), `text`
//! or `fail`.

mod file;
mod perform;

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use xiv_core::port::{
    Agent, AgentCaps, AgentError, AgentErrorKind, AgentInfo, AgentReply, AgentRequest, Login,
    StepContext,
};

pub use self::file::ScriptError;
use self::file::Turn;
use crate::host::Host;

/// The scripted agent.
#[derive(Debug)]
pub struct ScriptedAgent {
    host: Host,
    path: PathBuf,
    /// `None` for a turn that was used.
    turns: Mutex<Vec<Option<Turn>>>,
}

impl ScriptedAgent {
    /// Reads a script file.
    ///
    /// # Errors
    /// [`ScriptError`] when it cannot be read or is no valid script.
    pub fn from_file(host: Host, path: impl Into<PathBuf>) -> Result<Self, ScriptError> {
        let path = path.into();
        let text = std::fs::read_to_string(&path).map_err(|source| ScriptError::Unreadable {
            path: path.clone(),
            source,
        })?;
        Self::parse(host, path, &text)
    }

    /// Takes a script's text; the path is for messages.
    ///
    /// # Errors
    /// [`ScriptError`] when it is no valid script.
    pub fn parse(host: Host, path: impl Into<PathBuf>, text: &str) -> Result<Self, ScriptError> {
        let path = path.into();
        let turns = file::parse(&path, text)?;
        Ok(Self {
            host,
            path,
            turns: Mutex::new(turns.into_iter().map(Some).collect()),
        })
    }

    /// The script file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Takes the first unused turn that matches the request, with its number in the file.
    fn take(&self, request: &AgentRequest) -> Result<(usize, Turn), AgentError> {
        let mut turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
        for (at, slot) in turns.iter_mut().enumerate() {
            if slot.as_ref().is_some_and(|turn| turn.matches(request))
                && let Some(turn) = slot.take()
            {
                return Ok((at + 1, turn));
            }
        }
        let pass = request
            .pass
            .map_or_else(String::new, |pass| format!(" in pass {pass}"));
        Err(AgentError::new(
            AgentErrorKind::Crashed,
            format!(
                "the script {} has no unused turn left for {}{pass}",
                self.path.display(),
                request.role
            ),
        ))
    }
}

#[async_trait]
impl Agent for ScriptedAgent {
    fn id(&self) -> String {
        format!("scripted:{}", self.path.display())
    }

    fn caps(&self) -> AgentCaps {
        AgentCaps {
            schema: false,
            resume: true,
            read_only: false,
            cost: false,
        }
    }

    async fn preflight(&self, _cx: StepContext) -> Result<AgentInfo, AgentError> {
        Ok(AgentInfo {
            version: None,
            login: Login::Yes,
        })
    }

    async fn run(&self, request: AgentRequest, cx: StepContext) -> Result<AgentReply, AgentError> {
        let (number, turn) = self.take(&request)?;
        let start = cx.clock.elapsed();
        let outcome = perform::perform(number, &turn, &self.host, &request, &cx).await;
        let wall = cx.clock.elapsed().saturating_sub(start).as_millis();
        let wall_ms = u64::try_from(wall).unwrap_or(u64::MAX);
        match outcome {
            Ok(mut reply) => {
                reply.usage.wall_ms = wall_ms;
                Ok(reply)
            }
            Err(mut error) => {
                error.usage.calls = 1;
                error.usage.wall_ms = wall_ms;
                Err(error)
            }
        }
    }
}

#[cfg(test)]
mod tests;
