//! The one commit of a run: exactly the gated tree, once.

use jiff::Timestamp;

use super::{World, branch, changed, cx, failed, snapshot};
use crate::model::TreeId;
use crate::port::{CommitPlan, CommitProbe, PreparedBranch, VcsErrorKind};

pub(super) async fn cases(new: &(impl Fn() -> World + Sync)) {
    exactly_the_planned_tree_is_committed(&new()).await;
    a_planned_commit_is_found_and_not_made_twice(&new()).await;
    another_plan_is_another_commit(&new()).await;
    the_agents_own_commits_are_replaced(&new()).await;
    a_branch_that_moved_is_left_alone(&new()).await;
    a_message_without_a_hook_stays(&new()).await;
}

fn plan(ready: &PreparedBranch, tree: &TreeId) -> CommitPlan {
    CommitPlan {
        branch: branch("feat/x-1"),
        parent: ready.start.clone(),
        tree: tree.clone(),
        message: "X-1: do it\n\nBecause it is asked for.".to_owned(),
        date: Timestamp::constant(1_750_000_000, 0),
        expected: ready.start.clone(),
        backup_ref: None,
    }
}

async fn exactly_the_planned_tree_is_committed(world: &World) {
    let (vcs, ready) = world.prepared().await;
    world.write("a.txt", "gated\n").await;
    let tree = snapshot(&*vcs).await;
    world.write("a.txt", "written late\n").await;
    world.write("late.txt", "late\n").await;
    let plan = plan(&ready, &tree);
    let probe = vcs.probe_commit(&plan, cx()).await.expect("a probe");
    assert_eq!(probe, CommitProbe::Absent);
    let made = vcs.commit(&plan, cx()).await.expect("a commit");
    assert_eq!(world.head_of("feat/x-1"), made.commit);
    assert_eq!(world.head_of("main"), ready.start, "main stays");
    let state = vcs.state(cx()).await.expect("a state");
    assert_eq!(state.head.branch, Some(branch("feat/x-1")));
    assert_eq!(state.head.commit, Some(made.commit.clone()));
    let dirty: Vec<String> = state.dirty.iter().map(ToString::to_string).collect();
    assert_eq!(dirty, ["a.txt", "late.txt"], "what came late is not in it");
    let file = world.read("a.txt").await;
    assert_eq!(file.as_deref(), Some("written late\n"), "files stay");
    let new = vcs
        .commits_between(&ready.start, &made.commit, cx())
        .await
        .expect("commits");
    assert_eq!(new, [made.commit], "one commit on the start");
}

async fn a_planned_commit_is_found_and_not_made_twice(world: &World) {
    let (vcs, ready) = world.prepared().await;
    world.write("b.txt", "b\n").await;
    let plan = plan(&ready, &snapshot(&*vcs).await);
    let made = vcs.commit(&plan, cx()).await.expect("a commit").commit;
    for _ in 0..2 {
        let probe = vcs.probe_commit(&plan, cx()).await.expect("a probe");
        assert_eq!(probe, CommitProbe::Found(made.clone()));
        let again = vcs.commit(&plan, cx()).await.expect("the same commit");
        assert_eq!(again.commit, made);
    }
    assert_eq!(world.head_of("feat/x-1"), made);
    let state = vcs.state(cx()).await.expect("a state");
    assert_eq!(state.dirty, [], "the index knows the new tree");
}

async fn another_plan_is_another_commit(world: &World) {
    let (vcs, ready) = world.prepared().await;
    world.write("b.txt", "b\n").await;
    let made = plan(&ready, &snapshot(&*vcs).await);
    let commit = vcs.commit(&made, cx()).await.expect("a commit").commit;
    let others = [
        CommitPlan {
            message: "X-1: another".to_owned(),
            ..made.clone()
        },
        CommitPlan {
            date: Timestamp::constant(1_750_000_001, 0),
            ..made.clone()
        },
        CommitPlan {
            tree: ready.start_tree.clone(),
            ..made.clone()
        },
    ];
    for other in others {
        let probe = vcs.probe_commit(&other, cx()).await.expect("a probe");
        assert_eq!(probe, CommitProbe::Moved(commit.clone()), "{other:?}");
        let error = failed(vcs.commit(&other, cx()).await, "another plan");
        assert_eq!(error.kind, VcsErrorKind::RefMoved, "{error}");
    }
    assert_eq!(world.head_of("feat/x-1"), commit);
}

async fn the_agents_own_commits_are_replaced(world: &World) {
    let (vcs, ready) = world.prepared().await;
    world.write("agent.txt", "1\n").await;
    world.0.commit_all("agent 1");
    world.write("agent.txt", "2\n").await;
    let last = world.0.commit_all("agent 2");
    world.write("more.txt", "not committed\n").await;
    let tree = snapshot(&*vcs).await;
    let plan = CommitPlan {
        expected: last.clone(),
        backup_ref: Some("refs/xiv/backup/run".to_owned()),
        ..plan(&ready, &tree)
    };
    let made = vcs.commit(&plan, cx()).await.expect("a commit").commit;
    let new = vcs
        .commits_between(&ready.start, &made, cx())
        .await
        .expect("commits");
    assert_eq!(
        new.as_slice(),
        std::slice::from_ref(&made),
        "one commit takes their place"
    );
    let paths = changed(&*vcs, &ready.start_tree, &tree).await;
    assert_eq!(paths, ["agent.txt", "more.txt"]);
    // they are still there
    let old = vcs
        .commits_between(&ready.start, &last, cx())
        .await
        .expect("the agent's commits stay reachable");
    assert_eq!(old.len(), 2);
    let probe = vcs.probe_commit(&plan, cx()).await.expect("a probe");
    assert_eq!(probe, CommitProbe::Found(made));
}

async fn a_branch_that_moved_is_left_alone(world: &World) {
    let (vcs, ready) = world.prepared().await;
    world.write("b.txt", "b\n").await;
    let plan = plan(&ready, &snapshot(&*vcs).await);
    let other = world.0.commit_all("somebody else's");
    let probe = vcs.probe_commit(&plan, cx()).await.expect("a probe");
    assert_eq!(probe, CommitProbe::Moved(other.clone()));
    let error = failed(vcs.commit(&plan, cx()).await, "a branch that moved");
    assert_eq!(error.kind, VcsErrorKind::RefMoved, "{error}");
    assert_eq!(world.head_of("feat/x-1"), other);
    world.0.set_head(&branch("main"));
    world.0.set_branch(&branch("feat/x-1"), None);
    let error = failed(vcs.probe_commit(&plan, cx()).await, "a branch that is gone");
    assert_eq!(error.kind, VcsErrorKind::RefMoved, "{error}");
}

async fn a_message_without_a_hook_stays(world: &World) {
    let (vcs, _) = world.prepared().await;
    let message = "X-1: do it\n\nBecause.";
    let result = vcs.final_message(message, cx()).await.expect("a message");
    assert_eq!(result.trim_end(), message);
}
