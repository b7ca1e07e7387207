//! `xiv implement` with the scripted agent: the story, the stream of JSON, and
//! what is on disk afterwards.

use serde_json::Value;

use crate::environment::{ISSUE, Ran, THREE_PASSES, TestEnvironment, scripted};

/// The event types of a stream, in order.
fn kinds(lines: &[Value]) -> Vec<&str> {
    lines
        .iter()
        .filter(|line| line["type"] == "event")
        .map(|line| line["event"]["type"].as_str().expect("a type"))
        .collect()
}

#[test]
fn the_whole_story_in_words() {
    let world = scripted(THREE_PASSES);
    insta::assert_snapshot!(world.whole(&["implement", "T-1"]));
    assert_eq!(world.git(&["symbolic-ref", "--short", "HEAD"]), "feat/t-1");
    assert_eq!(world.git(&["show", "feat/t-1:hello.txt"]), "hello world");
    assert_eq!(world.git(&["rev-list", "--count", "main..feat/t-1"]), "1");
    // xiv's own files are in no commit
    assert_eq!(
        world.git(&["ls-tree", "-r", "--name-only", "feat/t-1"]),
        "hello.txt\ntest.sh"
    );
}

#[test]
fn the_stream_is_complete_and_ends_in_the_result() {
    let world = scripted(THREE_PASSES);
    let ran = world.xiv(&["li", "T-1", "--json"]).exits(0);
    let lines = ran.lines();
    let (last, before) = lines.split_last().expect("lines");
    assert_eq!(last["type"], "result");
    assert_eq!(last["exitCode"], 0);
    assert_eq!(last["output"]["outcome"], "done");
    assert_eq!(last["output"]["reviewVerdict"], "approve");
    assert_eq!(last["output"]["knownGaps"][0]["severity"], "nit");
    assert_eq!(last["output"]["branch"], "feat/t-1");
    assert_eq!(
        last["output"]["headSha"],
        world.git(&["rev-parse", "feat/t-1"])
    );
    let seqs: Vec<u64> = before
        .iter()
        .filter(|line| line["type"] == "event")
        .map(|line| line["seq"].as_u64().expect("a number"))
        .collect();
    assert_eq!(seqs, (1..=seqs.len() as u64).collect::<Vec<_>>());
    assert!(
        before
            .iter()
            .all(|line| line["run"] == last["output"]["runId"])
    );
    let kinds = kinds(before);
    assert_eq!(kinds.first(), Some(&"runStarted"));
    assert_eq!(kinds.last(), Some(&"runFinished"));
    assert_eq!(
        kinds.iter().filter(|kind| **kind == "passJudged").count(),
        3
    );

    // the record is what was streamed
    let run = last["output"]["runId"].as_str().expect("an id");
    let log = world
        .xiv(&["run", "log", run, "--json"])
        .exits(0)
        .document();
    let recorded: Vec<&Value> = log.as_array().expect("a list").iter().collect();
    let streamed: Vec<&Value> = before
        .iter()
        .filter(|line| line["type"] == "event")
        .collect();
    assert_eq!(recorded.len(), streamed.len());
    for (recorded, streamed) in recorded.iter().zip(streamed) {
        for key in ["seq", "at", "event"] {
            assert_eq!(recorded[key], streamed[key]);
        }
    }
}

#[test]
fn the_feedback_of_a_pass_is_in_the_next_prompt() {
    let world = TestEnvironment::with_repo(&[("test.sh", "test -f hello.txt\n")]);
    world.write("repo/.xiv/issues/T-1.md", ISSUE);
    world.write(
        "agent.sh",
        r#"
cat > "$LOG/$XIV_ROLE-${XIV_PASS:-0}.prompt"
case "$XIV_ROLE" in
plan) echo '{"summary": "s", "steps": ["one"]}' ;;
implement) echo "$XIV_PASS" >> hello.txt; echo '{"summary": "did it"}' ;;
review)
    if [ "$XIV_PASS" = 1 ]; then verdict=request_changes; else verdict=approve; fi
    printf '{"verdict": "%s", "summary": "sum-of-%s", "findings": [{"id": "f", "severity": "high", "title": "title-of-%s", "body": "body-of-%s", "path": "hello.txt", "line": 1}]}\n' \
        "$verdict" "$XIV_PASS" "$XIV_PASS" "$XIV_PASS" ;;
