//! A snapshot is the tree that `git add --all` would make, and nothing of the
//! repository's own state changes by taking it.

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::net::UnixListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use xiv_core::port::{Vcs as _, VcsErrorKind};

use crate::world::{World, cx, name, snapshot};

/// A name, and what is done to a furnished repository.
type Case = (&'static str, fn(&World));

/// Work trees in which git's own `add --all` does the right thing.
const CASES: &[Case] = &[
    ("clean", |_| {}),
    ("modified", |w| w.write("a.txt", "two\n")),
    ("untracked", |w| w.write("new/deep/b.txt", "b\n")),
    ("deleted", |w| w.remove("a.txt")),
    ("all deleted", |w| {
        w.remove("a.txt");
        w.remove("dir");
        w.remove("run.sh");
        w.remove("link");
    }),
    ("staged", |w| {
        w.write("a.txt", "staged\n");
        w.git(["add", "a.txt"]);
    }),
    ("staged, then changed", |w| {
        w.write("a.txt", "staged\n");
        w.git(["add", "a.txt"]);
        w.write("a.txt", "later\n");
    }),
    ("staged, then deleted", |w| {
        w.write("s.txt", "staged\n");
        w.git(["add", "s.txt"]);
        w.remove("s.txt");
    }),
    ("removed from the index only", |w| {
        w.git(["rm", "-q", "--cached", "a.txt"]);
    }),
    ("intent to add", |w| {
        w.write("i.txt", "i\n");
        w.git(["add", "-N", "i.txt"]);
    }),
    ("intent to add, deleted", |w| {
        w.write("i.txt", "i\n");
        w.git(["add", "-N", "i.txt"]);
        w.remove("i.txt");
    }),
    ("file becomes folder", |w| {
        w.remove("a.txt");
        w.write("a.txt/inner", "x\n");
    }),
    ("folder becomes file", |w| {
        w.remove("dir");
        w.write("dir", "x\n");
    }),
    ("folder becomes link", |w| {
        w.remove("dir");
        symlink("a.txt", w.at("dir")).expect("a link");
    }),
    ("link becomes file", |w| {
        w.remove("link");
        w.write("link", "a.txt");
    }),
    ("dangling link", |w| {
        symlink("nowhere", w.at("dangling")).expect("a link");
    }),
    ("executable bit on", |w| w.executable("a.txt", "one\n")),
    ("executable bit off", |w| {
        let mode = std::fs::Permissions::from_mode(0o644);
        std::fs::set_permissions(w.at("run.sh"), mode).expect("the mode is set");
    }),
    ("fileMode off", |w| {
        w.git(["config", "core.fileMode", "false"]);
        w.executable("a.txt", "other\n");
    }),
    ("ignored", |w| {
        w.write(".gitignore", "*.log\n/out/\n!keep.log\n");
        w.write("x.log", "x");
        w.write("keep.log", "k");
        w.write("out/y", "y");
    }),
    ("ignored in a subfolder and by info/exclude", |w| {
        w.write("dir/.gitignore", "*\n!wanted\n");
        w.write("dir/unwanted", "x");
        w.write("dir/wanted", "x");
        w.write(".git/info/exclude", "secret\n");
        w.write("secret", "x");
    }),
    ("tracked although ignored", |w| {
        w.write(".gitignore", "a.txt\ndir/\n");
        w.write("a.txt", "changed\n");
        w.write("dir/b.txt", "changed\n");
    }),
    ("odd names", |w| {
        w.write(name(b"not-utf8-\xff\xfe"), "1");
        w.write("new\nline", "2");
        w.write("quo\"te\\back", "3");
        w.write("*[glob]?", "4");
        w.write(":(exclude)magic", "5");
        w.write("-dash", "6");
        w.write(" space ", "7");
    }),
    ("carriage returns with autocrlf", |w| {
        w.git(["config", "core.autocrlf", "true"]);
        w.write("crlf.txt", "a\r\nb\r\n");
    }),
    ("mixed line ends with safecrlf=warn", |w| {
        w.git(["config", "core.autocrlf", "true"]);
        w.git(["config", "core.safecrlf", "warn"]);
        w.write("mixed.txt", "a\r\nb\n");
    }),
    ("attributes and a clean filter", |w| {
        w.git(["config", "filter.up.clean", "tr a-z A-Z"]);
        w.write(".gitattributes", "*.up filter=up\n*.txt text eol=lf\n");
        w.write("shout.up", "quiet\n");
        w.write("eol.txt", "a\r\n");
    }),
    ("ident and encoding", |w| {
        w.write(
            ".gitattributes",
            "id ident\nwide working-tree-encoding=UTF-16LE-BOM\n",
        );
        w.write("id", "$Id: 123 $\n");
        w.write("wide", b"\xff\xfea\0\n\0");
    }),
    ("index version 4", |w| {
        w.git(["update-index", "--index-version", "4"]);
        w.write("a.txt", "two\n");
    }),
    ("split index", |w| {
        w.git(["update-index", "--split-index"]);
        w.write("a.txt", "two\n");
        w.git(["add", "a.txt"]);
        w.write("n.txt", "n\n");
    }),
    ("untracked cache", |w| {
        w.git(["update-index", "--force-untracked-cache"]);
        w.git(["status"]);
        w.write("dir/n.txt", "n\n");
    }),
    ("unmerged", |w| {
        w.git(["checkout", "-q", "-b", "other"]);
        w.write("a.txt", "theirs\n");
        w.commit_all("theirs");
        w.git(["checkout", "-q", "main"]);
        w.write("a.txt", "ours\n");
        w.commit_all("ours");
        let merge = w.try_git_in(w.root(), &[], ["merge", "-q", "other"]);
        assert!(!merge.status.success(), "the merge conflicts");
    }),
    ("nested repository", |w| {
        w.write("nested/x", "x\n");
        let nested = w.at("nested");
        w.git_in(&nested, ["init", "-q"]);
        w.git_in(&nested, ["add", "x"]);
        w.git_in(&nested, ["commit", "-q", "-m", "nested"]);
    }),
    ("submodule at another commit, dirty inside", |w| {
        let sub = w.beside("sub-origin");
        std::fs::create_dir(&sub).expect("a folder");
        w.git_in(&sub, ["init", "-q"]);
        w.git_in(&sub, ["commit", "-q", "--allow-empty", "-m", "s1"]);
        w.git([
            "submodule".as_ref(),
            "--quiet".as_ref(),
            "add".as_ref(),
            sub.as_os_str(),
            "sub".as_ref(),
        ]);
        w.commit_all("with submodule");
        w.git_in(&w.at("sub"), ["commit", "-q", "--allow-empty", "-m", "s2"]);
        w.write("sub/dirt", "x");
    }),
    ("sparse checkout", |w| {
        w.git(["sparse-checkout", "set", "--cone", "dir"]);
        w.write("dir/b.txt", "changed\n");
    }),
    ("sparse index", |w| {
        w.git(["sparse-checkout", "set", "--cone", "--sparse-index", "none"]);
        w.write("a.txt", "changed\n");
    }),
    ("sparse checkout without cone", |w| {
        w.git(["sparse-checkout", "set", "--no-cone", "/dir/"]);
        w.write("dir/b.txt", "changed\n");
        w.write("dir/new", "new\n");
    }),
    ("a tracked xiv.toml", |w| {
        w.write("xiv.toml", "base = \"main\"\n");
        w.commit_all("config");
        w.write("xiv.toml", "base = \"dev\"\n");
    }),
    ("long paths and many files", |w| {
        let long = "d".repeat(200);
        for n in 0..40 {
            w.write(format!("{long}/{n}/{long}"), n.to_string());
        }
    }),
];

fn furnished() -> World {
    let world = World::unborn();
    world.write("a.txt", "one\n");
    world.write("dir/b.txt", "b\n");
    world.write("dir/sub/c.txt", "c\n");
    world.executable("run.sh", "#!/bin/sh\n");
    symlink("a.txt", world.at("link")).expect("a link");
    world.commit_all("first");
    world
}

#[tokio::test]
async fn equals_add_all_and_leaves_the_index_alone() {
    for (case, change) in CASES {
        let world = furnished();
        change(&world);
        let engine = world.engine().await;
        let index = world.index_bytes();
        let tree = snapshot(&engine).await;
        assert_eq!(index, world.index_bytes(), "{case}: the index was touched");
        assert_eq!(tree, world.tree_by_the_book(&[]), "{case}");
    }
}

#[tokio::test]
async fn works_in_sha256_repositories_and_linked_work_trees() {
    let world = World::with_format("sha256");
    world.write("a.txt", "one\n");
    world.commit_all("first");
    world.write("b.txt", "two\n");
    let engine = world.engine().await;
    assert_eq!(engine.caps().object_format, "sha256");
    let tree = snapshot(&engine).await;
    assert_eq!(tree.as_str().len(), 64);
    assert_eq!(tree, world.tree_by_the_book(&[]));

    let linked = world.beside("linked");
    world.git([
        "worktree".as_ref(),
        "add".as_ref(),
        "-q".as_ref(),
        "--detach".as_ref(),
        linked.as_os_str(),
    ]);
    std::fs::write(linked.join("c.txt"), "c\n").expect("a file");
    let there = engine.at(&linked).expect("the work tree opens");
    assert_eq!(world.names(&snapshot(&*there).await), "a.txt\nc.txt");
    assert_eq!(snapshot(&engine).await, tree, "the main one is unaffected");
}

#[tokio::test]
async fn an_unborn_repository_has_a_tree_too() {
    let world = World::unborn();
    let engine = world.engine().await;
    let empty = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
    assert_eq!(snapshot(&engine).await.as_str(), empty);
    world.write("a", "a");
    assert_eq!(world.names(&snapshot(&engine).await), "a");
    assert_eq!(world.index_bytes(), b"");
}

#[tokio::test]
async fn same_size_edits_in_the_same_second_are_seen() {
    let world = furnished();
    let engine = world.engine().await;
    for round in 0..8 {
        world.write("a.txt", format!("{round}..\n"));
        world.git(["add", "a.txt"]);
        let before = snapshot(&engine).await;
        world.write("a.txt", format!("{round}!!\n"));
        assert_ne!(snapshot(&engine).await, before, "round {round}");
    }
}

#[tokio::test]
async fn own_files_stay_out_while_untracked() {
    let world = furnished();
    let engine = world.engine().await;
    let clean = snapshot(&engine).await;
    world.write("xiv.toml", "base = \"main\"\n");
    world.write(".xiv/issues/A-1.md", "# One\n");
    assert_eq!(snapshot(&engine).await, clean);
    world.git(["add", ".xiv/issues/A-1.md"]);
    world.write(".xiv/issues/A-1.md", "# Two\n");
    world.write(".xiv/issues/A-2.md", "# Untracked\n");
    world.write("sub/xiv.toml", "x");
    let tree = snapshot(&engine).await;
    let names = world.names(&tree);
    assert!(names.contains(".xiv/issues/A-1.md"), "{names}");
    assert!(names.contains("sub/xiv.toml"), "{names}");
    assert!(
        !names.contains("A-2.md") && !names.starts_with("xiv.toml"),
        "{names}"
    );
    let issue = world.git(["cat-file", "-p", &format!("{tree}:.xiv/issues/A-1.md")]);
    assert_eq!(issue, "# Two");
    world.remove(".xiv/issues/A-1.md");
    assert_eq!(world.tree_of("HEAD"), clean);
    let without = world.names(&snapshot(&engine).await);
    assert!(!without.contains(".xiv"), "{without}");
}

#[tokio::test]
async fn bits_in_the_index_hide_no_edit() {
    let world = furnished();
    world.git(["update-index", "--assume-unchanged", "a.txt", "run.sh"]);
    world.git(["update-index", "--skip-worktree", "dir/b.txt"]);
    let engine = world.engine().await;
    let clean = engine.state(cx()).await.expect("a state");
    assert_eq!(clean.dirty, []);
    world.write("a.txt", "hidden\n");
    world.write("dir/b.txt", "hidden too\n");
    world.remove("run.sh");
    assert_eq!(world.status(), "", "git itself sees nothing");
    let index = world.index_bytes();
    let tree = snapshot(&engine).await;
    assert_eq!(
        world.git(["cat-file", "-p", &format!("{tree}:a.txt")]),
        "hidden"
    );
    assert_eq!(
        world.git(["cat-file", "-p", &format!("{tree}:dir/b.txt")]),
        "hidden too"
    );
    assert!(!world.names(&tree).contains("run.sh"));
    let state = engine.state(cx()).await.expect("a state");
    assert_eq!(
        state.dirty,
        ["a.txt".into(), "dir/b.txt".into(), "run.sh".into()]
    );
    assert_eq!(index, world.index_bytes());
}

#[tokio::test]
async fn a_skipped_file_that_is_not_there_stays_in_the_tree() {
    let world = furnished();
    world.git(["update-index", "--skip-worktree", "dir/b.txt"]);
    world.remove("dir/b.txt");
    let engine = world.engine().await;
    assert_eq!(snapshot(&engine).await, world.tree_of("HEAD"));
}

#[tokio::test]
async fn what_git_cannot_store_is_named_and_the_rest_is_taken() {
    let world = furnished();
    world.write("b.txt", "b\n");
    world.write("empty-repo/x", "x");
    world.git_in(&world.at("empty-repo"), ["init", "-q"]);
    world.remove("a.txt");
    let _socket = UnixListener::bind(world.at("a.txt")).expect("a socket");
    let engine = world.engine().await;
    let taken = engine.snapshot(cx()).await.expect("a snapshot");
    let names = world.names(&taken.tree);
    assert_eq!(names, "b.txt\ndir/b.txt\ndir/sub/c.txt\nlink\nrun.sh");
    let skipped: Vec<_> = taken
        .skipped
        .iter()
        .map(|(path, why)| format!("{path}: {why}"))
        .collect();
    assert_eq!(
        skipped,
        [
            "a.txt: a socket",
            "empty-repo/: a nested repository without a commit"
        ]
    );
}

#[tokio::test]
async fn a_file_outside_the_sparse_cone_is_taken() {
    let world = furnished();
    world.git(["sparse-checkout", "set", "--cone", "dir"]);
    world.write("other/x.txt", "x\n");
    let engine = world.engine().await;
    let tree = snapshot(&engine).await;
    assert_eq!(tree, world.tree_by_the_book(&["--sparse"]));
    assert!(world.names(&tree).contains("other/x.txt"));
}

#[tokio::test]
async fn a_filter_that_fails_is_an_error_and_not_an_old_tree() {
    let world = furnished();
    world.git(["config", "filter.broken.clean", "false"]);
    world.git(["config", "filter.broken.required", "true"]);
    world.write(".gitattributes", "*.big filter=broken\n");
    world.write("x.big", "x");
    let engine = world.engine().await;
    let error = engine.snapshot(cx()).await.expect_err("it cannot be taken");
    assert_eq!(error.kind, VcsErrorKind::Program);
    assert_eq!(error.to_string(), "the work tree cannot be put into a tree");
    let failed = error.source.expect("git's error");
    let words = failed.source().expect("git's words").to_string();
    assert!(
        words.contains("x.big: clean filter 'broken' failed"),
        "{words}"
    );
}

#[tokio::test]
async fn hooks_do_not_run_and_nothing_is_left_behind() {
    let world = furnished();
    world.executable(
        ".git/hooks/post-index-change",
        "#!/bin/sh\ntouch hook-ran\n",
    );
    world.write("a.txt", "two\n");
    let engine = world.engine().await;
    let before = listing(&world);
    snapshot(&engine).await;
    assert_eq!(listing(&world), before);
}

/// Everything in the repository but its objects.
fn listing(world: &World) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![world.root().to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in folder.read_dir().expect("it can be listed") {
            let path = entry.expect("it can be read").path();
            if path.is_dir() && !path.ends_with(".git/objects") {
                folders.push(path.clone());
            }
            found.push(path.display().to_string());
        }
    }
    found.sort();
    found
}

