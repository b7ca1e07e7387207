//! Pins, guards and putting back.

use xiv_core::port::{Vcs as _, VcsErrorKind};

use crate::world::{World, branch, cx, request};

#[tokio::test]
async fn only_xivs_own_refs_can_be_pinned() {
    let world = World::new();
    let engine = world.engine().await;
    let tree = world.tree_of("HEAD");
    engine
        .pin(&tree, "refs/xiv/run/1/tree", cx())
        .await
        .expect("pinned");
    engine
        .pin(&tree, "refs/xiv/run/1/tree", cx())
        .await
        .expect("again");
    assert_eq!(
        world.git(["rev-parse", "refs/xiv/run/1/tree"]),
        tree.as_str()
    );
    for name in [
        "refs/heads/x",
        "HEAD",
        "refs/xiv/",
        "refs/xiv",
        "refs/xiv/../heads/x",
        "refs/xiv/a b",
        "refs/xivx/a",
        "",
    ] {
        let error = engine.pin(&tree, name, cx()).await.expect_err(name);
        assert_eq!(error.kind, VcsErrorKind::Refused, "{name}");
    }
    assert_eq!(
        world.git(["for-each-ref", "--format=%(refname)"]),
        "refs/heads/main\nrefs/xiv/run/1/tree"
    );
}

#[tokio::test]
async fn nothing_moved_is_nothing_to_put_back() {
    let world = World::new();
    let engine = world.engine().await;
    engine
        .prepare(request("feat/x"), cx())
        .await
        .expect("ready");
    let guard = engine
        .guard(&branch("feat/x"), cx())
        .await
        .expect("a guard");
    assert_eq!(engine.restore(&guard, cx()).await.expect("restored"), []);
    let error = engine
        .guard(&branch("feat/y"), cx())
        .await
        .expect_err("no such branch");
    assert_eq!(error.kind, VcsErrorKind::RefMoved);
}

/// A name, git commands, and the refs that they move.
type Deed = (
    &'static str,
    &'static [&'static [&'static str]],
    &'static [&'static str],
);

/// What a reviewer might do although it must not.
const DEEDS: &[Deed] = &[
    (
        "commits",
        &[&["commit", "-q", "--allow-empty", "-m", "r"]],
        &["refs/heads/feat/x"],
    ),
    ("switches away", &[&["checkout", "-q", "main"]], &["HEAD"]),
    ("detaches", &[&["checkout", "-q", "--detach"]], &["HEAD"]),
    (
        "resets",
        &[&["reset", "-q", "--soft", "HEAD~1"]],
        &["refs/heads/feat/x"],
    ),
    (
        "commits on another branch",
        &[
            &["checkout", "-q", "-b", "mine"],
            &["commit", "-q", "--allow-empty", "-m", "r"],
            &["branch", "-q", "-f", "feat/x", "mine"],
        ],
        &["refs/heads/feat/x", "HEAD"],
    ),
    (
        "deletes the branch",
        &[
            &["checkout", "-q", "main"],
            &["branch", "-q", "-D", "feat/x"],
        ],
        &["refs/heads/feat/x", "HEAD"],
    ),
    (
        "deletes it under HEAD",
        &[&["update-ref", "-d", "refs/heads/feat/x"]],
        &["refs/heads/feat/x"],
    ),
    (
        "makes HEAD unborn",
        &[&["checkout", "-q", "--orphan", "fresh"]],
        &["HEAD"],
    ),
];

#[tokio::test]
async fn head_and_the_branch_come_back_and_files_stay() {
    for (deed, commands, moved) in DEEDS {
        let world = World::new();
        let engine = world.engine().await;
        engine
            .prepare(request("feat/x"), cx())
            .await
            .expect("ready");
        world.write("work.txt", "w\n");
        let commit = world.commit_all("agent");
        world.write("edit.txt", "e\n");
        let guard = engine
            .guard(&branch("feat/x"), cx())
            .await
            .expect("a guard");
        for command in *commands {
            world.git(command.iter());
        }
        let moves = engine.restore(&guard, cx()).await.expect("restored");
        let names: Vec<_> = moves.iter().map(|moved| moved.name.as_str()).collect();
        assert_eq!(names, *moved, "{deed}");
        assert!(
            moves.iter().all(|moved| moved.from != moved.to),
            "{deed}: {moves:?}"
        );
        assert_eq!(
            world.read(".git/HEAD"),
            "ref: refs/heads/feat/x\n",
            "{deed}"
        );
        assert_eq!(world.commit_of("feat/x"), commit, "{deed}");
        assert_eq!(world.read("edit.txt"), "e\n", "{deed}");
        assert_eq!(
            engine.restore(&guard, cx()).await.expect("restored"),
            [],
            "{deed}"
        );
    }
}

#[tokio::test]
async fn a_detached_head_comes_back_detached() {
    let world = World::new();
    world.git(["branch", "feat/x"]);
    world.git(["checkout", "-q", "--detach"]);
    let engine = world.engine().await;
    let guard = engine
        .guard(&branch("feat/x"), cx())
        .await
        .expect("a guard");
    world.git(["checkout", "-q", "main"]);
    world.git(["commit", "-q", "--allow-empty", "-m", "on main"]);
    let moves = engine.restore(&guard, cx()).await.expect("restored");
    assert_eq!(moves.len(), 1);
    let head = guard.head.commit.expect("a commit");
    assert_eq!(world.read(".git/HEAD"), format!("{head}\n"));
    assert_eq!(
        world.git(["rev-list", "--count", "main"]),
        "2",
        "other branches are not ours"
    );
}
