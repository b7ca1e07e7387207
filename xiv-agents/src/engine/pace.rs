//! At most ten signs of activity in a second; more says nothing more.
//!
//! Tool calls are worth showing, bare signs of life only tell the silence timer that the agent lives. So
//! the two are paced apart, and a stream of the latter never hides the former.

use std::collections::VecDeque;
use std::time::Duration;

const WINDOW: Duration = Duration::from_secs(1);
/// Tool calls in the window.
const TOOLS: usize = 8;
/// Time between two bare signs of life.
const BETWEEN_SIGNS: Duration = Duration::from_millis(500);

/// Decides which activities are passed on.
#[derive(Debug, Default)]
pub(crate) struct Pace {
    tools: VecDeque<Duration>,
    sign: Option<Duration>,
}

impl Pace {
    /// Whether a tool call at this time is passed on.
    pub(crate) fn tool(&mut self, now: Duration) -> bool {
        while self
            .tools
            .front()
            .is_some_and(|first| now.saturating_sub(*first) >= WINDOW)
        {
            self.tools.pop_front();
        }
        if self.tools.len() >= TOOLS {
            return false;
        }
        self.tools.push_back(now);
        true
    }

    /// Whether a bare sign of life at this time is passed on.
    pub(crate) fn sign(&mut self, now: Duration) -> bool {
        if self
            .sign
            .is_some_and(|last| now.saturating_sub(last) < BETWEEN_SIGNS)
        {
            return false;
        }
        self.sign = Some(now);
        true
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn never_more_than_ten_in_any_second(steps in proptest::collection::vec((0u64..200, any::<bool>()), 0..300)) {
            let (mut pace, mut now, mut passed) = (Pace::default(), Duration::ZERO, Vec::new());
            for (pause, is_tool) in steps {
                now += Duration::from_millis(pause);
                if if is_tool { pace.tool(now) } else { pace.sign(now) } {
                    passed.push(now);
                }
            }
            for (at, start) in passed.iter().enumerate() {
                let within = passed[at..].iter().take_while(|time| **time < *start + WINDOW).count();
                prop_assert!(within <= 10, "{within} within a second");
            }
        }
    }

    #[test]
    fn signs_do_not_hide_tools() {
        let mut pace = Pace::default();
        assert!(pace.sign(Duration::ZERO));
        assert!(!pace.sign(Duration::from_millis(10)));
        assert!(pace.tool(Duration::from_millis(10)));
    }
}
