//! When a failed agent call is tried again.
//!
//! One pure rule for all engines: faults that may pass get three tries with
//! growing waits; a rate limit gets its own wait when that is short, else the
//! run is better suspended; everything else is not tried again.

use std::time::Duration;

use crate::port::AgentErrorKind;

/// The most tries of one call.
pub const MAX_TRIES: u32 = 3;
/// The longest wait for a rate limit inside a step.
pub const MAX_RATE_LIMIT_WAIT: Duration = Duration::from_secs(5 * 60);
const BASE: Duration = Duration::from_secs(5);
const CAP: Duration = Duration::from_secs(60);

/// What to do about a failed call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a driver must handle each")]
pub enum RetryDecision {
    /// Wait this long, then try again.
    After(Duration),
    /// The wait is too long for a step: suspend the run for this long.
    Suspend(Duration),
    /// Do not try again.
    GiveUp,
}

/// Decides about a call that failed for the `tries`-th time (the first is 1),
/// `remaining` before the step's time ends. `seed` is the run's; it spreads
/// the waits of runs that failed together.
#[must_use]
pub fn retry(kind: &AgentErrorKind, tries: u32, seed: u64, remaining: Duration) -> RetryDecision {
    let wait = match kind {
        AgentErrorKind::Transient => backoff(tries, seed),
        AgentErrorKind::RateLimited { retry_after_ms } => {
            let asked = retry_after_ms.map(Duration::from_millis);
            if let Some(long) = asked.filter(|wait| *wait > MAX_RATE_LIMIT_WAIT) {
                return RetryDecision::Suspend(long);
            }
            asked.unwrap_or_else(|| backoff(tries, seed))
        }
        _ => return RetryDecision::GiveUp,
    };
    if tries >= MAX_TRIES || wait >= remaining {
        return RetryDecision::GiveUp;
    }
    RetryDecision::After(wait)
}

/// 5 s, 10 s, 20 s … up to 60 s, plus up to a quarter of it.
fn backoff(tries: u32, seed: u64) -> Duration {
    let doubled = BASE.saturating_mul(
        1u32.checked_shl(tries.saturating_sub(1))
            .unwrap_or(u32::MAX),
    );
    let wait = doubled.min(CAP);
    let mixed = (seed ^ u64::from(tries)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    let quarter = u64::try_from(wait.as_millis() / 4).unwrap_or(0);
    (wait + Duration::from_millis(mixed % (quarter + 1))).min(CAP)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;

    use super::{RetryDecision, retry};
    use crate::port::AgentErrorKind::{Auth, Crashed, RateLimited, Transient};

    const LONG: Duration = Duration::from_secs(30 * 60);

    #[test]
    fn only_faults_that_may_pass_are_tried_again_and_at_most_twice() {
        assert!(matches!(
            retry(&Transient, 1, 0, LONG),
            RetryDecision::After(_)
        ));
        assert!(matches!(
            retry(&Transient, 2, 0, LONG),
            RetryDecision::After(_)
        ));
        assert_eq!(retry(&Transient, 3, 0, LONG), RetryDecision::GiveUp);
        assert_eq!(retry(&Auth, 1, 0, LONG), RetryDecision::GiveUp);
        assert_eq!(retry(&Crashed, 1, 0, LONG), RetryDecision::GiveUp);
    }

    #[test]
    fn a_rate_limit_names_its_own_wait() {
        let limited = |ms| RateLimited {
            retry_after_ms: Some(ms),
        };
        let seconds = Duration::from_secs;
        assert_eq!(
            retry(&limited(7_000), 1, 0, LONG),
            RetryDecision::After(seconds(7))
        );
        assert_eq!(
            retry(&limited(300_000), 1, 0, LONG),
            RetryDecision::After(seconds(300))
        );
        assert_eq!(
            retry(&limited(300_001), 1, 0, LONG),
            RetryDecision::Suspend(Duration::from_millis(300_001))
        );
        assert_eq!(
            retry(&limited(7_000), 1, 0, seconds(6)),
            RetryDecision::GiveUp
        );
    }

    proptest! {
        #[test]
        fn waits_grow_within_their_bounds(seed in any::<u64>()) {
            for (tries, least, most) in [(1, 5_000, 6_250), (2, 10_000, 12_500)] {
                let RetryDecision::After(wait) = retry(&Transient, tries, seed, LONG) else {
                    panic!("must be tried again");
                };
                prop_assert!((least..=most).contains(&wait.as_millis()));
            }
        }
    }
}
