//! Replaying a run's history and saying what comes next.

use super::{Event, Next, Recorded};
use crate::model::StepId;

/// A history that these rules would not have led to.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Divergence {
    /// The event belongs to another step than the one that is open.
    #[error("event {event} belongs to step {recorded}, but these rules are at {decided}")]
    WrongStep {
        /// The event's type.
        event: &'static str,
        /// Its step.
        recorded: StepId,
        /// The open step, or what stands in its place.
        decided: String,
    },
}

/// A run's state.
#[derive(Debug, Clone)]
pub struct Machine {}

impl Machine {
    /// Folds a whole history.
    ///
    /// # Errors
    /// [`Divergence`] when these rules would not have led to it.
    pub fn replay(history: &[Recorded]) -> Result<Self, Divergence> {
        let mut machine = Self {};
        for recorded in history {
            machine.apply(&recorded.event)?;
        }
        Ok(machine)
    }

    /// Takes one more event.
    ///
    /// # Errors
    /// [`Divergence`] when these rules would not have led to it.
    pub fn apply(&mut self, _event: &Event) -> Result<(), Divergence> {
        Ok(())
    }

    /// What to do now. Depends on nothing but the history.
    #[must_use]
    pub fn next(&self) -> Next {
        Next::Wait(super::Wait::Interrupted)
    }
}
