//! What a failed call means for the run: who is to mend it, and whether time
//! alone will.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use crate::flow::{ReviewFailureKind, Wait};
use crate::model::{FailureCause, StepId};
use crate::port::{AgentError, AgentErrorKind, TimeoutKind, VcsError, VcsErrorKind};

use super::step_failed;

/// Why a plan, implement or fix step leaves the run standing.
pub(super) fn agent_wait(step: &StepId, error: &AgentError, now: Timestamp) -> Wait {
    match &error.kind {
        AgentErrorKind::Quota { resets_at } => Wait::Until {
            at: *resets_at,
            step: step.clone(),
            message: error.message.clone(),
        },
        AgentErrorKind::RateLimited {
            retry_after_ms: Some(wait),
        } => Wait::Until {
            at: Some(later(now, Duration::from_millis(*wait))),
            step: step.clone(),
            message: error.message.clone(),
        },
        AgentErrorKind::Config => step_failed(
            step,
            FailureCause::Configuration,
            error,
            error.hints.clone(),
        ),
        _ => step_failed(step, FailureCause::Adapter, error, error.hints.clone()),
    }
}

/// Why a step of version control leaves the run standing.
pub(super) fn vcs_wait(step: &StepId, error: &VcsError) -> Wait {
    let cause = match error.kind {
        VcsErrorKind::Program | VcsErrorKind::Locked | VcsErrorKind::Rejected => {
            FailureCause::Adapter
        }
        _ => FailureCause::Refused,
    };
    step_failed(step, cause, error, error.hints.clone())
}

/// The kind under which a failed review is recorded.
pub(super) const fn review_failure(kind: &AgentErrorKind) -> ReviewFailureKind {
    match kind {
        AgentErrorKind::Auth => ReviewFailureKind::Auth,
        AgentErrorKind::Quota { .. } => ReviewFailureKind::Quota,
        AgentErrorKind::RateLimited { .. } => ReviewFailureKind::RateLimited,
        AgentErrorKind::Transient => ReviewFailureKind::Transient,
        AgentErrorKind::ContextOverflow => ReviewFailureKind::ContextOverflow,
        AgentErrorKind::Config => ReviewFailureKind::Config,
        AgentErrorKind::LimitReached => ReviewFailureKind::LimitReached,
        AgentErrorKind::Refused => ReviewFailureKind::Refused,
        AgentErrorKind::TimedOut(_) => ReviewFailureKind::TimedOut,
        AgentErrorKind::Crashed => ReviewFailureKind::Crashed,
        AgentErrorKind::Unparseable => ReviewFailureKind::Unparseable,
        AgentErrorKind::GateBlocked => ReviewFailureKind::GateBlocked,
        AgentErrorKind::Cancelled | AgentErrorKind::Other => ReviewFailureKind::Other,
    }
}

/// The error of a call that the driver's own timer ended.
pub(super) fn timed_out(kind: TimeoutKind, limit_ms: u64) -> AgentError {
    let limit = Duration::from_millis(limit_ms);
    let message = match kind {
        TimeoutKind::Idle => format!("it was silent for {limit:?}"),
        TimeoutKind::Total => format!("it was not done after {limit:?}"),
    };
    AgentError::new(AgentErrorKind::TimedOut(kind), message)
}

fn later(now: Timestamp, wait: Duration) -> Timestamp {
    let wait = SignedDuration::try_from(wait).unwrap_or(SignedDuration::MAX);
    now.saturating_add(wait).unwrap_or(Timestamp::MAX)
}
