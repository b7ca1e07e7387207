//! A branch is made ready without any edit being lost.

use super::{World, branch, cx, failed, request, snapshot};
use crate::port::{Vcs, VcsErrorKind};

pub(super) async fn cases(new: &(impl Fn() -> World + Sync)) {
    a_branch_is_made_once_and_found_again(&new()).await;
    a_branch_is_reused_with_its_commits(&new()).await;
    a_base_is_a_branch_or_a_commit(&new()).await;
    dirt_is_refused_and_kept(&new()).await;
    own_files_are_no_dirt(&new()).await;
    names_that_leave_no_room_are_refused(&new()).await;
    a_detached_head_is_fine(&new()).await;
    a_work_tree_of_its_own_leaves_the_users_alone(&new()).await;
    a_branch_checked_out_elsewhere_is_refused(&new()).await;
    only_its_own_work_trees_can_be_seen(&new()).await;
}

async fn a_branch_is_made_once_and_found_again(world: &World) {
    let start = world.head_of("main");
    let (vcs, ready) = world.prepared().await;
    assert!(!ready.reused, "it is new");
    assert_eq!(ready.start, start);
    assert_eq!(ready.behind, 0);
    assert_eq!(ready.base, "main");
    assert_eq!(ready.root, vcs.root());
    assert_eq!(ready.start_tree, snapshot(&*vcs).await);
    assert_eq!(world.head_of("feat/x-1"), start);
    let state = vcs.state(cx()).await.expect("a state");
    assert_eq!(state.head.branch, Some(branch("feat/x-1")));
    assert_eq!(state.head.commit, Some(start));
    assert_eq!((state.operation, state.dirty), (None, vec![]));

    let (_, again) = world.prepared().await;
    assert!(again.reused, "it exists now");
    assert_eq!(again.start, ready.start);
    assert_eq!(again.start_tree, ready.start_tree);
    assert_eq!(again.root, ready.root);
}

async fn a_branch_is_reused_with_its_commits(world: &World) {
    let (vcs, _) = world.prepared().await;
    world.write("b.txt", "mine\n").await;
    let mine = world.0.commit_all("mine");
    let mut to_main = request("main");
    to_main.base = Some("main".to_owned());
    vcs.prepare(to_main, cx()).await.expect("back on main");
    assert_eq!(world.read("b.txt").await, None, "main has no such file");
    world.write("c.txt", "main goes on\n").await;
    world.0.commit_all("goes on");
    let mut wanted = request("feat/x-1");
    wanted.base = Some("main".to_owned());
    let ready = vcs.prepare(wanted, cx()).await.expect("ready");
    assert!(ready.reused);
    assert_eq!(ready.start, mine, "its commits stay");
    assert_eq!(ready.behind, 1, "of its base");
    assert_eq!(world.read("b.txt").await.as_deref(), Some("mine\n"));
    assert_eq!(world.read("c.txt").await, None);
}

async fn a_base_is_a_branch_or_a_commit(world: &World) {
    let first = world.head_of("main");
    world.write("b.txt", "two\n").await;
    let second = world.0.commit_all("second");
    let vcs = world.open().await;
    for (name, base, start) in [
        ("feat/from-commit", first.as_str(), &first),
        ("feat/from-branch", "main", &second),
    ] {
        let mut wanted = request(name);
        wanted.base = Some(base.to_owned());
        let ready = vcs.prepare(wanted, cx()).await.expect("ready");
        assert_eq!(&ready.start, start, "{name}");
        assert_eq!(ready.base, base);
    }
    let mut wanted = request("feat/from-nowhere");
    wanted.base = Some("no-such-base".to_owned());
    let error = failed(vcs.prepare(wanted, cx()).await, "an unknown base");
    assert_eq!(error.kind, VcsErrorKind::Refused, "{error}");
    assert!(error.message.contains("no-such-base"), "{error}");
    assert_eq!(world.0.branch(&branch("feat/from-nowhere")), None);
}

async fn dirt_is_refused_and_kept(world: &World) {
    for (path, dirty) in [("a.txt", "an edit\n"), ("new.txt", "a new file\n")] {
        let before = world.read(path).await;
        world.write(path, dirty).await;
        let vcs = world.open().await;
        let result = vcs.prepare(request("feat/x-1"), cx()).await;
        let error = failed(result, "a dirty tree");
        assert_eq!(error.kind, VcsErrorKind::Dirty, "{error}");
        assert!(error.message.contains(path), "{error} does not name {path}");
        assert_eq!(world.read(path).await.as_deref(), Some(dirty));
        assert_eq!(world.0.branch(&branch("feat/x-1")), None);
        let state = vcs.state(cx()).await.expect("a state");
        let names: Vec<_> = state.dirty.iter().map(ToString::to_string).collect();
        assert_eq!(names, [path]);
        match before {
            Some(content) => world.write(path, &content).await,
            None => world.remove(path).await,
        }
    }
}

