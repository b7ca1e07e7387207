//! How a run ended or why it stands still, and what that means as an exit code.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a run ended, or why it is suspended. Always a bare word on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(
    clippy::exhaustive_enums,
    reason = "an exit code must be decided for each outcome"
)]
pub enum Outcome {
    /// The gate opened. Ended.
    Done,
    /// The cap was reached; the last attempt is committed. Ended.
    Capped,
    /// Nothing changed any more; the last attempt is committed. Ended.
    NoProgress,
    /// The fetch gate refused the issue. Ended.
    Refused,
    /// Cancelled by `xiv run cancel`. Ended.
    Cancelled,
    /// A person has to decide. Suspended.
    AwaitingHuman,
    /// A usage limit has to pass. Suspended.
    Paused,
    /// A budget is spent. Suspended.
    BudgetExhausted,
    /// Ctrl-C, a crash or a lost lease. Suspended.
    Interrupted,
    /// A step failed. Suspended.
    Failed,
}

impl Outcome {
    /// Whether the run is over; all other outcomes can be resumed.
    #[must_use]
    pub const fn is_ended(self) -> bool {
        match self {
            Self::Done | Self::Capped | Self::NoProgress | Self::Refused | Self::Cancelled => true,
            Self::AwaitingHuman
            | Self::Paused
            | Self::BudgetExhausted
            | Self::Interrupted
            | Self::Failed => false,
        }
    }

    /// The exit code that this outcome stands for. `cause` matters only for
    /// [`Outcome::Failed`], where an unnamed cause counts as an adapter's.
    #[must_use]
    pub const fn class(self, cause: Option<FailureCause>) -> ExitCode {
        match self {
            Self::Done => ExitCode::Done,
            Self::Capped | Self::NoProgress | Self::Cancelled => ExitCode::NotDone,
            Self::Refused => ExitCode::Refused,
            Self::AwaitingHuman => ExitCode::AwaitingHuman,
            Self::Paused | Self::BudgetExhausted => ExitCode::Paused,
            Self::Interrupted => ExitCode::Interrupted,
            Self::Failed => match cause {
                Some(FailureCause::Configuration) => ExitCode::Configuration,
                Some(FailureCause::Refused) => ExitCode::Refused,
                Some(FailureCause::Adapter) | None => ExitCode::Adapter,
            },
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Done => "done",
            Self::Capped => "capped",
            Self::NoProgress => "noProgress",
            Self::Refused => "refused",
            Self::Cancelled => "cancelled",
            Self::AwaitingHuman => "awaitingHuman",
            Self::Paused => "paused",
            Self::BudgetExhausted => "budgetExhausted",
            Self::Interrupted => "interrupted",
            Self::Failed => "failed",
        })
    }
}

/// Whose fault a failed step was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::exhaustive_enums, reason = "each cause has its own exit code")]
pub enum FailureCause {
    /// The configuration does not allow the run to go on.
    Configuration,
    /// Something that xiv refuses to work on: a dirty tree, a missing login.
    Refused,
    /// An agent, the forge, git or another program failed.
    Adapter,
}

/// The process exit codes of the `xiv` binary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(
    clippy::exhaustive_enums,
    reason = "the documented contract is complete"
)]
pub enum ExitCode {
    /// 0: done. Known gaps, if any, are in the result.
    Done,
    /// 1: finished, but not done.
    NotDone,
    /// 2: the command line was wrong.
    Usage,
    /// 3: the configuration was wrong.
    Configuration,
    /// 4: refused: fetch gate, not authenticated, dirty tree, run locked.
    Refused,
    /// 5: an adapter failed.
    Adapter,
    /// 6: waiting for a person.
    AwaitingHuman,
    /// 7: paused by a usage limit or a budget.
    Paused,
    /// 70: a bug in xiv.
    Bug,
    /// 130: interrupted; can be resumed.
    Interrupted,
}

impl ExitCode {
    /// All codes, in numeric order.
    pub const ALL: [Self; 10] = [
        Self::Done,
        Self::NotDone,
        Self::Usage,
        Self::Configuration,
        Self::Refused,
        Self::Adapter,
        Self::AwaitingHuman,
        Self::Paused,
        Self::Bug,
        Self::Interrupted,
    ];

    /// The number given to the operating system.
    #[must_use]
    pub const fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::NotDone => 1,
            Self::Usage => 2,
            Self::Configuration => 3,
            Self::Refused => 4,
            Self::Adapter => 5,
            Self::AwaitingHuman => 6,
            Self::Paused => 7,
            Self::Bug => 70,
            Self::Interrupted => 130,
        }
    }

    /// One line for people.
    #[must_use]
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Done => "done (known gaps are in the result)",
            Self::NotDone => "finished but not done: capped, no progress, cancelled",
            Self::Usage => "the command line was wrong",
            Self::Configuration => "the configuration was wrong",
            Self::Refused => "refused: fetch gate, not authenticated, dirty tree, run locked",
            Self::Adapter => "an agent, git, a tracker or another program failed",
            Self::AwaitingHuman => "waiting for a person",
            Self::Paused => "paused by a usage limit or a budget",
            Self::Bug => "a bug in xiv",
            Self::Interrupted => "interrupted; resume with `xiv run resume`",
        }
    }
}
