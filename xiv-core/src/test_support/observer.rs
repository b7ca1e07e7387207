//! An observer that keeps what it saw.

use std::sync::{Arc, Mutex};

use super::lock;
use crate::flow::{Event, Recorded};
use crate::model::RunId;
use crate::port::{Observer, Progress};

/// Keeps every event and all progress. Clones share the record.
#[derive(Debug, Clone, Default)]
pub struct RecordingObserver(Arc<Mutex<Seen>>);

#[derive(Debug, Default)]
struct Seen {
    recorded: Vec<(RunId, Recorded)>,
    progress: Vec<Progress>,
}

impl RecordingObserver {
    /// An observer that has seen nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The events, in the order of their recording.
    #[must_use]
    pub fn events(&self) -> Vec<Event> {
        let seen = lock(&self.0);
        seen.recorded.iter().map(|(_, r)| r.event.clone()).collect()
    }

    /// The events' `type` words.
    #[must_use]
    pub fn kinds(&self) -> Vec<&'static str> {
        self.events().iter().map(Event::kind).collect()
    }

    /// The events with run, number and time.
    #[must_use]
    pub fn history(&self) -> Vec<(RunId, Recorded)> {
        lock(&self.0).recorded.clone()
    }

    /// All progress.
    #[must_use]
    pub fn all_progress(&self) -> Vec<Progress> {
        lock(&self.0).progress.clone()
    }
}

impl Observer for RecordingObserver {
    fn recorded(&self, run: &RunId, recorded: &Recorded) {
        lock(&self.0).recorded.push((run.clone(), recorded.clone()));
    }

    fn progress(&self, progress: &Progress) {
        lock(&self.0).progress.push(progress.clone());
    }
}
