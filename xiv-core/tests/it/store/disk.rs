//! Disks that take no more. The superuser may write wherever a mount lets it,
//! so these tests mount; where that is refused they say that they are skipped.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use futures::executor::block_on;
use xiv_core::model::RunId;
use xiv_core::port::{Clock as _, Journal as _, JournalErrorKind};
use xiv_core::rt::{SystemClock, new_run_id};

use super::{LEASE, new_run, open, owner, signature, signed};

/// A small file system in memory, taken away when dropped.
struct Mount(PathBuf);

impl Mount {
    /// `None` where mounting is refused.
    fn new(at: &Path) -> Option<Self> {
        std::fs::create_dir_all(at).expect("made");
        let mounted = mount(&["-t", "tmpfs", "-o", "size=1m", "tmpfs"], at);
        if !mounted {
            let _closed = writeln!(std::io::stderr(), "skipped: mounting is refused here");
        }
        mounted.then(|| Self(at.to_path_buf()))
    }

    fn change(&self, options: &str) {
        let options = format!("remount,{options}");
        assert!(mount(&["-o", &options], &self.0), "{options}");
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        // the folder goes with the test either way
        let _gone = Command::new("umount").arg(&self.0).status();
    }
}

fn mount(arguments: &[&str], at: &Path) -> bool {
    Command::new("mount")
        .args(arguments)
        .arg(at)
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// A run with some events, in a journal that is closed again.
fn written(state: &Path, events: u64) -> RunId {
    let run = new_run_id();
    block_on(async {
        let store = open(state);
        let fence = store.create(new_run(&run), owner(), LEASE).await;
        let fence = fence.expect("a run");
        for seq in 1..=events {
            let event = signed("me", seq);
            let appended = store.append(&fence, seq, SystemClock.now(), &event).await;
            appended.expect("appended");
        }
        store.release(&fence).await.expect("released");
    });
    run
}

#[test]
fn a_full_disk_stops_the_run_and_loses_nothing() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let Some(disk) = Mount::new(&dir.path().join("disk")) else {
        return;
    };
    let state = disk.0.join("state");
    let run = written(&state, 1);
    block_on(async {
        let store = open(&state);
        let fence = store.acquire(&run, owner(), LEASE).await.expect("its run");
        let mut seq = 2;
        let error = loop {
            let event = signed("me", seq);
            match store.append(&fence, seq, SystemClock.now(), &event).await {
                Ok(()) => seq += 1,
                Err(error) => break error,
            }
            assert!(seq < 2000, "the disk holds one megabyte");
        };
        assert_eq!(error.kind, JournalErrorKind::Full, "{error:?}");
        assert!(error.is_temporary());
        assert_eq!(error.hints.len(), 1);
        let blob = store.put_blob(&vec![7; 2_000_000]).await;
        assert_eq!(blob.expect_err("too large").kind, JournalErrorKind::Full);

        let history = store.load(&run).await.expect("it can still be read");
        assert_eq!(history.len() as u64, seq - 1);
        disk.change("size=64m");
        for seq in seq..seq + 10 {
            let event = signed("me", seq);
            let appended = store.append(&fence, seq, SystemClock.now(), &event).await;
            appended.expect("there is space again");
        }
        let history = store.load(&run).await.expect("loaded");
        assert_eq!(history.len() as u64, seq + 9);
        assert!(history.iter().all(|r| signature(r).1 == r.seq));
    });
}

#[test]
fn a_read_only_disk_can_be_looked_at() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let Some(disk) = Mount::new(&dir.path().join("disk")) else {
        return;
    };
    // a character that means something in a path made into a link
    let state = disk.0.join("state %41?x#y");
    let run = written(&state, 3);
    disk.change("ro");
    block_on(async {
        let store = open(&state);
        let listed = store.list().await.expect("listed");
        assert_eq!(listed.len(), 1);
        let history = store.load(&run).await.expect("loaded");
        assert_eq!(history.len(), 3);
        let refused = store.acquire(&run, owner(), LEASE).await;
        let refused = refused.expect_err("nothing can be written");
        assert_eq!(refused.kind, JournalErrorKind::ReadOnly, "{refused:?}");
        assert_eq!(refused.hints.len(), 1);
        let refused = store
            .put_blob(b"x")
            .await
            .expect_err("nothing can be written");
        assert_eq!(refused.kind, JournalErrorKind::ReadOnly, "{refused:?}");
        // looking still works afterwards
        assert_eq!(store.list().await.expect("listed").len(), 1);

        let nowhere = open(&disk.0.join("other"));
        assert_eq!(nowhere.list().await.expect("nothing there"), []);
        let refused = nowhere.create(new_run(&new_run_id()), owner(), LEASE).await;
        let refused = refused.expect_err("nothing can be written");
        assert_eq!(refused.kind, JournalErrorKind::ReadOnly, "{refused:?}");
    });
    disk.change("rw");
    let store = open(&state);
    block_on(store.acquire(&run, owner(), LEASE)).expect("writable again");
}
