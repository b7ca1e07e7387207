//! Appending, loading, blobs, removing.

use std::time::Duration;

use super::{LEASE, World, assert_fenced, assert_kind, new_run, run_id, sample};
use crate::flow::{Recorded, Wait};
use crate::journal::encode;
use crate::model::Outcome;
use crate::port::{BlobId, Clock as _, JournalErrorKind};

pub(super) async fn cases(new: &(impl Fn() -> World + Sync)) {
    events_come_back_as_they_were_appended(&new()).await;
    a_number_is_given_once(&new()).await;
    nothing_follows_the_end(&new()).await;
    a_run_is_created_once(&new()).await;
    unknown_runs_are_not_found(&new()).await;
    blobs_are_named_by_their_content(&new()).await;
    a_removed_run_is_gone(&new()).await;
}

async fn events_come_back_as_they_were_appended(world: &World) {
    let writer = world.process(0);
    let fence = writer.create(1).await;
    let events = [
        sample::run_started(&run_id(1)),
        sample::branch_prepared(),
        sample::implement_started(1),
        sample::denied(),
        sample::gate_raised(),
        sample::suspended(Wait::Human {
            gate: "implement#1".to_owned(),
        }),
        sample::gate_answered(),
        sample::resumed(),
        sample::finished(&run_id(1), Outcome::Done),
    ];
    let mut history = Vec::new();
    for (seq, event) in (1..).zip(events) {
        // times to the nanosecond
        world.clock.advance(Duration::from_nanos(1_234_567_891));
        let recorded = Recorded {
            seq,
            at: world.clock.now(),
            event,
        };
        writer
            .journal
            .append(&fence, seq, recorded.at, &recorded.event)
            .await
            .expect("the owner appends the next event");
        history.push(recorded);
    }
    for reader in [&writer, &world.process(1), &world.elsewhere()] {
        let loaded = reader.journal.load(&run_id(1)).await.expect("loaded");
        assert_eq!(loaded, history);
        for (loaded, recorded) in loaded.iter().zip(&history) {
            let text = |r: &Recorded| encode(r.seq, &r.event).expect("written");
            assert_eq!(text(loaded), text(recorded), "to the last digit");
        }
    }
}

async fn a_number_is_given_once(world: &World) {
    let writer = world.process(0);
    let fence = writer.create(1).await;
    assert_fenced(
        world.append(&writer, &fence, 0).await,
        1,
        "numbers start at 1",
    );
    assert_fenced(
        world.append(&writer, &fence, 2).await,
        1,
        "none is left out",
    );
    world.append(&writer, &fence, 1).await.expect("the first");
    assert_fenced(world.append(&writer, &fence, 1).await, 1, "1 is taken");
    assert_fenced(world.append(&writer, &fence, 3).await, 1, "2 comes next");
    world.append(&writer, &fence, 2).await.expect("the second");
    let loaded = writer.journal.load(&run_id(1)).await.expect("loaded");
    let numbers: Vec<u64> = loaded.iter().map(|recorded| recorded.seq).collect();
    assert_eq!(numbers, [1, 2], "what was refused left nothing behind");
}

async fn nothing_follows_the_end(world: &World) {
    let writer = world.process(0);
    let fence = writer.create(1).await;
    let end = sample::finished(&run_id(1), Outcome::Capped);
    let now = world.clock.now();
    let appended = writer.journal.append(&fence, 1, now, &end).await;
    appended.expect("a run can end at once");
    assert_fenced(world.append(&writer, &fence, 2).await, 1, "the run is over");
    let again = writer.journal.append(&fence, 2, now, &end).await;
    assert_fenced(again, 1, "a run ends once");
    let lock = writer.journal.lock(&fence, "tree:/a").await;
    assert_fenced(lock, 1, "nothing would give the lock up again");
    let loaded = writer.journal.load(&run_id(1)).await.expect("loaded");
    assert_eq!(loaded.len(), 1);
}

async fn a_run_is_created_once(world: &World) {
    let first = world.process(0);
    let fence = first.create(1).await;
    world.append(&first, &fence, 1).await.expect("appended");
    let second = world.process(1);
    let again = second
        .journal
        .create(new_run(1), second.owner.clone(), LEASE)
        .await;
    assert_fenced(again, 1, "the id is taken");
    world
        .append(&first, &fence, 2)
        .await
        .expect("still the owner");
}

async fn unknown_runs_are_not_found(world: &World) {
    use JournalErrorKind::NotFound;
    let one = world.process(0);
    assert_kind(
        one.journal.load(&run_id(7)).await,
        NotFound,
        "nothing at all",
    );
    assert_kind(one.acquire(7).await, NotFound, "nothing at all");
    let mut fence = one.create(1).await;
    fence.run = run_id(7);
    assert_kind(one.journal.load(&run_id(7)).await, NotFound, "load");
    assert_kind(one.acquire(7).await, NotFound, "acquire");
    assert_kind(one.journal.remove(&run_id(7)).await, NotFound, "remove");
    assert_kind(one.journal.renew(&fence, LEASE).await, NotFound, "renew");
    assert_kind(world.append(&one, &fence, 1).await, NotFound, "append");
    let lock = one.journal.lock(&fence, "tree:/a").await;
    assert_kind(lock, NotFound, "lock");
    assert_kind(one.journal.unlock_all(&fence).await, NotFound, "unlock");
}

async fn blobs_are_named_by_their_content(world: &World) {
    let (one, other) = (world.process(0), world.process(1));
    let large: Vec<u8> = (0..300_000_u32).map(|n| (n % 251) as u8).collect();
    for content in [&b""[..], b"a transcript\0\xff", &large] {
        let id = one.journal.put_blob(content).await.expect("stored");
        let again = other.journal.put_blob(content).await.expect("stored again");
        assert_eq!(id, again);
        let read = other.journal.get_blob(&id).await.expect("read");
        assert_eq!(read, content);
    }
    // the hash of these three bytes, computed elsewhere
    let abc = one.journal.put_blob(b"abc").await.expect("stored");
    assert_eq!(
        abc.as_str(),
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    );
    let unknown = BlobId::parse("0".repeat(64)).expect("a blob id");
    let missing = one.journal.get_blob(&unknown).await;
    assert_kind(missing, JournalErrorKind::NotFound, "never stored");
}

async fn a_removed_run_is_gone(world: &World) {
    let one = world.process(0);
    let fence = one.create(1).await;
    let kept = one.create(2).await;
    world.append(&one, &fence, 1).await.expect("appended");
    world.append(&one, &kept, 1).await.expect("appended");
    let other = world.process(1);
    let early = other.journal.remove(&run_id(1)).await;
    assert_fenced(early, 1, "it is being driven");
    one.journal.release(&fence).await.expect("released");
    other.journal.remove(&run_id(1)).await.expect("removed");
    let gone = one.journal.load(&run_id(1)).await;
    assert_kind(gone, JournalErrorKind::NotFound, "its events are gone");
    let listed = one.journal.list().await.expect("listed");
    let ids: Vec<_> = listed.into_iter().map(|run| run.run_id).collect();
    assert_eq!(ids, [run_id(2)]);
    let appended = world.append(&one, &fence, 2).await;
    assert_kind(appended, JournalErrorKind::NotFound, "nothing to append to");
    let fresh = one.create(1).await;
    world.append(&one, &fresh, 1).await.expect("it starts anew");
}
