//! The values that xiv speaks about, and their wire form.
//!
//! Everything here is plain data: no rule, no I/O. The wire form is camelCase
//! JSON; `T | null` is always written, an optional `field?` is left out when it
//! is absent, times are RFC 3339 UTC strings and durations are integers that
//! end in `Ms`. The JSON Schemas of these types are committed under `schemas/`.

mod diff;
mod ids;
mod implement;
mod issue;
mod outcome;
mod path;
mod plan;
mod pr;
mod review;
mod stack;
mod usage;
mod validation;

pub use diff::{Diff, DiffError, FileDiff, FileStatus, Hunk};
pub use ids::{
    BranchName, ChangeId, CommitId, InvalidId, IssueKey, MaxPasses, Pass, PrNumber, RunId, StepId,
    TreeId,
};
pub use implement::{ImplementInput, ImplementOutput, ReviewFailureNote};
pub use issue::{Comment, Issue};
pub use outcome::{ExitCode, FailureCause, Outcome};
pub use path::RepoPath;
pub use plan::{Evidence, ImplementReport, Plan};
pub use pr::{
    AddressReport, AddressedFinding, CiState, FindingSource, PrFinding, PrReview, PrRound,
    PrSignals, SkippedFinding,
};
pub use review::{Finding, FindingId, KnownGap, LocalReview, Severity, Verdict};
pub use stack::{Excluded, StackEngine, StackEntry, StackMap, StackRepo, StackSource, StackStatus};
pub use usage::Usage;
pub use validation::{CommandExit, CommandResult, Validation, ValidationCommand};
