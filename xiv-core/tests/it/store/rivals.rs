//! Several processes that want the same run.

use std::collections::BTreeMap;

use futures::executor::block_on;
use xiv_core::port::{Journal as _, JournalErrorKind};
use xiv_core::rt::new_run_id;

use super::writer::{RIVALS_STOP_AT, Role, Writer};
use super::{LEASE, new_run, open, owner, signature};

#[test]
fn kill_or_not_a_living_owner_keeps_its_run() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let run = new_run_id();
    let store = open(dir.path());
    let mut writer = Writer::start(Role::Endless, "writer", &run, dir.path());
    let first = writer.next().expect("it has the run");
    assert_eq!(first, 1);
    let refused = block_on(store.acquire(&run, owner(), LEASE)).expect_err("it lives");
    assert_eq!(refused.kind, JournalErrorKind::Fenced);
    assert_eq!(refused.holder.as_ref(), Some(&run));
    let refused = block_on(store.remove(&run)).expect_err("it lives");
    assert_eq!(refused.kind, JournalErrorKind::Fenced);
    writer.kill();
    block_on(store.acquire(&run, owner(), LEASE)).expect("at once, without force");
}

#[test]
fn rivals_never_write_over_each_other() {
    const RIVALS: [&str; 4] = ["a", "bb", "ccc", "dddd"];
    let dir = tempfile::tempdir().expect("a temporary folder");
    let run = new_run_id();
    let store = open(dir.path());
    let fence = block_on(store.create(new_run(&run), owner(), LEASE)).expect("a run");
    block_on(store.release(&fence)).expect("released");

    let writers = RIVALS.map(|name| Writer::start(Role::Rival, name, &run, dir.path()));
    let mut acknowledged = BTreeMap::new();
    for (name, writer) in RIVALS.into_iter().zip(writers) {
        for seq in writer.finish() {
            let other = acknowledged.insert(seq, name);
            assert_eq!(other, None, "event {seq} was given to two");
        }
    }
    let history = block_on(store.load(&run)).expect("loaded");
    assert_eq!(history.len() as u64, RIVALS_STOP_AT);
    for recorded in &history {
        let (by, seq) = signature(recorded);
        assert_eq!(seq, recorded.seq);
        assert_eq!(acknowledged.get(&seq), Some(&by), "event {seq}");
    }
    let winners: std::collections::BTreeSet<_> = acknowledged.values().collect();
    assert!(winners.len() > 1, "the run changed hands: {winners:?}");
}
