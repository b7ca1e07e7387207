//! xiv dies before or after every single append, and before or after the
//! commit; then another driver takes the run up. The outcome is the same, no
//! recorded step is repeated, and there is one commit.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use futures::executor::block_on;
use jiff::Timestamp;
use xiv_core::flow::{Event, Recorded};
use xiv_core::model::{ImplementOutput, Outcome, RunId, Severity, Verdict};
use xiv_core::port::{
    AgentRole, BlobId, Cancel, Fence, Journal, JournalError, NewRun, OwnerId, RunSummary,
};
use xiv_core::test_support::{
    CrashSwitch, Fault, MemoryJournal, ScriptedReply, ScriptedValidation, VcsOp, When,
};

use crate::world::{World, finds, run_id, says};

/// A journal under which xiv dies at the n-th append.
#[derive(Debug)]
struct Dying {
    inner: MemoryJournal,
    switch: CrashSwitch,
    countdown: AtomicUsize,
    when: When,
}

#[async_trait]
impl Journal for Dying {
    async fn create(
        &self,
        run: NewRun,
        owner: OwnerId,
        lease: Duration,
    ) -> Result<Fence, JournalError> {
        self.inner.create(run, owner, lease).await
    }
    async fn acquire(
        &self,
        run: &RunId,
        owner: OwnerId,
        lease: Duration,
    ) -> Result<Fence, JournalError> {
        self.inner.acquire(run, owner, lease).await
    }
    async fn renew(&self, fence: &Fence, lease: Duration) -> Result<(), JournalError> {
        self.inner.renew(fence, lease).await
    }
    async fn release(&self, fence: &Fence) -> Result<(), JournalError> {
        self.inner.release(fence).await
    }
    async fn append(
        &self,
        fence: &Fence,
        seq: u64,
        at: Timestamp,
        event: &Event,
    ) -> Result<(), JournalError> {
        let last = self.countdown.fetch_sub(1, Ordering::SeqCst) == 1;
        if last && self.when == When::Before {
            return self.switch.crash().await;
        }
        let appended = self.inner.append(fence, seq, at, event).await;
        if last {
            return self.switch.crash().await;
        }
        appended
    }
    async fn load(&self, run: &RunId) -> Result<Vec<Recorded>, JournalError> {
        self.inner.load(run).await
    }
    async fn list(&self) -> Result<Vec<RunSummary>, JournalError> {
        self.inner.list().await
    }
    async fn lock(&self, fence: &Fence, resource: &str) -> Result<(), JournalError> {
        self.inner.lock(fence, resource).await
    }
    async fn unlock_all(&self, fence: &Fence) -> Result<(), JournalError> {
        self.inner.unlock_all(fence).await
    }
    async fn put_blob(&self, content: &[u8]) -> Result<BlobId, JournalError> {
        self.inner.put_blob(content).await
    }
    async fn get_blob(&self, id: &BlobId) -> Result<Vec<u8>, JournalError> {
        self.inner.get_blob(id).await
    }
    async fn remove(&self, run: &RunId) -> Result<(), JournalError> {
        self.inner.remove(run).await
    }
}

/// Two passes: changes requested, then a comment.
fn world() -> World {
    let world = World::new(3);
    world.validator.answer_by(|_| ScriptedValidation::pass());
    world.agent.answer_by(AgentRole::Review, |request| {
        if request.pass.expect("reviews have a pass").get() == 1 {
            finds(Verdict::RequestChanges, Severity::High, "Alpha")
        } else {
            finds(Verdict::Comment, Severity::Low, "Beta")
        }
    });
    let plan = xiv_core::model::Plan {
        summary: "the plan".into(),
        steps: vec!["one".into()],
    };
    world
        .agent
        .answer_by(AgentRole::Plan, move |_| ScriptedReply::json(&plan));
    world
}

/// Everything of a result that must not depend on crashes.
fn essence(mut output: ImplementOutput) -> ImplementOutput {
    output.usage = xiv_core::model::Usage::default();
    output
}

fn expected() -> (ImplementOutput, usize) {
    let world = world();
    let output = world.run().output;
    assert_eq!((output.outcome, output.passes), (Outcome::Done, 2));
    (essence(output), world.observer.events().len())
}

