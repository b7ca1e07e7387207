//! Reviewers that misbehave. Whatever they do, it is no review or a review, and
//! never an error of the run; and no process of theirs is left.

use std::time::Duration;

use serde_json::Value;

use crate::environment::{ISSUE, Ran, TestEnvironment, config};

/// A world whose reviewer is this shell script.
fn world(review: &str, more: &str) -> TestEnvironment {
    let world = TestEnvironment::with_repo(&[("test.sh", "grep -q hello hello.txt\n")]);
    world.write("repo/.xiv/issues/T-1.md", ISSUE);
    world.write(
        "agent.toml",
        r#"
[[turn]]
role = "plan"
reply = { summary = "s", steps = ["one"] }

[[turn]]
role = "implement"
write = { "hello.txt" = "hello\n" }
reply = { summary = "says hello" }
"#,
    );
    world.write("review.sh", review);
    let script = world.path("agent.toml").display().to_string();
    let review = world.path("review.sh").display().to_string();
    let settings = config(&format!("scripted:{script}")).replace(
        &format!("[steps.review]\nengine = \"scripted:{script}\"\n"),
        &format!("[steps.review]\nengine = \"command:reviewer\"\n{more}"),
    );
    world.write(
        "repo/xiv.toml",
        &format!("{settings}[agents.reviewer]\ncommand = [\"sh\", \"{review}\"]\n"),
    );
    world
}

/// The one event of a type.
fn event(ran: &Ran, kind: &str) -> Value {
    ran.lines()
        .into_iter()
        .find(|line| line["event"]["type"] == kind)
        .unwrap_or_else(|| panic!("no {kind}: {ran:?}"))["event"]
        .clone()
}

/// Runs it; validation passes, so it is done without a review.
#[track_caller]
fn no_review(review: &str, more: &str, kind: &str) -> TestEnvironment {
    let world = world(review, more);
    let ran = world.xiv(&["implement", "T-1", "--json"]).exits(0);
    let failed = event(&ran, "reviewFailed");
    assert_eq!(failed["reason"]["kind"], kind, "{failed}");
    let output = ran.last()["output"].clone();
    assert_eq!(output["outcome"], "done");
    assert_eq!(output["reviewVerdict"], Value::Null);
    assert_eq!(output["passes"], 1);
    assert_eq!(output["reviewFailures"].as_array().map(Vec::len), Some(1));
    assert_eq!(world.git(&["show", "feat/t-1:hello.txt"]), "hello");
    world
}

#[test]
fn one_that_edits_files_is_discarded_and_its_edits_are_not_committed() {
    let world = no_review(
        r#"echo 'bad' > hello.txt; echo x > more.txt
echo '{"verdict": "request_changes", "summary": "no"}'"#,
        "",
        "tampered",
    );
    let files = world.git(&["ls-tree", "-r", "--name-only", "feat/t-1"]);
    assert_eq!(files, "hello.txt\ntest.sh");
    assert_eq!(world.read("repo/more.txt"), "x\n", "nothing is thrown away");
}

#[test]
fn one_that_commits_is_put_back() {
    let world = no_review(
        r#"git commit --quiet --allow-empty --message=mine
echo '{"verdict": "approve", "summary": "yes"}'"#,
        "",
        "tampered",
    );
    assert_eq!(world.git(&["rev-list", "--count", "main..feat/t-1"]), "1");
    assert_eq!(
        world.git(&["log", "-1", "--format=%s", "feat/t-1"]),
        "Say hello (T-1)"
    );
}

#[test]
fn one_that_hangs_is_ended() {
    let world = no_review("sleep 300", "timeout = \"1s\"\nidle = \"1s\"\n", "timedOut");
    assert_eq!(left(&world), Vec::<String>::new());
}

#[test]
fn prose_is_no_review() {
    no_review("echo 'no issues found, LGTM'", "", "unparseable");
}

#[test]
fn a_review_without_a_verdict_is_no_review() {
    no_review(
        r#"echo '{"summary": "fine", "findings": []}'"#,
        "",
        "unparseable",
    );
    no_review(
        r#"echo '{"verdict": "", "summary": "fine"}'"#,
        "",
        "unparseable",
    );
}

