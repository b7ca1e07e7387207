//! `xiv run cancel`: the only way to the outcome `cancelled`.

use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use xiv_core::flow::{Event, Machine};
use xiv_core::model::{ExitCode, Outcome, RunId};
use xiv_core::port::{Clock, Journal, OwnerId, RunStatus};

use super::RunArg;
use crate::driver_file;
use crate::error::CliError;
use crate::records::Records;
use crate::runtime::block_on;
use crate::story;
use crate::ui::Ui;

/// How long the driving process may take to stop cleanly.
const PATIENCE: Duration = Duration::from_secs(30);
const LEASE: Duration = Duration::from_secs(30);

pub(super) fn run(arg: &RunArg, records: &Records, ui: Ui) -> Result<ExitCode, CliError> {
    let output = block_on(async {
        let found = records.find(arg.run.as_deref()).await?;
        match found.status {
            RunStatus::Ended => {
                return Err(CliError::refused(
                    "runEnded",
                    format!("run {} is over already", found.run_id),
                ));
            }
            RunStatus::Running => stop_driver(records, &found.run_id, ui).await?,
            RunStatus::Suspended => {}
        }
        cancel(records, &found.run_id).await
    })?;
    if ui.is_json() {
        ui.document(&output)?;
    } else {
        ui.result(story::result(&output))?;
    }
    Ok(ExitCode::Done)
}

/// Asks the process that drives the run to stop, and waits until it has.
async fn stop_driver(records: &Records, run: &RunId, ui: Ui) -> Result<(), CliError> {
    let driver = driver_file::read(&records.paths, run.as_str())
        .filter(|process| process.host == records.processes.current().host)
        .filter(|process| records.processes.is_alive(process));
    let pid = driver.and_then(|process| Pid::from_raw(i32::try_from(process.pid).ok()?));
    let Some(pid) = pid else {
        return Err(CliError::refused(
            "runLocked",
            format!("run {run} is driven by another process that cannot be reached from here"),
        )
        .with_hint("press Ctrl-C where it runs, then cancel it"));
    };
    ui.note("stopping the process that drives the run …");
    kill_process(pid, Signal::INT).map_err(|e| {
        CliError::io(
            format!("the process that drives run {run} could not be stopped"),
            &e.into(),
        )
    })?;
    let begun = records.clock.elapsed();
    while records.clock.elapsed().saturating_sub(begun) < PATIENCE {
        records.clock.sleep(Duration::from_millis(50)).await;
        if records.find(Some(run.as_str())).await?.status != RunStatus::Running {
            return Ok(());
        }
    }
    Err(CliError::refused(
        "runLocked",
        format!("the process that drives run {run} does not stop"),
    ))
}

async fn cancel(
    records: &Records,
    run: &RunId,
) -> Result<xiv_core::model::ImplementOutput, CliError> {
    let owner = OwnerId {
        process: records.processes.current(),
        driver: xiv_core::rt::new_run_id(),
    };
    let fence = records.store.acquire(run, owner, LEASE).await?;
    let history = records.store.load(run).await?;
    let machine = Machine::replay(&history).map_err(|divergence| {
        CliError::refused("divergence", format!("run {run} cannot be followed"))
            .with_cause(divergence.to_string())
            .with_hint(format!("remove it: xiv run rm {run} --force"))
    })?;
    let output = machine.output_when_cancelled();
    let event = Event::RunFinished {
        outcome: Outcome::Cancelled,
        output: output.clone(),
    };
    let seq = history.last().map_or(1, |last| last.seq + 1);
    let at = records.clock.now();
    records.store.append(&fence, seq, at, &event).await?;
    records.store.unlock_all(&fence).await?;
    records.store.release(&fence).await?;
    Ok(output)
}
