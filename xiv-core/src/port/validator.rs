//! Running the repository's own commands.

use std::fmt::Debug;
use std::path::PathBuf;

use async_trait::async_trait;

use super::StepContext;
use crate::model::{CommandResult, RunId, ValidationCommand};

/// What to run and where.
#[derive(Debug, Clone)]
pub struct ValidateRequest {
    /// The commands, in order. All of them run, also after a failure.
    pub commands: Vec<ValidationCommand>,
    /// The work tree's root.
    pub cwd: PathBuf,
    /// The run, for `XIV_RUN_ID`.
    pub run: Option<RunId>,
    /// Names of variables that validation, and no agent, may see although the
    /// guard would take them away.
    pub env_allow: Vec<String>,
}

/// Each command's result, in order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CommandsRun {
    /// One per command that was to run.
    pub commands: Vec<CommandResult>,
}

/// Validation was stopped, or could not be set up at all. A command that fails
/// is a result, not an error.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ValidatorError {
    /// The context's signal was given.
    #[error("validation was stopped")]
    Cancelled,
    /// The guarded environment could not be set up.
    #[error("the environment for validation could not be set up")]
    Setup(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// Runs validation commands.
#[async_trait]
pub trait Validator: Debug + Send + Sync + 'static {
    /// Runs every command and reports how each ended. When it returns, no
    /// process that a command started is left.
    ///
    /// # Errors
    /// [`ValidatorError`]; never because a command failed.
    ///
    /// # Cancellation
    /// Returns [`ValidatorError::Cancelled`] soon after the context's signal.
    /// Dropping the future ends every process, at once.
    async fn validate(
        &self,
        request: ValidateRequest,
        cx: StepContext,
    ) -> Result<CommandsRun, ValidatorError>;
}

const _: Option<&dyn Validator> = None;