#[tokio::test]
async fn runs_during_somebody_elses_index_lock() {
    let world = furnished();
    world.write(".git/index.lock", "");
    world.write("b.txt", "b\n");
    let engine = world.engine().await;
    assert!(world.names(&snapshot(&engine).await).contains("b.txt"));
    assert!(
        world.at(".git/index.lock").exists(),
        "it is not ours to remove"
    );
}

#[tokio::test]
async fn files_that_come_and_go_meanwhile_are_no_error() {
    let world = furnished();
    let engine = world.engine().await;
    let stop = Arc::new(AtomicBool::new(false));
    let (seen, folder) = (Arc::clone(&stop), world.at("busy"));
    let writer = std::thread::spawn(move || {
        std::fs::create_dir_all(&folder).expect("a folder");
        for n in (0..50).cycle() {
            let path = folder.join(n.to_string());
            std::fs::write(&path, "x").expect("a file");
            std::fs::remove_file(folder.join(((n + 25) % 50).to_string())).ok();
            // as fast as a busy build, not as fast as a loop can spin: then
            // hardly any listing of a folder is still true when it is read
            std::thread::sleep(Duration::from_millis(2));
            if seen.load(Ordering::Relaxed) {
                return;
            }
        }
    });
    for _ in 0..15 {
        let names = world.names(&snapshot(&engine).await);
        assert!(names.contains("dir/sub/c.txt"), "{names}");
    }
    stop.store(true, Ordering::Relaxed);
    writer.join().expect("the writer ends");
}

#[tokio::test]
async fn repositories_variables_of_the_caller_do_not_count() {
    let mut world = furnished();
    let elsewhere = world.beside("elsewhere");
    let environment = world.environment_mut();
    environment.set("GIT_DIR", &elsewhere);
    environment.set("GIT_INDEX_FILE", elsewhere.join("index"));
    let cleaned = environment.clone().without_git();
    environment.remove("GIT_DIR");
    environment.remove("GIT_INDEX_FILE");
    let options = world
        .options()
        .with_environment(cleaned.with("GIT_CONFIG_GLOBAL", world.beside("gitconfig")));
    let engine = xiv_vcs::GitEngine::open(world.root(), options)
        .await
        .expect("it opens");
    assert_eq!(snapshot(&engine).await, world.tree_of("HEAD"));
}
