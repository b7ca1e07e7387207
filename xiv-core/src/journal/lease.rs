//! Who owns a run, and until when. The rule that every journal shares.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use crate::port::{OwnerId, Processes};

/// One owner's claim on a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Lease {
    /// The owner.
    pub(crate) owner: OwnerId,
    /// When it ends unless it is renewed.
    pub(crate) until: Timestamp,
}

impl Lease {
    /// A lease that starts now.
    pub(crate) fn new(owner: OwnerId, now: Timestamp, length: Duration) -> Self {
        let until = SignedDuration::try_from(length)
            .ok()
            .and_then(|length| now.checked_add(length).ok())
            .unwrap_or(Timestamp::MAX);
        Self { owner, until }
    }

    /// Whether others have to respect it: it has not ended, and its process
    /// lives as far as this host can tell.
    pub(crate) fn holds(&self, now: Timestamp, processes: &dyn Processes) -> bool {
        self.until > now && processes.is_alive(&self.owner.process)
    }
}
