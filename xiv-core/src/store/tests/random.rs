//! Random interleavings of several drivers, some of which die, against a model
//! that is as simple as the rules.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures::executor::block_on;
use jiff::Timestamp;
use proptest::prelude::{Just, Strategy, any, prop_oneof};
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use proptest::{collection, prop_assert, prop_assert_eq};

use super::{LEASE, finished, interrupted, new_run, run_id};
use crate::model::{Outcome, RunId};
use crate::port::{
    Clock as _, Fence, Journal, JournalError, JournalErrorKind, OwnerId, ProcessId, Processes as _,
    RunStatus,
};
use crate::store::SqliteStore;
use crate::test_support::{FakeProcesses, ManualClock, MemoryJournal};

const RUNS: u32 = 2;
/// Two on one host, one on another.
const DRIVERS: usize = 3;

#[derive(Debug, Clone)]
enum Op {
    Create(u32, usize),
    Acquire(u32, usize),
    Renew(u32, usize),
    Release(u32, usize),
    /// With the number that comes next, or one off.
    Append(u32, usize, i64),
    End(u32, usize),
    Lock(u32, usize, u8),
    Unlock(u32, usize),
    Remove(u32, usize),
    Wait(u64),
    /// Its process dies and a new one takes its place.
    Restart(usize),
}

fn op() -> impl Strategy<Value = Op> {
    let run = 0..RUNS;
    let place = (run, 0..DRIVERS);
    prop_oneof![
        3 => place.clone().prop_map(|(r, d)| Op::Create(r, d)),
        4 => place.clone().prop_map(|(r, d)| Op::Acquire(r, d)),
        2 => place.clone().prop_map(|(r, d)| Op::Renew(r, d)),
        1 => place.clone().prop_map(|(r, d)| Op::Release(r, d)),
        6 => (place.clone(), prop_oneof![4 => Just(0_i64), 1 => -1..=1_i64])
            .prop_map(|((r, d), off)| Op::Append(r, d, off)),
        1 => place.clone().prop_map(|(r, d)| Op::End(r, d)),
        3 => (place.clone(), any::<bool>()).prop_map(|((r, d), x)| Op::Lock(r, d, x.into())),
        1 => place.clone().prop_map(|(r, d)| Op::Unlock(r, d)),
        1 => place.prop_map(|(r, d)| Op::Remove(r, d)),
        2 => (1..40_u64).prop_map(Op::Wait),
        1 => (0..DRIVERS).prop_map(Op::Restart),
    ]
}

/// What the rules say. An owner is a driver and which life of it.
#[derive(Debug, Default)]
struct Model {
    runs: BTreeMap<u32, ModelRun>,
    locks: BTreeMap<u8, u32>,
    lives: [u32; DRIVERS],
}

#[derive(Debug, Clone)]
struct ModelRun {
    owner: Option<(usize, u32)>,
    until: Timestamp,
    events: u64,
    ended: bool,
}

/// `Ok`, or the run because of which it was refused, or no such run.
type Verdict = Result<(), Option<u32>>;

const NOT_FOUND: Verdict = Err(None);

impl Model {
    /// As seen from `by`: another host's processes count as living.
    fn is_driven(&self, run: &ModelRun, by: usize, now: Timestamp) -> bool {
        run.owner.is_some_and(|(driver, life)| {
            let same_host = (driver < 2) == (by < 2);
            run.until > now && (!same_host || self.lives[driver] == life)
        })
    }

    fn take(&mut self, run: u32, by: usize, now: Timestamp) {
        let life = self.lives[by];
        if let Some(run) = self.runs.get_mut(&run) {
            run.owner = Some((by, life));
            run.until = now + jiff::SignedDuration::from_secs(30);
        }
    }

    /// A step by somebody whose fence is the latest, or is not.
    fn by_fence(&self, run: u32, latest: bool) -> Verdict {
        match self.runs.get(&run) {
            None => NOT_FOUND,
            Some(_) if !latest => Err(Some(run)),
            Some(_) => Ok(()),
        }
    }

    /// The same for steps that an ended run does not allow.
    fn by_fence_if_open(&self, run: u32, latest: bool) -> Verdict {
        self.by_fence(run, latest)?;
        match self.runs.get(&run) {
            Some(found) if found.ended => Err(Some(run)),
            _ => Ok(()),
        }
    }
}

/// Opens the one record as a process.
type Open = dyn Fn(FakeProcesses) -> Arc<dyn Journal> + Send + Sync;

struct Driver {
    journal: Arc<dyn Journal>,
    owner: OwnerId,
    fences: BTreeMap<u32, Fence>,
}

/// The journal under test, the model beside it, and who is at work.
struct Bench<'a> {
    open: &'a Open,
    clock: ManualClock,
    here: FakeProcesses,
    there: FakeProcesses,
    born: u32,
    drivers: Vec<Driver>,
    model: Model,
    /// The latest fence of each run, wherever it is.
    latest: BTreeMap<u32, Fence>,
}

