//! Texts that tell why an engine failed: the machinery behind each engine's one table.
//!
//! Engines say much of what matters only in prose. A table row names a phrase and what it means. Phrases
//! are long or anchored to the start of the message: a bare `401` or `conflict` occurs in line numbers,
//! paths and code, and must not be read as a failure of the engine.

use xiv_core::port::AgentErrorKind;

/// Where a phrase has to stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum At {
    /// At the start of the message.
    Start,
    /// Anywhere, as whole words.
    Anywhere,
}

/// One row of an engine's table.
#[derive(Debug)]
pub(crate) struct Pattern {
    pub(crate) at: At,
    /// In lower case, with straight apostrophes.
    pub(crate) phrase: &'static str,
    pub(crate) meaning: fn(&str) -> AgentErrorKind,
}

/// Finds the first row that matches the message.
pub(crate) fn find(table: &[Pattern], message: &str) -> Option<AgentErrorKind> {
    let text = normalise(message);
    table
        .iter()
        .find(|row| row.matches(&text))
        .map(|row| (row.meaning)(&text))
}

impl Pattern {
    fn matches(&self, text: &str) -> bool {
        match self.at {
            At::Start => text
                .strip_prefix(self.phrase)
                .is_some_and(|rest| self.ends_before(rest)),
            At::Anywhere => text.match_indices(self.phrase).any(|(at, _)| {
                self.starts_after(&text[..at]) && self.ends_before(&text[at + self.phrase.len()..])
            }),
        }
    }

    /// Whether the phrase does not end in the middle of a word.
    fn ends_before(&self, rest: &str) -> bool {
        !(self.phrase.ends_with(char::is_alphanumeric) && rest.starts_with(char::is_alphanumeric))
    }

    /// Whether the phrase does not start in the middle of a word.
    fn starts_after(&self, before: &str) -> bool {
        !(self.phrase.starts_with(char::is_alphanumeric) && before.ends_with(char::is_alphanumeric))
    }
}

fn normalise(message: &str) -> String {
    message
        .trim_start()
        .to_lowercase()
        .replace(['\u{2019}', '\u{2018}'], "'")
}

/// The wait in "try again in 1.5s" or "retry after 20 seconds", in milliseconds.
pub(crate) fn wait_in(text: &str) -> Option<u64> {
    let rest = ["try again in ", "retry after "]
        .iter()
        .find_map(|phrase| text.split_once(phrase).map(|(_, rest)| rest))?;
    let digits = rest
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(rest.len());
    let amount: f64 = rest[..digits].trim_end_matches('.').parse().ok()?;
    let unit = rest[digits..].trim_start();
    let in_ms = if unit.starts_with("ms") || unit.starts_with("milli") {
        1.0
    } else if unit.starts_with("min") || unit.starts_with("m ") || unit == "m" {
        60_000.0
    } else if unit.starts_with('h') {
        3_600_000.0
    } else {
        1000.0
    };
    Some((amount * in_ms).clamp(0.0, 1e12) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &[Pattern] = &[
        Pattern {
            at: At::Start,
            phrase: "unexpected status 401",
            meaning: |_| AgentErrorKind::Auth,
        },
        Pattern {
            at: At::Anywhere,
            phrase: "you've hit your usage limit",
            meaning: |_| AgentErrorKind::Quota { resets_at: None },
        },
    ];

    #[test]
    fn phrases_match_as_whole_words_in_their_place() {
        assert_eq!(
            find(TABLE, "Unexpected status 401 Unauthorized"),
            Some(AgentErrorKind::Auth)
        );
        assert_eq!(find(TABLE, "tests/401.rs: unexpected status 401"), None);
        assert_eq!(find(TABLE, "unexpected status 4012"), None);
        assert!(find(TABLE, "Sorry: You\u{2019}ve hit your usage limit.").is_some());
        assert_eq!(find(TABLE, "you've hit your usage limits"), None);
    }

    #[test]
    fn waits_are_read_in_their_unit() {
        for (text, ms) in [
            ("please try again in 1.5s.", Some(1500)),
            ("try again in 20 seconds", Some(20_000)),
            ("try again in 250ms", Some(250)),
            ("try again in 2 minutes", Some(120_000)),
            ("retry after 7", Some(7000)),
            ("try again in a while", None),
            ("try again at 9:24 pm", None),
        ] {
            assert_eq!(wait_in(text), ms, "{text}");
        }
    }
}
