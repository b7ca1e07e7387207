//! The journal in a file: what only a file can show.
#![expect(
    clippy::disallowed_methods,
    reason = "the tests look at the files that the store leaves"
)]

mod format;
mod projections;
mod random;
mod transfer;

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use futures::executor::block_on;

use jiff::Timestamp;

use super::{DATABASE_FILE, SqliteStore};
use crate::flow::{Event, Wait};
use crate::model::{ImplementOutput, Outcome, RunId, Usage};
use crate::port::{
    Clock as _, Fence, Journal as _, JournalErrorKind, NewRun, OwnerId, Processes as _,
};
use crate::test_support::{FakeProcesses, ManualClock, conformance};

const LEASE: Duration = Duration::from_secs(30);

/// A store in a folder of its own, and the world it sees.
struct Place {
    dir: tempfile::TempDir,
    clock: ManualClock,
    processes: FakeProcesses,
}

impl Place {
    fn new() -> Self {
        Self {
            dir: tempfile::tempdir().expect("a temporary folder"),
            clock: ManualClock::new(),
            processes: FakeProcesses::new(),
        }
    }

    fn state(&self) -> PathBuf {
        self.dir.path().join("state")
    }

    fn database(&self) -> PathBuf {
        self.state().join(DATABASE_FILE)
    }

    fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// When a record that was made first of all was made.
    fn started_at(&self) -> Timestamp {
        ManualClock::new().now()
    }

    fn open(&self) -> SqliteStore {
        SqliteStore::open(
            self.state(),
            Arc::new(self.clock.clone()),
            Arc::new(self.processes.clone()),
        )
        .expect("the thread starts")
    }

    fn owner(&self) -> OwnerId {
        OwnerId {
            process: self.processes.current(),
            driver: run_id(0xd),
        }
    }

    async fn started(&self, store: &SqliteStore, run: u32) -> Fence {
        store
            .create(new_run(run), self.owner(), LEASE)
            .await
            .expect("a new run")
    }

    async fn append(&self, store: &SqliteStore, fence: &Fence, seq: u64) {
        store
            .append(fence, seq, self.clock.now(), &interrupted())
            .await
            .expect("appended");
    }
}

fn run_id(n: u32) -> RunId {
    RunId::parse(format!("{n:08x}-0000-7000-8000-000000000000")).expect("a run id")
}

fn new_run(n: u32) -> NewRun {
    NewRun {
        id: run_id(n),
        kind: "implement".to_owned(),
        key: "demo-1".to_owned(),
        repo: "/repo".to_owned(),
        parent: None,
    }
}

fn interrupted() -> Event {
    Event::Suspended {
        wait: Wait::Interrupted,
        usage: Usage::default(),
        session: None,
    }
}

fn finished(run: &RunId, outcome: Outcome) -> Event {
    let output = ImplementOutput {
        branch: None,
        head_sha: None,
        issue_key: None,
        title: String::new(),
        acceptance_criteria: Vec::new(),
        summary: String::new(),
        review_verdict: None,
        known_gaps: Vec::new(),
        outstanding: Vec::new(),
        evidence: Vec::new(),
        review_failures: Vec::new(),
        incoherent: false,
        outcome,
        passes: 1,
        run_id: run.clone(),
        usage: Usage::default(),
        worktree: None,
        paused_until: None,
        failed_step: None,
        error: None,
    };
    Event::RunFinished { outcome, output }
}

fn mode(path: &Path) -> u32 {
    let meta = std::fs::metadata(path).expect("it exists");
    meta.permissions().mode() & 0o777
}

#[test]
fn it_keeps_the_rules_of_a_journal() {
    block_on(conformance::journal(|clock| {
        let dir = tempfile::tempdir().expect("a temporary folder");
        move |processes| {
            let state = dir.path().join("state");
            SqliteStore::open(state, Arc::new(clock.clone()), Arc::new(processes))
                .expect("the thread starts")
        }
    }));
}

#[test]
fn looking_leaves_no_trace() {
    let place = Place::new();
    block_on(async {
        let store = place.open();
        assert_eq!(store.list().await.expect("an empty list"), []);
        let missing = store.load(&run_id(1)).await.expect_err("no such run");
        assert_eq!(missing.kind, JournalErrorKind::NotFound);
        let missing = store.remove(&run_id(1)).await.expect_err("no such run");
        assert_eq!(missing.kind, JournalErrorKind::NotFound);
        let missing = store.acquire(&run_id(1), place.owner(), LEASE).await;
        let missing = missing.expect_err("no such run");
        assert_eq!(missing.kind, JournalErrorKind::NotFound);
    });
    assert!(!place.state().exists());
}

#[test]
fn what_is_stored_is_for_its_owner_alone() {
    let place = Place::new();
    block_on(async {
        let store = place.open();
        let fence = place.started(&store, 1).await;
        place.append(&store, &fence, 1).await;
        let blob = store.put_blob(b"secret").await.expect("stored");
        let state = place.state();
        assert_eq!(mode(&state), 0o700);
        for file in ["xiv.db", "xiv.db-wal", "xiv.db-shm"] {
            assert_eq!(mode(&state.join(file)), 0o600, "{file}");
        }
        let shard = state.join("blobs/sha256").join(&blob.as_str()[..2]);
        assert_eq!(mode(&shard), 0o700);
        assert_eq!(mode(&shard.join(blob.as_str())), 0o600);
    });
}
