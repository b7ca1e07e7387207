//! `xiv run rm`.

use schemars::JsonSchema;
use serde::Serialize;
use xiv_core::model::{ExitCode, RunId};
use xiv_core::port::{Journal, RunStatus};

use super::RunArg;
use crate::error::CliError;
use crate::records::Records;
use crate::runtime::block_on;
use crate::ui::Ui;

/// Remove a run and its record for good.
#[derive(Debug, clap::Args)]
pub(crate) struct RmArgs {
    #[command(flatten)]
    run: RunArg,
    /// Also when it is not over; it can then not be resumed any more.
    #[arg(long)]
    force: bool,
}

/// A run that is gone.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Removed {
    /// The run.
    removed: RunId,
}

pub(super) fn run(args: &RmArgs, records: &Records, ui: Ui) -> Result<ExitCode, CliError> {
    block_on(async {
        let found = records.find(args.run.run.as_deref()).await?;
        let id = found.run_id.clone();
        match found.status {
            RunStatus::Ended => {}
            RunStatus::Suspended if args.force => {}
            RunStatus::Suspended => {
                return Err(CliError::refused(
                    "runNotOver",
                    format!("run {id} can still be resumed"),
                )
                .with_hint(format!("resume it: xiv run resume {id}"))
                .with_hint(format!("cancel it: xiv run cancel {id}"))
                .with_hint(format!("remove it all the same: xiv run rm {id} --force")));
            }
            RunStatus::Running => {
                return Err(
                    CliError::refused("runLocked", format!("run {id} is under way"))
                        .with_hint(format!("cancel it first: xiv run cancel {id}")),
                );
            }
        }
        records.store.remove(&id).await?;
        let files = records.paths.run(id.as_str());
        match std::fs::remove_dir_all(&files) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                return Err(CliError::io(
                    format!("{} could not be removed", files.display()),
                    &e,
                ));
            }
            _ => {}
        }
        if ui.is_json() {
            ui.document(&Removed { removed: id })?;
        } else {
            ui.note(format!("removed run {id}"));
        }
        Ok(ExitCode::Done)
    })
}
