//! The one commit of a run: exactly the gated tree, once, whatever happens
//! around it.

use std::sync::{Arc, Mutex};
use xiv_core::port::{CommitProbe, Events, StepContext, StepEvent, Vcs, VcsErrorKind};

use crate::world::{World, branch, cx, name, request, snapshot};

async fn prepared(world: &World) -> xiv_vcs::GitEngine {
    let engine = world.engine().await;
    engine
        .prepare(request("feat/x-1"), cx())
        .await
        .expect("the branch is ready");
    engine
}

#[tokio::test]
async fn commits_the_gated_tree_and_leaves_late_writes_in_the_work_tree() {
    let world = World::new();
    let start = world.commit_of("HEAD");
    let engine = prepared(&world).await;
    world.write("a.txt", "gated\n");
    world.write("new.txt", "gated\n");
    let tree = snapshot(&engine).await;
    world.write("a.txt", "late\n");
    world.write("late.txt", "late\n");
    let plan = world.plan(&tree, &start, "X-1: do it\n\nBecause.");
    assert_eq!(
        engine.probe_commit(&plan, cx()).await.expect("a probe"),
        CommitProbe::Absent
    );
    let made = engine.commit(&plan, cx()).await.expect("a commit");
    assert_eq!(made.warnings, Vec::<String>::new());
    assert_eq!(world.commit_of("feat/x-1"), made.commit);
    assert_eq!(world.tree_of("HEAD"), tree);
    assert_eq!(world.status(), " M a.txt\n?? late.txt");
    assert_eq!(world.read("a.txt"), "late\n");
    insta::assert_snapshot!(world.git(["log", "--format=%an <%ae> %at %ct%n%B%d", "-1"]), @r"
    A U Thor <author@example.com> 1750000000 1750000000
    X-1: do it

    Because.
     (HEAD -> feat/x-1)
    ");
    assert_eq!(world.git(["rev-list", "--count", "HEAD"]), "2");
    assert_eq!(
        world.git(["reflog", "-1", "--format=%gs"]),
        "commit: X-1: do it"
    );
    world.git(["fsck", "--strict"]);
}

#[tokio::test]
async fn a_second_call_finds_the_commit_and_only_completes() {
    let world = World::new();
    let start = world.commit_of("HEAD");
    let engine = prepared(&world).await;
    world.write("new.txt", "gated\n");
    let tree = snapshot(&engine).await;
    let plan = world.plan(&tree, &start, "X-1: do it");
    let first = engine.commit(&plan, cx()).await.expect("a commit").commit;
    // as after a crash between the ref and the index
    world.git(["read-tree", start.as_str()]);
    assert_ne!(world.status(), "");
    let probe = engine.probe_commit(&plan, cx()).await.expect("a probe");
    assert_eq!(probe, CommitProbe::Found(first.clone()));
    let second = engine.commit(&plan, cx()).await.expect("the same commit");
    assert_eq!(second.commit, first);
    assert_eq!(world.status(), "");
    assert_eq!(world.git(["rev-list", "--count", "HEAD"]), "2");
    // a person goes on from there before the redo
    let next = world.commit_all("next");
    let probe = engine.probe_commit(&plan, cx()).await.expect("a probe");
    assert_eq!(probe, CommitProbe::Found(first.clone()));
    let third = engine.commit(&plan, cx()).await.expect("the same commit");
    assert_eq!(third.commit, first);
    assert_eq!(world.commit_of("HEAD"), next);
}

#[tokio::test]
async fn the_agents_own_commits_are_replaced_and_kept() {
    let world = World::new();
    let start = world.commit_of("HEAD");
    let engine = prepared(&world).await;
    world.write("agent.txt", "1\n");
    world.commit_all("agent 1");
    world.write("agent.txt", "2\n");
    let last = world.commit_all("agent 2");
    world.write("more.txt", "not committed\n");
    let tree = snapshot(&engine).await;
    let between = engine
        .commits_between(&start, &last, cx())
        .await
        .expect("commits");
    assert_eq!(between, [world.commit_of("HEAD~1"), last.clone()]);
    let mut plan = world.plan(&tree, &start, "X-1: do it");
    plan.backup_ref = Some("refs/xiv/backup/run/feat/x-1".to_owned());
    let made = engine.commit(&plan, cx()).await.expect("a commit");
    assert_eq!(world.commit_of("HEAD^"), start);
    assert_eq!(world.commit_of("HEAD"), made.commit);
    assert_eq!(world.commit_of("refs/xiv/backup/run/feat/x-1"), last);
    assert_eq!(world.names(&tree), "a.txt\nagent.txt\nmore.txt");
    assert_eq!(world.status(), "");
}

#[tokio::test]
async fn a_branch_that_somebody_moved_is_left_alone() {
    let world = World::new();
    let start = world.commit_of("HEAD");
    let engine = prepared(&world).await;
    world.write("b.txt", "b\n");
    let tree = snapshot(&engine).await;
    let plan = world.plan(&tree, &start, "X-1: do it");
    let other = world.commit_all("somebody else's");
    let probe = engine.probe_commit(&plan, cx()).await.expect("a probe");
    assert_eq!(probe, CommitProbe::Moved(other.clone()));
    let error = engine.commit(&plan, cx()).await.expect_err("it moved");
    assert_eq!(error.kind, VcsErrorKind::RefMoved);
    assert_eq!(world.commit_of("HEAD"), other);
    world.git(["checkout", "-q", "main"]);
    world.git(["branch", "-D", "feat/x-1"]);
    let error = engine
        .probe_commit(&plan, cx())
        .await
        .expect_err("it is gone");
    assert_eq!(error.kind, VcsErrorKind::RefMoved);
}

#[tokio::test]
async fn other_dates_messages_or_trees_are_other_commits() {
    let world = World::new();
    let start = world.commit_of("HEAD");
    let engine = prepared(&world).await;
    world.write("b.txt", "b\n");
    let plan = world.plan(&snapshot(&engine).await, &start, "X-1: do it");
    let made = engine.commit(&plan, cx()).await.expect("a commit").commit;
    let mut others = vec![plan.clone(), plan.clone(), plan.clone()];
    others[0].message = "X-1: do it!".to_owned();
    others[1].date = jiff::Timestamp::from_second(1_750_000_001).expect("a time");
    others[2].tree = world.tree_of("HEAD~1");
    for other in others {
        let probe = engine.probe_commit(&other, cx()).await.expect("a probe");
        assert_eq!(probe, CommitProbe::Moved(made.clone()), "{other:?}");
    }
}

#[tokio::test]
async fn without_an_identity_nothing_changes_and_the_hint_says_what_to_do() {
    let mut world = World::new();
    let start = world.commit_of("HEAD");
    let prepared = prepared(&world).await;
    world.write("b.txt", "b\n");
    let plan = world.plan(&snapshot(&prepared).await, &start, "X-1: do it");
    world
        .environment_mut()
        .set("GIT_CONFIG_GLOBAL", "/dev/null");
    let engine = world.engine().await;
    let failures = [
        engine.commit(&plan, cx()).await.expect_err("nobody"),
        engine
            .prepare(request("feat/y"), cx())
            .await
            .expect_err("nobody"),
    ];
    for error in failures {
        assert_eq!(error.kind, VcsErrorKind::Refused);
        assert!(error.hints[0].contains("user.name"), "{:?}", error.hints);
    }
    assert_eq!(world.commit_of("HEAD"), start);
    assert_eq!(
        world.git(["branch", "--format=%(refname:short)"]),
        "feat/x-1\nmain"
    );
    assert_eq!(world.status(), "?? b.txt");

    for who in ["AUTHOR", "COMMITTER"] {
        let environment = world.environment_mut();
        environment.set(format!("GIT_{who}_NAME"), "N");
        environment.set(format!("GIT_{who}_EMAIL"), "n@example.com");
    }
    let engine = world.engine().await;
    engine.commit(&plan, cx()).await.expect("a commit");
}

#[tokio::test]
async fn conflicts_left_in_the_index_do_not_survive_the_commit() {
    let world = World::new();
    world.git(["checkout", "-q", "-b", "other"]);
    world.write("a.txt", "theirs\n");
    world.commit_all("theirs");
    world.git(["checkout", "-q", "main"]);
    let start = world.commit_of("HEAD");
    let engine = prepared(&world).await;
    world.write("a.txt", "ours\n");
    let merge = world.try_git_in(
        world.root(),
        &[],
        ["checkout", "-q", "-m", "other", "--", "a.txt"],
    );
    let _conflicted = merge.status;
    world.git(["update-index", "--force-remove", "a.txt"]);
    let stages = format!(
        "100644 {} 2\ta.txt\n100644 {} 3\ta.txt\n",
        world.git(["rev-parse", "main:a.txt"]),
        world.git(["rev-parse", "other:a.txt"])
    );
    let info = world.beside("stages");
    std::fs::write(&info, stages).expect("a file");
    let fed = std::process::Command::new("git")
        .args(["update-index", "--index-info"])
        .current_dir(world.root())
        .stdin(std::fs::File::open(&info).expect("the file"))
        .status()
        .expect("git runs");
    assert!(fed.success());
    assert!(world.status().contains("a.txt"));
    world.write("a.txt", "resolved\n");
    let tree = snapshot(&engine).await;
    let plan = world.plan(&tree, &start, "X-1: do it");
    let made = engine.commit(&plan, cx()).await.expect("a commit");
    assert_eq!(made.warnings, Vec::<String>::new());
    assert_eq!(world.status(), "");
}

#[tokio::test]
async fn an_unfinished_operation_is_not_committed_into() {
    let world = World::new();
    let start = world.commit_of("HEAD");
    let engine = prepared(&world).await;
    world.write("b.txt", "b\n");
    let plan = world.plan(&snapshot(&engine).await, &start, "X-1: do it");
    world.git(["branch", "other"]);
    world.git(["bisect", "start"]);
    let error = engine.commit(&plan, cx()).await.expect_err("a bisection");
    assert_eq!(error.kind, VcsErrorKind::OperationInProgress);
    assert_eq!(world.commit_of("HEAD"), start);
    world.git(["bisect", "reset"]);
    engine.commit(&plan, cx()).await.expect("a commit");
}

#[tokio::test]
async fn a_locked_index_is_a_warning_and_the_lock_stays() {
    let world = World::new();
    let start = world.commit_of("HEAD");
    let engine = prepared(&world).await;
    world.write("b.txt", "b\n");
    let plan = world.plan(&snapshot(&engine).await, &start, "X-1: do it");
    world.write(".git/index.lock", "");
    let made = engine.commit(&plan, cx()).await.expect("a commit");
    assert_eq!(made.warnings.len(), 1, "{:?}", made.warnings);
    assert!(world.at(".git/index.lock").exists());
    assert_eq!(world.commit_of("HEAD"), made.commit);
}

#[tokio::test]
async fn head_on_another_branch_keeps_its_index() {
    let world = World::new();
    let start = world.commit_of("HEAD");
    let engine = prepared(&world).await;
    world.write("b.txt", "b\n");
    let plan = world.plan(&snapshot(&engine).await, &start, "X-1: do it");
    world.git(["checkout", "-q", "main"]);
    let index = world.index_bytes();
    let made = engine.commit(&plan, cx()).await.expect("a commit");
    assert_eq!(made.warnings.len(), 1);
    assert_eq!(world.index_bytes(), index);
    assert_eq!(world.commit_of("feat/x-1"), made.commit);
    assert_eq!(world.commit_of("main"), start);
}

#[tokio::test]
async fn the_message_hook_may_edit_refuse_and_touch_files_but_not_the_commit() {
    let world = World::new();
    let start = world.commit_of("HEAD");
    let engine = prepared(&world).await;
    for message in ["X-1: do it", "X-1: do it\n\nBody\n"] {
        let plain = engine
            .final_message(message, cx())
            .await
            .expect("a message");
        assert_eq!(plain, message, "without a hook it stays as it is");
    }

    world.executable(
        ".git/hooks/commit-msg",
        "#!/bin/sh\nprintf '\\n\\n\\nChange-Id: I1  \\n' >>\"$1\"\necho sneaky >sneaky.txt\ngit add sneaky.txt\n",
    );
    world.write("b.txt", "b\n");
    let tree = snapshot(&engine).await;
    let index = world.index_bytes();
    let warnings = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&warnings);
    let noisy: StepContext = cx().with_events(Events::new(move |event| {
        if let StepEvent::Warning { message } = event {
            sink.lock().expect("not poisoned").push(message);
        }
    }));
    let message = engine
        .final_message("X-1: do it", noisy)
        .await
        .expect("a message");
    assert_eq!(message, "X-1: do it\n\nChange-Id: I1\n");
    assert_eq!(warnings.lock().expect("not poisoned").len(), 1);
    assert_eq!(
        world.index_bytes(),
        index,
        "the hook's `git add` hit a copy"
    );
    let plan = world.plan(&tree, &start, &message);
    engine.commit(&plan, cx()).await.expect("a commit");
    assert_eq!(world.tree_of("HEAD"), tree);
    assert_eq!(world.status(), "?? sneaky.txt");

    for (hook, why) in [
        ("#!/bin/sh\necho 'no ticket' >&2\nexit 1\n", "no ticket"),
        ("#!/bin/sh\n: >\"$1\"\n", ""),
    ] {
        world.executable(".git/hooks/commit-msg", hook);
        let error = engine
            .final_message("X-1: do it", cx())
            .await
            .expect_err("refused");
        assert_eq!(error.kind, VcsErrorKind::Rejected);
        let cause = error
            .source
            .map_or_else(String::new, |cause| cause.to_string());
        assert_eq!(cause, why);
    }
}

