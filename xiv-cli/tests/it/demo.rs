//! The demo is the first thing that people see: its whole output is pinned.

use std::time::{Duration, Instant};

use crate::environment::TestEnvironment;

#[test]
fn three_passes_and_one_known_gap() {
    let world = TestEnvironment::new();
    let begun = Instant::now();
    let dir = world.path("demo").display().to_string();
    let ran = world.xiv(&["demo", "--dir", &dir]).exits(0);
    assert!(
        begun.elapsed() < Duration::from_secs(15),
        "{:?}",
        begun.elapsed()
    );
    insta::assert_snapshot!(world.shown(&ran));

    // a real commit on a real branch, and nothing else anywhere
    let log = world.git_in("demo/repo", &["log", "--format=%s", "main..feat/greet-1"]);
    assert_eq!(log, "Greet people by name (GREET-1)");
    assert_eq!(world.git_in("demo/repo", &["status", "--porcelain"]), "");
    assert!(
        !world.path("xiv").exists(),
        "the user's own state is untouched"
    );

    let explain = world
        .command(&["run", "explain", "--verify"])
        .env("XIV_HOME", world.path("demo/xiv-home"))
        .current_dir(world.path("demo/repo"))
        .output();
    let explain = crate::environment::Ran::of(explain.expect("the binary starts")).exits(0);
    insta::assert_snapshot!(world.shown(&explain));
}

#[test]
fn a_folder_that_is_used_is_left_alone() {
    let world = TestEnvironment::new();
    world.write("used/file", "mine\n");
    let dir = world.path("used").display().to_string();
    let ran = world.xiv(&["demo", "--dir", &dir]).exits(4);
    assert!(ran.stderr.contains("is not empty"), "{ran:?}");
    assert_eq!(
        world
            .everything()
            .iter()
            .filter(|(p, _)| p.starts_with(&dir))
            .count(),
        2
    );
}

#[test]
fn the_settings_of_the_machine_do_not_reach_it() {
    let world = TestEnvironment::new();
    world.write("xiv/config.toml", "[steps.plan]\nengine = \"claude\"\n");
    let dir = world.path("demo").display().to_string();
    let ran = world
        .command(&["demo", "--dir", &dir, "--json"])
        .env("XIV_REVIEW_ENGINE", "claude")
        .output();
    let ran = crate::environment::Ran::of(ran.expect("the binary starts")).exits(0);
    let last = ran.last();
    assert_eq!(last["type"], "result");
    assert_eq!(last["output"]["passes"], 3);
    assert_eq!(
        last["output"]["knownGaps"].as_array().map(Vec::len),
        Some(1)
    );
}
