//! `--detach`: the same command once more, in a session of its own.

use std::ffi::OsString;
use std::fs::File;
use std::os::unix::fs::OpenOptionsExt;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use xiv_core::model::{ExitCode, RunId};
use xiv_core::port::Journal;

use crate::error::CliError;
use crate::files::make_private;
use crate::records::Records;
use crate::runtime::block_on;
use crate::ui::Ui;

/// The variable that names the steps that this process belongs to.
const MARK: &str = "XIV_MARK";

/// A run that goes on in the background.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Detached {
    run_id: RunId,
    pid: u32,
    log: String,
}

/// Starts the command again without `--detach` and leaves when its run has
/// begun. What the run would have printed goes to a file.
///
/// # Errors
/// Inside of a run, or when the run does not begin; then with what it said.
pub(crate) fn detach(ui: Ui) -> Result<ExitCode, CliError> {
    if std::env::var_os(MARK).is_some_and(|mark| !mark.is_empty()) {
        return Err(CliError::refused(
            "insideRun",
            "a program of a run cannot start a run that outlives it",
        )
        .with_hint("leave --detach out"));
    }
    let records = Records::of_user()?;
    let run = xiv_core::rt::new_run_id();
    let (mut child, log) = begin(&records, &run)?;
    if let Some(code) = block_on(has_begun(&records, &run, &mut child))? {
        return not_begun(&records, &run, code, ui);
    }
    if ui.is_json() {
        ui.document(&Detached {
            run_id: run,
            pid: child.id(),
            log,
        })?;
    } else {
        ui.result(run.as_str())?;
        ui.note(format!(
            "it goes on in the background; its output is in {log}"
        ));
        ui.hint(format!("look at it with: xiv run show {run}"));
    }
    Ok(ExitCode::Done)
}

fn begin(records: &Records, run: &RunId) -> Result<(Child, String), CliError> {
    let folder = records.paths.run(run.as_str());
    let broken =
        |e: std::io::Error| CliError::io(format!("{} cannot be used", folder.display()), &e);
    make_private(&folder).map_err(broken)?;
    let open = |name: &str| -> std::io::Result<File> {
        File::options()
            .create(true)
            .append(true)
            .mode(0o600)
            .open(folder.join(name))
    };
    let stderr = open("output.log").map_err(broken)?;
    let stdout = open("result.log").map_err(broken)?;
    let mut args: Vec<OsString> = std::env::args_os()
        .skip(1)
        .filter(|arg| arg != "--detach")
        .collect();
    args.push(format!("--detached-as={run}").into());
    let program = std::env::current_exe()
        .map_err(|e| CliError::io("the running program cannot be found", &e))?;
    let child = Command::new(program)
        .args(args)
        .env_remove(MARK)
        .stdin(Stdio::null())
        .stdout(stdout)
        .stderr(stderr)
        .spawn()
        .map_err(|e| CliError::io("the run could not be started", &e))?;
    Ok((child, folder.join("output.log").display().to_string()))
}

/// Waits until the run is recorded; the exit code of the process when it ended
/// before that.
async fn has_begun(
    records: &Records,
    run: &RunId,
    child: &mut Child,
) -> Result<Option<i32>, CliError> {
    loop {
        if records
            .store
            .load(run)
            .await
            .is_ok_and(|history| !history.is_empty())
        {
            return Ok(None);
        }
        let ended = child
            .try_wait()
            .map_err(|e| CliError::io("the run's process cannot be watched", &e))?;
        if let Some(status) = ended {
            let begun = records
                .store
                .load(run)
                .await
                .is_ok_and(|history| !history.is_empty());
            return Ok((!begun).then(|| status.code().unwrap_or(70)));
        }
        records.clock.sleep(Duration::from_millis(20)).await;
    }
}

/// Hands on what the process said, with its exit code, and leaves nothing.
fn not_begun(records: &Records, run: &RunId, code: i32, ui: Ui) -> Result<ExitCode, CliError> {
    let folder = records.paths.run(run.as_str());
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap_or_default();
    let (said, result) = (read("output.log"), read("result.log"));
    // an empty folder left behind does no harm
    let _unremovable = std::fs::remove_dir_all(&folder);
    if !said.trim().is_empty() {
        ui.note(said.trim_end());
    }
    ui.raw(result.as_bytes())?;
    Ok(ExitCode::ALL
        .into_iter()
        .find(|exit| i32::from(exit.code()) == code)
        .unwrap_or(ExitCode::Bug))
}

/// Leaves the session of the terminal, in the process that was started for it.
pub(crate) fn leave_session() {
    // it can only fail in a process that leads its group already, which is one
    // that no terminal signal reaches through its parent
    let _leader_already = rustix::process::setsid();
}
