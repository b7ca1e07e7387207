//! `xiv completions`: a script for the shell.

use clap::CommandFactory;
use clap_complete::Shell;
use xiv_core::model::ExitCode;

use crate::cli::Cli;
use crate::error::CliError;
use crate::ui::Ui;

/// Write a completion script for a shell to standard output.
#[derive(Debug, clap::Args)]
pub(crate) struct CompletionsArgs {
    /// The shell.
    shell: Shell,
}

/// Writes the script.
///
/// # Errors
/// When standard output cannot be written.
pub(crate) fn run(args: &CompletionsArgs, ui: Ui) -> Result<ExitCode, CliError> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "xiv", &mut script);
    ui.raw(&script)?;
    Ok(ExitCode::Done)
}
