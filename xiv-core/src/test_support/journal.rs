//! A journal in memory that keeps every rule of the durable one.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;

use super::lock;
use crate::flow::{Event, Recorded};
use crate::journal::{Lease, RawEvent, RunFacts, WRITER, blob_id, decode, encode};
use crate::model::RunId;
use crate::port::{
    BlobId, Clock, Fence, Journal, JournalError, JournalErrorKind, NewRun, OwnerId, Processes,
    RunSummary,
};

/// Runs, leases, locks and blobs, gone with the last clone.
///
/// Clones share the record, as processes share a file: let a clone "crash" and
/// go on with another. Events are kept as text, so that one that cannot be read
/// back shows in any test.
#[derive(Clone)]
pub struct MemoryJournal {
    record: Arc<Mutex<Record>>,
    clock: Arc<dyn Clock>,
    processes: Arc<dyn Processes>,
}

#[derive(Debug, Default)]
struct Record {
    /// Oldest first.
    runs: Vec<Run>,
    /// From a resource to the run that reserved it.
    locks: BTreeMap<String, RunId>,
    blobs: HashMap<BlobId, Vec<u8>>,
}

#[derive(Debug)]
struct Run {
    new: NewRun,
    started_at: Timestamp,
    facts: RunFacts,
    token: u64,
    lease: Option<Lease>,
    events: Vec<RawEvent>,
}

impl MemoryJournal {
    /// An empty journal.
    pub fn new(clock: impl Clock, processes: impl Processes) -> Self {
        Self {
            record: Arc::default(),
            clock: Arc::new(clock),
            processes: Arc::new(processes),
        }
    }

    /// The same record as another process sees it.
    #[must_use]
    pub fn seen_by(&self, processes: impl Processes) -> Self {
        Self {
            processes: Arc::new(processes),
            ..self.clone()
        }
    }

    fn change<T>(
        &self,
        change: impl FnOnce(&mut Record, Timestamp) -> Result<T, JournalError>,
    ) -> Result<T, JournalError> {
        change(&mut lock(&self.record), self.clock.now())
    }

    fn is_driven(&self, run: &Run, now: Timestamp) -> bool {
        let lease = run.lease.as_ref();
        lease.is_some_and(|lease| lease.holds(now, &*self.processes))
    }
}

impl fmt::Debug for MemoryJournal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let runs = lock(&self.record).runs.len();
        f.debug_struct("MemoryJournal")
            .field("runs", &runs)
            .finish_non_exhaustive()
    }
}

impl Record {
    fn run(&mut self, id: &RunId) -> Result<&mut Run, JournalError> {
        self.runs
            .iter_mut()
            .find(|run| run.new.id == *id)
            .ok_or_else(|| {
                JournalError::new(JournalErrorKind::NotFound, format!("there is no run {id}"))
            })
    }

    /// The fence's run, unless the fence is outdated.
    fn owned(&mut self, fence: &Fence) -> Result<&mut Run, JournalError> {
        let run = self.run(&fence.run)?;
        let owner = run.lease.as_ref().map(|lease| &lease.owner);
        if run.token == fence.token && owner == Some(&fence.owner) {
            Ok(run)
        } else {
            Err(fenced(&fence.run, "another driver owns this run now"))
        }
    }

    /// The fence's run, unless it is over or the fence outdated.
    fn open(&mut self, fence: &Fence) -> Result<&mut Run, JournalError> {
        let run = self.owned(fence)?;
        if run.facts.is_ended() {
            return Err(fenced(&fence.run, "this run is over"));
        }
        Ok(run)
    }

    fn unlock(&mut self, run: &RunId) {
        self.locks.retain(|_, holder| holder != run);
    }
}

impl Run {
    fn hand_over(&mut self, owner: OwnerId, now: Timestamp, length: Duration) -> Fence {
        self.token += 1;
        self.lease = Some(Lease::new(owner.clone(), now, length));
        Fence {
            run: self.new.id.clone(),
            owner,
            token: self.token,
        }
    }
}

fn fenced(holder: &RunId, message: impl Into<String>) -> JournalError {
    let mut error = JournalError::new(JournalErrorKind::Fenced, message);
    error.holder = Some(holder.clone());
    error
}

#[async_trait]
impl Journal for MemoryJournal {
    async fn create(
        &self,
        run: NewRun,
        owner: OwnerId,
        lease: Duration,
    ) -> Result<Fence, JournalError> {
        self.change(|record, now| {
            if record.run(&run.id).is_ok() {
                return Err(fenced(&run.id, "there is such a run already"));
            }
            let mut run = Run {
                new: run,
                started_at: now,
                facts: RunFacts::default(),
                token: 0,
                lease: None,
                events: Vec::new(),
            };
            let fence = run.hand_over(owner, now, lease);
            record.runs.push(run);
            Ok(fence)
        })
    }

