//! Ctrl-C once stops cleanly, twice at once; either way nothing is left running
//! and the run can be resumed.

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::environment::{Ran, THREE_PASSES, TestEnvironment, scripted};
use crate::reviewers::left;

/// Waits until the stream holds a text.
pub(crate) fn wait_for(child: &mut Child, wanted: &str) {
    let stdout = child.stdout.take().expect("a pipe");
    let mut reader = BufReader::new(stdout);
    let mut line = String::new();
    while !line.contains(wanted) {
        line.clear();
        let read = reader.read_line(&mut line).expect("a readable pipe");
        assert!(read > 0, "the stream ended before {wanted}");
    }
    // whoever writes on finds a reader until the child is gone
    std::thread::spawn(move || std::io::copy(&mut reader, &mut std::io::sink()));
}

fn signal(child: &Child, signal: Signal) {
    let pid = Pid::from_raw(i32::try_from(child.id()).expect("a pid")).expect("a pid");
    kill_process(pid, signal).expect("a living process");
}

/// A run whose implementing agent takes long, once.
fn hanging() -> (TestEnvironment, Child) {
    let world = scripted(&THREE_PASSES.replacen(
        "write = { \"hello.txt\" = \"good day\\n\" }",
        "run = \"echo half > half.txt; sleep 300\"",
        1,
    ));
    let mut child = world
        .command(&["implement", "T-1", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the binary starts");
    wait_for(&mut child, "implement#1");
    let deadline = Instant::now() + Duration::from_secs(10);
    while !world.path("repo/half.txt").exists() {
        assert!(Instant::now() < deadline, "the agent does not begin");
        std::thread::sleep(Duration::from_millis(10));
    }
    (world, child)
}

/// Whether these tests were started with hang-ups ignored (`nohup`); then xiv
/// rightly ignores them, too.
fn hang_up_is_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").expect("a /proc file system");
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .is_some_and(|mask| mask & 1 == 1)
}

#[test]
fn once_stops_cleanly() {
    for which in [Signal::INT, Signal::TERM, Signal::HUP] {
        if which == Signal::HUP && hang_up_is_ignored() {
            continue;
        }
        let (world, mut child) = hanging();
        signal(&child, which);
        let status = child.wait().expect("it ends");
        assert_eq!(status.code(), Some(130));
        assert_eq!(left(&world), Vec::<String>::new());
        assert_eq!(world.read("repo/half.txt"), "half\n", "work stays");
        let runs = world.xiv(&["runs", "--json"]).exits(0).document();
        assert_eq!(runs[0]["status"], "suspended");
        assert_eq!(runs[0]["outcome"], "interrupted");

        world.write("agent.toml", THREE_PASSES);
        world.xiv(&["run", "resume"]).exits(0);
        assert_eq!(world.git(&["rev-list", "--count", "main..feat/t-1"]), "1");
    }
}

#[test]
fn cancelling_from_elsewhere_stops_the_driver_first() {
    let (world, mut child) = hanging();
    let ran = world.xiv(&["run", "cancel", "--json"]).exits(0);
    assert_eq!(ran.document()["outcome"], "cancelled");
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
    assert_eq!(left(&world), Vec::<String>::new());
    world.xiv(&["run", "resume"]).exits(1);
}

#[test]
fn a_run_that_is_driven_is_not_resumed_by_another() {
    let (world, mut child) = hanging();
    let ran = world.xiv(&["run", "resume"]).exits(4);
    assert!(ran.stderr.contains("error: "), "{ran:?}");
    let rm = world.xiv(&["run", "rm", "--force"]).exits(4);
    assert!(rm.stderr.contains("is under way"), "{rm:?}");
    signal(&child, Signal::INT);
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
}

#[test]
fn twice_stops_at_once() {
    let world = scripted(&THREE_PASSES.replacen(
        "write = { \"hello.txt\" = \"good day\\n\" }",
        "run = \"trap '' INT TERM; echo half > half.txt; while :; do sleep 1; done\"",
        1,
    ));
    let mut child = world
        .command(&["implement", "T-1", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    wait_for(&mut child, "implement#1");
    while !world.path("repo/half.txt").exists() {
        std::thread::sleep(Duration::from_millis(10));
    }
    let begun = Instant::now();
    signal(&child, Signal::INT);
    std::thread::sleep(Duration::from_millis(300));
    signal(&child, Signal::INT);
    let output = child.wait_with_output().expect("it ends");
    assert!(
        begun.elapsed() < Duration::from_secs(4),
        "{:?}",
        begun.elapsed()
    );
    let ran = Ran::of(output);
    assert_eq!(ran.code, Some(130), "{ran:?}");
    assert_eq!(left(&world), Vec::<String>::new());
    world.write("agent.toml", THREE_PASSES);
    world.xiv(&["run", "resume"]).exits(0);
}
