//! Opening: what is accepted, what is refused, and with which words.

use std::os::unix::fs::PermissionsExt as _;

use xiv_core::port::{Vcs as _, VcsErrorKind};
use xiv_vcs::GitEngine;

use crate::world::{World, cx};

#[tokio::test]
async fn the_root_is_found_from_a_subfolder() {
    let world = World::new();
    world.write("deep/er/x", "x");
    let engine = GitEngine::open(&world.at("deep/er"), world.options())
        .await
        .expect("it opens");
    assert_eq!(engine.root(), world.root());
    assert_eq!(engine.common_dir(), world.at(".git"));
    assert_eq!(engine.caps().engine, "git");
    assert_eq!(engine.caps().object_format, "sha1");
}

#[tokio::test]
async fn a_submodule_is_a_repository_of_its_own() {
    let world = World::new();
    let origin = world.beside("origin");
    std::fs::create_dir(&origin).expect("a folder");
    world.git_in(&origin, ["init", "-q"]);
    world.git_in(&origin, ["commit", "-q", "--allow-empty", "-m", "s1"]);
    world.git([
        "submodule".as_ref(),
        "--quiet".as_ref(),
        "add".as_ref(),
        origin.as_os_str(),
        "sub".as_ref(),
    ]);
    world.write("sub/x", "x");
    let engine = GitEngine::open(&world.at("sub"), world.options())
        .await
        .expect("it opens");
    assert_eq!(engine.root(), world.at("sub"));
    let tree = engine.snapshot(cx()).await.expect("a snapshot").tree;
    assert_eq!(
        world.git_in(&world.at("sub"), ["ls-tree", "--name-only", tree.as_str()]),
        "x"
    );
}

#[tokio::test]
async fn no_repository_is_said_with_git_as_the_cause() {
    let world = World::new();
    let plain = world.beside("plain");
    std::fs::create_dir(&plain).expect("a folder");
    let error = GitEngine::open(&plain, world.options())
        .await
        .expect_err("there is none");
    assert_eq!(error.kind, VcsErrorKind::NotARepository);
    let cause = error.source.expect("a cause").to_string();
    assert!(cause.contains("not a git repository"), "{cause}");
    let error = GitEngine::open(&world.beside("missing"), world.options())
        .await
        .expect_err("there is no folder");
    assert_eq!(error.kind, VcsErrorKind::NotARepository);
}

#[tokio::test]
async fn a_bare_repository_is_refused() {
    let world = World::new();
    let bare = world.beside("bare.git");
    world.git([
        "clone".as_ref(),
        "-q".as_ref(),
        "--bare".as_ref(),
        ".".as_ref(),
        bare.as_os_str(),
    ]);
    let error = GitEngine::open(&bare, world.options())
        .await
        .expect_err("it is bare");
    assert_eq!(error.kind, VcsErrorKind::Refused);
    assert!(error.message.contains("bare"), "{error}");
}

#[tokio::test]
async fn an_owner_that_git_distrusts_is_refused_with_gits_reason() {
    let world = World::new();
    let mut options = world.options();
    options
        .environment
        .set("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1");
    let error = GitEngine::open(world.root(), options)
        .await
        .expect_err("it is distrusted");
    assert_eq!(error.kind, VcsErrorKind::Refused);
    let cause = error.source.expect("a cause").to_string();
    assert!(cause.contains("dubious ownership"), "{cause}");
}

#[tokio::test]
async fn refs_in_another_format_are_unsupported() {
    let world = World::new();
    let other = world.beside("reftable");
    world.git([
        "init".as_ref(),
        "-q".as_ref(),
        "--ref-format=reftable".as_ref(),
        other.as_os_str(),
    ]);
    let error = GitEngine::open(&other, world.options())
        .await
        .expect_err("it is of another kind");
    assert_eq!(error.kind, VcsErrorKind::Unsupported);
}

