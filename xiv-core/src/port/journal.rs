//! The durable record of runs: append-only events, leases, locks and blobs.

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::flow::{Event, Recorded};
use crate::model::{InvalidId, Outcome, RunId};

/// A blob's name: the SHA-256 of its content, as 64 hex digits.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(inline, extend("pattern" = "^[0-9a-f]{64}$"))]
pub struct BlobId(String);

impl BlobId {
    /// Parses 64 lower-case hex digits.
    ///
    /// # Errors
    /// [`InvalidId`] for anything else.
    pub fn parse(value: impl Into<String>) -> Result<Self, InvalidId> {
        let value = value.into();
        let hex = value
            .bytes()
            .all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        if hex && value.len() == 64 {
            Ok(Self(value))
        } else {
            Err(InvalidId {
                kind: "blob id",
                value,
                reason: "expected 64 hexadecimal digits",
            })
        }
    }

    /// The hex digits.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for BlobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for BlobId {
    type Error = InvalidId;
    fn try_from(s: String) -> Result<Self, InvalidId> {
        Self::parse(s)
    }
}

impl From<BlobId> for String {
    fn from(id: BlobId) -> Self {
        id.0
    }
}

/// One process on one host, told apart from a later one with the same pid.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProcessId {
    /// The host's name.
    pub host: String,
    /// The process id.
    pub pid: u32,
    /// Its start time in clock ticks since boot; 0 where it is not known.
    pub start_time: u64,
}

/// Who drives a run: a process, and one of possibly several drivers in it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OwnerId {
    /// The process.
    pub process: ProcessId,
    /// Unique per driver; a fresh id for each.
    pub driver: RunId,
}

/// The right to append to a run. Whoever holds an outdated one is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fence {
    /// The run.
    pub run: RunId,
    /// The holder.
    pub owner: OwnerId,
    /// Rises with every change of owner.
    pub token: u64,
}

/// Where a run stands, for lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::exhaustive_enums, reason = "lists must show each")]
pub enum RunStatus {
    /// A living process drives it.
    Running,
    /// It waits and can be resumed. Also a run whose driver died.
    Suspended,
    /// It is over.
    Ended,
}

/// A run to be recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewRun {
    /// Its id.
    pub id: RunId,
    /// The flow: `implement`.
    pub kind: String,
    /// What it works on: an issue key.
    pub key: String,
    /// The repository's canonical path.
    pub repo: String,
    /// The parent, for child runs.
    pub parent: Option<RunId>,
}

/// A run in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunSummary {
    /// Its id.
    pub run_id: RunId,
    /// The flow: `implement`.
    pub kind: String,
    /// What it works on: an issue key.
    pub key: String,
    /// The repository's canonical path.
    pub repo: String,
    /// The branch; null before it is prepared.
    pub branch: Option<String>,
    /// Where it stands.
    pub status: RunStatus,
    /// How it ended or why it stands; null while it runs.
    pub outcome: Option<Outcome>,
    /// When it was started.
    #[schemars(with = "String")]
    pub started_at: Timestamp,
    /// When its last event was recorded.
    #[schemars(with = "String")]
    pub updated_at: Timestamp,
    /// Passes begun.
    pub passes: u32,
    /// What it waits for, for people; null when it does not.
    pub waiting_for: Option<String>,
}

/// What callers branch on when the journal failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum JournalErrorKind {
    /// Another driver owns the run, or a lock is held by another run.
    Fenced,
    /// There is no such run or blob.
    NotFound,
    /// A newer xiv wrote this journal.
    NewerFormat,
    /// The disk is full.
    Full,
    /// The journal may not be written.
    ReadOnly,
    /// It lies on a network file system, where it would not be safe.
    NetworkFs,
    /// It cannot be read.
    Corrupt,
    /// Any other I/O fault.
    Io,
}

