//! The order in which issues that block each other can be done.
//!
//! Of the issues that nothing blocks any more the one with the smallest key is
//! always next, so the order depends on what blocks what and on the keys, and
//! on nothing else. A blocker that is not in the list blocks nothing.

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An issue and what has to be done before it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OrderIssue {
    /// The issue's key, as its tracker writes it.
    pub key: String,
    /// Keys of the issues that must be done first. Default: none.
    #[serde(default)]
    pub blocked_by: Vec<String>,
}

impl OrderIssue {
    /// An issue that these block.
    pub fn new<S: Into<String>>(
        key: impl Into<String>,
        blocked_by: impl IntoIterator<Item = S>,
    ) -> Self {
        Self {
            key: key.into(),
            blocked_by: blocked_by.into_iter().map(Into::into).collect(),
        }
    }
}

/// The order, or why there is none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(
    clippy::exhaustive_enums,
    reason = "there is an order or there is none"
)]
pub enum Order {
    /// Every key once; blockers come first.
    Order(Vec<String>),
    /// Issues that block each other in a circle, each blocked by the next one
    /// and the last one by the first. It begins with the smallest key.
    Cycle(Vec<String>),
}

/// Orders the issues. A key that is listed twice is one issue that both lists
/// block.
#[must_use]
pub fn order(issues: &[OrderIssue]) -> Order {
    let mut keys: Vec<&str> = issues.iter().map(|issue| issue.key.as_str()).collect();
    keys.sort_by(|a, b| compare_keys(a, b));
    keys.dedup();
    // from here on an issue is its place in the sorted list
    let rank: BTreeMap<&str, usize> = keys.iter().enumerate().map(|(i, key)| (*key, i)).collect();
    let mut blockers = vec![BTreeSet::new(); keys.len()];
    let mut blocks = vec![Vec::new(); keys.len()];
    for issue in issues {
        let issue_rank = rank[issue.key.as_str()];
        for blocker in issue.blocked_by.iter().filter_map(|b| rank.get(b.as_str())) {
            if blockers[issue_rank].insert(*blocker) {
                blocks[*blocker].push(issue_rank);
            }
        }
    }
    let mut waiting: Vec<usize> = blockers.iter().map(BTreeSet::len).collect();
    let mut free: BinaryHeap<Reverse<usize>> = (0..keys.len())
        .filter(|issue| waiting[*issue] == 0)
        .map(Reverse)
        .collect();
    let mut done = Vec::with_capacity(keys.len());
    while let Some(Reverse(issue)) = free.pop() {
        done.push(issue);
        for &blocked in &blocks[issue] {
            waiting[blocked] -= 1;
            if waiting[blocked] == 0 {
                free.push(Reverse(blocked));
            }
        }
    }
    let named = |issues: Vec<usize>| issues.into_iter().map(|i| keys[i].to_owned()).collect();
    match waiting.iter().position(|left| *left > 0) {
        None => Order::Order(named(done)),
        Some(stuck) => Order::Cycle(named(cycle_from(stuck, &blockers, &waiting))),
    }
}

/// A circle that is met on the way from blocker to blocker. Whatever is still
/// waiting has a blocker that is, so the way has no end.
fn cycle_from(stuck: usize, blockers: &[BTreeSet<usize>], waiting: &[usize]) -> Vec<usize> {
    let mut way = vec![stuck];
    let mut place = BTreeMap::from([(stuck, 0)]);
    let mut at = stuck;
    while let Some(&next) = blockers[at].iter().find(|b| waiting[**b] > 0) {
        if let Some(&first) = place.get(&next) {
            way.drain(..first);
            break;
        }
        place.insert(next, way.len());
        way.push(next);
        at = next;
    }
    let smallest = (0..way.len()).min_by_key(|i| way[*i]).unwrap_or(0);
    way.rotate_left(smallest);
    way
}

/// Compares keys as people do: `A-2` before `A-10`. Digits count as one
/// number; everything else goes by code point. Only equal texts are equal.
#[must_use]
pub fn compare_keys(a: &str, b: &str) -> Ordering {
    let (mut left, mut right) = (a.as_bytes(), b.as_bytes());
    while let (Some(&l), Some(&r)) = (left.first(), right.first()) {
        let ordering = if l.is_ascii_digit() && r.is_ascii_digit() {
            let (n, m) = (digits(left), digits(right));
            (left, right) = (&left[n.len()..], &right[m.len()..]);
            compare_numbers(n, m)
        } else {
            (left, right) = (&left[1..], &right[1..]);
            l.cmp(&r)
        };
        if ordering != Ordering::Equal {
            return ordering;
        }
    }
    left.len().cmp(&right.len()).then_with(|| a.cmp(b))
}

fn digits(text: &[u8]) -> &[u8] {
    let length = text.iter().take_while(|b| b.is_ascii_digit()).count();
    &text[..length]
}

