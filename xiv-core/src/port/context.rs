//! What every long port call gets beside its request: where to report
//! progress, and how it is told to stop.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use futures::FutureExt;
use futures::channel::oneshot;
use futures::future::Shared;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Clock;
use crate::model::Usage;

/// Progress of a step while it runs. Lossy: it is shown, never decided on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(
    tag = "type",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
#[expect(clippy::exhaustive_enums, reason = "reporters must show each kind")]
pub enum StepEvent {
    /// A program was started.
    Started {
        /// Its process id.
        pid: u32,
        /// Its start time in clock ticks since boot, to tell a re-used pid.
        start_time: Option<u64>,
        /// The program's own version, when known.
        version: Option<String>,
        /// The agent session, when known.
        session: Option<String>,
    },
    /// An agent used a tool.
    Activity {
        /// The tool's name.
        tool: Option<String>,
        /// What it was used on: a path, a command line.
        target: Option<String>,
    },
    /// An agent said something.
    Text {
        /// What it said.
        text: String,
    },
    /// Tokens or money were used; the total of this call so far.
    Usage {
        /// The total of this call so far.
        usage: Usage,
    },
    /// A program printed a line.
    Output {
        /// The line, without its end.
        line: String,
    },
    /// Something odd that does not stop the step.
    Warning {
        /// What is odd.
        message: String,
    },
    /// The guard refused a command that an agent tried.
    Denied {
        /// The rule that refused it.
        rule: String,
        /// The command line.
        argv: Vec<String>,
    },
}

/// A sink for [`StepEvent`]s. Cheap to clone, never blocks.
#[derive(Clone)]
pub struct Events(Arc<dyn Fn(StepEvent) + Send + Sync>);

impl Events {
    /// Wraps a function that takes each event. It must return quickly.
    pub fn new(sink: impl Fn(StepEvent) + Send + Sync + 'static) -> Self {
        Self(Arc::new(sink))
    }

    /// A sink that drops everything.
    #[must_use]
    pub fn ignore() -> Self {
        Self::new(|_| {})
    }

    /// Hands one event to the sink.
    pub fn emit(&self, event: StepEvent) {
        (self.0)(event);
    }

    /// Hands a warning to the sink.
    pub fn warn(&self, message: impl Into<String>) {
        self.emit(StepEvent::Warning {
            message: message.into(),
        });
    }
}

impl fmt::Debug for Events {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Events")
    }
}

/// Why a step was told to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum CancelReason {
    /// A person asked for it (Ctrl-C, `run cancel`).
    User,
    /// Nothing was heard from the step for too long.
    TimedOutIdle,
    /// The step's whole time is spent.
    TimedOutTotal,
    /// A budget is spent.
    Budget,
    /// Another process owns the run now.
    LeaseLost,
}

/// The stop signal of a step: a future that resolves with the reason, once.
///
/// Clones all see the same signal. It never resolves when its [`Canceller`] is
/// dropped without cancelling.
#[derive(Clone)]
pub struct Cancel(Shared<Pin<Box<dyn Future<Output = CancelReason> + Send>>>);

impl Cancel {
    /// A signal and the handle that gives it.
    #[must_use]
    pub fn new() -> (Canceller, Self) {
        let (sender, receiver) = oneshot::channel();
        let signal = async move {
            match receiver.await {
                Ok(reason) => reason,
                Err(oneshot::Canceled) => futures::future::pending().await,
            }
        };
        let canceller = Canceller(Arc::new(Mutex::new(Pending::Open(sender))));
        (canceller, Self(signal.boxed().shared()))
    }

    /// A signal that is never given.
    #[must_use]
    pub fn never() -> Self {
        Self(futures::future::pending().boxed().shared())
    }

    /// The reason, if the signal was given already.
    #[must_use]
    pub fn reason(&self) -> Option<CancelReason> {
        self.0.clone().now_or_never()
    }
}

impl Future for Cancel {
    type Output = CancelReason;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<CancelReason> {
        self.0.poll_unpin(cx)
    }
}

impl fmt::Debug for Cancel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Cancel").field(&self.reason()).finish()
    }
}

/// Gives a [`Cancel`] signal. Clones share it; only the first call counts.
#[derive(Clone)]
pub struct Canceller(Arc<Mutex<Pending>>);

/// The signal not yet given, or the reason that was.
enum Pending {
    Open(oneshot::Sender<CancelReason>),
    Given(CancelReason),
}

impl Canceller {
    /// Gives the signal; later calls do nothing.
    pub fn cancel(&self, reason: CancelReason) {
        let mut pending = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Pending::Open(_) = *pending
            && let Pending::Open(sender) = std::mem::replace(&mut *pending, Pending::Given(reason))
        {
            // nobody may listen any more: the step has ended by itself
            let _ended = sender.send(reason);
        }
    }

    /// The reason, if the signal was given.
    #[must_use]
    pub fn reason(&self) -> Option<CancelReason> {
        match *self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            Pending::Open(_) => None,
            Pending::Given(reason) => Some(reason),
        }
    }
}

impl fmt::Debug for Canceller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Canceller")
    }
}

/// What a port method gets that may take over a second.
#[derive(Debug, Clone)]
pub struct StepContext {
    /// Where progress goes.
    pub events: Events,
    /// The stop signal. A callee ends what it started and returns.
    pub cancel: Cancel,
    /// The only clock.
    pub clock: Arc<dyn Clock>,
    /// This step attempt's key, appended to `XIV_MARK` of whatever it starts.
    pub mark: String,
}

impl StepContext {
    /// A context with a silent sink and a signal that is never given.
    pub fn new(clock: Arc<dyn Clock>, mark: impl Into<String>) -> Self {
        Self {
            events: Events::ignore(),
            cancel: Cancel::never(),
            clock,
            mark: mark.into(),
        }
    }

    /// Sets the progress sink.
    #[must_use]
    pub fn with_events(mut self, events: Events) -> Self {
        self.events = events;
        self
    }

    /// Sets the stop signal.
    #[must_use]
    pub fn with_cancel(mut self, cancel: Cancel) -> Self {
        self.cancel = cancel;
        self
    }

    /// The time now.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::{Cancel, CancelReason};

    #[test]
    fn the_first_reason_counts_for_every_clone() {
        let (canceller, cancel) = Cancel::new();
        let other = cancel.clone();
        assert_eq!(cancel.reason(), None);
        canceller.clone().cancel(CancelReason::Budget);
        canceller.cancel(CancelReason::User);
        assert_eq!(cancel.reason(), Some(CancelReason::Budget));
        assert_eq!(other.now_or_never(), Some(CancelReason::Budget));
    }

    #[test]
    fn a_dropped_canceller_cancels_nothing() {
        let (canceller, cancel) = Cancel::new();
        drop(canceller);
        assert_eq!(cancel.now_or_never(), None);
    }
}
