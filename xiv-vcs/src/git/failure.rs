//! From what git printed to what callers branch on.
//!
//! git has one exit code for everything, so the kind is read from its
//! (untranslated) message; the message itself stays attached as the cause.

use std::fmt;
use std::path::Path;

use xiv_core::port::{VcsError, VcsErrorKind};
use xiv_core::rt::process::{Captured, Exit};

/// How much of git's own words is kept.
const KEPT: usize = 4096;

/// What git said when it failed.
#[derive(Debug)]
pub(super) struct GitFailure {
    exit: Exit,
    said: String,
}

impl GitFailure {
    pub(super) fn new(captured: &Captured) -> Self {
        let mut said = captured.stderr_text();
        if said.len() > KEPT {
            let cut = (0..=KEPT).rev().find(|&at| said.is_char_boundary(at));
            said.truncate(cut.unwrap_or(0));
            said.push('…');
        }
        Self {
            exit: captured.exit,
            said,
        }
    }

    /// git's own words.
    pub(super) fn said(&self) -> &str {
        &self.said
    }
}

impl fmt::Display for GitFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.said.is_empty() {
            return f.write_str(&self.said);
        }
        match self.exit {
            Exit::Code(code) => write!(f, "it exited with code {code} and said nothing"),
            Exit::Signal(signal) => write!(f, "it was ended by signal {signal}"),
        }
    }
}

impl std::error::Error for GitFailure {}

/// The error for a git command that failed.
pub(super) fn failed(command: &str, captured: &Captured) -> VcsError {
    let cause = GitFailure::new(captured);
    let said = cause.said();
    let error = if said.contains(".lock': File exists") {
        locked("another git process holds a lock in this repository")
    } else if said.contains("dubious ownership") {
        VcsError::new(
            VcsErrorKind::Refused,
            "git does not trust this repository's owner",
        )
        .with_hint("if you trust it: git config --global --add safe.directory <path>")
    } else if said.contains("not a git repository") {
        VcsError::new(VcsErrorKind::NotARepository, "there is no git repository")
    } else {
        VcsError::new(VcsErrorKind::Program, format!("`git {command}` failed"))
    };
    error.with_source(cause)
}

/// The error for a lock that did not become free in time.
pub(super) fn locked(message: impl Into<String>) -> VcsError {
    VcsError::new(VcsErrorKind::Locked, message)
        .with_hint("wait for it to end; remove the lock file only when no such process is left")
}

/// The error for something that xiv will not do.
pub(super) fn refused(message: impl Into<String>) -> VcsError {
    VcsError::new(VcsErrorKind::Refused, message)
}

/// The error for output of git that makes no sense.
pub(super) fn unreadable(command: &str) -> VcsError {
    VcsError::new(
        VcsErrorKind::Program,
        format!("cannot make sense of what `git {command}` printed"),
    )
}

/// The error for a file operation of our own.
pub(super) fn io(doing: &str, path: &Path, cause: std::io::Error) -> VcsError {
    VcsError::new(
        VcsErrorKind::Program,
        format!("cannot {doing} `{}`", path.display()),
    )
    .with_source(cause)
}
