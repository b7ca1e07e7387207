//! Short questions to an engine's program before any model is called.

use std::path::Path;

use xiv_core::port::{AgentError, AgentErrorKind, StepContext};
use xiv_core::rt::process::{Captured, ProcessSpec, output};

use super::cancelled;
use crate::host::Host;

/// Runs the program with these arguments and returns what it printed.
///
/// # Errors
/// When it does not start, or the step is told to stop.
pub(crate) async fn ask(
    program: &Path,
    args: &[&str],
    host: &Host,
    cx: &StepContext,
) -> Result<Captured, AgentError> {
    let spec = ProcessSpec::new(program, host.environment().clone(), "/").with_args(args);
    tokio::select! {
        biased;
        reason = cx.cancel.clone() => Err(cancelled(reason)),
        captured = output(spec) => {
            captured.map_err(|error| AgentError::new(AgentErrorKind::Crashed, error.to_string()))
        }
    }
}

/// The version that the program prints, without its name.
///
/// # Errors
/// [`AgentErrorKind::Crashed`] when it does not start or fails.
pub(crate) async fn version_of(
    name: &str,
    program: &Path,
    host: &Host,
    cx: &StepContext,
) -> Result<Option<String>, AgentError> {
    let captured = ask(program, &["--version"], host, cx).await?;
    if !captured.is_success() {
        let message = format!("`{name} --version` failed: {}", captured.stderr_text());
        return Err(AgentError::new(AgentErrorKind::Crashed, message));
    }
    let printed = String::from_utf8_lossy(&captured.stdout).into_owned();
    let version = printed
        .split_whitespace()
        .find(|word| word.starts_with(|c: char| c.is_ascii_digit()));
    Ok(version.map(str::to_owned))
}
