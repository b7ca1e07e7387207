//! Watching a run: every recorded event, and lossy progress between them.

use std::fmt::Debug;

use crate::flow::Recorded;
use crate::model::{RunId, StepId};

use super::StepEvent;

/// Progress of the step under way.
#[derive(Debug, Clone, PartialEq)]
pub struct Progress {
    /// The run.
    pub run: RunId,
    /// The step.
    pub step: StepId,
    /// What happened.
    pub event: StepEvent,
}

/// Watches a run. Must return quickly and cannot stop anything.
pub trait Observer: Debug + Send + Sync + 'static {
    /// An event was recorded. Called once per event, in order.
    fn recorded(&self, run: &RunId, recorded: &Recorded);

    /// The step under way did something. May be dropped or thinned out.
    fn progress(&self, progress: &Progress);
}

const _: Option<&dyn Observer> = None;

/// Watches nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NullObserver;

impl Observer for NullObserver {
    fn recorded(&self, _: &RunId, _: &Recorded) {}
    fn progress(&self, _: &Progress) {}
}
