//! Looking at runs after they began.

use crate::environment::{THREE_PASSES, TestEnvironment, scripted};

#[test]
fn without_any_run_nothing_is_made() {
    let world = TestEnvironment::with_repo(&[]);
    insta::assert_snapshot!(world.whole(&["runs"]));
    assert_eq!(world.xiv(&["runs", "--json"]).exits(0).stdout, "[]\n");
    world.xiv(&["run", "show"]).exits(2);
    assert!(!world.path("xiv").exists());
}

#[test]
fn an_ended_run_is_listed_shown_logged_and_explained() {
    let world = scripted(THREE_PASSES);
    let run = world.xiv(&["implement", "T-1", "--json"]).exits(0).last();
    let run = run["output"]["runId"].as_str().expect("an id").to_owned();
    let list = world.xiv(&["runs", "--json"]).exits(0).document();
    assert_eq!(list[0]["runId"], run.as_str());
    assert_eq!(list[0]["status"], "ended");
    assert_eq!(list[0]["outcome"], "done");
    assert_eq!(list[0]["branch"], "feat/t-1");
    assert_eq!(list[0]["passes"], 3);
    assert_eq!(list[0]["waitingFor"], serde_json::Value::Null);
    insta::assert_snapshot!("show", world.whole(&["run", "show", &run]));
    insta::assert_snapshot!(
        "explain",
        world.whole(&["run", "explain", &run[..13], "--verify"])
    );
    let log = world.xiv(&["run", "log"]).exits(0);
    assert!(log.stdout.contains("pass 3 of 3"), "{log:?}");

    // its result again, with its exit code
    let again = world.xiv(&["run", "resume", &run, "--json"]).exits(0);
    assert_eq!(again.lines().len(), 1);
    assert_eq!(again.last()["output"]["outcome"], "done");
    world.xiv(&["run", "cancel", &run]).exits(4);

    let export = world.xiv(&["run", "export", &run]).exits(0);
    assert!(export.lines().len() > 20);

    world.xiv(&["run", "rm", &run]).exits(0);
    assert_eq!(world.xiv(&["runs", "--json"]).exits(0).stdout, "[]\n");
    assert!(!world.path(&format!("xiv/runs/{run}")).exists());
}

#[test]
fn a_capped_run_prints_its_exit_code_again() {
    let world = scripted(THREE_PASSES);
    world
        .xiv(&["implement", "T-1", "--max-iterations", "1"])
        .exits(1);
    world.xiv(&["run", "resume"]).exits(1);
}

#[test]
fn a_failed_step_can_be_mended_and_resumed() {
    let broken = THREE_PASSES.replacen(
        "[[turn]]\nrole = \"implement\"",
        "[[turn]]\nrole = \"implement\"\nfail = \"crash\"",
        1,
    );
    let broken = broken.replacen("reply = { summary = \"wrote a greeting\" }\n", "", 1);
    let world = scripted(&broken);
    let ran = world.xiv(&["implement", "T-1"]).exits(5);
    assert!(ran.stderr.contains("implement#1 failed"), "{ran:?}");
    assert!(ran.stderr.contains("xiv run resume"), "{ran:?}");
    world.write("agent.toml", THREE_PASSES);
    let ran = world.xiv(&["run", "resume", "--json"]).exits(0);
    let kinds: Vec<_> = ran
        .lines()
        .iter()
        .map(|l| l["event"]["type"].to_string())
        .collect();
    assert!(
        !kinds.contains(&"\"planMade\"".to_owned()),
        "planned again: {kinds:?}"
    );
}

#[test]
fn two_ids_that_begin_alike_are_told_apart() {
    let world = scripted(THREE_PASSES);
    world.xiv(&["implement", "T-1"]).exits(0);
    let ran = world.xiv(&["run", "show", "ffff"]).exits(2);
    assert!(ran.stderr.contains("there is no run \"ffff\""), "{ran:?}");
}
