//! The test run itself: peers first, doctests next, the tests last, so that the
//! runner's own summary is what stands at the end.

use std::env;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use crate::args::{Peers, Plan, Size};
use crate::failure::Failure;
use crate::peers;
use crate::tally::Tally;
use crate::workspace::{Workspace, show};

/// The one feature set that lints and tests are built with.
const EVERYTHING: [&str; 2] = ["--workspace", "--all-features"];

/// Runs the doctests and the tests. Both are run even if the first fail.
pub(crate) fn run(workspace: &Workspace, plan: &Plan) -> Result<(), Failure> {
    let environment = environment(workspace, plan)?;
    let doctests = if plan.extra.is_empty() {
        println!("doctests");
        let mut command = workspace.cargo(["test", "--quiet", "--doc", "--no-fail-fast"]);
        command.args(EVERYTHING).envs(environment.clone());
        show(&mut command, "doctests")
    } else {
        println!("doctests left out: the run is narrowed by {:?}", plan.extra);
        Ok(())
    };
    let tests = if has_nextest(workspace) {
        nextest(workspace, plan, &environment)
    } else {
        eprintln!(
            "cargo-nextest is not installed, falling back to cargo test \
             (`cargo install --locked cargo-nextest` gives isolation and time limits)"
        );
        plain(workspace, plan, &environment)
    };
    match (doctests, tests) {
        (Err(first), Err(second)) => Err(Failure::Step(format!("{first}; {second}"))),
        (first, second) => first.and(second),
    }
}

type Environment = Vec<(String, String)>;

fn environment(workspace: &Workspace, plan: &Plan) -> Result<Environment, Failure> {
    let mut environment = match plan.peers {
        Peers::Wanted => peers::environment(workspace)?,
        Peers::Skipped => {
            peers::unlink(workspace)?;
            vec![("XIV_PEERS".to_owned(), "none".to_owned())]
        }
    };
    if plan.size == Size::Slow {
        environment.push(("XIV_SLOW".to_owned(), "1".to_owned()));
        if env::var_os("PROPTEST_CASES").is_none() {
            environment.push(("PROPTEST_CASES".to_owned(), "4096".to_owned()));
        }
    }
    Ok(environment)
}

fn has_nextest(workspace: &Workspace) -> bool {
    workspace
        .cargo(["nextest", "--version"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

fn nextest(workspace: &Workspace, plan: &Plan, environment: &Environment) -> Result<(), Failure> {
    let profile = match plan.size {
        Size::Normal => "default",
        Size::Slow => "slow",
    };
    let mut command = workspace.cargo(["nextest", "run", "--profile", profile]);
    command
        .args(EVERYTHING)
        .args(&plan.extra)
        .envs(environment.clone());
    show(&mut command, "tests")
}

fn plain(workspace: &Workspace, plan: &Plan, environment: &Environment) -> Result<(), Failure> {
    let mut command = workspace.cargo(["test", "--no-fail-fast", "--lib", "--bins", "--tests"]);
    command
        .args(EVERYTHING)
        .args(&plan.extra)
        .envs(environment.clone());
    counted(&mut command)
}

/// Runs `cargo test`, passes its output on and ends with one line for all.
fn counted(command: &mut Command) -> Result<(), Failure> {
    let failed = |error| Failure::step("tests", error);
    let mut child = command.stdout(Stdio::piped()).spawn().map_err(failed)?;
    let mut tally = Tally::default();
    if let Some(output) = child.stdout.take() {
        for line in BufReader::new(output).lines() {
            let line = line.map_err(failed)?;
            println!("{line}");
            tally.add(&line);
        }
    }
    let status = child.wait().map_err(failed)?;
    println!("{tally}");
    if status.success() {
        Ok(())
    } else {
        Err(Failure::step("tests", status))
    }
}
