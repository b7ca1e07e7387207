//! Removing what nobody needs any more.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use rusqlite::Transaction;

use super::blobs;
use super::database::{Database, Moment};
use super::error::Fault;
use super::runs;
use crate::journal::blob_references;
use crate::model::RunId;
use crate::port::BlobId;

/// A blob is stored before the event that refers to it. No step takes as long
/// as this, so one that is still unreferenced then was abandoned.
const GRACE: SignedDuration = SignedDuration::from_hours(24);

/// How long ended runs are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    /// Since their last event.
    pub ended: Duration,
}

impl Retention {
    /// Ended runs are kept for this many days.
    #[must_use]
    pub const fn days(days: u32) -> Self {
        Self {
            ended: Duration::from_secs(days as u64 * 24 * 60 * 60),
        }
    }
}

/// What was removed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Collected {
    /// Runs. Their side files are the caller's to remove.
    pub runs: Vec<RunId>,
    /// How many blobs.
    pub blobs: u64,
    /// Their length in bytes.
    pub blob_bytes: u64,
}

/// Removes old ended runs, then blobs that no run refers to. Suspended runs
/// stay however old they are, and so do children of runs that stay.
pub(super) fn collect(db: &mut Database, retention: Retention) -> Result<Collected, Fault> {
    let mut collected = Collected::default();
    if db.read(|_, _| Ok(()))?.is_some() {
        let (removed, somebody_works) =
            db.write(|tx, moment| remove_runs(tx, moment, retention))?;
        // it takes a while, and nobody could append meanwhile
        if !removed.is_empty() && !somebody_works {
            db.shrink();
        }
        collected.runs = removed;
    }
    // listed first: what is stored from now on is younger than the grace anyway
    let stored = blobs::all(db.dir())?;
    let used = db.read(|tx, _| references(tx))?.unwrap_or_default();
    let abandoned_before = before(db.now(), GRACE);
    for blob in &stored {
        let needed = blob.id.as_ref().is_some_and(|id| used.contains(id));
        if !needed && blob.stored_at < abandoned_before && blobs::delete(blob)? {
            collected.blobs += 1;
            collected.blob_bytes += blob.length;
        }
    }
    Ok(collected)
}

fn before(now: Timestamp, age: SignedDuration) -> Timestamp {
    now.checked_sub(age).unwrap_or(Timestamp::MIN)
}

/// Removes old ended runs. Also says whether any run is being driven.
fn remove_runs(
    tx: &Transaction<'_>,
    moment: Moment<'_>,
    retention: Retention,
) -> Result<(Vec<RunId>, bool), Fault> {
    let age = SignedDuration::try_from(retention.ended).unwrap_or(SignedDuration::MAX);
    let old = before(moment.now, age);
    let mut parents = BTreeMap::new();
    let mut candidates = BTreeSet::new();
    let mut somebody_works = false;
    let mut statement = tx.prepare("SELECT * FROM runs ORDER BY num")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let run = runs::new_run(row)?;
        let owned = runs::owned(tx, &run.id)?;
        let updated_at = owned.facts.updated_at.unwrap_or(Timestamp::MAX);
        let driven = runs::is_driven(&owned, moment);
        somebody_works |= driven;
        if owned.facts.is_ended() && updated_at < old && !driven {
            candidates.insert(run.id.clone());
        }
        parents.insert(run.id, run.parent);
    }
    let mut removed = Vec::new();
    for run in &candidates {
        if ancestors_go(run, &parents, &candidates) {
            tx.execute("DELETE FROM runs WHERE id = ?1", [run.as_str()])?;
            removed.push(run.clone());
        }
    }
    Ok((removed, somebody_works))
}

/// Whether everything above the run goes as well, or is gone.
fn ancestors_go(
    run: &RunId,
    parents: &BTreeMap<RunId, Option<RunId>>,
    candidates: &BTreeSet<RunId>,
) -> bool {
    let mut above = parents.get(run).and_then(Option::as_ref);
    let mut steps = 0;
    while let Some(parent) = above {
        let Some(next) = parents.get(parent) else {
            return true;
        };
        if !candidates.contains(parent) || steps > parents.len() {
            return false;
        }
        above = next.as_ref();
        steps += 1;
    }
    true
}

fn references(tx: &Transaction<'_>) -> Result<HashSet<BlobId>, Fault> {
    let mut statement = tx.prepare("SELECT body FROM events")?;
    let mut rows = statement.query([])?;
    let mut used = HashSet::new();
    while let Some(row) = rows.next()? {
        let body: String = row.get(0)?;
        used.extend(blob_references(&body));
    }
    Ok(used)
}