/// A failed journal operation. A run stops at once when an append fails.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct JournalError {
    /// What callers branch on.
    pub kind: JournalErrorKind,
    /// What happened, for people.
    pub message: String,
    /// How to mend it.
    pub hints: Vec<String>,
    /// For [`JournalErrorKind::Fenced`]: the run that holds what was wanted.
    pub holder: Option<RunId>,
    /// What caused it.
    #[source]
    pub source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl JournalError {
    /// An error without hints and without a cause.
    pub fn new(kind: JournalErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            hints: Vec::new(),
            holder: None,
            source: None,
        }
    }

    /// Adds a hint.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Sets the cause.
    #[must_use]
    pub fn with_source(
        mut self,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        self.source = Some(source.into());
        self
    }

    /// Whether trying again may help.
    #[must_use]
    pub const fn is_temporary(&self) -> bool {
        matches!(self.kind, JournalErrorKind::Full)
    }
}

/// The durable record.
///
/// One driver at a time owns a run. Ownership is a lease: it is renewed by a
/// timer, ends when it is not, and is taken over at once from a process of
/// this host that is dead.
#[async_trait]
pub trait Journal: fmt::Debug + Send + Sync + 'static {
    /// Records a new, empty run and takes its ownership.
    ///
    /// # Errors
    /// Any [`JournalErrorKind`].
    async fn create(
        &self,
        run: NewRun,
        owner: OwnerId,
        lease: Duration,
    ) -> Result<Fence, JournalError>;

    /// Takes the ownership of a run.
    ///
    /// # Errors
    /// [`JournalErrorKind::Fenced`] while another living owner's lease holds.
    async fn acquire(
        &self,
        run: &RunId,
        owner: OwnerId,
        lease: Duration,
    ) -> Result<Fence, JournalError>;

    /// Prolongs the ownership.
    ///
    /// # Errors
    /// [`JournalErrorKind::Fenced`] when it is gone; then nothing may be
    /// appended any more.
    async fn renew(&self, fence: &Fence, lease: Duration) -> Result<(), JournalError>;

    /// Gives the ownership up. Locks stay with the run until it ends.
    ///
    /// # Errors
    /// Any [`JournalErrorKind`].
    async fn release(&self, fence: &Fence) -> Result<(), JournalError>;

    /// Appends one event as number `seq` (the first is 1), durably, before it
    /// returns.
    ///
    /// # Errors
    /// [`JournalErrorKind::Fenced`] when the fence is outdated or `seq` is taken.
    ///
    /// # Cancellation
    /// After a drop the event may or may not have been recorded.
    async fn append(
        &self,
        fence: &Fence,
        seq: u64,
        at: Timestamp,
        event: &Event,
    ) -> Result<(), JournalError>;

    /// Every event of a run, in order. Also those that were written and never
    /// acknowledged.
    ///
    /// # Errors
    /// [`JournalErrorKind::NotFound`], or any other.
    async fn load(&self, run: &RunId) -> Result<Vec<Recorded>, JournalError>;

    /// Every run, newest first.
    ///
    /// # Errors
    /// Any [`JournalErrorKind`].
    async fn list(&self) -> Result<Vec<RunSummary>, JournalError>;

    /// Reserves a resource (`tree:…`, `branch:…`) for the run until it ends,
    /// also while it is suspended. Reserving it again is no error.
    ///
    /// # Errors
    /// [`JournalErrorKind::Fenced`] with the holder, when another run has it.
    async fn lock(&self, fence: &Fence, resource: &str) -> Result<(), JournalError>;

    /// Gives up every resource of the run.
    ///
    /// # Errors
    /// Any [`JournalErrorKind`].
    async fn unlock_all(&self, fence: &Fence) -> Result<(), JournalError>;

    /// Stores content under its hash; storing it again is no error.
    ///
    /// # Errors
    /// Any [`JournalErrorKind`].
    async fn put_blob(&self, content: &[u8]) -> Result<BlobId, JournalError>;

    /// Reads content back.
    ///
    /// # Errors
    /// [`JournalErrorKind::NotFound`], or any other.
    async fn get_blob(&self, id: &BlobId) -> Result<Vec<u8>, JournalError>;

    /// Removes a run and its events for good.
    ///
    /// # Errors
    /// [`JournalErrorKind::Fenced`] while a living process drives it.
    async fn remove(&self, run: &RunId) -> Result<(), JournalError>;
}

const _: Option<&dyn Journal> = None;
