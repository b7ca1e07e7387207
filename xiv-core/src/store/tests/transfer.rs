//! Export, import, and what is removed in time.

use std::fs;
use std::time::Duration;

use futures::executor::block_on;

use super::{LEASE, Place, finished, new_run, run_id};
use crate::model::Outcome;
use crate::port::{Fence, Journal as _, JournalErrorKind, NewRun, RunStatus};
use crate::store::{Collected, Retention, SqliteStore};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

async fn ended(place: &Place, store: &SqliteStore, run: NewRun) -> Fence {
    let id = run.id.clone();
    let fence = store.create(run, place.owner(), LEASE).await;
    let fence = fence.expect("a new run");
    store
        .append(&fence, 1, place.now(), &finished(&id, Outcome::Done))
        .await
        .expect("ended");
    store.release(&fence).await.expect("released");
    fence
}

#[test]
fn a_run_moves_to_another_journal_unchanged() {
    let (here, there) = (Place::new(), Place::new());
    block_on(async {
        let store = here.open();
        let fence = here.started(&store, 1).await;
        store.lock(&fence, "tree:/repo").await.expect("locked");
        for seq in 1..=3 {
            here.clock.advance(Duration::from_millis(7));
            here.append(&store, &fence, seq).await;
        }
        let text = store.export(&run_id(1)).await.expect("exported");

        there.clock.advance(100 * DAY);
        let other = there.open();
        assert_eq!(other.import(&text).await.expect("imported"), run_id(1));
        let again = other.import(&text).await.expect_err("it is here already");
        assert_eq!(again.kind, JournalErrorKind::Fenced);
        assert_eq!(again.holder, Some(run_id(1)));
        let history = other.load(&run_id(1)).await.expect("loaded");
        assert_eq!(history, store.load(&run_id(1)).await.expect("loaded"));
        assert_eq!(other.export(&run_id(1)).await.expect("exported"), text);

        let listed = other.list().await.expect("listed").remove(0);
        assert_eq!(listed.status, RunStatus::Suspended);
        assert_eq!(listed.started_at, here.started_at());
        let heir = other.acquire(&run_id(1), there.owner(), LEASE).await;
        let heir = heir.expect("it can be resumed");
        there.append(&other, &heir, 4).await;
    });
}

