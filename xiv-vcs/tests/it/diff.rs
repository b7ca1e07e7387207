//! The reviewer's diff: the same bytes whatever the user configured, and no
//! content that nobody wrote.

use std::os::unix::fs::symlink;

use xiv_core::model::{Diff, FileStatus};
use xiv_core::port::{TreeDiff, Vcs as _};

use crate::world::{World, cx, name, snapshot};

async fn diff_of(world: &World, change: impl FnOnce(&World)) -> TreeDiff {
    let engine = world.engine().await;
    let before = snapshot(&engine).await;
    change(world);
    let after = snapshot(&engine).await;
    engine.diff(&before, &after, cx()).await.expect("a diff")
}

fn listed(diff: &TreeDiff) -> Vec<String> {
    diff.files
        .iter()
        .map(|file| {
            let shown = if file.by_name_only {
                " (name only)"
            } else {
                ""
            };
            format!("{} +{} -{}{shown}", file.path, file.added, file.deleted)
        })
        .collect()
}

/// One change of every kind.
async fn every_kind_of_change() -> TreeDiff {
    let world = World::new();
    world.write("gone.txt", "g\n");
    world.write("old name.txt", "1\n2\n3\n4\n5\n6\n");
    world.write("kind", "file\n");
    world.write("mode.sh", "m\n");
    diff_of(&world, |world| {
        world.write("a.txt", "one\ntwo");
        world.remove("gone.txt");
        world.write("new\nline", "--- a/x\n+++ b/x\ndiff --git a/x b/x\n");
        world.remove("old name.txt");
        world.write("new name.txt", "1\n2\n3\n4\n5\n6\n7\n");
        world.remove("kind");
        symlink("a.txt", world.at("kind")).expect("a link");
        world.executable("mode.sh", "m\n");
        world.write("bin", b"\0\x01");
        world.write("ümlaut", "u\n");
    })
    .await
}

#[tokio::test]
async fn lists_every_kind_of_change() {
    let diff = every_kind_of_change().await;
    assert_eq!(
        listed(&diff),
        [
            "a.txt +1 -0",
            "bin +0 -0 (name only)",
            "gone.txt +0 -1",
            "kind +1 -1",
            "mode.sh +0 -0",
            "new\nline +3 -0",
            "new name.txt +1 -0",
            "ümlaut +1 -0",
        ]
    );
}