async fn own_files_are_no_dirt(world: &World) {
    world.0.ignore_folder("target");
    for path in ["xiv.toml", ".xiv/issues/X-1.md", "target/out"] {
        world.write(path, "x\n").await;
    }
    let (vcs, ready) = world.prepared().await;
    assert_eq!(
        snapshot(&*vcs).await,
        ready.start_tree,
        "untracked files of xiv and ignored ones are not in the tree"
    );
    assert_eq!(world.read("xiv.toml").await.as_deref(), Some("x\n"));
    assert_eq!(world.read("target/out").await.as_deref(), Some("x\n"));
}

async fn names_that_leave_no_room_are_refused(world: &World) {
    let head = world.head_of("main");
    let vcs = world.open().await;
    for (taken, wanted) in [("feat", "feat/x-1"), ("deep/er/name", "deep/er")] {
        world.0.set_branch(&branch(taken), Some(&head));
        let error = failed(vcs.prepare(request(wanted), cx()).await, wanted);
        assert_eq!(error.kind, VcsErrorKind::Refused, "{error}");
        assert!(
            error.message.contains(taken),
            "{error} does not name {taken}"
        );
        assert_eq!(world.0.branch(&branch(wanted)), None);
    }
}

async fn a_detached_head_is_fine(world: &World) {
    let head = world.head_of("main");
    world.0.detach_head(&head);
    let (vcs, ready) = world.prepared().await;
    assert_eq!(ready.start, head);
    let state = vcs.state(cx()).await.expect("a state");
    assert_eq!(state.head.branch, Some(branch("feat/x-1")));
}

async fn a_work_tree_of_its_own_leaves_the_users_alone(world: &World) {
    let vcs = world.open().await;
    if !vcs.caps().worktrees {
        return;
    }
    world.write("a.txt", "being edited\n").await;
    let mut wanted = request("feat/x-1");
    wanted.isolate = Some(world.0.spare_path());
    let ready = vcs.prepare(wanted.clone(), cx()).await.expect("ready");
    assert_ne!(ready.root, vcs.root());
    let copy = world.0.read(&ready.root, "a.txt");
    assert_eq!(copy.as_deref(), Some("one\n"));
    assert_eq!(world.read("a.txt").await.as_deref(), Some("being edited\n"));
    let state = vcs.state(cx()).await.expect("a state");
    assert_eq!(state.head.branch, Some(branch("main")), "HEAD stays");

    let there = vcs.at(&ready.root).expect("it is a work tree of its");
    assert_eq!(there.common_dir(), vcs.common_dir());
    assert_eq!(there.root(), ready.root);
    assert_eq!(snapshot(&*there).await, ready.start_tree);
    world.0.write(&ready.root, "b.txt", "b\n");
    assert_ne!(snapshot(&*there).await, ready.start_tree);
    assert_eq!(world.read("b.txt").await, None);
    world.0.remove(&ready.root, "b.txt");

    let again = vcs.prepare(wanted, cx()).await.expect("found again");
    assert_eq!((again.root, again.start), (ready.root, ready.start));
}

async fn a_branch_checked_out_elsewhere_is_refused(world: &World) {
    let vcs = world.open().await;
    if !vcs.caps().worktrees {
        return;
    }
    let mut isolated = request("feat/x-1");
    isolated.isolate = Some(world.0.spare_path());
    vcs.prepare(isolated.clone(), cx()).await.expect("ready");
    let result = vcs.prepare(request("feat/x-1"), cx()).await;
    let error = failed(result, "a branch that is checked out elsewhere");
    assert_eq!(error.kind, VcsErrorKind::Refused, "{error}");
    isolated.branch = branch("feat/x-2");
    let result = vcs.prepare(isolated, cx()).await;
    let error = failed(result, "a work tree that has another branch");
    assert_eq!(error.kind, VcsErrorKind::Refused, "{error}");
    assert_eq!(world.0.branch(&branch("feat/x-2")), None);
}

async fn only_its_own_work_trees_can_be_seen(world: &World) {
    let vcs: &dyn Vcs = &*world.open().await;
    let nowhere = world.0.spare_path();
    let error = failed(vcs.at(&nowhere), "a work tree that does not exist");
    assert_eq!(error.kind, VcsErrorKind::NotARepository, "{error}");
    let itself = vcs.at(vcs.root()).expect("its own root");
    assert_eq!(itself.root(), vcs.root());
}
