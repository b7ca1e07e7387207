//! The script file: what a turn may hold, checked before anything runs.

use std::collections::BTreeMap;
use std::io;
use std::path::{Component, Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;
use xiv_core::port::{AgentRequest, AgentRole, StepEvent};

/// Why a script cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ScriptError {
    /// The file cannot be read.
    #[error("cannot read the script {}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// It is not TOML of the right shape.
    #[error("the script {} is not valid", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// Where and why.
        source: toml::de::Error,
    },
    /// A turn makes no sense.
    #[error("turn {turn} of the script {}: {problem}", path.display())]
    Turn {
        /// The file.
        path: PathBuf,
        /// The turn's number, from 1.
        turn: usize,
        /// What is wrong.
        problem: String,
    },
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Script {
    #[serde(default)]
    turn: Vec<RawTurn>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawTurn {
    role: AgentRole,
    pass: Option<u32>,
    #[serde(default)]
    write: BTreeMap<PathBuf, String>,
    #[serde(default)]
    delete: Vec<PathBuf>,
    run: Option<String>,
    #[serde(default)]
    delay_ms: u64,
    #[serde(default)]
    events: Vec<Value>,
    reply: Option<Value>,
    text: Option<String>,
    fail: Option<Failure>,
}

/// The ways in which a turn can fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Failure {
    Auth,
    Quota,
    Crash,
    Hang,
}

/// How a turn ends.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Ending {
    Reply(Value),
    Text(String),
    Fail(Failure),
}

/// One checked turn.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Turn {
    role: AgentRole,
    pass: Option<u32>,
    pub(super) write: BTreeMap<PathBuf, String>,
    pub(super) delete: Vec<PathBuf>,
    pub(super) run: Option<String>,
    pub(super) delay_ms: u64,
    pub(super) events: Vec<StepEvent>,
    pub(super) ending: Ending,
}

impl Turn {
    /// Says whether this turn answers the request.
    pub(super) fn matches(&self, request: &AgentRequest) -> bool {
        self.role == request.role
            && self
                .pass
                .is_none_or(|pass| request.pass.is_some_and(|p| p.get() == pass))
    }
}

/// Reads and checks a script.
pub(super) fn parse(path: &Path, text: &str) -> Result<Vec<Turn>, ScriptError> {
    let script: Script = toml::from_str(text).map_err(|source| ScriptError::Malformed {
        path: path.to_owned(),
        source,
    })?;
    let checked = script.turn.into_iter().enumerate().map(|(at, raw)| {
        check(raw).map_err(|problem| ScriptError::Turn {
            path: path.to_owned(),
            turn: at + 1,
            problem,
        })
    });
    checked.collect()
}

fn check(raw: RawTurn) -> Result<Turn, String> {
    for file in raw.write.keys().chain(&raw.delete) {
        if !is_inside(file) {
            return Err(format!(
                "`{}` is not a path inside the work tree",
                file.display()
            ));
        }
    }
    if raw.pass == Some(0) {
        return Err("passes count from 1".into());
    }
    let ending = match (raw.reply, raw.text, raw.fail) {
        (Some(reply), None, None) if reply.is_object() => Ending::Reply(reply),
        (Some(_), None, None) => return Err("`reply` must be a table".into()),
        (None, Some(text), None) => Ending::Text(text),
        (None, None, Some(failure)) => Ending::Fail(failure),
        (None, None, None) => Ending::Text(String::new()),
        _ => return Err("only one of `reply`, `text` and `fail` can end a turn".into()),
    };
    let events: Result<Vec<StepEvent>, String> = raw.events.into_iter().map(event).collect();
    Ok(Turn {
        role: raw.role,
        pass: raw.pass,
        write: raw.write,
        delete: raw.delete,
        run: raw.run,
        delay_ms: raw.delay_ms,
        events: events?,
        ending,
    })
}

/// An event: a table as it appears in progress output, or a plain text for something said.
fn event(value: Value) -> Result<StepEvent, String> {
    match value {
        Value::String(text) => Ok(StepEvent::Text { text }),
        other => serde_json::from_value(other).map_err(|error| format!("`events`: {error}")),
    }
}

fn is_inside(path: &Path) -> bool {
    let mut parts = path.components().peekable();
    parts.peek().is_some() && parts.all(|part| matches!(part, Component::Normal(_)))
}
