//! What the adapters of real engines share: the plan of a call, the parser's contract, the runner.
//!
//! An engine adapter is three pure parts. `plan` turns a request into arguments, variables and files;
//! a [`Parser`] takes the program's lines one by one; `classify` looks at what was parsed, at how the
//! process ended and at why it was stopped, and says what came of the call. Only [`runner`] acts.

pub(crate) mod pace;
pub(crate) mod patterns;
pub(crate) mod preflight;
pub(crate) mod program;
pub(crate) mod runner;

use std::ffi::OsString;
use std::path::PathBuf;

use xiv_core::port::{AgentError, AgentErrorKind, CancelReason, StepEvent, TimeoutKind};
use xiv_core::rt::process::{Ended, Exit, Finished, Flow, StopSignal};

/// How to start an engine for one request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Plan {
    /// The arguments after the program.
    pub(crate) args: Vec<OsString>,
    /// The prompt.
    pub(crate) stdin: String,
    /// Variables to set over the guarded environment.
    pub(crate) set: Vec<(&'static str, OsString)>,
    /// Files to write before the start.
    pub(crate) files: Vec<(PathBuf, String)>,
    /// The signal that this engine takes as a request to stop.
    pub(crate) signal: StopSignal,
}

/// Takes an engine's output apart, line by line. Never fails: what it does not know it passes over.
pub(crate) trait Parser: Send {
    /// Takes one line of standard output.
    fn feed(&mut self, line: &str) -> Fed;

    /// The session and version that the engine reported so far.
    fn identity(&self) -> Identity;
}

/// What a line meant.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Fed {
    pub(crate) events: Vec<StepEvent>,
    pub(crate) flow: Flow,
}

impl Fed {
    pub(crate) const fn nothing() -> Self {
        Self {
            events: Vec::new(),
            flow: Flow::Continue,
        }
    }

    pub(crate) fn one(event: StepEvent) -> Self {
        Self {
            events: vec![event],
            flow: Flow::Continue,
        }
    }
}

impl From<Vec<StepEvent>> for Fed {
    fn from(events: Vec<StepEvent>) -> Self {
        Self {
            events,
            flow: Flow::Continue,
        }
    }
}

/// Who is talking.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Identity {
    pub(crate) session: Option<String>,
    pub(crate) version: Option<String>,
}

/// How the process of a call ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct End {
    pub(crate) exit: Exit,
    pub(crate) ended: Ended,
    pub(crate) stderr: String,
    /// Why it was cancelled, when it was.
    pub(crate) cancel: Option<CancelReason>,
}

impl End {
    pub(crate) fn of(finished: &Finished, cancel: Option<CancelReason>) -> Self {
        Self {
            exit: finished.exit,
            ended: finished.ended,
            stderr: finished.stderr_tail.trim().to_owned(),
            cancel: cancel.filter(|_| finished.ended == Ended::Cancelled),
        }
    }

    /// Says whether the program itself reported success to the system.
    pub(crate) fn is_clean(&self) -> bool {
        self.exit == Exit::Code(0)
    }

    /// The error of a call that ended without the engine's final word.
    pub(crate) fn without_result(&self, engine: &str) -> AgentError {
        if let Some(reason) = self.cancel {
            return cancelled(reason);
        }
        let how = match self.exit {
            Exit::Code(code) => format!("ended with code {code}"),
            Exit::Signal(signal) => format!("was ended by signal {signal}"),
        };
        let tail = last_lines(&self.stderr);
        let said = if tail.is_empty() {
            String::new()
        } else {
            format!(": {tail}")
        };
        AgentError::new(
            AgentErrorKind::Crashed,
            format!("{engine} {how} without a result{said}"),
        )
    }
}

/// The error of a call that was told to stop.
pub(crate) fn cancelled(reason: CancelReason) -> AgentError {
    match reason {
        CancelReason::TimedOutIdle => AgentError::new(
            AgentErrorKind::TimedOut(TimeoutKind::Idle),
            "the agent was silent for too long",
        ),
        CancelReason::TimedOutTotal => AgentError::new(
            AgentErrorKind::TimedOut(TimeoutKind::Total),
            "the agent's time is spent",
        ),
        _ => AgentError::new(AgentErrorKind::Cancelled, "the agent was told to stop"),
    }
}

/// The last few lines of a program's standard error, on one line.
fn last_lines(stderr: &str) -> String {
    let mut lines: Vec<&str> = stderr
        .lines()
        .filter(|line| !line.trim().is_empty())
        .rev()
        .take(5)
        .collect();
    lines.reverse();
    lines.join(" / ")
}
