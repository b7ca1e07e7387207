//! The rules of the [`Journal`] port, as cases that every journal must pass.

mod events;
mod leases;
mod listing;
mod locks;
mod sample;

use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use crate::model::RunId;
use crate::port::{
    Clock as _, Fence, Journal, JournalError, JournalErrorKind, NewRun, OwnerId, ProcessId,
    Processes as _,
};
use crate::test_support::{FakeProcesses, ManualClock};

/// As long as the driver's.
const LEASE: Duration = Duration::from_secs(30);

/// Runs every case.
///
/// `new` makes an empty record on a clock. What it returns opens that record
/// for a process; it is called more than once per record, as several processes
/// would open it, also after one of them died.
///
/// # Panics
/// When a rule is broken.
pub async fn journal<N, O, J>(new: N)
where
    N: Fn(ManualClock) -> O + Send + Sync,
    O: Fn(FakeProcesses) -> J + Send + Sync + 'static,
    J: Journal,
{
    let world = || {
        let clock = ManualClock::new();
        let open = new(clock.clone());
        World {
            clock,
            here: FakeProcesses::new(),
            open: Box::new(move |processes| Arc::new(open(processes))),
        }
    };
    events::cases(&world).await;
    leases::cases(&world).await;
    locks::cases(&world).await;
    listing::cases(&world).await;
}

/// One record, and the hosts and processes around it.
struct World {
    clock: ManualClock,
    /// The first process of the first host.
    here: FakeProcesses,
    open: Box<dyn Fn(FakeProcesses) -> Arc<dyn Journal> + Send + Sync>,
}

/// A process with its view of the record.
struct Process {
    journal: Arc<dyn Journal>,
    id: ProcessId,
    owner: OwnerId,
}

impl World {
    /// Process number `n` of the first host; 0 is the first.
    fn process(&self, n: u32) -> Process {
        if n == 0 {
            self.open(&self.here, n)
        } else {
            self.open(&self.here.beside(1000 + n), n)
        }
    }

    /// A process of another host.
    fn elsewhere(&self) -> Process {
        let id = ProcessId {
            host: "other-host".to_owned(),
            ..self.here.current()
        };
        self.open(&FakeProcesses::at(id), 99)
    }

    fn open(&self, processes: &FakeProcesses, driver: u32) -> Process {
        let id = processes.current();
        Process {
            journal: (self.open)(processes.clone()),
            owner: OwnerId {
                process: id.clone(),
                driver: run_id(0xd000 + driver),
            },
            id,
        }
    }

    fn kill(&self, process: &Process) {
        self.here.kill(&process.id);
    }

    /// Appends an event that leaves the run under way.
    async fn append(&self, by: &Process, fence: &Fence, seq: u64) -> Result<(), JournalError> {
        let event = sample::denied();
        by.journal
            .append(fence, seq, self.clock.now(), &event)
            .await
    }
}

impl Process {
    async fn create(&self, run: u32) -> Fence {
        self.journal
            .create(new_run(run), self.owner.clone(), LEASE)
            .await
            .expect("a new run can be created")
    }

    async fn acquire(&self, run: u32) -> Result<Fence, JournalError> {
        self.journal
            .acquire(&run_id(run), self.owner.clone(), LEASE)
            .await
    }
}

fn run_id(n: u32) -> RunId {
    RunId::parse(format!("{n:08x}-0000-7000-8000-000000000000")).expect("a run id")
}

fn new_run(n: u32) -> NewRun {
    NewRun {
        id: run_id(n),
        kind: "implement".to_owned(),
        key: format!("KEY-{n}"),
        repo: "/home/me/repo".to_owned(),
        parent: None,
    }
}

fn assert_kind<T: Debug>(result: Result<T, JournalError>, kind: JournalErrorKind, why: &str) {
    match result {
        Ok(value) => panic!("{why}: expected {kind:?}, got {value:?}"),
        Err(error) => assert_eq!(error.kind, kind, "{why}: {error}"),
    }
}

/// Refused, and says because of which run.
fn assert_fenced<T: Debug>(result: Result<T, JournalError>, holder: u32, why: &str) {
    match result {
        Ok(value) => panic!("{why}: expected a refusal, got {value:?}"),
        Err(error) => {
            assert_eq!(error.kind, JournalErrorKind::Fenced, "{why}: {error}");
            assert_eq!(error.holder, Some(run_id(holder)), "{why}");
        }
    }
}
