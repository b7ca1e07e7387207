//! What a driver hands back.

use crate::flow::{Machine, Next, Wait};
use crate::model::{ExitCode, ImplementOutput};

/// A run that ended or stands.
#[derive(Debug, Clone, PartialEq)]
pub struct RunReport {
    /// The result.
    pub output: ImplementOutput,
    /// What it waits for, when it stands.
    pub waiting: Option<Wait>,
    /// How to mend what it waits for.
    pub hints: Vec<String>,
}

impl RunReport {
    /// The exit code that it stands for.
    #[must_use]
    pub const fn exit(&self) -> ExitCode {
        let cause = match &self.waiting {
            Some(Wait::StepFailed { cause, .. }) => Some(*cause),
            _ => None,
        };
        self.output.outcome.class(cause)
    }

    pub(super) fn of(machine: &Machine) -> Self {
        let waiting = match machine.next() {
            Next::Wait(wait) => Some(wait),
            Next::Do(_) | Next::Finish(_) => None,
        };
        Self {
            output: machine.output(),
            waiting,
            hints: machine.hints(),
        }
    }
}
