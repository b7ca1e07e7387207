//! What a fake model says: turns, their parts, and scripts that choose the next turn.
//!
//! The vocabulary is neutral ("write this file", "run this command"); each server translates it into the
//! tool calls that its real client offers, so one script drives either agent.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Mutex;
use std::time::Duration;

use serde_json::Value;

use super::request::ModelRequest;

/// One piece of a model answer.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Part {
    /// Prose.
    Text(String),
    /// The final structured result: Claude's `StructuredOutput` tool where it is offered, else JSON text.
    Structured(Value),
    /// A tool call that creates a file. A relative path is resolved against the agent's work folder.
    Write {
        /// Where to write.
        path: String,
        /// The whole content.
        content: String,
    },
    /// A tool call that runs a shell command.
    Run(String),
    /// A raw tool call, for what the neutral parts do not cover.
    Tool {
        /// The tool's name as the client offers it.
        name: String,
        /// Its input.
        input: Value,
    },
}

/// An HTTP error answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Failure {
    /// The status code.
    pub status: u16,
    /// The provider's error type or code; empty picks the usual one of the status.
    pub kind: String,
    /// The message for people.
    pub message: String,
    /// Extra response headers.
    pub headers: Vec<(String, String)>,
}

/// What the fake model does with one request.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Turn {
    /// A complete answer.
    Answer(Vec<Part>),
    /// An HTTP error.
    Fail(Failure),
    /// The model declines (Claude: stop reason `refusal`; Codex: a failed response).
    Refuse,
    /// The answer stops at the output limit.
    OutputLimit,
    /// A stream that breaks in the middle of an answer.
    Cut,
    /// A stream that starts and then never says another word.
    Hang,
    /// A connection that is accepted and never answered, not even with headers.
    Silent,
    /// Another turn, after a pause.
    After(Duration, Box<Turn>),
}

impl Turn {
    /// A prose answer.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Answer(vec![Part::Text(text.into())])
    }

    /// A structured final answer.
    #[must_use]
    pub fn structured(value: Value) -> Self {
        Self::Answer(vec![Part::Structured(value)])
    }

    /// A tool call that creates a file.
    pub fn write(path: impl Into<String>, content: impl Into<String>) -> Self {
        Self::Answer(vec![Part::Write {
            path: path.into(),
            content: content.into(),
        }])
    }

    /// A tool call that runs a shell command.
    pub fn run(command: impl Into<String>) -> Self {
        Self::Answer(vec![Part::Run(command.into())])
    }

    /// An HTTP error with the provider's usual error type and a plain message.
    #[must_use]
    pub fn status(status: u16) -> Self {
        Self::failure(status, "", format!("fake failure {status}"))
    }

    /// An HTTP error with its own error type and message.
    pub fn failure(status: u16, kind: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Fail(Failure {
            status,
            kind: kind.into(),
            message: message.into(),
            headers: Vec::new(),
        })
    }

    /// A rate limit with a `Retry-After` header in seconds.
    #[must_use]
    pub fn rate_limited(retry_after_s: u64) -> Self {
        Self::Fail(Failure {
            status: 429,
            kind: String::new(),
            message: "too many requests".into(),
            headers: vec![("retry-after".into(), retry_after_s.to_string())],
        })
    }

    /// The same turn after a pause.
    #[must_use]
    pub fn after(self, pause: Duration) -> Self {
        Self::After(pause, Box::new(self))
    }
}

type Handler = dyn Fn(&ModelRequest) -> Turn + Send + Sync;

enum Kind {
    Queue(Mutex<VecDeque<Turn>>),
    Handler(Box<Handler>),
}

/// Decides the turn for each request.
pub struct Script(Kind);

impl fmt::Debug for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Queue(turns) => f.debug_tuple("Script").field(turns).finish(),
            Kind::Handler(_) => f.write_str("Script(handler)"),
        }
    }
}

impl Script {
    /// Plays the turns in order. A request after the last one gets status 400, which no agent retries.
    pub fn turns(turns: impl IntoIterator<Item = Turn>) -> Self {
        Self(Kind::Queue(Mutex::new(turns.into_iter().collect())))
    }

    /// Answers every request with the same turn.
    #[must_use]
    pub fn always(turn: Turn) -> Self {
        Self::by(move |_| turn.clone())
    }

    /// Lets a closure choose by what the request holds.
    pub fn by(handler: impl Fn(&ModelRequest) -> Turn + Send + Sync + 'static) -> Self {
        Self(Kind::Handler(Box::new(handler)))
    }

    /// The turn for this request.
    pub(super) fn next(&self, request: &ModelRequest) -> Turn {
        match &self.0 {
            Kind::Handler(handler) => handler(request),
            Kind::Queue(turns) => turns
                .lock()
                .expect("a test that panicked while holding the script has failed already")
                .pop_front()
                .unwrap_or_else(|| Turn::failure(400, "", "the script has no turn left")),
        }
    }
}
