//! The list of runs.

use std::time::Duration;

use super::{LEASE, Process, World, new_run, run_id, sample};
use crate::flow::{Event, Wait};
use crate::journal::RunFacts;
use crate::model::{Outcome, StepId};
use crate::port::{Clock as _, Fence, RunStatus, RunSummary};

pub(super) async fn cases(new: &(impl Fn() -> World + Sync)) {
    an_empty_journal_lists_nothing(&new()).await;
    the_newest_comes_first(&new()).await;
    a_run_is_running_while_somebody_drives_it(&new()).await;
    a_run_says_how_it_stands(&new()).await;
    the_list_follows_from_the_events(&new()).await;
}

async fn only(by: &Process) -> RunSummary {
    let mut listed = by.journal.list().await.expect("listed");
    assert_eq!(listed.len(), 1);
    listed.remove(0)
}

async fn an_empty_journal_lists_nothing(world: &World) {
    let listed = world.process(0).journal.list().await.expect("listed");
    assert_eq!(listed, []);
}

async fn the_newest_comes_first(world: &World) {
    let one = world.process(0);
    for run in [3, 1, 2] {
        one.create(run).await;
        world.clock.advance(Duration::from_millis(1));
    }
    // two at the same instant: the later one first
    one.create(5).await;
    one.create(4).await;
    let listed = world.process(1).journal.list().await.expect("listed");
    let ids: Vec<_> = listed.into_iter().map(|run| run.run_id).collect();
    assert_eq!(ids, [4, 5, 2, 1, 3].map(run_id));
}

async fn a_run_is_running_while_somebody_drives_it(world: &World) {
    let (one, other) = (world.process(1), world.process(0));
    let fence = one.create(1).await;
    let started_at = world.clock.now();
    let listed = only(&other).await;
    let new = new_run(1);
    let expected = RunSummary {
        run_id: new.id,
        kind: new.kind,
        key: new.key,
        repo: new.repo,
        branch: None,
        status: RunStatus::Running,
        outcome: None,
        started_at,
        updated_at: started_at,
        passes: 0,
        waiting_for: None,
    };
    assert_eq!(listed, expected);

    world.clock.advance(LEASE);
    assert_interrupted(&only(&other).await, "its lease is over");
    one.journal.renew(&fence, LEASE).await.expect("renewed");
    assert_eq!(only(&other).await.status, RunStatus::Running);
    world.kill(&one);
    assert_interrupted(&only(&other).await, "its process is dead");

    let fence = other.acquire(1).await.expect("taken over");
    assert_eq!(only(&other).await.status, RunStatus::Running);
    other.journal.release(&fence).await.expect("released");
    assert_interrupted(&only(&other).await, "nobody owns it");
}

fn assert_interrupted(run: &RunSummary, why: &str) {
    assert_eq!(run.status, RunStatus::Suspended, "{why}");
    assert_eq!(run.outcome, Some(Outcome::Interrupted), "{why}");
    assert!(run.waiting_for.is_some(), "{why}");
}

async fn append(world: &World, by: &Process, fence: &Fence, seq: &mut u64, event: Event) {
    *seq += 1;
    world.clock.advance(Duration::from_millis(10));
    by.journal
        .append(fence, *seq, world.clock.now(), &event)
        .await
        .expect("the owner appends");
}

async fn a_run_says_how_it_stands(world: &World) {
    let one = world.process(0);
    let fence = one.create(1).await;
    let step = StepId::parse("implement#1").expect("a step");
    let waits = [
        Wait::Human {
            gate: "implement#1".to_owned(),
        },
        Wait::Until {
            at: None,
            step: step.clone(),
            message: "5-hour limit".to_owned(),
        },
        Wait::Until {
            at: Some(world.clock.now()),
            step: step.clone(),
            message: "5-hour limit".to_owned(),
        },
        Wait::Budget {
            which: "usd".to_owned(),
            step: step.clone(),
        },
        Wait::Interrupted,
        Wait::StepFailed {
            step,
            cause: crate::model::FailureCause::Adapter,
            error: "no such program\nat all".to_owned(),
            hints: Vec::new(),
        },
    ];
    let mut seq = 0;
    for wait in waits {
        let outcome = wait.outcome();
        append(world, &one, &fence, &mut seq, sample::suspended(wait)).await;
        let listed = only(&one).await;
        assert_eq!(listed.status, RunStatus::Suspended);
        assert_eq!(listed.outcome, Some(outcome));
        let waiting_for = listed.waiting_for.expect("it waits for something");
        assert!(!waiting_for.contains('\n'), "one line: {waiting_for:?}");
        assert_eq!(listed.updated_at, world.clock.now());
        append(world, &one, &fence, &mut seq, sample::resumed()).await;
        let listed = only(&one).await;
        assert_eq!(listed.status, RunStatus::Running);
        assert_eq!((listed.outcome, listed.waiting_for), (None, None));
    }
    let end = sample::finished(&run_id(1), Outcome::Capped);
    append(world, &one, &fence, &mut seq, end).await;
    for released in [false, true] {
        if released {
            one.journal.release(&fence).await.expect("released");
        }
        let listed = only(&one).await;
        assert_eq!(listed.status, RunStatus::Ended);
        assert_eq!(listed.outcome, Some(Outcome::Capped));
        assert_eq!(listed.waiting_for, None);
    }
}

async fn the_list_follows_from_the_events(world: &World) {
    let one = world.process(0);
    let fence = one.create(1).await;
    let started_at = world.clock.now();
    let events = [
        sample::run_started(&run_id(1)),
        sample::branch_prepared(),
        sample::implement_started(1),
        sample::implement_started(2),
        sample::implement_started(2),
        sample::gate_raised(),
        sample::suspended(Wait::Human {
            gate: "implement#1".to_owned(),
        }),
        sample::gate_answered(),
        sample::resumed(),
        sample::denied(),
        sample::finished(&run_id(1), Outcome::Done),
    ];
    let mut seq = 0;
    for event in events {
        append(world, &one, &fence, &mut seq, event).await;
        let history = one.journal.load(&run_id(1)).await.expect("loaded");
        let folded = RunFacts::of(&history).summary(&new_run(1), started_at, true);
        assert_eq!(only(&one).await, folded, "after event {seq}");
    }
    let listed = only(&one).await;
    assert_eq!(listed.branch.as_deref(), Some("feat/key-1"));
    assert_eq!(listed.passes, 2);
}
