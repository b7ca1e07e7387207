//! The durable journal: an SQLite file, and blobs as files beside it.
//!
//! One thread owns the connection; requests reach it through a channel and
//! answers come back as futures, so that any executor will do. Several
//! processes may use the same file at once. What keeps them apart is in the
//! file itself: an append is an insert of the next number in a transaction
//! that also checks who owns the run, so an owner that was overtaken can only
//! fail, never overwrite.
//!
//! Nothing is created before the first write: looking for runs where there
//! never were any leaves no trace.

mod blobs;
mod database;
mod error;
mod events;
mod gc;
mod locks;
mod network_fs;
mod open;
mod runs;
mod schema;
mod transfer;
mod worker;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;

use crate::flow::{Event, Recorded};
use crate::journal::{self, RunFacts};
use crate::model::RunId;
use crate::port::{
    BlobId, Clock, Fence, Journal, JournalError, NewRun, OwnerId, Processes, RunSummary,
};
use database::Database;
use worker::Worker;

pub use gc::{Collected, Retention};

/// The name of the database in the state folder.
pub const DATABASE_FILE: &str = "xiv.db";

/// A [`Journal`] in an SQLite file of this host.
#[derive(Debug)]
pub struct SqliteStore {
    dir: PathBuf,
    worker: Worker,
}

impl SqliteStore {
    /// The journal in this state folder, which need not exist yet. The clock
    /// decides about leases, the processes about owners that died.
    ///
    /// # Errors
    /// [`Io`](crate::port::JournalErrorKind::Io) when no thread can be started.
    /// The file itself is opened when it is first needed.
    pub fn open(
        dir: impl Into<PathBuf>,
        clock: Arc<dyn Clock>,
        processes: Arc<dyn Processes>,
    ) -> Result<Self, JournalError> {
        let dir = dir.into();
        let worker = Worker::start(Database::new(dir.clone(), clock, processes))?;
        Ok(Self { dir, worker })
    }

    /// The state folder.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Writes a run as text, one JSON object per line, exactly as it was
    /// recorded; see [`journal::to_jsonl`].
    ///
    /// # Errors
    /// [`NotFound`](crate::port::JournalErrorKind::NotFound), or any other.
    pub async fn export(&self, run: &RunId) -> Result<String, JournalError> {
        let run = run.clone();
        let export = self.worker.call(move |db| transfer::read(db, &run)).await?;
        Ok(journal::to_jsonl(&export))
    }

    /// Records a run that was exported elsewhere, whole or not at all. It has
    /// no owner; when it is not over it can be resumed.
    ///
    /// # Errors
    /// [`Fenced`](crate::port::JournalErrorKind::Fenced) when the run is here
    /// already, [`Corrupt`](crate::port::JournalErrorKind::Corrupt) or
    /// [`NewerFormat`](crate::port::JournalErrorKind::NewerFormat) when the text
    /// cannot be read.
    ///
    /// # Cancellation
    /// After a drop the run may or may not have been recorded.
    pub async fn import(&self, text: &str) -> Result<RunId, JournalError> {
        let export = journal::from_jsonl(text)?;
        let id = export.run.id.clone();
        let facts = transfer::check(&export)?;
        self.worker
            .call(move |db| transfer::write(db, &export, &facts))
            .await?;
        Ok(id)
    }

    /// Removes ended runs that are older than the retention, and blobs that no
    /// run refers to.
    ///
    /// # Errors
    /// Any [`JournalErrorKind`](crate::port::JournalErrorKind).
    ///
    /// # Cancellation
    /// Runs on to its end after a drop.
    pub async fn gc(&self, retention: Retention) -> Result<Collected, JournalError> {
        self.worker.call(move |db| gc::collect(db, retention)).await
    }
}

#[async_trait]
impl Journal for SqliteStore {
    async fn create(
        &self,
        run: NewRun,
        owner: OwnerId,
        lease: Duration,
    ) -> Result<Fence, JournalError> {
        self.worker
            .call(move |db| runs::create(db, run, owner, lease))
            .await
    }

    async fn acquire(
        &self,
        run: &RunId,
        owner: OwnerId,
        lease: Duration,
    ) -> Result<Fence, JournalError> {
        let run = run.clone();
        self.worker
            .call(move |db| runs::acquire(db, &run, owner, lease))
            .await
    }

    async fn renew(&self, fence: &Fence, lease: Duration) -> Result<(), JournalError> {
        let fence = fence.clone();
        self.worker
            .call(move |db| runs::renew(db, &fence, lease))
            .await
    }

    async fn release(&self, fence: &Fence) -> Result<(), JournalError> {
        let fence = fence.clone();
        self.worker.call(move |db| runs::release(db, &fence)).await
    }

    async fn append(
        &self,
        fence: &Fence,
        seq: u64,
        at: Timestamp,
        event: &Event,
    ) -> Result<(), JournalError> {
        let fence = fence.clone();
        let body = journal::encode(seq, event)?;
        let recorded = Recorded {
            seq,
            at,
            event: event.clone(),
        };
        self.worker
            .call(move |db| events::append(db, &fence, &recorded, &body))
            .await
    }

    async fn load(&self, run: &RunId) -> Result<Vec<Recorded>, JournalError> {
        let run = run.clone();
        let export = self.worker.call(move |db| transfer::read(db, &run)).await?;
        let decoded: Result<_, _> = export
            .events
            .iter()
            .map(|raw| journal::decode(raw, &export.writer))
            .collect();
        Ok(decoded?)
    }

    async fn list(&self) -> Result<Vec<RunSummary>, JournalError> {
        self.worker.call(runs::list).await
    }

    async fn lock(&self, fence: &Fence, resource: &str) -> Result<(), JournalError> {
        let (fence, resource) = (fence.clone(), resource.to_owned());
        self.worker
            .call(move |db| locks::lock(db, &fence, &resource))
            .await
    }

    async fn unlock_all(&self, fence: &Fence) -> Result<(), JournalError> {
        let fence = fence.clone();
        self.worker
            .call(move |db| locks::unlock_all(db, &fence))
            .await
    }

    async fn put_blob(&self, content: &[u8]) -> Result<BlobId, JournalError> {
        let content = content.to_vec();
        self.worker.call(move |db| blobs::put(db, &content)).await
    }

    async fn get_blob(&self, id: &BlobId) -> Result<Vec<u8>, JournalError> {
        let id = id.clone();
        self.worker.call(move |db| blobs::get(db, &id)).await
    }

    async fn remove(&self, run: &RunId) -> Result<(), JournalError> {
        let run = run.clone();
        self.worker.call(move |db| runs::remove(db, &run)).await
    }
}

/// What is kept beside a run's events, as text.
fn facts_text(facts: &RunFacts) -> Result<String, error::Fault> {
    serde_json::to_string(facts).map_err(|source| {
        error::Fault::Refused(
            error::corrupt("a run's summary cannot be written").with_source(source),
        )
    })
}

#[cfg(all(test, feature = "test-support"))]
mod tests;