#[tokio::test]
async fn hooks_are_found_where_the_configuration_says() {
    let world = World::new();
    let engine = world.engine().await;
    world.executable("hooks/commit-msg", "#!/bin/sh\necho hooked >\"$1\"\n");
    world.git(["config", "core.hooksPath", "hooks"]);
    let message = engine.final_message("X", cx()).await.expect("a message");
    assert_eq!(message, "hooked\n");
}

#[tokio::test]
async fn commits_are_signed_when_the_user_signs() {
    let world = World::new();
    let start = world.commit_of("HEAD");
    let engine = prepared(&world).await;
    world.executable(
        "../signer",
        "#!/bin/sh\ncat >/dev/null\necho '[GNUPG:] SIG_CREATED ' >&2\n\
         printf -- '-----BEGIN PGP SIGNATURE-----\\nfake\\n-----END PGP SIGNATURE-----\\n'\n",
    );
    let signer = world.beside("signer");
    world.git(["config", "gpg.program", signer.to_str().expect("text")]);
    world.git(["config", "commit.gpgsign", "true"]);
    world.write("b.txt", "b\n");
    let plan = world.plan(&snapshot(&engine).await, &start, "X-1: do it");
    let made = engine.commit(&plan, cx()).await.expect("a commit").commit;
    let raw = world.git(["cat-file", "-p", made.as_str()]);
    assert!(
        raw.contains("gpgsig -----BEGIN PGP SIGNATURE-----"),
        "{raw}"
    );
    let probe = engine.probe_commit(&plan, cx()).await.expect("a probe");
    assert_eq!(probe, CommitProbe::Found(made));

    world.executable("../signer", "#!/bin/sh\necho 'no key' >&2\nexit 2\n");
    let head = world.commit_of("HEAD");
    world.write("c.txt", "c\n");
    let plan = world.plan(&snapshot(&engine).await, &head, "X-1: again");
    let error = engine
        .commit(&plan, cx())
        .await
        .expect_err("it cannot be signed");
    assert_eq!(error.kind, VcsErrorKind::Program);
    assert_eq!(world.commit_of("HEAD"), head);
}

