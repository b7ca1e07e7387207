//! `done-gate`: how a scripted run goes, played by the machine of real runs.

use xiv_core::model::ExitCode;
use xiv_core::policy::script::{GateReport, GateScript, play};

use crate::error::CliError;

pub(super) fn answer(script: &GateScript) -> Result<GateReport, CliError> {
    play(script).map_err(|error| {
        CliError::new(ExitCode::Bug, "bug", "the script cannot be played")
            .with_cause(error.to_string())
    })
}
