//! Time as a port: flows never read a clock, the driver only this one.

use std::fmt::Debug;
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;

/// The time, and waiting for it.
#[async_trait]
pub trait Clock: Debug + Send + Sync + 'static {
    /// The wall-clock time.
    fn now(&self) -> Timestamp;

    /// Time since an arbitrary start that never runs backwards. Limits are
    /// measured with it, so that a changed wall clock ends no step.
    fn elapsed(&self) -> Duration;

    /// Waits.
    ///
    /// # Cancellation
    /// Dropping the future ends the wait.
    async fn sleep(&self, duration: Duration);
}

const _: Option<&dyn Clock> = None;
