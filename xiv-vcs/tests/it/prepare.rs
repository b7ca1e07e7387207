//! Getting the branch ready: made or re-used, never at the cost of a file.

use std::time::Duration;

use xiv_core::port::{Vcs as _, VcsError, VcsErrorKind};

use crate::world::{World, branch, cx, request};

async fn refused(world: &World, name: &str, base: Option<&str>) -> VcsError {
    let before = world.git(["for-each-ref"]);
    let head = world.read(".git/HEAD");
    let mut wanted = request(name);
    wanted.base = base.map(str::to_owned);
    let error = world
        .engine()
        .await
        .prepare(wanted, cx())
        .await
        .expect_err("it is refused");
    assert_eq!(world.git(["for-each-ref"]), before, "no ref changed");
    assert_eq!(world.read(".git/HEAD"), head, "HEAD did not move");
    error
}

#[tokio::test]
async fn a_branch_is_made_from_head_and_checked_out() {
    let world = World::new();
    let start = world.commit_of("HEAD");
    world.write("xiv.toml", "x");
    world.write(".xiv/issues/X-1.md", "x");
    let engine = world.engine().await;
    let first = engine
        .prepare(request("feat/x-1"), cx())
        .await
        .expect("ready");
    assert_eq!((first.reused, first.behind), (false, 0));
    assert_eq!((first.base.as_str(), &first.start), ("main", &start));
    assert_eq!(first.start_tree, world.tree_of("HEAD"));
    assert_eq!(first.root, world.root());
    assert_eq!(world.read(".git/HEAD"), "ref: refs/heads/feat/x-1\n");

    let again = engine
        .prepare(request("feat/x-1"), cx())
        .await
        .expect("ready");
    assert!(again.reused);
    assert_eq!((again.start, again.root), (first.start, first.root));
}

#[tokio::test]
async fn a_crash_between_creation_and_checkout_is_completed() {
    let world = World::new();
    world.git(["branch", "feat/x-1"]);
    let engine = world.engine().await;
    let ready = engine
        .prepare(request("feat/x-1"), cx())
        .await
        .expect("ready");
    assert!(ready.reused);
    assert_eq!(world.read(".git/HEAD"), "ref: refs/heads/feat/x-1\n");
}

#[tokio::test]
async fn a_branch_is_reused_with_its_commits_and_its_lag() {
    let world = World::new();
    world.git(["checkout", "-q", "-b", "feat/x-1"]);
    world.write("work.txt", "w\n");
    let work = world.commit_all("earlier work");
    world.git(["checkout", "-q", "main"]);
    for n in 0..3 {
        world.write("main.txt", n.to_string());
        world.commit_all("main goes on");
    }
    let engine = world.engine().await;
    let ready = engine
        .prepare(request("feat/x-1"), cx())
        .await
        .expect("ready");
    assert_eq!((ready.reused, ready.behind, ready.start), (true, 3, work));
    assert_eq!(world.read("work.txt"), "w\n");
    assert!(!world.at("main.txt").exists());
}

#[tokio::test]
async fn the_base_may_be_a_branch_a_tag_or_a_commit() {
    let world = World::new();
    let first = world.commit_of("HEAD");
    world.git(["tag", "-a", "-m", "t", "v1"]);
    world.git(["branch", "v1", "HEAD"]);
    world.write("a.txt", "two\n");
    let second = world.commit_all("second");
    world.git(["branch", "-f", "v1", "HEAD"]);
    let engine = world.engine().await;
    let short = &first.as_str()[..10];
    for (base, want) in [
        ("v1", &second),
        ("tags/v1", &first),
        (short, &first),
        ("main~1", &first),
    ] {
        let mut wanted = request(&format!("feat/{}", base.replace(['/', '~'], "-")));
        wanted.base = Some(base.to_owned());
        let ready = engine.prepare(wanted, cx()).await.expect("ready");
        assert_eq!((&ready.start, ready.base.as_str()), (want, base));
    }
}

#[tokio::test]
async fn a_base_may_be_known_by_its_remote_only() {
    let world = World::new();
    let first = world.commit_of("HEAD");
    world.git(["update-ref", "refs/remotes/origin/trunk", "HEAD"]);
    let mut wanted = request("feat/x");
    wanted.base = Some("trunk".to_owned());
    let ready = world.engine().await.prepare(wanted, cx()).await;
    assert_eq!(ready.expect("ready").start, first);
}

#[tokio::test]
async fn a_detached_head_is_fine() {
    let world = World::new();
    world.git(["checkout", "-q", "--detach"]);
    let engine = world.engine().await;
    let ready = engine
        .prepare(request("feat/x"), cx())
        .await
        .expect("ready");
    assert_eq!(ready.base, world.commit_of("HEAD").as_str()[..12]);
    assert_eq!(world.read(".git/HEAD"), "ref: refs/heads/feat/x\n");
}