impl<'a> Bench<'a> {
    fn new(clock: ManualClock, open: &'a Open) -> Self {
        let at = |host: &str| {
            FakeProcesses::at(ProcessId {
                host: host.to_owned(),
                pid: 1,
                start_time: 1,
            })
        };
        let mut bench = Self {
            open,
            clock,
            here: at("here"),
            there: at("there"),
            born: 1,
            drivers: Vec::new(),
            model: Model::default(),
            latest: BTreeMap::new(),
        };
        bench.drivers = (0..DRIVERS).map(|n| bench.born(n)).collect();
        bench
    }

    fn born(&mut self, driver: usize) -> Driver {
        self.born += 1;
        let host = if driver < 2 { &self.here } else { &self.there };
        let processes = host.beside(self.born);
        Driver {
            owner: OwnerId {
                process: processes.current(),
                driver: run_id(0xd000 + self.born),
            },
            journal: (self.open)(processes),
            fences: BTreeMap::new(),
        }
    }

    async fn step(&mut self, op: &Op) -> Result<(), TestCaseError> {
        match *op {
            Op::Wait(seconds) => self.clock.advance(Duration::from_secs(seconds)),
            Op::Restart(driver) => {
                let host = if driver < 2 { &self.here } else { &self.there };
                host.kill(&self.drivers[driver].owner.process);
                self.model.lives[driver] += 1;
                self.drivers[driver] = self.born(driver);
            }
            Op::Create(run, by) | Op::Acquire(run, by) => {
                self.take(run, by, matches!(op, Op::Create(..))).await?;
            }
            Op::Remove(run, by) => self.remove(run, by).await?,
            Op::Renew(run, by)
            | Op::Release(run, by)
            | Op::Append(run, by, _)
            | Op::End(run, by)
            | Op::Lock(run, by, _)
            | Op::Unlock(run, by) => {
                if let Some(fence) = self.drivers[by].fences.get(&run).cloned() {
                    self.with_fence(op, run, by, &fence).await?;
                }
            }
        }
        self.compare().await
    }

    async fn take(&mut self, run: u32, by: usize, create: bool) -> Result<(), TestCaseError> {
        let now = self.clock.now();
        let Driver { journal, owner, .. } = &self.drivers[by];
        let found = self.model.runs.get(&run);
        let expected = match (create, found) {
            (true, Some(_)) => Err(Some(run)),
            (true, None) => Ok(()),
            (false, None) => NOT_FOUND,
            (false, Some(found)) => {
                let own = found.owner == Some((by, self.model.lives[by]));
                let driven = self.model.is_driven(found, by, now);
                if driven && !own {
                    Err(Some(run))
                } else {
                    Ok(())
                }
            }
        };
        let taken = if create {
            journal.create(new_run(run), owner.clone(), LEASE).await
        } else {
            journal.acquire(&run_id(run), owner.clone(), LEASE).await
        };
        prop_assert_eq!(verdict(&taken), expected);
        if let Ok(fence) = taken {
            if create {
                let fresh = ModelRun {
                    owner: None,
                    until: now,
                    events: 0,
                    ended: false,
                };
                self.model.runs.insert(run, fresh);
            }
            self.model.take(run, by, now);
            self.latest.insert(run, fence.clone());
            self.drivers[by].fences.insert(run, fence);
        }
        Ok(())
    }

    async fn remove(&mut self, run: u32, by: usize) -> Result<(), TestCaseError> {
        let expected = match self.model.runs.get(&run) {
            None => NOT_FOUND,
            Some(found) if self.model.is_driven(found, by, self.clock.now()) => Err(Some(run)),
            Some(_) => Ok(()),
        };
        let removed = self.drivers[by].journal.remove(&run_id(run)).await;
        prop_assert_eq!(verdict(&removed), expected);
        if expected.is_ok() {
            self.model.runs.remove(&run);
            self.model.locks.retain(|_, holder| *holder != run);
            self.latest.remove(&run);
            // a new run of that id starts with new fences
            for driver in &mut self.drivers {
                driver.fences.remove(&run);
            }
        }
        Ok(())
    }