esac
"#,
    );
    let agent = world.path("agent.sh").display().to_string();
    world.write(
        "repo/xiv.toml",
        &format!(
            "{}[agents.mine]\ncommand = [\"sh\", \"{agent}\"]\n",
            crate::environment::config("command:mine")
        ),
    );
    std::fs::create_dir(world.path("prompts")).expect("a folder");
    let ran = world
        .command(&["implement", "T-1", "--json"])
        .env("LOG", world.path("prompts"))
        .output();
    let last = Ran::of(ran.expect("the binary starts")).exits(0).last();
    assert_eq!(last["output"]["passes"], 2);
    let first = world.read("prompts/implement-1.prompt");
    let second = world.read("prompts/implement-2.prompt");
    assert!(!first.contains("body-of-1"), "{first}");
    for word in [
        "sum-of-1",
        "title-of-1",
        "body-of-1",
        "hello.txt:1",
        "Say it.",
    ] {
        assert!(second.contains(word), "{word} is missing in {second}");
    }
    assert_eq!(last["output"]["knownGaps"][0]["title"], "title-of-2");
}

#[test]
fn the_cap_is_said_when_it_was_clamped() {
    let world = scripted(THREE_PASSES);
    let ran = world
        .xiv(&["implement", "T-1", "--max-iterations", "-1"])
        .exits(1);
    assert!(
        ran.stderr.contains("-1 passes asked for; 1 will be used"),
        "{ran:?}"
    );
    assert!(ran.stdout.contains("capped"), "{ran:?}");
    // the last attempt is committed all the same
    assert_eq!(world.git(&["show", "feat/t-1:hello.txt"]), "good day");
}

#[test]
fn a_skipped_review_leaves_the_decision_to_validation() {
    let world = scripted(THREE_PASSES);
    let ran = world
        .xiv(&["implement", "T-1", "--skip-acceptance-review", "--json"])
        .exits(0);
    assert_eq!(ran.last()["output"]["passes"], 2);
    assert!(kinds(&ran.lines()).contains(&"reviewSkipped"));
}

#[test]
fn a_work_tree_of_its_own_leaves_mine_alone() {
    let world = scripted(THREE_PASSES);
    world.write("repo/mine.txt", "not committed\n");
    let ran = world
        .xiv(&["implement", "T-1", "--worktree", "--json"])
        .exits(0);
    let tree = ran.last()["output"]["worktree"]
        .as_str()
        .expect("a path")
        .to_owned();
    assert_eq!(
        tree,
        world
            .path("xiv/worktrees/repo-feat-t-1")
            .display()
            .to_string()
    );
    assert_eq!(
        world.read("xiv/worktrees/repo-feat-t-1/hello.txt"),
        "hello world\n"
    );
    assert_eq!(world.git(&["symbolic-ref", "--short", "HEAD"]), "main");
    assert!(!world.path("repo/hello.txt").exists());
    assert_eq!(world.read("repo/mine.txt"), "not committed\n");
}

#[test]
fn an_issue_can_be_handed_in() {
    let world = scripted(THREE_PASSES);
    world.write(
        "issue.json",
        r#"{"key": "J-7", "title": "From a script", "acceptanceCriteria": ["It works"]}"#,
    );
    let file = world.path("issue.json").display().to_string();
    let ran = world
        .xiv(&["implement", "J-7", "--issue-file", &file, "--json"])
        .exits(0);
    let output = ran.last()["output"].clone();
    assert_eq!(output["branch"], "feat/j-7");
    assert_eq!(output["title"], "From a script");
    assert_eq!(output["acceptanceCriteria"][0], "It works");
}

#[test]
fn a_run_that_stands_keeps_its_tree_and_branch() {
    let world = scripted(
        r#"
[[turn]]
role = "plan"
fail = "quota"
"#,
    );
    let first = world.xiv(&["implement", "T-1", "--json"]);
    let first = first.exits(7).last();
    assert_eq!(first["output"]["outcome"], "paused", "{first}");
    let run = first["output"]["runId"].as_str().expect("an id");
    let second = world.xiv(&["implement", "T-1"]).exits(4);
    assert!(
        second.stderr.contains(&format!("xiv run resume {run}")),
        "{second:?}"
    );
    assert!(
        second.stderr.contains(&format!("xiv run cancel {run}")),
        "{second:?}"
    );
    assert!(second.stderr.contains("--worktree"), "{second:?}");
    // the refused one left no trace
    let runs = world.xiv(&["runs", "--json"]).exits(0).document();
    assert_eq!(runs.as_array().map(Vec::len), Some(1));

    world.xiv(&["run", "cancel", run]).exits(0);
    world.write("agent.toml", THREE_PASSES);
    world.xiv(&["implement", "T-1"]).exits(0);
}