#[tokio::test]
async fn an_unknown_base_is_refused_by_name() {
    let world = World::new();
    for base in ["nowhere", "--help", "-q", "a b", "HEAD:a.txt", ""] {
        let error = refused(&world, "feat/x", Some(base)).await;
        assert_eq!(error.kind, VcsErrorKind::Refused, "{base}");
        assert!(error.message.contains(&format!("`{base}`")), "{error}");
    }
}

#[tokio::test]
async fn a_repository_without_commits_is_refused_with_a_way_out() {
    let world = World::unborn();
    let error = refused(&world, "feat/x", None).await;
    assert_eq!(error.kind, VcsErrorKind::Refused);
    assert!(error.message.contains("no commit yet"), "{error}");
    assert!(error.hints[0].contains("git commit"), "{:?}", error.hints);
}

#[tokio::test]
async fn names_that_leave_no_room_are_refused() {
    let world = World::new();
    world.git(["branch", "feat"]);
    let error = refused(&world, "feat/x", None).await;
    assert_eq!(error.kind, VcsErrorKind::Refused);
    assert!(error.message.contains("branch `feat`"), "{error}");
    world.git(["branch", "-m", "feat", "deep/er/still"]);
    let error = refused(&world, "deep", None).await;
    assert!(error.message.contains("deep/er/still"), "{error}");
    world.git(["pack-refs", "--all"]);
    let error = refused(&world, "deep/er/still/x", None).await;
    assert!(error.message.contains("branch `deep/er/still`"), "{error}");
}

#[tokio::test]
async fn dirt_is_refused_and_named() {
    let world = World::new();
    for n in 0..7 {
        world.write(format!("f{n}"), "x");
    }
    let error = refused(&world, "feat/x", None).await;
    assert_eq!(error.kind, VcsErrorKind::Dirty);
    assert!(
        error.message.ends_with("f0, f1, f2, f3, f4, 2 more"),
        "{error}"
    );
    assert!(error.hints.iter().any(|hint| hint.contains("--worktree")));
}

#[tokio::test]
async fn an_operation_under_way_is_refused_by_name() {
    let world = World::new();
    world.git(["bisect", "start"]);
    let error = refused(&world, "feat/x", None).await;
    assert_eq!(error.kind, VcsErrorKind::OperationInProgress);
    assert!(error.message.contains("bisect"), "{error}");
    assert!(error.hints[0].contains("bisect reset"), "{:?}", error.hints);
}

#[tokio::test]
async fn a_checkout_overwrites_no_untracked_and_no_ignored_file() {
    for ignored in [false, true] {
        let world = World::new();
        world.git(["checkout", "-q", "-b", "feat/x"]);
        world.write("precious", "theirs\n");
        world.commit_all("adds precious");
        world.git(["checkout", "-q", "main"]);
        world.write("precious", "mine\n");
        if ignored {
            world.write(".git/info/exclude", "precious\n");
        } else {
            // an untracked file of xiv's own does not make the tree dirty
            world.git(["checkout", "-q", "-f", "feat/x"]);
            world.git(["mv", "precious", "xiv.toml"]);
            world.commit_all("adds xiv.toml");
            world.git(["checkout", "-q", "main"]);
            world.write("xiv.toml", "mine\n");
        }
        let file = if ignored { "precious" } else { "xiv.toml" };
        let error = refused(&world, "feat/x", None).await;
        assert_eq!(error.kind, VcsErrorKind::Refused, "{error}");
        let cause = error.source.expect("git's words").to_string();
        assert!(cause.contains(file), "{cause}");
        assert_eq!(world.read(file), "mine\n");
    }
}

#[tokio::test]
async fn a_branch_made_for_a_checkout_that_fails_is_taken_away() {
    let world = World::new();
    world.git(["checkout", "-q", "-b", "other"]);
    world.write("xiv.toml", "tracked there\n");
    world.commit_all("adds xiv.toml");
    world.git(["checkout", "-q", "main"]);
    world.write("xiv.toml", "mine\n");
    let error = refused(&world, "feat/x", Some("other")).await;
    assert_eq!(error.kind, VcsErrorKind::Refused);
    assert_eq!(world.read("xiv.toml"), "mine\n");
}

#[tokio::test]
async fn a_branch_checked_out_elsewhere_is_refused_with_its_place() {
    let world = World::new();
    let elsewhere = world.beside("else where");
    world.git([
        "worktree".as_ref(),
        "add".as_ref(),
        "-q".as_ref(),
        "-b".as_ref(),
        "feat/x".as_ref(),
        elsewhere.as_os_str(),
    ]);
    let error = refused(&world, "feat/x", None).await;
    assert_eq!(error.kind, VcsErrorKind::Refused);
    assert!(error.message.contains("else where"), "{error}");
}