/// Compares digits of any length by value.
fn compare_numbers(a: &[u8], b: &[u8]) -> Ordering {
    let significant = |number: &[u8]| -> usize {
        number.len() - number.iter().take_while(|b| **b == b'0').count()
    };
    let (n, m) = (significant(a), significant(b));
    n.cmp(&m)
        .then_with(|| a[a.len() - n..].cmp(&b[b.len() - m..]))
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use proptest::prelude::*;

    use super::{Order, OrderIssue, compare_keys, order};

    fn issues(table: &[(&str, &[&str])]) -> Vec<OrderIssue> {
        table
            .iter()
            .map(|(key, by)| OrderIssue::new(*key, by.iter().copied()))
            .collect()
    }

    fn ordered(keys: &[&str]) -> Order {
        Order::Order(keys.iter().map(ToString::to_string).collect())
    }

    fn cycle(keys: &[&str]) -> Order {
        Order::Cycle(keys.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn the_smallest_free_key_is_next() {
        for (table, want) in [
            (&[][..], ordered(&[])),
            (
                &[("A-1", &["A-9"][..]), ("A-9", &[]), ("A-2", &[])],
                ordered(&["A-2", "A-9", "A-1"]),
            ),
            (
                &[("A-10", &[]), ("A-9", &[]), ("B-1", &[]), ("A-1", &["B-1"])],
                ordered(&["A-9", "A-10", "B-1", "A-1"]),
            ),
            // outside the list, given twice, listed twice
            (&[("A-1", &["X-1"])], ordered(&["A-1"])),
            (
                &[("A-1", &["A-2", "A-2"]), ("A-2", &[])],
                ordered(&["A-2", "A-1"]),
            ),
            (
                &[("A-1", &[]), ("A-2", &[]), ("A-1", &["A-2"])],
                ordered(&["A-2", "A-1"]),
            ),
        ] {
            assert_eq!(order(&issues(table)), want, "{table:?}");
        }
    }

    #[test]
    fn a_circle_is_named_and_nothing_else() {
        for (table, want) in [
            (&[("A-1", &["A-1"][..])][..], cycle(&["A-1"])),
            (
                &[
                    ("A-0", &["A-3"]),
                    ("A-3", &["A-2"]),
                    ("A-2", &["A-3"]),
                    ("A-1", &[]),
                ],
                cycle(&["A-2", "A-3"]),
            ),
            (
                &[
                    ("C-1", &["C-3"]),
                    ("C-2", &["C-1"]),
                    ("C-3", &["C-2", "C-4"]),
                    ("C-4", &[]),
                ],
                cycle(&["C-1", "C-3", "C-2"]),
            ),
        ] {
            assert_eq!(order(&issues(table)), want, "{table:?}");
        }
    }

    #[test]
    fn numbers_are_compared_as_numbers() {
        let sorted = [
            "10",
            "A-2",
            "A-02b",
            "A-10",
            "A-99999999999999999999999",
            "A1",
            "AB-1",
            "a-1",
            "gh-2",
            "o/r#9",
            "o/r#10",
        ];
        for pair in sorted.windows(2) {
            assert!(compare_keys(pair[0], pair[1]).is_lt(), "{pair:?}");
        }
        assert!(compare_keys("A-1", "A-01").is_ne());
    }

    fn graphs() -> impl Strategy<Value = Vec<OrderIssue>> {
        prop::collection::vec((0u8..12, prop::collection::vec(0u8..14, 0..4)), 0..10).prop_map(
            |rows| {
                let issue = |(key, by): (u8, Vec<u8>)| {
                    OrderIssue::new(format!("K-{key}"), by.iter().map(|b| format!("K-{b}")))
                };
                rows.into_iter().map(issue).collect()
            },
        )
    }

    proptest! {
        /// The oracle takes the smallest free key by looking at all of them.
        #[test]
        fn the_order_is_the_smallest_of_all_that_are_valid(issues in graphs()) {
            let mut open: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
            let number = |key: &str| key[2..].parse::<u32>().expect("a number");
            for issue in &issues {
                open.entry(number(&issue.key))
                    .or_default()
                    .extend(issue.blocked_by.iter().map(|b| number(b)));
            }
            let mut want = Vec::new();
            while let Some(free) = open
                .iter()
                .find(|(_, by)| by.iter().all(|b| !open.contains_key(b)))
                .map(|(key, _)| *key)
            {
                open.remove(&free);
                want.push(format!("K-{free}"));
            }
            match order(&issues) {
                Order::Order(keys) => {
                    prop_assert!(open.is_empty());
                    prop_assert_eq!(keys, want);
                }
                Order::Cycle(keys) => {
                    prop_assert!(!keys.is_empty() && !open.is_empty());
                    for (i, key) in keys.iter().enumerate() {
                        let next = number(&keys[(i + 1) % keys.len()]);
                        prop_assert!(open[&number(key)].contains(&next), "{:?}", keys);
                    }
                }
            }
        }

        #[test]
        fn comparing_keys_is_a_total_order(a in "[a0-2-]{0,5}", b in "[a0-2-]{0,5}", c in "[a0-2-]{0,5}") {
            prop_assert_eq!(compare_keys(&a, &b), compare_keys(&b, &a).reverse());
            prop_assert_eq!(compare_keys(&a, &b).is_eq(), a == b);
            if compare_keys(&a, &b).is_le() && compare_keys(&b, &c).is_le() {
                prop_assert!(compare_keys(&a, &c).is_le());
            }
        }
    }
}
