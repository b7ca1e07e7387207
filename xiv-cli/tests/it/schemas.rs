//! What the commands really print has the form that `schemas/` promises.

use std::path::Path;

use serde_json::Value;

use crate::environment::{THREE_PASSES, scripted};

/// Checks a value against one of the committed schemas.
#[track_caller]
fn fits(name: &str, value: &Value) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../schemas")
        .join(format!("{name}.json"));
    let text = std::fs::read_to_string(path).expect("a committed schema");
    let schema: Value = serde_json::from_str(&text).expect("JSON");
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    let faults: Vec<String> = validator
        .iter_errors(value)
        .map(|fault| format!("{}: {fault}", fault.instance_path()))
        .collect();
    assert!(faults.is_empty(), "{name}: {faults:?}\n{value}");
}

#[test]
fn every_json_output_fits_its_schema() {
    let world = scripted(THREE_PASSES);
    let ran = world.xiv(&["implement", "T-1", "--json"]).exits(0);
    let lines = ran.lines();
    let (result, stream) = lines.split_last().expect("lines");
    assert!(stream.len() > 20);
    stream.iter().for_each(|line| fits("cli/stream", line));
    fits("cli/result", result);
    fits("implement-output", &result["output"]);
    let run = result["output"]["runId"]
        .as_str()
        .expect("an id")
        .to_owned();

    for (schema, args) in [
        ("cli/runs", &["runs"][..]),
        ("cli/run-show", &["run", "show"]),
        ("cli/run-log", &["run", "log"]),
        ("cli/run-explain", &["run", "explain"]),
        ("cli/result", &["run", "resume"]),
        ("cli/issue-list", &["issue", "list"]),
        ("issue", &["issue", "show", "T-1"]),
        ("cli/issue-new", &["issue", "new", "T-2", "--title", "More"]),
        ("cli/config-show", &["config", "show"]),
        ("config", &["config", "reference"]),
        ("cli/doctor", &["doctor"]),
        ("cli/init", &["init", "--force"]),
        ("cli/run-rm", &["run", "rm", &run]),
    ] {
        let args = [args, &["--json"]].concat();
        fits(schema, &world.xiv(&args).exits(0).document());
    }
    let error = world.xiv(&["run", "show", "nosuch", "--json"]).exits(2);
    fits("cli/error", &error.document());
}

#[test]
fn a_cancelled_and_a_detached_run_fit_too() {
    let world = scripted(THREE_PASSES);
    world.xiv(&["implement", "T-1", "--gate"]).exits(6);
    let cancelled = world.xiv(&["run", "cancel", "--json"]).exits(0);
    fits("implement-output", &cancelled.document());
    std::fs::remove_file(world.path("repo/hello.txt")).expect("the agent's work");
    let detached = world
        .xiv(&["implement", "T-1", "--detach", "--json"])
        .exits(0);
    fits("cli/detached", &detached.document());
}
