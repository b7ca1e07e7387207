//! `xiv man`: the man pages, for packagers.

use std::path::{Path, PathBuf};

use clap::CommandFactory;
use xiv_core::model::ExitCode;

use crate::cli::Cli;
use crate::error::CliError;
use crate::ui::Ui;

/// Write the man pages into a folder.
#[derive(Debug, clap::Args)]
pub(crate) struct ManArgs {
    /// The folder; it is made when it is missing.
    dir: PathBuf,
}

/// Writes one page per command.
///
/// # Errors
/// When the folder cannot be written.
pub(crate) fn run(args: &ManArgs, ui: Ui) -> Result<ExitCode, CliError> {
    let broken = |e: std::io::Error| {
        CliError::io(format!("{} could not be written", args.dir.display()), &e)
    };
    std::fs::create_dir_all(&args.dir).map_err(broken)?;
    write_pages(&args.dir).map_err(broken)?;
    ui.note(format!("the man pages are in {}", args.dir.display()));
    Ok(ExitCode::Done)
}

/// Writes the pages into a folder that exists.
///
/// # Errors
/// When it cannot be written.
pub(crate) fn write_pages(dir: &Path) -> std::io::Result<()> {
    let mut command = Cli::command().disable_help_subcommand(true);
    command.build();
    clap_mangen::generate_to(command, dir)
}
