//! Refs that are not the run's own stay, and guarded ones come back.

use super::{World, branch, cx, failed, snapshot};
use crate::port::{RefGuard, VcsErrorKind};

pub(super) async fn cases(new: &(impl Fn() -> World + Sync)) {
    only_own_refs_can_be_pinned(&new()).await;
    nothing_moved_is_nothing_to_put_back(&new()).await;
    a_moved_branch_comes_back(&new()).await;
    a_deleted_branch_comes_back(&new()).await;
    a_moved_head_comes_back(&new()).await;
    commits_between_are_in_order(&new()).await;
}

async fn only_own_refs_can_be_pinned(world: &World) {
    let (vcs, ready) = world.prepared().await;
    world.write("b.txt", "b\n").await;
    let tree = snapshot(&*vcs).await;
    for tree in [&ready.start_tree, &tree, &tree] {
        vcs.pin(tree, "refs/xiv/run/tree", cx())
            .await
            .expect("a ref of xiv can be set and set again");
    }
    for name in [
        "refs/heads/main",
        "HEAD",
        "refs/xivx/a",
        "refs/xiv/",
        "refs/xiv/../x",
        "",
    ] {
        let error = failed(vcs.pin(&tree, name, cx()).await, name);
        assert_eq!(error.kind, VcsErrorKind::Refused, "{name}: {error}");
    }
    assert_eq!(world.head_of("main"), ready.start);
}

/// The branch is prepared and has an own commit; a file is edited.
async fn guarded(world: &World) -> RefGuard {
    let (vcs, _) = world.prepared().await;
    world.write("work.txt", "committed\n").await;
    let commit = world.0.commit_all("by the agent");
    world.write("edit.txt", "not committed\n").await;
    let guard = vcs.guard(&branch("feat/x-1"), cx()).await.expect("a guard");
    assert_eq!(guard.commit, commit);
    assert_eq!(guard.head.branch, Some(branch("feat/x-1")));
    guard
}

/// Everything is as it was, files included; `moved` is what had to be put
/// back.
async fn comes_back(world: &World, guard: &RefGuard, moved: &[&str]) {
    let vcs = world.open().await;
    let moves = vcs.restore(guard, cx()).await.expect("put back");
    let mut names: Vec<&str> = moves.iter().map(|moved| moved.name.as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, moved);
    for entry in &moves {
        assert_ne!(entry.from, entry.to, "{} did not move", entry.name);
    }
    assert_eq!(world.head_of("feat/x-1"), guard.commit);
    let state = vcs.state(cx()).await.expect("a state");
    assert_eq!(state.head, guard.head);
    let edit = world.read("edit.txt").await;
    assert_eq!(edit.as_deref(), Some("not committed\n"), "files stay");
    assert_eq!(vcs.restore(guard, cx()).await.expect("nothing left"), []);
}

async fn nothing_moved_is_nothing_to_put_back(world: &World) {
    let guard = guarded(world).await;
    comes_back(world, &guard, &[]).await;
    let vcs = world.open().await;
    let result = vcs.guard(&branch("feat/none"), cx()).await;
    let error = failed(result, "a branch that does not exist");
    assert_eq!(error.kind, VcsErrorKind::RefMoved, "{error}");
}

async fn a_moved_branch_comes_back(world: &World) {
    let guard = guarded(world).await;
    let main = world.head_of("main");
    world.0.set_branch(&branch("feat/x-1"), Some(&main));
    comes_back(world, &guard, &["refs/heads/feat/x-1"]).await;
}

async fn a_deleted_branch_comes_back(world: &World) {
    let guard = guarded(world).await;
    world.0.set_branch(&branch("feat/x-1"), None);
    comes_back(world, &guard, &["refs/heads/feat/x-1"]).await;
}

async fn a_moved_head_comes_back(world: &World) {
    let guard = guarded(world).await;
    world.0.detach_head(&world.head_of("main"));
    comes_back(world, &guard, &["HEAD"]).await;
    world.0.set_head(&branch("main"));
    comes_back(world, &guard, &["HEAD"]).await;
}

async fn commits_between_are_in_order(world: &World) {
    let (vcs, ready) = world.prepared().await;
    let mut made = Vec::new();
    for content in ["1\n", "2\n", "3\n"] {
        world.write("b.txt", content).await;
        made.push(world.0.commit_all(content.trim()));
    }
    let between = |from, to| vcs.commits_between(from, to, cx());
    let all = between(&ready.start, &made[2]).await.expect("commits");
    assert_eq!(all, made, "oldest first");
    let one = between(&made[1], &made[2]).await.expect("commits");
    assert_eq!(one, made[2..]);
    let none = between(&made[2], &made[2]).await.expect("commits");
    assert_eq!(none, []);
    let back = between(&made[2], &ready.start).await.expect("commits");
    assert_eq!(back, []);
}
