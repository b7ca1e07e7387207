//! Whether a budget is spent.

use crate::flow::BudgetLimits;
use crate::model::Usage;

/// The first budget that a use exceeds: `usd`, `tokens`, `minutes` or `calls`.
#[must_use]
pub fn exceeded(limits: &BudgetLimits, used: &Usage) -> Option<&'static str> {
    let usd = limits
        .usd
        .zip(used.cost_usd)
        .is_some_and(|(most, cost)| cost > most);
    let over = |most: Option<u64>, used: u64| most.is_some_and(|most| used > most);
    if usd {
        Some("usd")
    } else if over(limits.tokens, used.tokens()) {
        Some("tokens")
    } else if over(
        limits.minutes.map(|m| m.saturating_mul(60_000)),
        used.wall_ms,
    ) {
        Some("minutes")
    } else if over(limits.calls, used.calls) {
        Some("calls")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::exceeded;
    use crate::flow::BudgetLimits;
    use crate::model::Usage;

    #[test]
    fn a_budget_may_be_spent_to_its_end() {
        let limits = BudgetLimits {
            usd: Some(1.0),
            tokens: Some(10),
            minutes: Some(1),
            calls: Some(2),
        };
        let used = Usage {
            calls: 2,
            input_tokens: 4,
            output_tokens: 6,
            cost_usd: Some(1.0),
            wall_ms: 60_000,
            ..Usage::default()
        };
        assert_eq!(exceeded(&limits, &used), None);
        assert_eq!(
            exceeded(&limits, &Usage { calls: 3, ..used }),
            Some("calls")
        );
        assert_eq!(
            exceeded(
                &limits,
                &Usage {
                    wall_ms: 60_001,
                    ..used
                }
            ),
            Some("minutes")
        );
        assert_eq!(
            exceeded(
                &limits,
                &Usage {
                    output_tokens: 7,
                    ..used
                }
            ),
            Some("tokens")
        );
        assert_eq!(
            exceeded(
                &limits,
                &Usage {
                    cost_usd: Some(1.1),
                    ..used
                }
            ),
            Some("usd")
        );
        assert_eq!(
            exceeded(&BudgetLimits::default(), &Usage { calls: 99, ..used }),
            None
        );
    }
}
