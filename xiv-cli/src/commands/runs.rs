//! `xiv runs`: every run, newest first.

use comfy_table::{Table, presets};
use xiv_core::model::ExitCode;
use xiv_core::port::{Journal, RunStatus, RunSummary};

use crate::error::CliError;
use crate::paths::{Paths, Place};
use crate::records::Records;
use crate::runtime::block_on;
use crate::ui::Ui;

/// List runs, newest first.
#[derive(Debug, clap::Args)]
pub(crate) struct RunsArgs {
    /// Only those of the repository around the current folder.
    #[arg(long)]
    here: bool,
    /// Only those that are not over.
    #[arg(long)]
    open: bool,
}

/// Lists them.
///
/// # Errors
/// When the record cannot be read.
pub(crate) fn run(args: &RunsArgs, ui: Ui) -> Result<ExitCode, CliError> {
    let records = Records::of_user()?;
    let mut all = block_on(async { Ok(records.store.list().await?) })?;
    if args.here {
        let place = std::env::current_dir()
            .ok()
            .and_then(|dir| Place::find(&dir));
        let main = place.map(|place| place.main.display().to_string());
        all.retain(|run| Some(&run.repo) == main.as_ref());
    }
    if args.open {
        all.retain(|run| run.status != RunStatus::Ended);
    }
    if ui.is_json() {
        ui.document(&all)?;
    } else if all.is_empty() {
        ui.note("no runs yet; `xiv implement KEY` starts one");
    } else {
        ui.result(table(&all))?;
    }
    Ok(ExitCode::Done)
}

fn table(all: &[RunSummary]) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header([
        "RUN",
        "KEY",
        "STATE",
        "PASSES",
        "STARTED",
        "BRANCH",
        "REPOSITORY",
    ]);
    for run in all {
        table.add_row([
            run.run_id.to_string(),
            run.key.clone(),
            state(run),
            run.passes.to_string(),
            run.started_at.strftime("%Y-%m-%d %H:%M").to_string(),
            run.branch.clone().unwrap_or_default(),
            Paths::shown(run.repo.as_ref()),
        ]);
    }
    table.trim_fmt()
}

fn state(run: &RunSummary) -> String {
    match (run.status, run.outcome) {
        (RunStatus::Running, _) => "running".to_owned(),
        (_, Some(outcome)) => outcome.to_string(),
        (RunStatus::Suspended, None) => "suspended".to_owned(),
        (RunStatus::Ended, None) => "ended".to_owned(),
    }
}
