//! Why a task stopped. Two kinds are enough here: the command line was wrong,
//! or a step of the task was.

use std::fmt;

/// Why a task stopped.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The command line makes no sense.
    Usage(String),
    /// A step of the task went wrong.
    Step(String),
}

impl Failure {
    /// Says which step went wrong and what the system reported.
    pub(crate) fn step(what: impl fmt::Display, why: impl fmt::Display) -> Self {
        Self::Step(format!("{what}: {why}"))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage(message) | Self::Step(message) => f.write_str(message),
        }
    }
}