    async fn acquire(
        &self,
        run: &RunId,
        owner: OwnerId,
        lease: Duration,
    ) -> Result<Fence, JournalError> {
        self.change(|record, now| {
            let found = record.run(run)?;
            let is_another = found.lease.as_ref().is_some_and(|held| held.owner != owner);
            if is_another && self.is_driven(found, now) {
                return Err(fenced(run, "another driver owns this run"));
            }
            Ok(found.hand_over(owner, now, lease))
        })
    }

    async fn renew(&self, fence: &Fence, lease: Duration) -> Result<(), JournalError> {
        self.change(|record, now| {
            let run = record.owned(fence)?;
            run.lease = Some(Lease::new(fence.owner.clone(), now, lease));
            Ok(())
        })
    }

    async fn release(&self, fence: &Fence) -> Result<(), JournalError> {
        self.change(|record, _| {
            let run = record.run(&fence.run)?;
            if run.token == fence.token {
                run.lease = None;
            }
            Ok(())
        })
    }

    async fn append(
        &self,
        fence: &Fence,
        seq: u64,
        at: Timestamp,
        event: &Event,
    ) -> Result<(), JournalError> {
        let body = encode(seq, event)?;
        self.change(|record, _| {
            let run = record.open(fence)?;
            let next = run.events.len() as u64 + 1;
            if seq != next {
                let message = format!("event {seq} was to be appended as {next}");
                return Err(fenced(&fence.run, message));
            }
            run.events.push(RawEvent { seq, at, body });
            run.facts.apply(at, event);
            if run.facts.is_ended() {
                record.unlock(&fence.run);
            }
            Ok(())
        })
    }

    async fn load(&self, run: &RunId) -> Result<Vec<Recorded>, JournalError> {
        let events = self.change(|record, _| Ok(record.run(run)?.events.clone()))?;
        let decoded: Result<_, _> = events.iter().map(|raw| decode(raw, WRITER)).collect();
        Ok(decoded?)
    }

    async fn list(&self) -> Result<Vec<RunSummary>, JournalError> {
        self.change(|record, now| {
            let mut listed: Vec<RunSummary> = record
                .runs
                .iter()
                .rev()
                .map(|run| {
                    let driven = self.is_driven(run, now);
                    run.facts.summary(&run.new, run.started_at, driven)
                })
                .collect();
            listed.sort_by_key(|run| std::cmp::Reverse(run.started_at));
            Ok(listed)
        })
    }

    async fn lock(&self, fence: &Fence, resource: &str) -> Result<(), JournalError> {
        self.change(|record, _| {
            record.open(fence)?;
            let holder = record
                .locks
                .entry(resource.to_owned())
                .or_insert_with(|| fence.run.clone());
            if *holder == fence.run {
                Ok(())
            } else {
                let message = format!("run {holder} has reserved {resource}");
                Err(fenced(holder, message))
            }
        })
    }

    async fn unlock_all(&self, fence: &Fence) -> Result<(), JournalError> {
        self.change(|record, _| {
            record.owned(fence)?;
            record.unlock(&fence.run);
            Ok(())
        })
    }

    async fn put_blob(&self, content: &[u8]) -> Result<BlobId, JournalError> {
        let id = blob_id(content);
        self.change(|record, _| {
            record.blobs.insert(id.clone(), content.to_vec());
            Ok(id)
        })
    }

    async fn get_blob(&self, id: &BlobId) -> Result<Vec<u8>, JournalError> {
        self.change(|record, _| {
            record.blobs.get(id).cloned().ok_or_else(|| {
                JournalError::new(JournalErrorKind::NotFound, format!("there is no blob {id}"))
            })
        })
    }

    async fn remove(&self, run: &RunId) -> Result<(), JournalError> {
        self.change(|record, now| {
            if self.is_driven(record.run(run)?, now) {
                return Err(fenced(run, "a living process drives this run"));
            }
            record.runs.retain(|kept| kept.new.id != *run);
            record.unlock(run);
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use futures::executor::block_on;

    use super::MemoryJournal;
    use crate::test_support::{FakeProcesses, conformance};

    #[test]
    fn it_keeps_the_rules_of_a_journal() {
        block_on(conformance::journal(|clock| {
            let journal = MemoryJournal::new(clock, FakeProcesses::new());
            move |processes| journal.seen_by(processes)
        }));
    }
}
