//! The real time, and fresh ids that sort by it.

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use jiff::Timestamp;
use uuid::Uuid;

use crate::model::RunId;
use crate::port::Clock;

/// Where [`SystemClock`]'s elapsed time is counted from.
static START: LazyLock<Instant> = LazyLock::new(Instant::now);

/// The system's clock. Sleeping needs a tokio runtime.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SystemClock;

#[async_trait]
impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    fn elapsed(&self) -> Duration {
        START.elapsed()
    }

    async fn sleep(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }
}

/// A fresh run id. Ids made later sort later.
#[must_use]
pub fn new_run_id() -> RunId {
    match RunId::parse(Uuid::now_v7().to_string()) {
        Ok(id) => id,
        Err(error) => unreachable!("every UUID in its usual form is a run id: {error}"),
    }
}

/// A fresh number for everything in a run that is random. Not for secrets.
#[must_use]
pub fn new_seed() -> u64 {
    let (high, low) = Uuid::now_v7().as_u64_pair();
    high.rotate_left(32) ^ low
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{SystemClock, new_run_id, new_seed};
    use crate::port::Clock as _;

    #[tokio::test]
    async fn elapsed_time_grows_by_the_sleep() {
        let before = SystemClock.elapsed();
        SystemClock.sleep(Duration::from_millis(20)).await;
        assert!(SystemClock.elapsed() - before >= Duration::from_millis(20));
        assert!(SystemClock.now() > jiff::Timestamp::UNIX_EPOCH);
    }

    #[test]
    fn run_ids_are_distinct_and_sort_by_time() {
        let ids: Vec<_> = (0..100).map(|_| new_run_id()).collect();
        assert!(ids.is_sorted());
        assert!(ids.windows(2).all(|pair| pair[0] != pair[1]));
        assert_ne!(new_seed(), new_seed());
    }
}