#[tokio::test]
async fn isolation_leaves_the_users_work_tree_alone() {
    let world = World::new();
    world.write("a.txt", "being edited\n");
    world.git(["bisect", "start"]);
    let index = world.index_bytes();
    let engine = world.engine().await;
    let mut wanted = request("feat/x");
    wanted.isolate = Some(world.beside("deep/iso lated"));
    let ready = engine.prepare(wanted.clone(), cx()).await.expect("ready");
    assert_eq!(ready.root, world.beside("deep/iso lated"));
    assert!(!ready.reused);
    let copy = std::fs::read_to_string(ready.root.join("a.txt")).expect("a file");
    assert_eq!(copy, "one\n");
    assert_eq!(world.read("a.txt"), "being edited\n");
    assert_eq!(world.index_bytes(), index);
    assert_eq!(world.read(".git/HEAD"), "ref: refs/heads/main\n");
    let again = engine.prepare(wanted.clone(), cx()).await.expect("ready");
    assert_eq!((again.root, again.reused), (ready.root.clone(), true));
    // its folder was deleted by hand
    std::fs::remove_dir_all(&ready.root).expect("it is removed");
    let third = engine.prepare(wanted.clone(), cx()).await.expect("ready");
    assert!(third.root.join("a.txt").exists());
    std::fs::write(third.root.join("left.txt"), "over").expect("a file");
    let error = engine.prepare(wanted, cx()).await.expect_err("left-overs");
    assert_eq!(error.kind, VcsErrorKind::Dirty);
}

#[tokio::test]
async fn a_taken_place_is_refused() {
    let world = World::new();
    let engine = world.engine().await;
    let place = world.beside("taken");
    std::fs::create_dir(&place).expect("a folder");
    std::fs::write(place.join("mine"), "x").expect("a file");
    let mut wanted = request("feat/x");
    wanted.isolate = Some(place.clone());
    let error = engine
        .prepare(wanted.clone(), cx())
        .await
        .expect_err("taken");
    assert_eq!(error.kind, VcsErrorKind::Refused);
    std::fs::remove_file(place.join("mine")).expect("it is removed");
    engine
        .prepare(wanted.clone(), cx())
        .await
        .expect("an empty folder will do");
    wanted.branch = branch("feat/y");
    let error = engine
        .prepare(wanted.clone(), cx())
        .await
        .expect_err("another branch");
    assert_eq!(error.kind, VcsErrorKind::Refused);
    wanted.branch = branch("main");
    wanted.isolate = Some(world.beside("third"));
    let error = engine.prepare(wanted, cx()).await.expect_err("checked out");
    assert!(error.message.contains("is checked out in"), "{error}");
    assert_eq!(
        world.git(["branch", "--format=%(refname)", "--list", "feat/y"]),
        ""
    );
}

#[tokio::test]
async fn runs_in_several_work_trees_do_not_disturb_each_other() {
    let world = World::new();
    let options = world.options().with_lock_wait(Duration::from_secs(30));
    let engine = xiv_vcs::GitEngine::open(world.root(), options)
        .await
        .expect("it opens");
    let prepared = futures::future::join_all((0..6).map(|n| {
        let mut wanted = request(&format!("feat/{n}"));
        wanted.isolate = Some(world.beside(&format!("tree-{n}")));
        engine.prepare(wanted, cx())
    }))
    .await;
    for ready in prepared {
        let ready = ready.expect("ready");
        assert!(ready.root.join("a.txt").exists());
    }
}

#[tokio::test]
async fn locks_of_others_are_waited_for_and_then_reported() {
    let world = World::new();
    world.git(["branch", "feat/x"]);
    world.write(".git/index.lock", "");
    let error = refused(&world, "feat/x", None).await;
    assert_eq!(error.kind, VcsErrorKind::Locked);
    assert!(error.is_temporary());
    assert!(world.at(".git/index.lock").exists());
    world.remove(".git/index.lock");

    world.write(".git/xiv/lock", "4711\n");
    let lock = std::fs::File::open(world.at(".git/xiv/lock")).expect("the lock file");
    lock.lock().expect("it is free");
    let error = refused(&world, "feat/x", None).await;
    assert_eq!(error.kind, VcsErrorKind::Locked);
    assert!(error.message.contains("4711"), "{error}");

    let options = world.options().with_lock_wait(Duration::from_secs(20));
    let engine = xiv_vcs::GitEngine::open(world.root(), options)
        .await
        .expect("it opens");
    let (ready, ()) = tokio::join!(engine.prepare(request("feat/x"), cx()), async {
        tokio::time::sleep(Duration::from_millis(200)).await;
        lock.unlock().expect("it was held");
    });
    assert!(ready.is_ok());
}
