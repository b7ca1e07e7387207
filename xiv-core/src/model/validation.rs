//! What the repository's own commands said. Exit codes, run by xiv itself,
//! never an agent's word.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{RepoPath, TreeId};

/// A command to run: the shell line, its name and its own time limit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ValidationCommand {
    /// A short name for people: `test`, `lint`.
    pub name: String,
    /// The line that the shell runs, in the repository's root.
    pub run: String,
    /// This command's own limit in milliseconds; none means the step's limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
}

/// How a command ended.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(
    clippy::exhaustive_enums,
    reason = "passed or not must be decided for each"
)]
pub enum CommandExit {
    /// It exited by itself.
    Code(i32),
    /// A signal ended it.
    Signal(i32),
    /// Its time ran out and xiv ended it.
    TimedOut,
    /// It never ran; the reason is said.
    NotStarted(String),
}

impl CommandExit {
    /// Only exit code 0 is a pass.
    #[must_use]
    pub const fn passed(&self) -> bool {
        matches!(self, Self::Code(0))
    }
}

impl fmt::Display for CommandExit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exit {code}"),
            Self::Signal(signal) => write!(f, "killed by signal {signal}"),
            Self::TimedOut => f.write_str("timed out"),
            Self::NotStarted(reason) => write!(f, "could not start: {reason}"),
        }
    }
}

/// One command's result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CommandResult {
    /// The command's short name.
    pub name: String,
    /// The line that the shell ran.
    pub run: String,
    /// How it ended.
    pub exit: CommandExit,
    /// Wall time in milliseconds.
    pub duration_ms: u64,
    /// The end of what it printed, standard output and error together.
    pub output_tail: String,
}

/// The result of validating one tree.
///
/// Serialised with the derived `allPassed` and `failingSummary`; both are
/// computed anew when it is read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "ValidationWire", into = "ValidationWire")]
#[schemars(with = "ValidationWire")]
pub struct Validation {
    /// Every command that was to run, in order.
    pub commands: Vec<CommandResult>,
    /// The work tree before the first command.
    pub tree_before: TreeId,
    /// The tree that is gated and committed: what validation left, without
    /// the files that only validation made.
    pub tree_after: TreeId,
    /// Files that only validation made; they are not part of `tree_after`.
    pub created: Vec<RepoPath>,
}

impl Validation {
    /// At least one command ran and every one exited 0.
    #[must_use]
    pub fn passed(&self) -> bool {
        !self.commands.is_empty() && self.commands.iter().all(|c| c.exit.passed())
    }

    /// The commands that did not pass, in order.
    pub fn failing(&self) -> impl Iterator<Item = &CommandResult> {
        self.commands.iter().filter(|c| !c.exit.passed())
    }

    /// One line per failing command; empty when everything passed.
    #[must_use]
    pub fn failing_summary(&self) -> String {
        if self.commands.is_empty() {
            return "no validation command ran".to_owned();
        }
        let lines: Vec<String> = self
            .failing()
            .map(|c| format!("{} (`{}`): {}", c.name, c.run, c.exit))
            .collect();
        lines.join("\n")
    }
}

#[derive(Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Validation")]
struct ValidationWire {
    /// Every command that was to run, in order.
    commands: Vec<CommandResult>,
    /// The work tree before the first command.
    tree_before: TreeId,
    /// The gated tree.
    tree_after: TreeId,
    /// Files that only validation made; left out of the gated tree.
    #[serde(default)]
    created: Vec<RepoPath>,
    /// Reserved for further guards; always empty today.
    #[serde(default)]
    guards: Vec<serde_json::Value>,
    /// Derived: at least one command, and each exited 0.
    #[serde(default)]
    all_passed: bool,
    /// Derived: one line per failing command.
    #[serde(default)]
    failing_summary: String,
}

impl From<ValidationWire> for Validation {
    fn from(wire: ValidationWire) -> Self {
        Self {
            commands: wire.commands,
            tree_before: wire.tree_before,
            tree_after: wire.tree_after,
            created: wire.created,
        }
    }
}

impl From<Validation> for ValidationWire {
    fn from(validation: Validation) -> Self {
        Self {
            all_passed: validation.passed(),
            failing_summary: validation.failing_summary(),
            commands: validation.commands,
            tree_before: validation.tree_before,
            tree_after: validation.tree_after,
            created: validation.created,
            guards: Vec::new(),
        }
    }
}
