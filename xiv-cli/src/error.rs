//! The one error type of the binary: what went wrong, what to do about it, and
//! the exit code that it ends with. Library errors are turned into it here and
//! nowhere else.

use std::error::Error;

use schemars::JsonSchema;
use serde::Serialize;
use xiv_core::model::ExitCode;
use xiv_core::port::{
    AgentError, AgentErrorKind, IssueError, JournalError, JournalErrorKind, VcsError, VcsErrorKind,
};

/// A failed command.
#[derive(Debug, Clone)]
pub(crate) struct CliError {
    /// The exit code.
    pub(crate) exit: ExitCode,
    /// What scripts branch on, in camelCase.
    pub(crate) kind: &'static str,
    /// What happened.
    pub(crate) message: String,
    /// Why, outermost first.
    pub(crate) causes: Vec<String>,
    /// How to mend it.
    pub(crate) hints: Vec<String>,
}

/// The last line of a command's JSON when it failed.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", tag = "type", rename = "error")]
pub(crate) struct ErrorDocument<'a> {
    /// The process's exit code.
    exit_code: u8,
    /// What to branch on.
    kind: &'a str,
    /// What happened, for people.
    message: &'a str,
    /// Why, outermost first.
    causes: &'a [String],
    /// How to mend it.
    hints: &'a [String],
}

impl CliError {
    /// An error without causes and hints.
    pub(crate) fn new(exit: ExitCode, kind: &'static str, message: impl Into<String>) -> Self {
        Self {
            exit,
            kind,
            message: message.into(),
            causes: Vec::new(),
            hints: Vec::new(),
        }
    }

    /// The command line was wrong.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(ExitCode::Usage, "usage", message)
    }

    /// The configuration was wrong.
    pub(crate) fn configuration(message: impl Into<String>) -> Self {
        Self::new(ExitCode::Configuration, "configuration", message)
    }

    /// xiv will not do it.
    pub(crate) fn refused(kind: &'static str, message: impl Into<String>) -> Self {
        Self::new(ExitCode::Refused, kind, message)
    }

    /// A file or folder could not be used.
    pub(crate) fn io(message: impl Into<String>, error: &std::io::Error) -> Self {
        Self::new(ExitCode::Adapter, "io", message).with_cause(error.to_string())
    }

    /// Adds a cause below those that are there.
    pub(crate) fn with_cause(mut self, cause: impl Into<String>) -> Self {
        self.causes.push(cause.into());
        self
    }

    /// Adds a hint.
    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Says what was being done; what happened becomes its first cause.
    pub(crate) fn context(mut self, doing: impl Into<String>) -> Self {
        let happened = std::mem::replace(&mut self.message, doing.into());
        self.causes.insert(0, happened);
        self
    }

    /// The machine-readable form.
    pub(crate) fn document(&self) -> ErrorDocument<'_> {
        ErrorDocument {
            exit_code: self.exit.code(),
            kind: self.kind,
            message: &self.message,
            causes: &self.causes,
            hints: &self.hints,
        }
    }
}

/// The messages of an error's sources, outermost first.
fn sources(error: &dyn Error) -> Vec<String> {
    let mut causes = Vec::new();
    let mut next = error.source();
    while let Some(cause) = next {
        causes.push(cause.to_string());
        next = cause.source();
    }
    causes
}

impl From<VcsError> for CliError {
    fn from(error: VcsError) -> Self {
        let (exit, kind) = match error.kind {
            VcsErrorKind::NotARepository => (ExitCode::Refused, "notARepository"),
            VcsErrorKind::Dirty => (ExitCode::Refused, "dirty"),
            VcsErrorKind::OperationInProgress => (ExitCode::Refused, "operationInProgress"),
            VcsErrorKind::Refused => (ExitCode::Refused, "refused"),
            VcsErrorKind::RefMoved => (ExitCode::Adapter, "refMoved"),
            VcsErrorKind::Locked => (ExitCode::Adapter, "locked"),
            VcsErrorKind::Unsupported => (ExitCode::Refused, "unsupported"),
            VcsErrorKind::Rejected => (ExitCode::Adapter, "rejected"),
            _ => (ExitCode::Adapter, "vcs"),
        };
        let mut hints = error.hints.clone();
        if error.kind == VcsErrorKind::NotARepository && hints.is_empty() {
            hints.push("change into a repository, or make one with `git init`".to_owned());
        }
        Self {
            causes: sources(&error),
            hints,
            ..Self::new(exit, kind, error.to_string())
        }
    }
}

impl From<IssueError> for CliError {
    fn from(error: IssueError) -> Self {
        Self {
            causes: sources(&error),
            hints: error.hints.clone(),
            ..Self::new(ExitCode::Refused, "issue", error.to_string())
        }
    }
}

impl From<JournalError> for CliError {
    fn from(error: JournalError) -> Self {
        let (exit, kind) = match error.kind {
            JournalErrorKind::Fenced => (ExitCode::Refused, "runLocked"),
            JournalErrorKind::NotFound => (ExitCode::Usage, "noSuchRun"),
            JournalErrorKind::NewerFormat => (ExitCode::Refused, "newerFormat"),
            JournalErrorKind::NetworkFs => (ExitCode::Refused, "networkFileSystem"),
            _ => (ExitCode::Adapter, "journal"),
        };
        Self {
            causes: sources(&error),
            hints: error.hints.clone(),
            ..Self::new(exit, kind, error.to_string())
        }
    }
}

impl From<AgentError> for CliError {
    fn from(error: AgentError) -> Self {
        let (exit, kind) = match error.kind {
            AgentErrorKind::Auth => (ExitCode::Refused, "notAuthenticated"),
            AgentErrorKind::Config => (ExitCode::Configuration, "agentConfiguration"),
            _ => (ExitCode::Adapter, "agent"),
        };
        Self {
            causes: sources(&error),
            hints: error.hints.clone(),
            ..Self::new(exit, kind, error.to_string())
        }
    }
}
