//! `kill -9` of a writer, again and again.

use std::path::Path;
use std::time::Duration;

use futures::executor::block_on;
use rusqlite::Connection;
use xiv_core::port::{Journal as _, JournalErrorKind, RunStatus};
use xiv_core::rt::new_run_id;

use super::writer::{Role, Writer};
use super::{is_slow, open, signature};

/// Every so many kills the run is a new one.
const KILLS_PER_RUN: u32 = 6;

#[test]
fn kill_loses_no_acknowledged_event() {
    let kills = if is_slow() { 300 } else { 60 };
    let dir = tempfile::tempdir().expect("a temporary folder");
    let state = dir.path().join("state");
    let mut run = new_run_id();
    let (mut safe, mut unacknowledged) = (0, 0);
    for kill in 0..kills {
        if kill % KILLS_PER_RUN == 0 {
            run = new_run_id();
            safe = 0;
        }
        let name = format!("writer-{kill}");
        let mut writer = Writer::start(Role::Endless, &name, &run, &state);
        // some die before their first word, some in full flight
        let patience = u64::from(kill * 7 % 40);
        if patience == 0 {
            std::thread::sleep(Duration::from_millis(u64::from(kill % 13)));
        }
        for _ in 0..patience {
            let seq = writer.next().expect("it goes on for ever");
            assert_eq!(seq, safe + 1, "the one after the last");
            safe = seq;
        }
        std::thread::sleep(Duration::from_micros(u64::from(kill % 11) * 37));
        for seq in writer.kill() {
            assert_eq!(seq, safe + 1, "the one after the last");
            safe = seq;
        }
        let written = check(&state, &run, safe);
        // what was written and never acknowledged counts from now on
        unacknowledged += written - safe;
        safe = written;
    }
    assert!(
        unacknowledged <= u64::from(kills),
        "at most one per kill was under way, not {unacknowledged}"
    );
}

/// Looks at the journal as the next process finds it: how many events the run
/// has, each of them whole and in its place.
fn check(state: &Path, run: &xiv_core::model::RunId, safe: u64) -> u64 {
    let store = open(state);
    let history = match block_on(store.load(run)) {
        Ok(history) => history,
        Err(error) if error.kind == JournalErrorKind::NotFound => {
            assert_eq!(safe, 0, "the run is gone");
            return 0;
        }
        Err(error) => panic!("{error:?}"),
    };
    let written = history.len() as u64;
    assert!(written >= safe, "{safe} acknowledged, {written} found");
    for recorded in &history {
        assert_eq!(signature(recorded).1, recorded.seq);
    }
    let listed = block_on(store.list()).expect("listed");
    let listed = listed.iter().find(|listed| listed.run_id == *run);
    let listed = listed.expect("in the list");
    assert_eq!(listed.status, RunStatus::Suspended, "nobody drives it");
    drop(store);
    let connection = Connection::open(state.join("xiv.db")).expect("it opens");
    let verdict: String = connection
        .query_row("PRAGMA quick_check", [], |row| row.get(0))
        .expect("checked");
    assert_eq!(verdict, "ok");
    written
}
