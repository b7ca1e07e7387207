//! Side files of a run: what people and agents read, and nothing depends on.

use std::fmt::Debug;
use std::path::PathBuf;

use async_trait::async_trait;

use crate::model::RunId;

/// Keeps files beside a run: review diffs, transcripts.
#[async_trait]
pub trait RunFiles: Debug + Send + Sync + 'static {
    /// The run's folder; it need not exist yet.
    fn folder(&self, run: &RunId) -> PathBuf;

    /// Writes a file atomically below the run's folder and returns its path.
    ///
    /// # Errors
    /// Any I/O fault.
    ///
    /// # Cancellation
    /// After a drop the file is there as a whole or not at all.
    async fn write(
        &self,
        run: &RunId,
        name: &str,
        content: &[u8],
    ) -> Result<PathBuf, std::io::Error>;
}

const _: Option<&dyn RunFiles> = None;
