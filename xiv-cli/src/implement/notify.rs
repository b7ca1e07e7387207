//! The user's own command when a run ends or waits for a person.

use std::path::Path;
use std::time::Duration;

use xiv_core::drive::RunReport;
use xiv_core::rt::process::{Environment, ProcessSpec, output};

use crate::ui::Ui;

/// The command may take this long; then it is left behind.
const PATIENCE: Duration = Duration::from_secs(10);

/// Runs `command` by the shell in the work tree. It sees the run and how it
/// stands in `XIV_RUN_ID` and `XIV_OUTCOME`. A command that fails is said and
/// changes nothing.
pub(super) async fn notify(command: &str, report: &RunReport, cwd: &Path, ui: Ui) {
    let spec = ProcessSpec::new("/bin/sh", Environment::inherited(), cwd)
        .with_args(["-c", command])
        .with_env("XIV_RUN_ID", report.output.run_id.as_str())
        .with_env("XIV_OUTCOME", report.output.outcome.to_string());
    let failed = match tokio::time::timeout(PATIENCE, output(spec)).await {
        Ok(Ok(captured)) if captured.is_success() => return,
        Ok(Ok(captured)) => captured.stderr_text(),
        Ok(Err(error)) => error.to_string(),
        Err(_) => "it takes too long".to_owned(),
    };
    ui.warn(format!("`{command}`, the notify command, failed: {failed}"));
}
