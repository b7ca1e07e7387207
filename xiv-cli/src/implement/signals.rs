//! Ctrl-C, termination and a closed terminal: once stops cleanly, twice at
//! once.

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
    /// None when whoever started xiv wants it to live on (`nohup`).
    hang_up: Option<Signal>,
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
            hang_up: if hang_up_is_ignored() {
                None
            } else {
                Some(take(SignalKind::hangup())?)
            },
        })
    }

    async fn next(&mut self) {
        let hang_up = async {
            match &mut self.hang_up {
                Some(signal) => signal.recv().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
            _ = hang_up => {}
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

/// Whether this process was started with hang-ups ignored. Where that cannot
/// be read it was not.
fn hang_up_is_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask & 1 == 1)
}
