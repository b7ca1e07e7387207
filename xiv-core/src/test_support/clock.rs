//! Virtual time: half an hour passes in no time, and exactly when a test says.

use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};

use super::lock;
use crate::port::Clock;

/// How often a sleeper is polled without anything else happening on the clock
/// before an automatic clock takes it that everybody waits.
const QUIET_POLLS: u32 = 64;

/// A clock that stands still until it is moved.
///
/// Clones show the same time. There are two ways to move it:
///
/// * [`ManualClock::new`] moves only by [`ManualClock::advance`];
/// * [`ManualClock::automatic`] jumps to the next deadline by itself when
///   nothing but sleeping is left to do. It finds that out by letting every
///   sleeper yield a number of times, so it is meant for a single-threaded
///   executor and for work that is done by the futures themselves.
#[derive(Clone)]
pub struct ManualClock(Arc<Mutex<State>>);

struct State {
    start: Timestamp,
    wall_shift: SignedDuration,
    elapsed: Duration,
    automatic: bool,
    sleepers: BTreeMap<u64, Sleeper>,
    next_sleeper: u64,
}

struct Sleeper {
    deadline: Duration,
    waker: Waker,
    quiet_polls: u32,
}

impl ManualClock {
    /// A clock at 2026-01-01T00:00:00Z that moves only when told to.
    #[must_use]
    pub fn new() -> Self {
        Self::starting_at(Timestamp::constant(1_767_225_600, 0))
    }

    /// A clock that also jumps to the next deadline when everybody waits.
    #[must_use]
    pub fn automatic() -> Self {
        let clock = Self::new();
        lock(&clock.0).automatic = true;
        clock
    }

    /// A clock at this time that moves only when told to.
    #[must_use]
    pub fn starting_at(start: Timestamp) -> Self {
        Self(Arc::new(Mutex::new(State {
            start,
            wall_shift: SignedDuration::ZERO,
            elapsed: Duration::ZERO,
            automatic: false,
            sleepers: BTreeMap::new(),
            next_sleeper: 0,
        })))
    }

    /// Lets time pass and wakes whoever waited for it.
    pub fn advance(&self, by: Duration) {
        let due = {
            let mut state = lock(&self.0);
            let to = state.elapsed + by;
            state.move_to(to)
        };
        wake(due);
    }

    /// Sets the wall clock ahead or back, as a person or NTP would. No time
    /// passes: [`Clock::elapsed`] and sleepers do not notice.
    pub fn shift_wall_clock(&self, by: SignedDuration) {
        let mut state = lock(&self.0);
        state.wall_shift = state.wall_shift.saturating_add(by);
    }

    /// How many sleeps are under way.
    #[must_use]
    pub fn sleepers(&self) -> usize {
        lock(&self.0).sleepers.len()
    }
}

impl Default for ManualClock {
    fn default() -> Self {
        Self::new()
    }
}

impl State {
    /// Sets the time and returns the wakers of everybody who is due.
    fn move_to(&mut self, elapsed: Duration) -> Vec<Waker> {
        self.elapsed = self.elapsed.max(elapsed);
        self.stir();
        self.sleepers
            .values()
            .filter(|sleeper| sleeper.deadline <= self.elapsed)
            .map(|sleeper| sleeper.waker.clone())
            .collect()
    }

    /// Something happened: nobody has waited in vain so far.
    fn stir(&mut self) {
        for sleeper in self.sleepers.values_mut() {
            sleeper.quiet_polls = 0;
        }
    }

    /// Counts one poll of a sleeper in vain; on an automatic clock too many of
    /// them move the time to the next deadline.
    fn wait_in_vain(&mut self, id: u64) -> Vec<Waker> {
        if !self.automatic {
            return Vec::new();
        }
        let mut polls = 0;
        if let Some(sleeper) = self.sleepers.get_mut(&id) {
            sleeper.quiet_polls += 1;
            polls = sleeper.quiet_polls;
        }
        let pending = self.sleepers.values().map(|sleeper| sleeper.deadline);
        match pending.filter(|&deadline| deadline > self.elapsed).min() {
            Some(next) if polls >= QUIET_POLLS => self.move_to(next),
            _ => Vec::new(),
        }
    }
}

fn wake(due: Vec<Waker>) {
    for waker in due {
        waker.wake();
    }
}

