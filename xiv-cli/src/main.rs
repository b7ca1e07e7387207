//! The `xiv` binary. It composes the library crates and is the only part that
//! talks to a terminal.
//!
//! `main` is synchronous on purpose: what needs no configuration, no record of
//! runs and no runtime answers before any of them is opened.

mod agents;
mod cli;
mod commands;
mod config;
mod driver_file;
mod error;
mod files;
mod implement;
mod paths;
mod plumbing;
mod records;
#[cfg(test)]
mod reference;
mod runtime;
#[cfg(test)]
mod schemas;
mod side_files;
mod story;
mod survey;
mod trace;
mod ui;

use clap::Parser;
use clap::error::ErrorKind;
use xiv_core::model::ExitCode;
use xiv_core::rt::guard::{Intercepted, intercept};

use crate::cli::{Cli, Command};
use crate::error::CliError;
use crate::ui::{Format, Ui};

fn main() -> std::process::ExitCode {
    // agents reach this very executable under the names git, gh and jj
    if let Intercepted::Exit { code, message } = intercept() {
        ui::say(&message);
        return code.into();
    }
    let exit = match Cli::try_parse() {
        Ok(cli) => {
            let ui = Ui::new(&cli.global);
            run(cli.command, ui).unwrap_or_else(|error| ui.error(&error))
        }
        Err(error) => not_parsed(&error),
    };
    exit.code().into()
}

fn run(command: Command, ui: Ui) -> Result<ExitCode, CliError> {
    trace::init();
    match command {
        Command::Init(args) => commands::init::run(&args, ui),
        Command::Doctor(args) => commands::doctor::run(&args, ui),
        Command::Demo(args) => commands::demo::run(&args, ui),
        Command::Implement(args) => commands::implement::run(&args, ui),
        Command::Issue(command) => commands::issue::run(command, ui),
        Command::Runs(args) => commands::runs::run(&args, ui),
        Command::Run(command) => commands::run::run(&command, ui),
        Command::Config(command) => commands::config::run(&command, ui),
        Command::Plumbing(command) => plumbing::run(
            &command,
            &mut std::io::stdin().lock(),
            &mut std::io::stdout().lock(),
        ),
        Command::Completions(args) => commands::completions::run(&args, ui),
        Command::Man(args) => commands::man::run(&args, ui),
    }
}

/// Help and version are results; everything else is a wrong command line.
fn not_parsed(error: &clap::Error) -> ExitCode {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            // a reader that went away has read enough
            let _unwritable = error.print();
            ExitCode::Done
        }
        _ if std::env::args_os().any(|arg| arg == "--json") => {
            Ui::early(Format::Json).error(&CliError::usage(plain(error)))
        }
        _ => {
            // standard error is the last resort
            let _unwritable = error.print();
            ExitCode::Usage
        }
    }
}

/// The first line of clap's message, without its label.
fn plain(error: &clap::Error) -> String {
    let text = error.to_string();
    let line = text.lines().next().unwrap_or_default();
    line.strip_prefix("error: ").unwrap_or(line).to_owned()
}
