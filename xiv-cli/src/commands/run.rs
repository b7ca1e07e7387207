//! `xiv run`: one run, after it began.

mod cancel;
mod explain;
mod export;
mod log;
mod remove;
mod show;

#[cfg(test)]
pub(crate) use remove::Removed;
#[cfg(test)]
pub(crate) use show::ShownRun;
use xiv_core::model::ExitCode;

use crate::error::CliError;
use crate::implement::{self, ResumeArgs};
use crate::records::Records;
use crate::runtime::block_on;
use crate::ui::Ui;

/// Look at a run, go on with it, or end it.
///
/// RUN is a run's id, or the beginning or end of it (4 characters or more).
/// Without it the newest run is meant; inside a repository the newest one there.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum RunCommand {
    /// Show where a run stands, its result and where its files are.
    Show(RunArg),
    /// List everything that was recorded of a run.
    Log(RunArg),
    Resume(ResumeArgs),
    Explain(explain::ExplainArgs),
    /// Cancel a run for good and free its work tree and branch.
    Cancel(RunArg),
    Rm(remove::RmArgs),
    /// Write a run's record as JSON lines, exactly as it was recorded.
    Export(RunArg),
}

/// Which run.
#[derive(Debug, clap::Args)]
pub(crate) struct RunArg {
    /// The run.
    #[arg(value_name = "RUN")]
    pub(crate) run: Option<String>,
}

/// Does it.
///
/// # Errors
/// When there is no such run, or the record cannot be read.
pub(crate) fn run(command: &RunCommand, ui: Ui) -> Result<ExitCode, CliError> {
    let records = Records::of_user()?;
    match command {
        RunCommand::Resume(args) => {
            let report = block_on(implement::resume(args, &records, ui))?;
            implement::show(&report, ui)
        }
        RunCommand::Show(arg) => show::run(arg, &records, ui),
        RunCommand::Log(arg) => log::run(arg, &records, ui),
        RunCommand::Explain(args) => explain::run(args, &records, ui),
        RunCommand::Cancel(arg) => cancel::run(arg, &records, ui),
        RunCommand::Rm(args) => remove::run(args, &records, ui),
        RunCommand::Export(arg) => export::run(arg, &records, ui),
    }
}
