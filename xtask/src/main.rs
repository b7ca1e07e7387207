//! Developer tasks of the workspace, started as `cargo xtask TASK`. They exist
//! so that a fresh clone needs one command to be tested, with the real agent
//! programs, and so that people and CI run the very same thing.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a developer tool talks to the terminal"
)]

mod args;
mod examples;
mod failure;
mod peers;
mod suite;
mod tally;
mod workspace;

use std::process::ExitCode;

use crate::args::Task;
use crate::failure::Failure;
use crate::workspace::Workspace;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::Usage(message)) => {
            eprintln!("error: {message}\n\n{}", args::USAGE);
            ExitCode::from(2)
        }
        Err(failure) => {
            eprintln!("error: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Failure> {
    let task = args::parse(std::env::args().skip(1))?;
    let workspace = Workspace::here();
    match task {
        Task::Help => {
            println!("{}", args::USAGE);
            Ok(())
        }
        Task::Test(plan) => suite::run(&workspace, &plan),
        Task::Peers => peers::show(&workspace),
        Task::Examples => examples::run(&workspace),
    }
}