/// One wait; it counts from its first poll.
struct Sleep {
    state: Arc<Mutex<State>>,
    duration: Duration,
    id: Option<u64>,
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let shared = Arc::clone(&self.state);
        let mut state = lock(&shared);
        let id = if let Some(id) = self.id {
            id
        } else {
            let id = state.next_sleeper;
            state.next_sleeper += 1;
            let deadline = state.elapsed.saturating_add(self.duration);
            let sleeper = Sleeper {
                deadline,
                waker: cx.waker().clone(),
                quiet_polls: 0,
            };
            state.stir();
            state.sleepers.insert(id, sleeper);
            self.id = Some(id);
            id
        };
        if let Some(sleeper) = state.sleepers.get_mut(&id) {
            sleeper.waker.clone_from(cx.waker());
        }
        let due = state.wait_in_vain(id);
        let automatic = state.automatic;
        let done = state
            .sleepers
            .get(&id)
            .is_none_or(|sleeper| sleeper.deadline <= state.elapsed);
        drop(state);
        wake(due);
        if done {
            return Poll::Ready(());
        }
        if automatic {
            cx.waker().wake_by_ref();
        }
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        if let Some(id) = self.id {
            let mut state = lock(&self.state);
            state.sleepers.remove(&id);
            state.stir();
        }
    }
}

#[async_trait]
impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        let state = lock(&self.0);
        let passed = SignedDuration::try_from(state.elapsed).unwrap_or(SignedDuration::MAX);
        state
            .start
            .saturating_add(passed.saturating_add(state.wall_shift))
            .unwrap_or(Timestamp::MAX)
    }

    fn elapsed(&self) -> Duration {
        lock(&self.0).elapsed
    }

    async fn sleep(&self, duration: Duration) {
        Sleep {
            state: Arc::clone(&self.0),
            duration,
            id: None,
        }
        .await;
    }
}

impl fmt::Debug for ManualClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = lock(&self.0);
        f.debug_struct("ManualClock")
            .field("elapsed", &state.elapsed)
            .field("automatic", &state.automatic)
            .field("sleepers", &state.sleepers.len())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use futures::FutureExt;
    use futures::executor::block_on;
    use futures::future::{Either, join, select};

    use super::ManualClock;
    use crate::port::{Cancel, CancelReason, Clock};

    const MINUTE: Duration = Duration::from_secs(60);

    #[test]
    fn a_sleep_ends_when_its_time_has_come_and_not_before() {
        let clock = ManualClock::new();
        let mut sleep = clock.sleep(MINUTE).boxed();
        assert_eq!(sleep.as_mut().now_or_never(), None);
        clock.advance(MINUTE - Duration::from_nanos(1));
        assert_eq!(sleep.as_mut().now_or_never(), None);
        clock.advance(Duration::from_nanos(1));
        assert_eq!(sleep.as_mut().now_or_never(), Some(()));
        assert_eq!(clock.elapsed(), MINUTE);
    }

    #[test]
    fn a_dropped_sleep_is_forgotten() {
        let clock = ManualClock::new();
        let mut sleep = clock.sleep(MINUTE).boxed();
        assert_eq!(sleep.as_mut().now_or_never(), None);
        assert_eq!(clock.sleepers(), 1);
        drop(sleep);
        assert_eq!(clock.sleepers(), 0);
    }

    #[test]
    fn an_automatic_clock_passes_deadlines_in_order() {
        let clock = ManualClock::automatic();
        let order = block_on(async {
            let seen = std::cell::RefCell::new(Vec::new());
            let late = async {
                clock.sleep(30 * MINUTE).await;
                seen.borrow_mut().push(clock.elapsed());
            };
            let early = async {
                for _ in 0..3 {
                    clock.sleep(MINUTE).await;
                    seen.borrow_mut().push(clock.elapsed());
                }
            };
            join(late, early).await;
            seen.into_inner()
        });
        assert_eq!(order, [MINUTE, 2 * MINUTE, 3 * MINUTE, 30 * MINUTE]);
    }

    #[test]
    fn an_automatic_clock_lets_ready_work_go_first() {
        let clock = ManualClock::automatic();
        let (canceller, cancel) = Cancel::new();
        let work = async {
            for _ in 0..20 {
                let mut polled = false;
                futures::future::poll_fn(|cx| {
                    cx.waker().wake_by_ref();
                    let ready = polled;
                    polled = true;
                    if ready {
                        std::task::Poll::Ready(())
                    } else {
                        std::task::Poll::Pending
                    }
                })
                .await;
            }
            canceller.cancel(CancelReason::User);
            cancel.await
        };
        let limit = clock.sleep(MINUTE);
        let Either::Left((reason, _)) = block_on(select(Box::pin(work), limit)) else {
            panic!("the limit ran out while there was work to do");
        };
        assert_eq!(reason, CancelReason::User);
        assert_eq!(clock.elapsed(), Duration::ZERO);
    }

    #[test]
    fn the_wall_clock_can_jump_without_time_passing() {
        let clock = ManualClock::new();
        let before = clock.now();
        clock.shift_wall_clock(jiff::SignedDuration::from_hours(-5));
        assert_eq!(clock.now().duration_since(before).as_hours(), -5);
        assert_eq!(clock.elapsed(), Duration::ZERO);
    }
}