#[tokio::test]
async fn an_old_git_and_a_missing_one_are_told_apart() {
    let world = World::new();
    let old = world.beside("old-git");
    std::fs::write(&old, "#!/bin/sh\necho git version 2.35.9\n").expect("a script");
    std::fs::set_permissions(&old, std::fs::Permissions::from_mode(0o755)).expect("a mode");
    let error = GitEngine::open(world.root(), world.options().with_program(&old))
        .await
        .expect_err("it is too old");
    assert_eq!(error.kind, VcsErrorKind::Unsupported);
    let mut options = world.options();
    options.environment.set("PATH", world.beside("nowhere"));
    let error = GitEngine::open(world.root(), options)
        .await
        .expect_err("there is none");
    assert_eq!(error.kind, VcsErrorKind::Program);
    assert_eq!(error.to_string(), "git is not installed");
}

#[tokio::test]
async fn a_guard_folder_on_the_path_is_passed_by() {
    let mut world = World::new();
    let guard = world.beside("guard");
    std::fs::create_dir(&guard).expect("a folder");
    let itself = std::env::current_exe().expect("this test");
    std::os::unix::fs::symlink(itself, guard.join("git")).expect("a link");
    let mut path = guard.into_os_string();
    path.push(":");
    path.push(std::env::var_os("PATH").expect("a PATH"));
    world.environment_mut().set("PATH", path);
    let engine = world.engine().await;
    engine.state(cx()).await.expect("the real git answers");
}

#[tokio::test]
async fn only_a_work_tree_of_the_same_repository_can_be_seen() {
    let world = World::new();
    let other = World::new();
    let engine = world.engine().await;
    assert!(engine.at(world.root()).is_ok());
    for place in [other.root().to_path_buf(), world.beside("missing")] {
        let error = engine.at(&place).expect_err("it is none of its work trees");
        assert!(
            matches!(error.kind, VcsErrorKind::NotARepository),
            "{place:?}: {error}"
        );
    }
}

#[tokio::test]
async fn the_state_names_head_dirt_and_operations() {
    let world = World::new();
    let engine = world.engine().await;
    let state = engine.state(cx()).await.expect("a state");
    assert_eq!(state.head.branch.expect("a branch").as_str(), "main");
    assert_eq!(state.head.commit, Some(world.commit_of("HEAD")));
    assert_eq!((state.operation, state.dirty), (None, vec![]));

    world.write("xiv.toml", "x");
    world.write(".xiv/a", "x");
    world.write("new/b", "x");
    world.write("a.txt", "changed\n");
    world.git(["checkout", "-q", "--detach"]);
    let state = engine.state(cx()).await.expect("a state");
    assert_eq!(state.head.branch, None);
    assert_eq!(state.dirty, ["a.txt".into(), "new/b".into()]);
    world.git(["add", ".xiv/a"]);
    let state = engine.state(cx()).await.expect("a state");
    assert!(state.dirty.contains(&".xiv/a".into()), "tracked, it counts");
}

#[tokio::test]
async fn every_operation_under_way_is_seen_by_name() {
    let start: [(&str, &[&str]); 4] = [
        ("merge", &["merge", "other"]),
        ("rebase", &["rebase", "other"]),
        ("cherry-pick", &["cherry-pick", "other"]),
        ("revert", &["revert", "HEAD~1"]),
    ];
    for (operation, command) in start {
        let world = World::new();
        world.git(["checkout", "-q", "-b", "other"]);
        world.write("a.txt", "theirs\n");
        world.commit_all("theirs");
        world.git(["checkout", "-q", "main"]);
        world.write("a.txt", "ours\n");
        world.commit_all("ours");
        world.write("a.txt", "ours again\n");
        world.commit_all("ours again");
        let begun = world.try_git_in(world.root(), &[], command);
        assert!(!begun.status.success(), "{operation} conflicts");
        let state = world.engine().await.state(cx()).await.expect("a state");
        assert_eq!(state.operation.as_deref(), Some(operation));
    }
    let world = World::new();
    world.git(["bisect", "start"]);
    let state = world.engine().await.state(cx()).await.expect("a state");
    assert_eq!(state.operation.as_deref(), Some("bisect"));
}
