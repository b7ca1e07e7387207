//! A power cut on demand: code that reaches the switch never goes on.

use std::fmt;
use std::future::Future;

use futures::future::{Either, pending, select};

use crate::port::{Cancel, CancelReason, Canceller};

/// Stops a run dead at a chosen point, as `kill -9` would.
///
/// Hand clones to the fakes that shall crash, and drive the code under test
/// with [`CrashSwitch::run`]: it drops the code at the point of the crash.
#[derive(Clone)]
pub struct CrashSwitch {
    trip: Canceller,
    tripped: Cancel,
}

impl CrashSwitch {
    /// A switch that nobody has hit yet.
    #[must_use]
    pub fn new() -> Self {
        let (trip, tripped) = Cancel::new();
        Self { trip, tripped }
    }

    /// Crashes: whoever awaits this never goes on.
    pub async fn crash<T>(&self) -> T {
        self.trip.cancel(CancelReason::User);
        pending().await
    }

    /// Runs code until it ends (`Some`) or hits the switch (`None`). Then it
    /// is dropped where it stands.
    pub async fn run<F: Future>(&self, code: F) -> Option<F::Output> {
        match select(Box::pin(code), self.tripped.clone()).await {
            Either::Left((output, _)) => Some(output),
            Either::Right(_) => None,
        }
    }

    /// Whether it was hit.
    #[must_use]
    pub fn is_tripped(&self) -> bool {
        self.tripped.reason().is_some()
    }
}

impl Default for CrashSwitch {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for CrashSwitch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CrashSwitch")
            .field(&self.is_tripped())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use futures::executor::block_on;

    use super::CrashSwitch;

    #[test]
    fn code_ends_at_the_switch() {
        let switch = CrashSwitch::new();
        assert_eq!(block_on(switch.run(async { 7 })), Some(7));
        assert!(!switch.is_tripped());
        let ended = block_on(switch.run(switch.crash::<u8>()));
        assert_eq!(ended, None);
        assert!(switch.is_tripped());
    }
}
