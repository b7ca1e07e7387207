//! `xiv run show`.

use schemars::JsonSchema;
use serde::Serialize;
use xiv_core::flow::{Machine, Recorded};
use xiv_core::model::{ExitCode, ImplementOutput};
use xiv_core::port::{Journal, RunStatus, RunSummary};

use super::RunArg;
use crate::error::CliError;
use crate::paths::Paths;
use crate::records::Records;
use crate::runtime::block_on;
use crate::story;
use crate::ui::Ui;

/// A run with its result so far.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ShownRun {
    /// Where it stands.
    run: RunSummary,
    /// Its result as it stands; null when the record cannot be followed.
    output: Option<ImplementOutput>,
    /// How many events were recorded.
    events: usize,
    /// Where its files are.
    files: String,
}

pub(super) fn run(arg: &RunArg, records: &Records, ui: Ui) -> Result<ExitCode, CliError> {
    let (summary, history) = block_on(async {
        let summary = records.find(arg.run.as_deref()).await?;
        let history = records.store.load(&summary.run_id).await?;
        Ok((summary, history))
    })?;
    let files = records.paths.run(summary.run_id.as_str());
    let output = output_of(&history);
    if ui.is_json() {
        ui.document(&ShownRun {
            run: summary,
            output,
            events: history.len(),
            files: files.display().to_string(),
        })?;
        return Ok(ExitCode::Done);
    }
    let mut text = output.as_ref().map_or_else(
        || format!("{}  {}\n", summary.run_id, summary.key),
        story::result,
    );
    text.push_str(&format!("  {:<10} {}\n", "started", summary.started_at));
    text.push_str(&format!("  {:<10} {}\n", "updated", summary.updated_at));
    text.push_str(&format!("  {:<10} {}\n", "repository", summary.repo));
    text.push_str(&format!("  {:<10} {}\n", "files", Paths::shown(&files)));
    if let Some(waiting) = &summary.waiting_for {
        text.push_str(&format!("  {:<10} {waiting}\n", "waits for"));
    }
    ui.result(text)?;
    match summary.status {
        RunStatus::Running => ui.note("a living process drives it"),
        RunStatus::Suspended => ui.note(format!("go on with: xiv run resume {}", summary.run_id)),
        RunStatus::Ended => {}
    }
    Ok(ExitCode::Done)
}

/// The result as it stands.
pub(crate) fn output_of(history: &[Recorded]) -> Option<ImplementOutput> {
    Machine::replay(history)
        .ok()
        .map(|machine| machine.output())
}
