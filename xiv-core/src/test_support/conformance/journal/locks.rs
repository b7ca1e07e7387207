//! What a run reserves until it ends.

use super::{World, assert_fenced, run_id, sample};
use crate::flow::Wait;
use crate::model::Outcome;
use crate::port::Clock as _;

const TREE: &str = "tree:/home/me/repo";
const BRANCH: &str = "branch:/home/me/repo/.git:feat/key-1";

pub(super) async fn cases(new: &(impl Fn() -> World + Sync)) {
    a_resource_has_one_run(&new()).await;
    a_lock_outlives_its_driver(&new()).await;
    the_end_gives_everything_up(&new()).await;
    removing_gives_everything_up(&new()).await;
    unlocking_touches_only_its_own(&new()).await;
}

async fn a_resource_has_one_run(world: &World) {
    let (one, other) = (world.process(0), world.process(1));
    let first = one.create(1).await;
    let second = other.create(2).await;
    one.journal.lock(&first, TREE).await.expect("free");
    one.journal.lock(&first, TREE).await.expect("its own");
    one.journal.lock(&first, BRANCH).await.expect("free");
    assert_fenced(other.journal.lock(&second, TREE).await, 1, "taken");
    assert_fenced(other.journal.lock(&second, BRANCH).await, 1, "taken");
    let free = other.journal.lock(&second, "tree:/home/me/repo2").await;
    free.expect("another resource");
    let longer = other.journal.lock(&second, "branch:x'; DROP").await;
    longer.expect("any text names a resource");
}

async fn a_lock_outlives_its_driver(world: &World) {
    let (one, other) = (world.process(1), world.process(0));
    let first = one.create(1).await;
    one.journal.lock(&first, TREE).await.expect("free");
    let wait = sample::suspended(Wait::Interrupted);
    let suspended = one.journal.append(&first, 1, world.clock.now(), &wait);
    suspended.await.expect("suspended");
    one.journal.release(&first).await.expect("released");
    world.kill(&one);
    let second = other.create(2).await;
    let refused = other.journal.lock(&second, TREE).await;
    assert_fenced(refused, 1, "a suspended run keeps it");
    let resumed = other.acquire(1).await.expect("resumed");
    other.journal.lock(&resumed, TREE).await.expect("its own");
}

async fn the_end_gives_everything_up(world: &World) {
    let one = world.process(0);
    for (run, outcome) in (1..).zip([
        Outcome::Done,
        Outcome::Capped,
        Outcome::NoProgress,
        Outcome::Refused,
        Outcome::Cancelled,
    ]) {
        let fence = one.create(run).await;
        one.journal.lock(&fence, TREE).await.expect("free again");
        one.journal.lock(&fence, BRANCH).await.expect("free again");
        let end = sample::finished(&run_id(run), outcome);
        let ended = one.journal.append(&fence, 1, world.clock.now(), &end);
        ended.await.expect("the run ends");
    }
}

async fn removing_gives_everything_up(world: &World) {
    let one = world.process(0);
    let first = one.create(1).await;
    one.journal.lock(&first, TREE).await.expect("free");
    one.journal.release(&first).await.expect("released");
    one.journal.remove(&run_id(1)).await.expect("removed");
    let second = one.create(2).await;
    one.journal.lock(&second, TREE).await.expect("free again");
}

async fn unlocking_touches_only_its_own(world: &World) {
    let one = world.process(0);
    let first = one.create(1).await;
    let second = one.create(2).await;
    one.journal.lock(&first, TREE).await.expect("free");
    one.journal.lock(&second, BRANCH).await.expect("free");
    one.journal.unlock_all(&first).await.expect("given up");
    one.journal.lock(&second, TREE).await.expect("free again");
    let refused = one.journal.lock(&first, BRANCH).await;
    assert_fenced(refused, 2, "still the other's");
    world
        .append(&one, &first, 1)
        .await
        .expect("still the owner");
}
