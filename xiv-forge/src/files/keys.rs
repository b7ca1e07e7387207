//! Keys as people type them, sort them and mistype them.

use std::cmp::Ordering;

use xiv_core::model::IssueKey;
use xiv_core::port::{IssueError, IssueErrorKind};

/// How many similar keys are suggested.
const SUGGESTIONS: usize = 3;

/// Brings a key, or the path of an issue file, into key form.
pub(crate) fn normalise(raw: &str) -> Result<IssueKey, IssueError> {
    let name = raw.trim();
    IssueKey::normalise(name).map_err(|error| {
        let message = if name.is_empty() {
            "the issue's key is empty".to_owned()
        } else {
            format!("no issue can have the key {name:?}")
        };
        IssueError::new(IssueErrorKind::Invalid, message)
            .with_source(error)
            .with_hint("a key is made of letters, digits, `.`, `_` and `-`, for instance XIV-12")
    })
}

/// The keys that were perhaps meant: the most similar ones.
pub(super) fn similar<'a>(
    key: &IssueKey,
    known: impl Iterator<Item = &'a IssueKey>,
) -> Vec<String> {
    let wanted = key.as_str().to_ascii_lowercase();
    let mut near: Vec<(usize, &IssueKey)> = known
        .filter_map(|candidate| {
            let name = candidate.as_str().to_ascii_lowercase();
            let same_number = name.rsplit('-').next() == Some(wanted.as_str());
            let distance = strsim::damerau_levenshtein(&wanted, &name);
            let limit = (wanted.len() / 3).clamp(1, 2);
            (same_number || distance <= limit).then_some((distance, candidate))
        })
        .collect();
    near.sort_by(|a, b| {
        a.0.cmp(&b.0)
            .then_with(|| compare(a.1.as_str(), b.1.as_str()))
    });
    let nearest = near.first().map_or(0, |(distance, _)| *distance);
    near.retain(|(distance, _)| *distance == nearest);
    let names = near.into_iter().map(|(_, candidate)| candidate.to_string());
    names.take(SUGGESTIONS).collect()
}

/// Compares keys with their numbers as numbers: `A-2` before `A-10`.
pub(super) fn compare(a: &str, b: &str) -> Ordering {
    let (mut left, mut right) = (a, b);
    loop {
        match (left.is_empty(), right.is_empty()) {
            (true, true) => return a.cmp(b),
            (true, false) => return Ordering::Less,
            (false, true) => return Ordering::Greater,
            (false, false) => {}
        }
        let (x, rest_of_left) = chunk(left);
        let (y, rest_of_right) = chunk(right);
        let order = match (number(x), number(y)) {
            (Some(x), Some(y)) => x.cmp(&y),
            _ => x.to_ascii_lowercase().cmp(&y.to_ascii_lowercase()),
        };
        if order != Ordering::Equal {
            return order;
        }
        (left, right) = (rest_of_left, rest_of_right);
    }
}

/// The leading run of digits, or of anything else.
fn chunk(text: &str) -> (&str, &str) {
    let digits = text.starts_with(|c: char| c.is_ascii_digit());
    let end = text
        .find(|c: char| c.is_ascii_digit() != digits)
        .unwrap_or(text.len());
    text.split_at(end)
}

/// A run of digits by its size, however long it is.
fn number(chunk: &str) -> Option<(usize, &str)> {
    let digits = chunk.starts_with(|c: char| c.is_ascii_digit());
    let significant = chunk.trim_start_matches('0');
    digits.then_some((significant.len(), significant))
}

/// The key after the highest one with the most frequent prefix; `fallback-1`
/// when no key ends in a number.
pub(super) fn next<'a>(known: impl Iterator<Item = &'a str>, fallback: &str) -> String {
    let mut prefixes: Vec<(String, usize, u64)> = Vec::new();
    for key in known {
        let Some((prefix, digits)) = key.rsplit_once('-') else {
            continue;
        };
        let Ok(number) = digits.parse::<u64>() else {
            continue;
        };
        let same = |known: &&mut (String, usize, u64)| known.0.eq_ignore_ascii_case(prefix);
        if let Some((_, count, highest)) = prefixes.iter_mut().find(same) {
            *count += 1;
            *highest = number.max(*highest);
        } else {
            prefixes.push((prefix.to_owned(), 1, number));
        }
    }
    let most_used = prefixes
        .into_iter()
        .rev()
        .max_by_key(|(_, count, _)| *count);
    match most_used {
        Some((prefix, _, highest)) => format!("{prefix}-{}", highest.saturating_add(1)),
        None => format!("{fallback}-1"),
    }
}

#[cfg(test)]
mod tests {
    use std::cmp::Ordering;

    use xiv_core::model::IssueKey;

    use super::{compare, next, similar};

    fn key(text: &str) -> IssueKey {
        IssueKey::parse(text).expect("a key")
    }

    #[test]
    fn numbers_count_as_numbers() {
        for (a, b) in [
            ("A-2", "A-10"),
            ("a-9", "B-1"),
            ("A-1", "A-1.1"),
            ("A-1.9", "A-1.10"),
            ("A-9", "A-99999999999999999999999"),
        ] {
            assert_eq!(compare(a, b), Ordering::Less, "{a} {b}");
            assert_eq!(compare(b, a), Ordering::Greater, "{b} {a}");
        }
        assert_eq!(compare("A-1", "A-1"), Ordering::Equal);
        assert_ne!(compare("A-1", "a-1"), Ordering::Equal);
    }

    #[test]
    fn near_misses_are_suggested() {
        let known = [key("XIV-12"), key("XIV-1"), key("GREET-1"), key("OPS-120")];
        let similar = |wanted: &str| similar(&key(wanted), known.iter());
        assert_eq!(similar("XVI-12"), ["XIV-12"]);
        assert_eq!(similar("12"), ["XIV-12"]);
        assert_eq!(similar("xiv-13"), ["XIV-1", "XIV-12"]);
        assert!(similar("something-else").is_empty());
    }

    #[test]
    fn the_next_key_continues_the_most_frequent_series() {
        for (known, expected) in [
            (&[][..], "ISSUE-1"),
            (&["readme", "notes-x"][..], "ISSUE-1"),
            (&["A-1", "A-9", "A-10"][..], "A-11"),
            (&["A-1", "B-7", "b-8"][..], "B-9"),
            (&["A-1", "B-7"][..], "A-2"),
            (&["x-y-3"][..], "x-y-4"),
        ] {
            assert_eq!(next(known.iter().copied(), "ISSUE"), expected, "{known:?}");
        }
    }
}