#[tokio::test]
async fn shows_every_kind_of_change() {
    let diff = every_kind_of_change().await;
    let text = String::from_utf8(diff.patch).expect("text");
    insta::assert_snapshot!(text.replace('\t', "<TAB>"), @r#"
    diff --git a/a.txt b/a.txt
    index 5626abf0f72e..9ed40b442508 100644
    --- a/a.txt
    +++ b/a.txt
    @@ -1 +1,2 @@
     one
    +two
    \ No newline at end of file
    diff --git a/bin b/bin
    new file mode 100644
    index 000000000000..bdc955b7b2e6
    Binary files /dev/null and b/bin differ
    diff --git a/gone.txt b/gone.txt
    deleted file mode 100644
    index 01058d844a98..000000000000
    --- a/gone.txt
    +++ /dev/null
    @@ -1 +0,0 @@
    -g
    diff --git a/kind b/kind
    deleted file mode 100644
    index f73f3093ff86..000000000000
    --- a/kind
    +++ /dev/null
    @@ -1 +0,0 @@
    -file
    diff --git a/kind b/kind
    new file mode 120000
    index 000000000000..8d14cbf983b3
    --- /dev/null
    +++ b/kind
    @@ -0,0 +1 @@
    +a.txt
    \ No newline at end of file
    diff --git a/mode.sh b/mode.sh
    old mode 100644
    new mode 100755
    diff --git "a/new\nline" "b/new\nline"
    new file mode 100644
    index 000000000000..7d5f8ab51ee7
    --- /dev/null
    +++ "b/new\nline"
    @@ -0,0 +1,3 @@
    +--- a/x
    ++++ b/x
    +diff --git a/x b/x
    diff --git a/old name.txt b/new name.txt
    similarity index 85%
    rename from old name.txt
    rename to new name.txt
    index b414108e81e5..06e567b11dfd 100644
    --- a/old name.txt<TAB>
    +++ b/new name.txt<TAB>
    @@ -4,3 +4,4 @@
     4
     5
     6
    +7
    diff --git a/ümlaut b/ümlaut
    new file mode 100644
    index 000000000000..4ae8ef021bf6
    --- /dev/null
    +++ b/ümlaut
    @@ -0,0 +1 @@
    +u
    "#);
}

#[tokio::test]
async fn the_users_configuration_changes_nothing() {
    let plain = World::new();
    let configured = World::new();
    let settings = [
        ("diff.noprefix", "true"),
        ("diff.mnemonicPrefix", "true"),
        ("diff.external", "false"),
        ("diff.algorithm", "patience"),
        ("diff.context", "9"),
        ("diff.interHunkContext", "9"),
        ("diff.renames", "false"),
        ("diff.submodule", "log"),
        ("diff.orderFile", ".git/order"),
        ("diff.colorMoved", "zebra"),
        ("diff.relative", "true"),
        ("diff.suppressBlankEmpty", "true"),
        ("diff.wordRegex", "."),
        ("diff.statNameWidth", "3"),
        ("color.ui", "always"),
        ("core.quotePath", "true"),
        ("core.abbrev", "40"),
        ("core.bigFileThreshold", "1"),
        ("diff.renameLimit", "1"),
        ("diff.indentHeuristic", "false"),
        ("diff.dirstat", "lines"),
        ("core.pager", "false"),
    ];
    for (key, value) in settings {
        configured.git(["config", key, value]);
    }
    configured.write(".git/order", "z*\n");
    configured.write("../attributes", "*.txt -diff\n");
    let attributes = configured.beside("attributes");
    configured.git([
        "config",
        "core.attributesFile",
        attributes.to_str().expect("text"),
    ]);
    let mut diffs = Vec::new();
    for world in [plain, configured] {
        world.write("moved", "1\n2\n3\n4\n");
        world.write(
            "lines.txt",
            "1\n2\n3\n\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n16\n",
        );
        diffs.push(
            diff_of(&world, |world| {
                world.remove("moved");
                world.write("z", "1\n2\n3\n4\n");
                world.write(
                    "lines.txt",
                    "1\n2\n3\n\nfive\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\nlast\n",
                );
                world.write("é", "x\n");
            })
            .await,
        );
    }
    let [plain, configured] =
        [&diffs[0], &diffs[1]].map(|diff| String::from_utf8_lossy(&diff.patch));
    assert_eq!(plain, configured);
    assert_eq!(diffs[0], diffs[1]);
    assert_eq!(listed(&diffs[0]), ["lines.txt +2 -2", "z +0 -0", "é +1 -0"]);
}

#[tokio::test]
async fn generated_files_are_there_by_name() {
    let world = World::new();
    world.write(
        ".gitattributes",
        "api/*.rs linguist-generated\nyarn.lock -linguist-generated\n\
         *.pb.go linguist-generated=true\nkept.min.js linguist-generated=false\n",
    );
    let diff = diff_of(&world, |world| {
        world.write("Cargo.lock", "x\n");
        world.write("yarn.lock", "x\n");
        world.write("api/schema.rs", "x\n");
        world.write("b.pb.go", "x\ny\n");
        world.write("kept.min.js", "x\n");
        world.write("dist.js", "x;".repeat(2000));
        world.write("plain.js", "x;\n".repeat(2000));
        world.write("src.rs", "x;".repeat(2000));
    })
    .await;
    assert_eq!(
        listed(&diff),
        [
            "Cargo.lock +1 -0 (name only)",
            "api/schema.rs +1 -0 (name only)",
            "b.pb.go +2 -0 (name only)",
            "dist.js +1 -0 (name only)",
            "kept.min.js +1 -0",
            "plain.js +2000 -0",
            "src.rs +1 -0",
            "yarn.lock +1 -0",
        ]
    );
    let text = String::from_utf8(diff.patch).expect("text");
    let start: String = text
        .lines()
        .take(4)
        .map(|line| format!("{line}\n"))
        .collect();
    insta::assert_snapshot!(start, @r"
    diff --git a/Cargo.lock b/Cargo.lock
    new file mode 100644
    index 000000000000..587be6b4c3f9
    diff --git a/api/schema.rs b/api/schema.rs
    ");
}

#[tokio::test]
async fn readers_of_patches_find_the_same_files_in_it() {
    let world = World::new();
    world.write("Cargo.lock", "1\n2\n");
    let generated = diff_of(&world, |world| {
        world.write("Cargo.lock", "1\n3\n");
        world.write("go.sum", "1\n");
        world.remove("a.txt");
        world.write("src/a.rs", "1\n");
    })
    .await;
    for diff in [generated, every_kind_of_change().await] {
        // a change of kind is one file here and two entries there
        let mut ours = Vec::new();
        for file in &diff.files {
            let entries = if file.path.as_bytes() == b"kind" {
                2
            } else {
                1
            };
            ours.extend(std::iter::repeat_n(file.path.clone(), entries));
        }
        let parsed = Diff::parse(&diff.patch).expect("it parses").files;
        let names: Vec<_> = parsed
            .iter()
            .filter_map(|file| file.new_path.clone().or_else(|| file.old_path.clone()))
            .collect();
        assert_eq!(names, ours);
        assert!(
            !parsed
                .iter()
                .any(|file| file.status == FileStatus::ModeChanged
                    && file.new_path != Some("mode.sh".into()))
        );
        let others = diffy::patch_set::PatchSet::parse_bytes(
            &diff.patch,
            diffy::patch_set::ParseOptions::gitdiff(),
        );
        let others = others.collect::<Result<Vec<_>, _>>().expect("it parses");
        assert_eq!(others.len(), ours.len());
    }
}

#[tokio::test]
async fn attributes_come_from_the_new_tree_not_from_the_disk() {
    let world = World::new();
    let engine = world.engine().await;
    let before = snapshot(&engine).await;
    world.write(".gitattributes", "gen.txt linguist-generated\n");
    world.write("gen.txt", "x\n");
    let after = snapshot(&engine).await;
    world.remove(".gitattributes");
    let diff = engine.diff(&before, &after, cx()).await.expect("a diff");
    assert_eq!(
        listed(&diff),
        [".gitattributes +1 -0", "gen.txt +1 -0 (name only)"]
    );
}

#[tokio::test]
async fn nothing_changed_and_everything_changed_are_diffs_too() {
    let world = World::new();
    let same = diff_of(&world, |_| {}).await;
    assert_eq!((same.patch.len(), same.files.len()), (0, 0));
    let all = diff_of(&world, |world| world.remove("a.txt")).await;
    assert_eq!(listed(&all), ["a.txt +0 -1"]);
    let odd = diff_of(&world, |world| world.write(name(b"\xff"), "x\n")).await;
    assert_eq!(odd.files[0].path.as_bytes(), b"\xff");
}

#[tokio::test]
async fn a_submodule_is_one_line() {
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
    world.commit_all("with submodule");
    let diff = diff_of(&world, |world| {
        world.git_in(
            &world.at("sub"),
            ["commit", "-q", "--allow-empty", "-m", "s2"],
        );
    })
    .await;
    assert_eq!(listed(&diff), ["sub +1 -1"]);
    let text = String::from_utf8(diff.patch).expect("text");
    assert!(text.contains("+Subproject commit"), "{text}");
}
