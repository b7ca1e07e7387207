//! Ctrl-C and termination: once stops cleanly, twice at once.

use tokio::signal::unix::{Signal, SignalKind, signal};
use xiv_core::model::ExitCode;
use xiv_core::port::{CancelReason, Canceller};

use crate::error::CliError;
use crate::ui::Ui;

/// The signals that ask this process to end.
#[derive(Debug)]
pub(crate) struct Interrupts {
    interrupt: Signal,
    terminate: Signal,
}

impl Interrupts {
    /// Takes the signals over. From now on they end nothing by themselves.
    ///
    /// # Errors
    /// When they cannot be taken over.
    pub(crate) fn listen() -> Result<Self, CliError> {
        let take = |kind| {
            signal(kind).map_err(|e| {
                CliError::new(ExitCode::Bug, "bug", "signals cannot be received")
                    .with_cause(e.to_string())
            })
        };
        Ok(Self {
            interrupt: take(SignalKind::interrupt())?,
            terminate: take(SignalKind::terminate())?,
        })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }

    /// Gives the stop signal at the first one and returns at the second.
    pub(crate) async fn watch(mut self, canceller: Canceller, ui: Ui) {
        self.next().await;
        ui.note("stopping; press Ctrl-C again to stop at once …");
        canceller.cancel(CancelReason::User);
        self.next().await;
    }
}
