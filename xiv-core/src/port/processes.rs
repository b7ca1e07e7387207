//! Processes of earlier attempts: after a crash an agent may still be editing.

use std::fmt::Debug;

use async_trait::async_trait;

use super::ProcessId;

/// Looks at and ends processes that an earlier attempt of a step left behind.
#[async_trait]
pub trait Processes: Debug + Send + Sync + 'static {
    /// This process.
    fn current(&self) -> ProcessId;

    /// Whether the process is alive **and** the same one (not a re-used pid).
    /// Always true for a process of another host.
    fn is_alive(&self, process: &ProcessId) -> bool;

    /// Ends every process whose `XIV_MARK` holds this step attempt's key and
    /// says how many there were. xiv itself and its ancestors are spared.
    ///
    /// # Cancellation
    /// Dropping the future may leave some of them alive.
    async fn sweep(&self, mark: &str) -> usize;
}

const _: Option<&dyn Processes> = None;