#[tokio::test]
async fn a_work_tree_of_its_own_is_committed_in() {
    let world = World::with_format("sha256");
    world.write("a.txt", "one\n");
    let start = world.commit_all("first");
    let engine = world.engine().await;
    let mut request = request("feat/x-1");
    let odd = world.root().with_file_name(name(b"odd \xff\n"));
    request.isolate = Some(odd.clone());
    let ready = engine.prepare(request, cx()).await.expect("it is ready");
    assert_eq!(ready.root, odd);
    let there = engine.at(&ready.root).expect("it opens");
    world.executable(".git/hooks/commit-msg", "#!/bin/sh\necho hooked >\"$1\"\n");
    let message = there.final_message("X-1", cx()).await.expect("a message");
    assert_eq!(message, "hooked\n");
    std::fs::write(ready.root.join("b.txt"), "b\n").expect("a file");
    let tree = snapshot(&*there).await;
    let mut plan = world.plan(&tree, &start, "X-1: do it");
    plan.branch = branch("feat/x-1");
    let made = there.commit(&plan, cx()).await.expect("a commit");
    assert_eq!(made.warnings, Vec::<String>::new());
    assert_eq!(world.commit_of("feat/x-1"), made.commit);
    assert_eq!(world.git_in(&ready.root, ["status", "--porcelain"]), "");
    assert_eq!(world.status(), "");
}