#[test]
fn a_gate_stops_for_a_person_and_resuming_answers_it() {
    let world = scripted(THREE_PASSES);
    let first = world
        .xiv(&["implement", "T-1", "--gate", "--json"])
        .exits(6)
        .last();
    assert_eq!(first["output"]["outcome"], "awaitingHuman");
    // my own edit stays and counts
    world.write("repo/hello.txt", "hello from me\n");
    let second = world
        .xiv(&["run", "resume", "--note", "be friendlier", "--json"])
        .exits(6);
    assert!(
        kinds(&second.lines()).contains(&"gateAnswered"),
        "{second:?}"
    );
    let prompts = second.lines();
    let judged = prompts
        .iter()
        .find(|line| line["event"]["type"] == "passJudged")
        .expect("pass 1 was judged");
    assert_eq!(judged["event"]["reason"], "humanNotes");
    let third = world.xiv(&["run", "resume", "--json"]);
    assert!(matches!(third.code, Some(0 | 6)), "{third:?}");
}

#[test]
fn detached_it_goes_on_in_the_background() {
    let world = scripted(THREE_PASSES);
    let ran = world
        .xiv(&["implement", "T-1", "--detach", "--json"])
        .exits(0);
    let run = ran.document()["runId"].as_str().expect("an id").to_owned();
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(30);
    loop {
        let shown = world
            .xiv(&["run", "show", &run, "--json"])
            .exits(0)
            .document();
        if shown["run"]["status"] == "ended" {
            assert_eq!(shown["output"]["outcome"], "done");
            break;
        }
        assert!(std::time::Instant::now() < deadline, "{shown}");
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    assert_eq!(world.git(&["show", "feat/t-1:hello.txt"]), "hello world");
}

#[test]
fn a_detached_run_that_is_refused_says_so() {
    let world = scripted(THREE_PASSES);
    let ran = world.xiv(&["implement", "T-9", "--detach"]).exits(4);
    assert!(ran.stderr.contains("T-9"), "{ran:?}");
    assert_eq!(
        world
            .xiv(&["runs", "--json"])
            .document()
            .as_array()
            .map(Vec::len),
        Some(0)
    );
}

#[test]
fn files_of_the_state_are_for_this_user_alone() {
    use std::os::unix::fs::PermissionsExt;
    let world = scripted(THREE_PASSES);
    world.xiv(&["implement", "T-1"]).exits(0);
    let state = world.path("xiv");
    for (path, _) in world.everything() {
        if !path.starts_with(&state) {
            continue;
        }
        let mode = path.metadata().expect("it exists").permissions().mode() & 0o777;
        let wanted = if path.is_dir() { 0o700 } else { 0o600 };
        assert_eq!(mode, wanted, "{}: {mode:o}", path.display());
    }
}

#[test]
fn a_new_work_tree_is_made_ready_once() {
    let world = scripted(THREE_PASSES);
    let settings = world.read("repo/xiv.toml");
    world.write(
        "repo/xiv.toml",
        &format!("{settings}[worktree]\ncopy = [\".env\", \"none\"]\nsetup = \"echo x >> .made; test -f .env\"\n"),
    );
    world.write("repo/.git/info/exclude", ".env\n.made\n");
    // without the file the set-up fails, and so does the step
    let ran = world.xiv(&["implement", "T-1", "--worktree"]).exits(5);
    assert!(
        ran.stderr.contains("the setup of the work tree, failed"),
        "{ran:?}"
    );
    world.write("repo/.env", "KEY=1\n");
    world.xiv(&["run", "resume"]).exits(0);
    let tree = "xiv/worktrees/repo-feat-t-1";
    assert_eq!(world.read(&format!("{tree}/.env")), "KEY=1\n");
    assert_eq!(world.read(&format!("{tree}/.made")), "x\nx\n");
    assert_eq!(
        world.git(&["ls-tree", "-r", "--name-only", "feat/t-1"]),
        "hello.txt\ntest.sh"
    );
}

#[test]
fn my_own_command_hears_how_a_run_stands() {
    let world = scripted(THREE_PASSES);
    let settings = world.read("repo/xiv.toml");
    let told = world.path("told").display().to_string();
    world.write(
        "repo/xiv.toml",
        &format!("notify = \"echo $XIV_OUTCOME >> {told}; echo oh >&2; exit 3\"\n{settings}"),
    );
    let ran = world.xiv(&["implement", "T-1", "--gate"]).exits(6);
    assert!(
        ran.stderr.contains("the notify command, failed: oh"),
        "{ran:?}"
    );
    world.xiv(&["implement", "T-9"]).exits(4);
    assert_eq!(world.read("told"), "awaitingHuman\n");
}

#[test]
fn an_issue_from_standard_input_cannot_go_to_the_background() {
    let world = scripted(THREE_PASSES);
    world
        .xiv(&["implement", "T-1", "--issue-file", "-", "--detach"])
        .exits(2);
    assert!(!world.path("xiv").exists());
}