/// Runs to the crash, then resumes; the commit id depends on no crash because
/// the clock stands still.
fn survive(world: &World, switch: &CrashSwitch) -> ImplementOutput {
    let crashed = block_on(switch.run(world.driver(1).start(world.request(), Cancel::never())));
    if let Some(report) = crashed {
        return report.expect("drives").output;
    }
    let mut after = World::new(3);
    after.vcs = world.vcs.clone();
    after.agent = world.agent.clone();
    after.validator = world.validator.clone();
    after.clock = world.clock.clone();
    // the process that died is gone; another one takes over
    let next = world.processes.beside(4242);
    world
        .processes
        .kill(&xiv_core::port::Processes::current(&world.processes));
    after.journal = Arc::new(world.memory.seen_by(next.clone()));
    after.processes = next;
    let resumed = after.resume();
    match resumed {
        Ok(report) => report.output,
        // nothing was recorded yet: there is no run to resume
        Err(_) if block_on(after.journal.load(&run_id())).is_ok_and(|h| h.is_empty()) => {
            block_on(after.journal.remove(&run_id())).expect("an empty run can be removed");
            after.run().output
        }
        Err(error) => panic!("{error:?}"),
    }
}

fn check_calls(world: &World) {
    let calls = |role| world.agent.calls(role);
    // at most the one step under way is repeated
    let extra = (calls(AgentRole::Plan) - 1)
        + (calls(AgentRole::Implement) - 2)
        + (calls(AgentRole::Review) - 2)
        + (world.validator.calls() - 2);
    assert!(extra <= 1, "{extra} steps were repeated");
    assert_eq!(world.vcs.commits_made(), 1);
}

#[test]
fn every_append_is_survived() {
    let (expected, appends) = expected();
    for when in [When::Before, When::After] {
        for n in 1..=appends {
            let mut world = world();
            let switch = CrashSwitch::new();
            world.journal = Arc::new(Dying {
                inner: world.memory.clone(),
                switch: switch.clone(),
                countdown: AtomicUsize::new(n),
                when,
            });
            let output = survive(&world, &switch);
            assert!(switch.is_tripped(), "append {n} was not reached");
            assert_eq!(essence(output), expected, "{when:?} append {n}");
            check_calls(&world);
        }
    }
}

#[test]
fn every_effect_on_the_repository_is_survived() {
    let (expected, _) = expected();
    let ops = [
        VcsOp::Prepare,
        VcsOp::Snapshot,
        VcsOp::Pin,
        VcsOp::GateTree,
        VcsOp::Diff,
        VcsOp::Guard,
        VcsOp::Restore,
        VcsOp::FinalMessage,
        VcsOp::Commit,
    ];
    for op in ops {
        for when in [When::Before, When::After] {
            let world = world();
            let switch = CrashSwitch::new();
            world.vcs.inject(op, when, Fault::Crash(switch.clone()));
            let output = survive(&world, &switch);
            assert!(switch.is_tripped(), "{op:?} was not reached");
            assert_eq!(essence(output), expected, "{when:?} {op:?}");
            check_calls(&world);
        }
    }
}

#[test]
fn a_commit_that_somebody_moved_away_from_is_asked_about_and_never_repeated() {
    let world = World::new(1)
        .validating(&[true])
        .reviewing([says(Verdict::Approve)]);
    let switch = CrashSwitch::new();
    world
        .vcs
        .inject(VcsOp::Commit, When::Before, Fault::Crash(switch.clone()));
    let crashed = block_on(switch.run(world.driver(1).start(world.request(), Cancel::never())));
    assert!(crashed.is_none());
    let elsewhere = world.vcs.commit_all("a person's own commit");
    let before = world.vcs.commits_made();
    world.vcs.set_branch(&World::branch(), &elsewhere);
    let mut after = World::new(1);
    after.vcs = world.vcs.clone();
    let next = world.processes.beside(4242);
    world
        .processes
        .kill(&xiv_core::port::Processes::current(&world.processes));
    after.journal = Arc::new(world.memory.seen_by(next.clone()));
    after.processes = next;
    let report = after.resume().expect("drives");
    assert_eq!(report.output.outcome, Outcome::Failed);
    assert!(
        report
            .output
            .error
            .expect("says why")
            .contains("not where the run left it")
    );
    assert_eq!(world.vcs.commits_made(), before);
}
