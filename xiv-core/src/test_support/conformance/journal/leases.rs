//! Who drives a run, and how it changes hands.

use std::time::Duration;

use futures::future::join_all;
use jiff::SignedDuration;

use super::{LEASE, Process, World, assert_fenced, run_id};
use crate::port::Fence;

pub(super) async fn cases(new: &(impl Fn() -> World + Sync)) {
    a_living_owner_keeps_its_run(&new()).await;
    a_lease_ends_unless_it_is_renewed(&new()).await;
    a_dead_owner_is_succeeded_at_once(&new()).await;
    another_host_waits_for_the_lease(&new()).await;
    a_released_run_is_free(&new()).await;
    an_owner_may_take_its_run_again(&new()).await;
    two_drivers_in_one_process_are_two(&new()).await;
    a_wall_clock_set_back_locks_nobody_out(&new()).await;
    a_late_owner_goes_on_unless_succeeded(&new()).await;
    only_one_of_many_gets_the_run(&new()).await;
}

/// Everything that an outdated fence must not do any more.
async fn assert_outdated(world: &World, by: &Process, fence: &Fence, next: u64) {
    let run = &fence.run;
    let before = by.journal.load(run).await.expect("loaded").len();
    assert_fenced(world.append(by, fence, next).await, 1, "append");
    assert_fenced(by.journal.renew(fence, LEASE).await, 1, "renew");
    assert_fenced(by.journal.lock(fence, "tree:/late").await, 1, "lock");
    assert_fenced(by.journal.unlock_all(fence).await, 1, "unlock");
    // whatever it says, it must not take the run from its successor
    let _nothing_to_release = by.journal.release(fence).await;
    let after = by.journal.load(run).await.expect("loaded").len();
    assert_eq!(before, after);
}

/// The whole hand-over: the new owner works, the old one cannot.
async fn assert_succeeds(world: &World, heir: &Process, late: &Process, old: &Fence, next: u64) {
    let fence = heir.acquire(1).await.expect("the run is free");
    assert!(fence.token > old.token, "the token rises");
    assert_outdated(world, late, old, next).await;
    world.append(heir, &fence, next).await.expect("the owner");
    assert_outdated(world, late, old, next + 1).await;
    assert_fenced(late.acquire(1).await, 1, "the heir drives it");
    let renewed = heir.journal.renew(&fence, LEASE).await;
    renewed.expect("the outdated release changed nothing");
}

async fn a_living_owner_keeps_its_run(world: &World) {
    let (one, other) = (world.process(0), world.process(1));
    let fence = one.create(1).await;
    assert_fenced(other.acquire(1).await, 1, "a living owner");
    assert_fenced(world.elsewhere().acquire(1).await, 1, "on any host");
    world.append(&one, &fence, 1).await.expect("the owner");
}

async fn a_lease_ends_unless_it_is_renewed(world: &World) {
    let (one, other) = (world.process(0), world.process(1));
    let fence = one.create(1).await;
    for seq in 1..=5 {
        world.clock.advance(LEASE - Duration::from_secs(1));
        assert_fenced(other.acquire(1).await, 1, "renewed in time");
        one.journal.renew(&fence, LEASE).await.expect("renewed");
        world.append(&one, &fence, seq).await.expect("the owner");
    }
    world.clock.advance(LEASE);
    assert_succeeds(world, &other, &one, &fence, 6).await;
}

async fn a_dead_owner_is_succeeded_at_once(world: &World) {
    let (dead, heir) = (world.process(1), world.process(0));
    let fence = dead.create(1).await;
    world.append(&dead, &fence, 1).await.expect("the owner");
    world.kill(&dead);
    assert_succeeds(world, &heir, &dead, &fence, 2).await;
}

async fn another_host_waits_for_the_lease(world: &World) {
    let (here, there) = (world.process(1), world.elsewhere());
    let fence = here.create(1).await;
    world.kill(&here);
    // nobody there can know that it is dead
    assert_fenced(there.acquire(1).await, 1, "another host cannot know");
    world.clock.advance(LEASE);
    assert_succeeds(world, &there, &here, &fence, 1).await;
}

async fn a_released_run_is_free(world: &World) {
    let (one, other) = (world.process(0), world.process(1));
    let fence = one.create(1).await;
    one.journal.release(&fence).await.expect("released");
    assert_outdated(world, &one, &fence, 1).await;
    assert_succeeds(world, &other, &one, &fence, 1).await;
}

async fn an_owner_may_take_its_run_again(world: &World) {
    let one = world.process(0);
    let first = one.create(1).await;
    let second = one.acquire(1).await.expect("it is its own");
    assert!(second.token > first.token);
    assert_outdated(world, &one, &first, 1).await;
    world.append(&one, &second, 1).await.expect("the owner");
}

async fn two_drivers_in_one_process_are_two(world: &World) {
    let one = world.process(0);
    let twin = world.open(&world.here, 1);
    assert_eq!(one.id, twin.id);
    let fence = one.create(1).await;
    assert_fenced(twin.acquire(1).await, 1, "another driver has it");
    one.journal.release(&fence).await.expect("released");
    assert_succeeds(world, &twin, &one, &fence, 1).await;
}

async fn a_wall_clock_set_back_locks_nobody_out(world: &World) {
    let (dead, living, heir) = (world.process(1), world.process(2), world.process(0));
    let fence = dead.create(1).await;
    living.create(2).await;
    world
        .clock
        .shift_wall_clock(SignedDuration::from_hours(-24));
    world.kill(&dead);
    assert_fenced(heir.acquire(2).await, 2, "a living owner");
    assert_succeeds(world, &heir, &dead, &fence, 1).await;
}

async fn a_late_owner_goes_on_unless_succeeded(world: &World) {
    let (one, other) = (world.process(0), world.process(1));
    let fence = one.create(1).await;
    // the computer slept
    world.clock.advance(100 * LEASE);
    world.append(&one, &fence, 1).await.expect("nobody came");
    one.journal.renew(&fence, LEASE).await.expect("nobody came");
    assert_fenced(other.acquire(1).await, 1, "renewed");
}

async fn only_one_of_many_gets_the_run(world: &World) {
    let first = world.process(0);
    let fence = first.create(1).await;
    first.journal.release(&fence).await.expect("released");
    let many: Vec<Process> = (1..=8).map(|n| world.process(n)).collect();
    let taken = join_all(many.iter().map(|process| process.acquire(1))).await;
    let fences: Vec<_> = taken.into_iter().filter_map(Result::ok).collect();
    assert_eq!(fences.len(), 1, "{fences:?}");
    let appended = join_all(many.iter().map(|process| {
        let forged = Fence {
            owner: process.owner.clone(),
            ..fences[0].clone()
        };
        async move { world.append(process, &forged, 1).await }
    }));
    let done = appended.await.into_iter().filter(Result::is_ok).count();
    assert_eq!(done, 1, "the token alone is not enough");
    let loaded = first.journal.load(&run_id(1)).await.expect("loaded");
    assert_eq!(loaded.len(), 1);
}