#[test]
fn a_command_that_fails_after_its_answer_crashed() {
    no_review(
        r#"echo '{"verdict": "request_changes", "summary": "no"}'; exit 1"#,
        "",
        "crashed",
    );
}

#[test]
fn one_that_leaves_a_child_behind() {
    let world = world(
        r#"setsid sh -c 'sleep 301' >/dev/null 2>&1 &
nohup sleep 302 >/dev/null 2>&1 &
echo '{"verdict": "approve", "summary": "fine"}'"#,
        "",
    );
    let ran = world.xiv(&["implement", "T-1", "--json"]).exits(0);
    assert_eq!(ran.last()["output"]["reviewVerdict"], "approve");
    assert_eq!(left(&world), Vec::<String>::new());
}

#[test]
fn a_scripted_one_that_is_not_logged_in_or_over_quota() {
    for (fail, kind) in [("auth", "auth"), ("quota", "quota"), ("crash", "crashed")] {
        let world = world("true", "");
        let script = world.read("agent.toml")
            + &format!("\n[[turn]]\nrole = \"review\"\nfail = \"{fail}\"\n");
        world.write("agent.toml", &script);
        let engine = format!("review=scripted:{}", world.path("agent.toml").display());
        let ran = world
            .xiv(&["implement", "T-1", "--json", "--engine", &engine])
            .exits(0);
        let failed = event(&ran, "reviewFailed");
        assert_eq!(failed["reason"]["kind"], kind, "{failed}");
    }
}

#[test]
fn a_missing_one_is_warned_of_and_validation_decides() {
    let world = world("true", "");
    let ran = world
        .xiv(&["implement", "T-1", "--engine", "review=codex"])
        .exits(0);
    assert!(
        ran.stderr.contains("validation alone will decide"),
        "{ran:?}"
    );
}

#[test]
fn an_interrupted_one_is_asked_again() {
    let world = world(
        r#"echo once >> "$COUNT"
if [ "$(wc -l < "$COUNT")" -eq 1 ]; then kill -INT "$XIV_PID"; sleep 300; fi
echo '{"verdict": "request_changes", "summary": "no"}'"#,
        "",
    );
    let count = world.path("count");
    // the shell becomes the binary, so that the reviewer knows its process id
    let script = format!(
        "XIV_PID=$$ exec {} implement T-1 --json --max-iterations 1",
        env!("CARGO_BIN_EXE_xiv")
    );
    let ran = world
        .program("/bin/sh", "repo")
        .args(["-c", &script])
        .env("COUNT", &count)
        .output();
    let ran = Ran::of(ran.expect("a shell starts")).exits(130);
    assert_eq!(ran.last()["output"]["outcome"], "interrupted");
    assert!(!ran.stdout.contains("reviewFailed"), "{ran:?}");
    assert_eq!(world.git(&["rev-list", "--count", "main..feat/t-1"]), "0");
    assert_eq!(left(&world), Vec::<String>::new());

    let resumed = world
        .command(&["run", "resume", "--json"])
        .env("COUNT", &count)
        .env("XIV_PID", "0")
        .output();
    let resumed = Ran::of(resumed.expect("the binary starts")).exits(1);
    assert_eq!(resumed.last()["output"]["reviewVerdict"], "request_changes");
    assert_eq!(world.read("count").lines().count(), 2);
}

/// Processes of this world that still live.
pub(crate) fn left(world: &TestEnvironment) -> Vec<String> {
    let home = format!("HOME={}", world.path("home").display());
    let find = || -> Vec<String> {
        std::fs::read_dir("/proc")
            .expect("a process list")
            .flatten()
            .filter(|entry| {
                std::fs::read(entry.path().join("environ")).is_ok_and(|environ| {
                    environ.split(|b| *b == 0).any(|var| var == home.as_bytes())
                })
            })
            .map(|entry| {
                let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
                String::from_utf8_lossy(&line).replace('\0', " ")
            })
            .filter(|line| !line.is_empty())
            .collect()
    };
    // a process that was just ended may be listed for a moment
    for _ in 0..20 {
        if find().is_empty() {
            break;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    find()
}
