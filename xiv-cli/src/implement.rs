//! Putting a run together: configuration, repository, tracker, agents, guard,
//! record and terminal become the ports of the one driver.

mod detach;
mod flags;
mod notify;
mod reporter;
mod resume;
mod setup;
mod signals;
mod start;
mod world;

use std::future::Future;

use schemars::JsonSchema;
use serde::Serialize;
use xiv_core::drive::{DriveError, RunReport};
use xiv_core::flow::Wait;
use xiv_core::model::{ExitCode, ImplementOutput, Outcome};
use xiv_core::port::Canceller;
use xiv_forge::MarkdownIssues;

#[cfg(test)]
pub(crate) use detach::Detached;
pub(crate) use detach::{detach, leave_session};
pub(crate) use flags::ImplementArgs;
#[cfg(test)]
pub(crate) use reporter::StreamLine;
pub(crate) use resume::{ResumeArgs, resume};
pub(crate) use start::start;

use crate::config::{Config, Tracker};
use crate::error::CliError;
use crate::paths::Place;
use crate::story;
use crate::ui::Ui;
use signals::Interrupts;
use world::World;

/// The last line of a run's JSON.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", tag = "type", rename = "result")]
pub(crate) struct ResultLine<'a> {
    /// The process's exit code.
    exit_code: u8,
    /// The result.
    output: &'a ImplementOutput,
}

/// The Markdown tracker of a repository.
///
/// # Errors
/// When another tracker is configured.
pub(crate) fn issues_of(config: &Config, place: &Place) -> Result<MarkdownIssues, CliError> {
    match config.tracker {
        Tracker::Auto | Tracker::Files => {}
        Tracker::Linear | Tracker::GitHub => {
            return Err(CliError::configuration(
                "key `tracker`: this version reads Markdown files only",
            )
            .with_hint("set tracker = \"files\", or hand the issue in with --issue-file"));
        }
    }
    let dir = &config.tracker_files.dir;
    Ok(if dir == xiv_forge::DEFAULT_FOLDER {
        MarkdownIssues::in_repository(&place.main)
    } else {
        MarkdownIssues::in_folder(&place.main, dir)
    })
}

/// Drives a run until it ends or stands, while signals are listened to, and
/// tells the user's own command.
///
/// # Errors
/// The driver's, or that it was interrupted at once.
///
/// # Cancellation
/// Dropping it ends every program of the run, at once.
async fn drive(
    world: &World,
    run: impl Future<Output = Result<RunReport, DriveError>>,
    canceller: Canceller,
    ui: Ui,
) -> Result<RunReport, CliError> {
    let interrupts = Interrupts::listen()?;
    tokio::select! {
        report = run => {
            let report = report?;
            if let Some(command) = &world.loaded.config.notify {
                notify::notify(command, &report, &world.place.main, ui).await;
            }
            Ok(report)
        }
        () = interrupts.watch(canceller, ui) => Err(CliError::new(
            ExitCode::Interrupted,
            "interrupted",
            "stopped at once",
        )
        .with_hint("go on with: xiv run resume")),
    }
}

/// Shows a run's result and how to go on.
///
/// # Errors
/// When standard output cannot be written.
pub(crate) fn show(report: &RunReport, ui: Ui) -> Result<ExitCode, CliError> {
    let exit = report.exit();
    let output = &report.output;
    if ui.is_json() {
        ui.line(&ResultLine {
            exit_code: exit.code(),
            output,
        })?;
        return Ok(exit);
    }
    // a refused run has no result but the reason
    if output.outcome != Outcome::Refused {
        ui.result(story::result(output))?;
    }
    let error = match &report.waiting {
        Some(Wait::StepFailed { step, error, .. }) => Some(format!("{step} failed: {error}")),
        _ if output.outcome == Outcome::Refused => output.error.clone(),
        _ => None,
    };
    match error {
        Some(message) => {
            let mut error = CliError::new(exit, "run", message);
            error.hints.clone_from(&report.hints);
            ui.error(&error);
        }
        None if output.outcome.is_ended() => {}
        None => report.hints.iter().for_each(|hint| ui.hint(hint)),
    }
    if !output.outcome.is_ended() {
        ui.hint(how_to_go_on(report));
    }
    Ok(exit)
}

fn how_to_go_on(report: &RunReport) -> String {
    let resume = format!("xiv run resume {}", report.output.run_id);
    match &report.waiting {
        Some(Wait::Human { .. }) => {
            format!("look at the work, edit it if you like, then: {resume} [--note TEXT]")
        }
        Some(Wait::Until { at: Some(_), .. }) => format!("go on with: {resume} --wait"),
        Some(Wait::Budget { which, .. }) => format!("go on with: {resume} --budget {which}=AMOUNT"),
        Some(Wait::StepFailed { .. }) => format!(
            "go on with: {resume}, or give it up: xiv run cancel {}",
            report.output.run_id
        ),
        _ => format!("go on with: {resume}"),
    }
}
