//! The durable journal between real processes, some of which are killed, and
//! on disks that are full or read-only.

mod disk;
mod kill;
mod rivals;
mod writer;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use xiv_core::flow::{Event, Recorded};
use xiv_core::model::{RunId, StepId};
use xiv_core::port::{NewRun, OwnerId, Processes as _};
use xiv_core::rt::{SystemClock, SystemProcesses, new_run_id};
use xiv_core::store::SqliteStore;

const LEASE: Duration = Duration::from_secs(30);

fn open(dir: &Path) -> SqliteStore {
    SqliteStore::open(
        dir,
        Arc::new(SystemClock),
        Arc::new(SystemProcesses::default()),
    )
    .expect("the thread starts")
}

/// This process, as a new driver.
fn owner() -> OwnerId {
    OwnerId {
        process: SystemProcesses::default().current(),
        driver: new_run_id(),
    }
}

fn new_run(id: &RunId) -> NewRun {
    NewRun {
        id: id.clone(),
        kind: "implement".to_owned(),
        key: "demo-1".to_owned(),
        repo: "/repo".to_owned(),
        parent: None,
    }
}

/// An event of about 2 KB that says who wrote it, and as what.
fn signed(by: &str, seq: u64) -> Event {
    Event::Denied {
        step: StepId::parse("implement#1").expect("a step"),
        rule: format!("{by}/{seq}"),
        argv: vec!["x".repeat(2000)],
    }
}

/// Whose event this is.
fn signature(recorded: &Recorded) -> (&str, u64) {
    let Event::Denied { rule, argv, .. } = &recorded.event else {
        panic!("an event that no writer wrote: {:?}", recorded.event);
    };
    assert_eq!(argv[0].len(), 2000, "it is whole");
    let (by, seq) = rule.split_once('/').expect("a signature");
    (by, seq.parse().expect("a number"))
}

fn is_slow() -> bool {
    std::env::var_os("XIV_SLOW").is_some()
}
