//! `kill -9` of the real binary at every step: resumed, the run has the same
//! outcome, no recorded step is repeated, and there is one commit.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;

use crate::environment::{Ran, THREE_PASSES, TestEnvironment, scripted};
use crate::reviewers::left;

/// The story, with a line in `calls` for every call of the agent.
fn counting(calls: &str) -> String {
    let mut script = String::new();
    let (mut role, mut pass) = (String::new(), String::new());
    for line in THREE_PASSES.lines() {
        if let Some(name) = line.strip_prefix("role = ") {
            role = name.trim_matches('"').to_owned();
            pass = "0".to_owned();
        }
        if let Some(number) = line.strip_prefix("pass = ") {
            pass = number.to_owned();
        }
        if line.starts_with("reply") {
            script.push_str(&format!("run = \"echo {role}#{pass} >> {calls}\"\n"));
        }
        script.push_str(line);
        script.push('\n');
    }
    script
}

fn world() -> TestEnvironment {
    let world = scripted("");
    let calls = world.path("calls").display().to_string();
    world.write("agent.toml", &counting(&calls));
    world.write("calls", "");
    world
}

fn calls(world: &TestEnvironment) -> Vec<String> {
    world.read("calls").lines().map(str::to_owned).collect()
}

/// Starts the binary and kills it when it has shown `events` events, a moment
/// later. False when it ended before that.
fn killed_after(world: &TestEnvironment, args: &[&str], events: usize, moment: Duration) -> bool {
    let mut child = world
        .command(args)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the binary starts");
    let reader = BufReader::new(child.stdout.take().expect("a pipe"));
    let shown = reader
        .lines()
        .map_while(Result::ok)
        .filter(|line| line.contains("\"type\":\"event\""))
        .take(events)
        .count();
    std::thread::sleep(moment);
    // it may have ended by itself meanwhile
    let _ended = child.kill();
    child.wait().expect("it is gone");
    shown == events
}

/// The agent calls whose result is in the record.
fn recorded(world: &TestEnvironment) -> BTreeSet<String> {
    let log = world.xiv(&["run", "log", "--json"]);
    if log.code != Some(0) {
        return BTreeSet::new();
    }
    log.document()
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|line| {
            let event = &line["event"];
            match event["type"].as_str()? {
                "planMade" => Some("plan#0".to_owned()),
                "implemented" => Some(format!("implement#{}", event["pass"])),
                "reviewed" | "reviewFailed" => Some(format!("review#{}", event["pass"])),
                _ => None,
            }
        })
        .collect()
}

/// What a run came to, without what may differ.
fn essence(output: &Value) -> Value {
    let mut output = output.clone();
    for key in ["runId", "headSha", "usage"] {
        output[key] = Value::Null;
    }
    output
}

#[test]
fn kill_at_every_event_and_resume() {
    let baseline = world();
    let whole = baseline.xiv(&["implement", "T-1", "--json"]).exits(0);
    let wanted = essence(&whole.last()["output"]);
    let tree = baseline.git(&["rev-parse", "feat/t-1^{tree}"]);
    let events = whole
        .lines()
        .iter()
        .filter(|line| line["type"] == "event")
        .count();
    assert!(events > 20, "{events}");

    // right after an event, and within the step that follows
    let slow = std::env::var_os("XIV_SLOW").is_some();
    let moments: &[u64] = if slow {
        &[0, 1, 2, 4, 7, 12, 20, 30, 45, 60, 80, 120]
    } else {
        &[0, 7]
    };
    let mut cases: Vec<(usize, Duration)> = moments
        .iter()
        .flat_map(|ms| (1..=events).map(|at| (at, Duration::from_millis(*ms))))
        .collect();
    let rest = cases.split_off(cases.len() / 2);
    let check = |cases: &[(usize, Duration)]| {
        for (at, moment) in cases {
            killed_and_resumed(*at, *moment, &wanted, &tree);
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(|| check(&rest));
        check(&cases);
    });
}

/// One life that ends at an event, and one that goes on to the end.
fn killed_and_resumed(at: usize, moment: Duration, wanted: &Value, tree: &str) {
    let world = world();
    killed_after(&world, &["implement", "T-1", "--json"], at, moment);
    let done_before = recorded(&world);
    let called_before = calls(&world).len();
    let resumed = world.xiv(&["run", "resume", "--json"]);
    let context = format!("killed at event {at} after {moment:?}: {resumed:?}");
    assert_eq!(resumed.code, Some(0), "{context}");
    assert_eq!(essence(&resumed.last()["output"]), *wanted, "{context}");
    for call in &calls(&world)[called_before..] {
        assert!(!done_before.contains(call), "{call} again, {context}");
    }
    assert_eq!(
        world.git(&["rev-list", "--count", "main..feat/t-1"]),
        "1",
        "{context}"
    );
    assert_eq!(
        world.git(&["rev-parse", "feat/t-1^{tree}"]),
        tree,
        "{context}"
    );
    assert_eq!(left(&world), Vec::<String>::new(), "{context}");
}

#[test]
fn kill_again_and_again_and_it_still_ends() {
    let world = world();
    assert!(killed_after(
        &world,
        &["implement", "T-1", "--json"],
        2,
        Duration::ZERO
    ));
    let mut kills = 1;
    // each life gets four events further
    while killed_after(&world, &["run", "resume", "--json"], 4, Duration::ZERO) {
        kills += 1;
        assert!(kills < 60, "it never ends");
    }
    let last = world.xiv(&["run", "resume", "--json"]).exits(0).last();
    assert_eq!(last["output"]["outcome"], "done");
    assert_eq!(last["output"]["passes"], 3);
    assert_eq!(world.git(&["rev-list", "--count", "main..feat/t-1"]), "1");
    let explain = world
        .xiv(&["run", "explain", "--verify", "--json"])
        .exits(0)
        .document();
    assert_eq!(explain["verified"], true, "{explain}");
}

#[test]
fn kill_while_an_agent_works_leaves_no_orphan_at_work() {
    let slow = THREE_PASSES.replacen(
        "write = { \"hello.txt\" = \"good day\\n\" }",
        "run = \"echo begun > begun; sleep 303\"",
        1,
    );
    let world = scripted(&slow);
    let mut child = world
        .command(&["implement", "T-1", "--json"])
        .stdout(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    crate::interrupt::wait_for(&mut child, "implement#1");
    while !world.path("repo/begun").exists() {
        std::thread::sleep(Duration::from_millis(10));
    }
    child.kill().expect("a living process");
    child.wait().expect("it is gone");
    assert!(
        !left(&world).is_empty(),
        "the agent's child outlives the kill"
    );

    world.write("agent.toml", THREE_PASSES);
    let begun = std::time::Instant::now();
    let resumed = world.command(&["run", "resume", "--json"]).output();
    let resumed = Ran::of(resumed.expect("the binary starts")).exits(0);
    assert!(
        begun.elapsed() < Duration::from_secs(10),
        "at once, without force"
    );
    assert_eq!(resumed.last()["output"]["outcome"], "done");
    assert_eq!(left(&world), Vec::<String>::new());
}
