//! Failures and crashes before or after each operation.

use std::collections::{BTreeMap, VecDeque};

use crate::port::{VcsError, VcsErrorKind};
use crate::test_support::CrashSwitch;

/// An operation of the [`Vcs`](crate::port::Vcs) port.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum VcsOp {
    /// `state`
    State,
    /// `prepare`
    Prepare,
    /// `snapshot`
    Snapshot,
    /// `pin`
    Pin,
    /// `gate_tree`
    GateTree,
    /// `diff`
    Diff,
    /// `guard`
    Guard,
    /// `restore`
    Restore,
    /// `commits_between`
    CommitsBetween,
    /// `final_message`
    FinalMessage,
    /// `probe_commit`
    ProbeCommit,
    /// `commit`
    Commit,
}

/// On which side of the effect a fault strikes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(clippy::exhaustive_enums, reason = "an effect has two sides")]
pub enum When {
    /// The effect was not made.
    Before,
    /// The effect was made, but nobody hears of it.
    After,
}

/// What goes wrong.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Fault {
    /// The operation returns an error.
    Error(VcsErrorKind),
    /// xiv itself dies.
    Crash(CrashSwitch),
}

/// The faults to come, and how often each operation was called.
#[derive(Debug, Default)]
pub(super) struct Faults {
    queued: BTreeMap<VcsOp, VecDeque<(When, Fault)>>,
    calls: BTreeMap<VcsOp, usize>,
}

impl Faults {
    pub(super) fn inject(&mut self, op: VcsOp, when: When, fault: Fault) {
        self.queued.entry(op).or_default().push_back((when, fault));
    }

    pub(super) fn calls(&self, op: VcsOp) -> usize {
        self.calls.get(&op).copied().unwrap_or(0)
    }

    /// Counts a call and takes the fault that is meant for it.
    pub(super) fn begin(&mut self, op: VcsOp) -> Option<(When, Fault)> {
        *self.calls.entry(op).or_default() += 1;
        self.queued.get_mut(&op)?.pop_front()
    }
}

impl Fault {
    /// Lets it happen.
    pub(super) async fn strike<T>(self, op: VcsOp) -> Result<T, VcsError> {
        match self {
            Self::Error(kind) => Err(VcsError::new(kind, format!("{op:?} was made to fail"))),
            Self::Crash(switch) => switch.crash().await,
        }
    }
}
