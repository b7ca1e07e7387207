//! Trees hold the work as it is, and a gated tree nothing that only
//! validation made.

use super::{World, changed, cx, snapshot};
use crate::model::RepoPath;

pub(super) async fn cases(new: &(impl Fn() -> World + Sync)) {
    a_snapshot_depends_on_the_content_alone(&new()).await;
    a_snapshot_changes_nothing(&new()).await;
    a_diff_shows_what_changed(&new()).await;
    what_only_validation_made_is_left_out(&new()).await;
    leftovers_are_left_out_too(&new()).await;
    an_unchanged_tree_gates_as_itself(&new()).await;
}

async fn a_snapshot_depends_on_the_content_alone(world: &World) {
    let (vcs, ready) = world.prepared().await;
    let clean = snapshot(&*vcs).await;
    assert_eq!(clean, ready.start_tree);
    world.write("dir/new.txt", "untracked\n").await;
    let more = snapshot(&*vcs).await;
    assert_ne!(more, clean, "untracked files belong to it");
    world.write("a.txt", "two\n").await;
    assert_ne!(snapshot(&*vcs).await, more);
    world.write("a.txt", "one\n").await;
    assert_eq!(snapshot(&*vcs).await, more);
    world.remove("dir/new.txt").await;
    assert_eq!(snapshot(&*vcs).await, clean);
    world.remove("a.txt").await;
    assert_ne!(snapshot(&*vcs).await, clean, "a deletion is a change");
}

async fn a_snapshot_changes_nothing(world: &World) {
    let (vcs, _) = world.prepared().await;
    world.write("a.txt", "two\n").await;
    world.write("new.txt", "new\n").await;
    let before = vcs.state(cx()).await.expect("a state");
    snapshot(&*vcs).await;
    assert_eq!(vcs.state(cx()).await.expect("a state"), before);
    assert_eq!(world.read("a.txt").await.as_deref(), Some("two\n"));
}

async fn a_diff_shows_what_changed(world: &World) {
    world.write("gone.txt", "1\n2\n").await;
    world.0.commit_all("more");
    let (vcs, ready) = world.prepared().await;
    world.write("a.txt", "one\ntwo\n").await;
    world.write("new.txt", "new\n").await;
    world.remove("gone.txt").await;
    let tree = snapshot(&*vcs).await;
    let diff = vcs
        .diff(&ready.start_tree, &tree, cx())
        .await
        .expect("a diff");
    let mut files: Vec<_> = diff
        .files
        .iter()
        .map(|file| (file.path.to_string(), file.added, file.deleted))
        .collect();
    files.sort();
    let expected = [("a.txt", 1, 0), ("gone.txt", 0, 2), ("new.txt", 1, 0)];
    let expected = expected.map(|(path, added, deleted)| (path.to_owned(), added, deleted));
    assert_eq!(files, expected);
    let patch = String::from_utf8(diff.patch).expect("the files are text");
    for line in ["diff --git a/a.txt b/a.txt", "+two", "-2", "+++ b/new.txt"] {
        assert!(
            patch.lines().any(|l| l == line),
            "{line:?} is not in\n{patch}"
        );
    }
    let nothing = vcs.diff(&tree, &tree, cx()).await.expect("a diff");
    assert_eq!((nothing.patch, nothing.files), (vec![], vec![]));
}

async fn what_only_validation_made_is_left_out(world: &World) {
    let (vcs, _) = world.prepared().await;
    world.write("work.txt", "unformatted\n").await;
    world.write("dropped.txt", "x\n").await;
    let before = snapshot(&*vcs).await;
    world.write("work.txt", "formatted\n").await;
    world.write("out/cache", "made\n").await;
    world.remove("dropped.txt").await;
    let after = snapshot(&*vcs).await;
    let gated = vcs
        .gate_tree(&before, &after, &[], cx())
        .await
        .expect("a gated tree");
    assert_eq!(gated.created, [RepoPath::from("out/cache")]);
    let edits = changed(&*vcs, &before, &gated.tree).await;
    assert_eq!(edits, ["dropped.txt", "work.txt"], "edits are in it");
    let left_out = changed(&*vcs, &gated.tree, &after).await;
    assert_eq!(left_out, ["out/cache"]);
    let there = world.read("out/cache").await;
    assert_eq!(there.as_deref(), Some("made\n"), "files stay on disk");
}

async fn leftovers_are_left_out_too(world: &World) {
    let (vcs, ready) = world.prepared().await;
    world.write("out/cache", "made earlier\n").await;
    world.write("work.txt", "work\n").await;
    let tree = snapshot(&*vcs).await;
    let leftovers = [RepoPath::from("out/cache"), RepoPath::from("out/gone")];
    let gated = vcs
        .gate_tree(&tree, &tree, &leftovers, cx())
        .await
        .expect("a gated tree");
    assert_eq!(gated.created, [RepoPath::from("out/cache")]);
    let kept = changed(&*vcs, &ready.start_tree, &gated.tree).await;
    assert_eq!(kept, ["work.txt"]);
}

async fn an_unchanged_tree_gates_as_itself(world: &World) {
    let (vcs, _) = world.prepared().await;
    world.write("work.txt", "work\n").await;
    let tree = snapshot(&*vcs).await;
    let gated = vcs
        .gate_tree(&tree, &tree, &[], cx())
        .await
        .expect("a gated tree");
    assert_eq!((gated.tree, gated.created), (tree, vec![]));
}