#[test]
fn a_text_that_is_not_understood_leaves_nothing_behind() {
    let (here, there) = (Place::new(), Place::new());
    block_on(async {
        let store = here.open();
        let fence = here.started(&store, 1).await;
        here.append(&store, &fence, 1).await;
        let text = store.export(&run_id(1)).await.expect("exported");
        let other = there.open();
        for (broken, kind) in [
            (
                text.replace("suspended", "beamed"),
                JournalErrorKind::NewerFormat,
            ),
            (
                text.replace("interrupted", "beamed"),
                JournalErrorKind::Corrupt,
            ),
            (
                text.replace(r#""seq":1"#, r#""seq":2"#),
                JournalErrorKind::Corrupt,
            ),
            (String::new(), JournalErrorKind::Corrupt),
        ] {
            let error = other.import(&broken).await.expect_err("refused");
            assert_eq!(error.kind, kind, "{broken}");
        }
        assert_eq!(other.list().await.expect("nothing"), []);
    });
    assert!(!there.state().exists());
}

#[test]
fn only_old_ended_runs_are_collected() {
    let place = Place::new();
    block_on(async {
        let store = place.open();
        let idle = store.gc(Retention::days(0)).await.expect("nothing to do");
        assert_eq!(idle, Collected::default());
        assert!(!place.state().exists(), "not even a folder");

        ended(&place, &store, new_run(1)).await;
        let suspended = place.started(&store, 2).await;
        place.append(&store, &suspended, 1).await;
        store.release(&suspended).await.expect("released");
        place.clock.advance(30 * DAY);
        ended(&place, &store, new_run(3)).await;

        let kept = store.gc(Retention::days(31)).await.expect("collected");
        assert_eq!(kept, Collected::default());
        let collected = store.gc(Retention::days(29)).await.expect("collected");
        assert_eq!(collected.runs, [run_id(1)]);
        let left = store.list().await.expect("listed");
        let left: Vec<_> = left.into_iter().map(|run| run.run_id).collect();
        assert_eq!(left, [run_id(3), run_id(2)]);
    });
}

#[test]
fn children_stay_as_long_as_their_parents() {
    let place = Place::new();
    block_on(async {
        let store = place.open();
        let parent = place.started(&store, 1).await;
        let child = |n, parent| NewRun {
            parent: Some(run_id(parent)),
            ..new_run(n)
        };
        ended(&place, &store, child(2, 1)).await;
        ended(&place, &store, child(3, 2)).await;
        ended(&place, &store, child(5, 4)).await;
        place.clock.advance(10 * DAY);
        let collected = store.gc(Retention::days(1)).await.expect("collected");
        assert_eq!(collected.runs, [run_id(5)], "its parent is gone already");
        let end = finished(&run_id(1), Outcome::Done);
        let ended = store.append(&parent, 1, place.now(), &end).await;
        ended.expect("ended");
        store.release(&parent).await.expect("released");
        place.clock.advance(10 * DAY);
        let collected = store.gc(Retention::days(1)).await.expect("collected");
        assert_eq!(collected.runs, [1, 2, 3].map(run_id));
    });
}

#[test]
fn blobs_go_with_the_last_run_that_names_them() {
    let place = Place::new();
    block_on(async {
        let store = place.open();
        let used = store.put_blob(b"a prompt").await.expect("stored");
        let unused = store.put_blob(b"never mentioned").await.expect("stored");
        let unfinished = place.state().join("blobs/sha256").join(&used.as_str()[..2]);
        let unfinished = unfinished.join(".tmp-1-1");
        let file = fs::File::create(&unfinished).expect("made");
        let now = std::time::SystemTime::try_from(place.now()).expect("a time");
        file.set_modified(now).expect("dated");
        let fence = place.started(&store, 1).await;
        let event = crate::flow::Event::StepStarted {
            step: crate::model::StepId::parse("plan").expect("a step"),
            attempt: 1,
            prompt_sha256: Some(used.to_string()),
            tree: None,
        };
        let appended = store.append(&fence, 1, place.now(), &event).await;
        appended.expect("appended");

        let early = store.gc(Retention::days(0)).await.expect("collected");
        assert_eq!(early, Collected::default(), "it may be mentioned yet");
        place.clock.advance(2 * DAY);
        let fresh = store.put_blob(b"never mentioned").await.expect("again");
        assert_eq!(fresh, unused);
        let still = store.gc(Retention::days(0)).await.expect("collected");
        assert_eq!(still.blobs, 1, "only what was never finished");
        assert!(!unfinished.exists());
        store.get_blob(&unused).await.expect("stored anew just now");
        place.clock.advance(2 * DAY);
        let collected = store.gc(Retention::days(0)).await.expect("collected");
        assert_eq!((collected.blobs, collected.blob_bytes), (1, 15));
        let gone = store.get_blob(&unused).await.expect_err("collected");
        assert_eq!(gone.kind, JournalErrorKind::NotFound);
        store.get_blob(&used).await.expect("named by a run");

        store.release(&fence).await.expect("released");
        store.remove(&run_id(1)).await.expect("removed");
        place.clock.advance(2000 * DAY);
        store.gc(Retention::days(0)).await.expect("collected");
        store
            .get_blob(&used)
            .await
            .expect_err("nobody names it now");
        assert!(!unfinished.exists());
    });
}

#[test]
fn a_tampered_blob_is_noticed() {
    let place = Place::new();
    block_on(async {
        let store = place.open();
        let id = store.put_blob(b"what was said").await.expect("stored");
        let path = place.state().join("blobs/sha256");
        let path = path.join(&id.as_str()[..2]).join(id.as_str());
        fs::write(&path, "what was sold").expect("written");
        let error = store.get_blob(&id).await.expect_err("another content");
        assert_eq!(error.kind, JournalErrorKind::Corrupt);
        fs::write(&path, "what").expect("written");
        let again = store.put_blob(b"what was said").await.expect("mended");
        assert_eq!(
            store.get_blob(&again).await.expect("read"),
            b"what was said"
        );
    });
}
