//! The only place where an async runtime is made.

use std::future::Future;

use xiv_core::model::ExitCode;

use crate::error::CliError;

/// Runs a command's future to its end.
///
/// # Errors
/// The future's own, or that no runtime could be made.
pub(crate) fn block_on<T>(
    future: impl Future<Output = Result<T, CliError>>,
) -> Result<T, CliError> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|e| {
            CliError::new(ExitCode::Bug, "bug", "no async runtime could be started")
                .with_cause(e.to_string())
        })?
        .block_on(future)
}