    async fn with_fence(
        &mut self,
        op: &Op,
        run: u32,
        by: usize,
        fence: &Fence,
    ) -> Result<(), TestCaseError> {
        let now = self.clock.now();
        let journal = &self.drivers[by].journal;
        let latest = self.latest.get(&run) == Some(fence);
        let events = self.model.runs.get(&run).map_or(0, |run| run.events);
        let seq = |off: i64| events.saturating_add_signed(1 + off);
        let mut expected = self.model.by_fence(run, latest);
        let open = self.model.by_fence_if_open(run, latest);
        let done = match *op {
            Op::Renew(..) => journal.renew(fence, LEASE).await,
            Op::Unlock(..) => journal.unlock_all(fence).await,
            Op::Release(..) => {
                let released = journal.release(fence).await;
                if latest {
                    released
                } else {
                    return Ok(()); // whatever it says
                }
            }
            Op::Append(_, _, off) => {
                expected = if off == 0 {
                    open
                } else {
                    open.and(Err(Some(run)))
                };
                journal.append(fence, seq(off), now, &interrupted()).await
            }
            Op::End(..) => {
                expected = open;
                let end = finished(&run_id(run), Outcome::Done);
                journal.append(fence, seq(0), now, &end).await
            }
            Op::Lock(_, _, resource) => {
                let holder = self.model.locks.get(&resource).copied();
                let taken = holder.filter(|holder| *holder != run);
                expected = open.and(taken.map_or(Ok(()), |holder| Err(Some(holder))));
                journal.lock(fence, &format!("tree:/{resource}")).await
            }
            _ => return Ok(()),
        };
        prop_assert_eq!(verdict(&done), expected);
        if done.is_ok() {
            self.note(op, run, now);
        }
        Ok(())
    }

    /// What a step that was allowed leads to.
    fn note(&mut self, op: &Op, run: u32, now: Timestamp) {
        let Model { runs, locks, .. } = &mut self.model;
        let Some(found) = runs.get_mut(&run) else {
            return;
        };
        match *op {
            Op::Renew(..) => found.until = now + jiff::SignedDuration::from_secs(30),
            Op::Release(..) => {
                found.owner = None;
                self.latest.remove(&run);
            }
            Op::Append(..) => found.events += 1,
            Op::End(..) => {
                found.events += 1;
                found.ended = true;
                locks.retain(|_, holder| *holder != run);
            }
            Op::Lock(_, _, resource) => {
                locks.insert(resource, run);
            }
            Op::Unlock(..) => locks.retain(|_, holder| *holder != run),
            _ => {}
        }
    }

    async fn compare(&self) -> Result<(), TestCaseError> {
        let journal = &self.drivers[0].journal;
        let listed = journal.list().await.expect("listed");
        prop_assert_eq!(listed.len(), self.model.runs.len());
        for summary in &listed {
            let (number, run) = self
                .model
                .runs
                .iter()
                .find(|(n, _)| run_id(**n) == summary.run_id)
                .expect("a run of the model");
            let status = if run.ended {
                RunStatus::Ended
            } else if run.events == 0 && self.model.is_driven(run, 0, self.clock.now()) {
                RunStatus::Running
            } else {
                RunStatus::Suspended
            };
            prop_assert_eq!(summary.status, status, "run {}", number);
            let history = journal.load(&summary.run_id).await.expect("loaded");
            prop_assert_eq!(history.len() as u64, run.events);
        }
        prop_assert!(self.model.locks.len() <= 2);
        Ok(())
    }
}

fn verdict<T>(result: &Result<T, JournalError>) -> Verdict {
    let number = |id: &RunId| (0..RUNS).find(|n| run_id(*n) == *id);
    match result {
        Ok(_) => Ok(()),
        Err(error) if error.kind == JournalErrorKind::NotFound => NOT_FOUND,
        Err(error) if error.kind == JournalErrorKind::Fenced => {
            let holder = error.holder.as_ref().and_then(number);
            assert!(holder.is_some(), "a refusal names a run: {error:?}");
            Err(holder)
        }
        Err(error) => panic!("{error:?}"),
    }
}

fn check(cases: u32, new: impl Fn(ManualClock) -> Box<Open>) {
    let config = Config {
        cases,
        failure_persistence: None,
        ..Config::default()
    };
    TestRunner::new(config)
        .run(&collection::vec(op(), 1..60), |ops| {
            let clock = ManualClock::new();
            let open = new(clock.clone());
            let mut bench = Bench::new(clock, &*open);
            block_on(async {
                for op in &ops {
                    bench.step(op).await?;
                }
                Ok(())
            })
        })
        .unwrap_or_else(|failure| panic!("{failure}"));
}

fn slow() -> bool {
    std::env::var_os("XIV_SLOW").is_some()
}

#[test]
fn the_file_follows_the_rules_in_any_order() {
    check(if slow() { 1000 } else { 60 }, |clock| {
        let dir = tempfile::tempdir().expect("a temporary folder");
        Box::new(move |processes| {
            let clock = Arc::new(clock.clone());
            let store = SqliteStore::open(dir.path(), clock, Arc::new(processes));
            Arc::new(store.expect("the thread starts"))
        })
    });
}

#[test]
fn the_memory_follows_the_rules_in_any_order() {
    check(if slow() { 20_000 } else { 500 }, |clock| {
        let shared = MemoryJournal::new(clock, FakeProcesses::new());
        Box::new(move |processes| Arc::new(shared.seen_by(processes)))
    });
}
