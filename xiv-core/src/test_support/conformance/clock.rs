//! The rules of the [`Clock`] port.

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::{Either, join, select};

use crate::port::Clock;

/// Long enough to be told from nothing on a busy machine.
const SHORT: Duration = Duration::from_millis(10);

/// Runs every case on clocks that move by themselves.
///
/// # Panics
/// When a rule is broken.
pub async fn clock<N, C>(new: N)
where
    N: Fn() -> C + Send + Sync,
    C: Clock,
{
    a_sleep_is_not_shorter_than_asked(&new()).await;
    no_time_at_all_is_over_at_once(&new()).await;
    sleeps_run_side_by_side(Arc::new(new())).await;
    a_dropped_sleep_stops_nothing(&new()).await;
    time_does_not_run_backwards(&new()).await;
}

async fn a_sleep_is_not_shorter_than_asked(clock: &dyn Clock) {
    let before = clock.elapsed();
    clock.sleep(SHORT).await;
    let passed = clock.elapsed() - before;
    assert!(passed >= SHORT, "a sleep of {SHORT:?} took {passed:?}");
}

async fn no_time_at_all_is_over_at_once(clock: &dyn Clock) {
    let nothing = clock.sleep(Duration::ZERO);
    match select(nothing, clock.sleep(SHORT * 1000)).await {
        Either::Left(_) => {}
        Either::Right(_) => panic!("a sleep of no time outlasted a long one"),
    }
}

async fn sleeps_run_side_by_side(clock: Arc<dyn Clock>) {
    let before = clock.elapsed();
    join(clock.sleep(SHORT * 3), clock.sleep(SHORT * 2)).await;
    let passed = clock.elapsed() - before;
    assert!(passed >= SHORT * 3, "the longer sleep took {passed:?}");
    let order = select(clock.sleep(SHORT * 50), clock.sleep(SHORT)).await;
    assert!(
        matches!(order, Either::Right(_)),
        "the longer sleep ended first"
    );
}

async fn a_dropped_sleep_stops_nothing(clock: &dyn Clock) {
    let dropped = clock.sleep(SHORT * 1000).now_or_never();
    assert_eq!(dropped, None, "a long sleep was over at once");
    clock.sleep(SHORT).await;
}

async fn time_does_not_run_backwards(clock: &dyn Clock) {
    let (mut elapsed, start) = (clock.elapsed(), clock.now());
    for _ in 0..20 {
        clock.sleep(SHORT / 10).await;
        let now = clock.elapsed();
        assert!(now >= elapsed, "{now:?} came after {elapsed:?}");
        elapsed = now;
    }
    assert!(clock.now() > start, "the wall clock stands still");
}
