//! The gated tree: what validation left, without what only it made.

use std::os::unix::fs::symlink;

use xiv_core::model::RepoPath;
use xiv_core::port::Vcs as _;

use crate::world::{World, cx, name, snapshot};

async fn gated(
    world: &World,
    change: impl FnOnce(&World),
    leftovers: &[&str],
) -> (String, Vec<String>) {
    let engine = world.engine().await;
    let before = snapshot(&engine).await;
    change(world);
    let after = snapshot(&engine).await;
    let leftovers: Vec<RepoPath> = leftovers.iter().map(|&path| path.into()).collect();
    let gated = engine
        .gate_tree(&before, &after, &leftovers, cx())
        .await
        .expect("a tree");
    world.git(["fsck", "--strict"]);
    let listing = world.git(["ls-tree", "-r", gated.tree.as_str()]);
    let shown = listing
        .lines()
        .map(|line| {
            let mut parts = line.split_whitespace();
            let mode = parts.next().expect("a mode");
            let id = parts.nth(1).expect("an id");
            let content = world.git(["cat-file", "-p", id]);
            let path = line.split('\t').nth(1).expect("a path");
            format!("{mode} {path} = {content}")
        })
        .collect::<Vec<_>>()
        .join("\n");
    let created = gated.created.iter().map(|path| path.display().into_owned());
    (shown, created.collect())
}

fn furnished() -> World {
    let world = World::new();
    world.write("src/lib.rs", "fn  a(){}");
    world.write("src/deep/x.rs", "x");
    world.commit_all("more");
    world
}

#[tokio::test]
async fn edits_and_deletions_are_in_and_new_files_are_out() {
    let world = furnished();
    let change = |world: &World| {
        world.write("src/lib.rs", "fn a() {}");
        world.write("src/deep/made.rs", "m");
        world.write("target/debug/out", "o");
        world.remove("src/deep/x.rs");
        world.executable("a.txt", "one");
    };
    let (tree, created) = gated(&world, change, &[]).await;
    insta::assert_snapshot!(tree, @r"
    100755 a.txt = one
    100644 src/lib.rs = fn a() {}
    ");
    assert_eq!(created, ["src/deep/made.rs", "target/debug/out"]);
}

#[tokio::test]
async fn an_unchanged_tree_is_itself() {
    let world = furnished();
    let engine = world.engine().await;
    let tree = snapshot(&engine).await;
    let gated = engine
        .gate_tree(&tree, &tree, &["none".into()], cx())
        .await
        .expect("a tree");
    assert_eq!((gated.tree, gated.created), (tree, vec![]));
}

#[tokio::test]
async fn a_file_and_a_folder_may_change_places() {
    let world = furnished();
    let change = |world: &World| {
        world.remove("a.txt");
        world.write("a.txt/inner", "new");
        world.remove("src/deep");
        world.write("src/deep", "was a folder");
        world.remove("src/lib.rs");
        symlink("deep", world.at("src/lib.rs")).expect("a link");
    };
    let (tree, created) = gated(&world, change, &[]).await;
    assert_eq!(tree, "120000 src/lib.rs = deep");
    assert_eq!(created, ["a.txt/inner", "src/deep"]);
}

#[tokio::test]
async fn what_is_left_may_be_nothing() {
    let world = World::unborn();
    let (tree, created) = gated(&world, |world| world.write("d/e", "x"), &[]).await;
    assert_eq!((tree.as_str(), created), ("", vec!["d/e".to_owned()]));
}

#[tokio::test]
async fn leftovers_of_earlier_validations_are_out_too() {
    let world = furnished();
    world.write("target/old", "o");
    world.write("target-not", "kept");
    world.write("src/old.snap", "o");
    let change = |world: &World| world.write("target/new", "n");
    let leftovers = ["target/old", "src/old.snap", "gone", "src"];
    let (tree, created) = gated(&world, change, &leftovers).await;
    insta::assert_snapshot!(tree, @r"
    100644 a.txt = one
    100644 src/deep/x.rs = x
    100644 src/lib.rs = fn  a(){}
    100644 target-not = kept
    ");
    assert_eq!(created, ["src/old.snap", "target/new", "target/old"]);
}

#[tokio::test]
async fn names_are_bytes() {
    let world = furnished();
    let engine = world.engine().await;
    let before = snapshot(&engine).await;
    world.write(name(b"d\xff/\xfe\n"), "x");
    let after = snapshot(&engine).await;
    let gated = engine
        .gate_tree(&before, &after, &[], cx())
        .await
        .expect("a tree");
    assert_eq!(gated.tree, before);
    assert_eq!(gated.created, [RepoPath::new(b"d\xff/\xfe\n".to_vec())]);
}
