//! The end of a command's output, as a person would have read it.

use crate::rt::process::Tail;

/// Bytes that are kept.
const CAP: usize = 16 << 10;

/// Keeps the last lines, without terminal escapes and without what a progress
/// bar wrote over.
#[derive(Debug)]
pub(super) struct OutputTail(Tail);

impl OutputTail {
    pub(super) fn new() -> Self {
        Self(Tail::new(CAP))
    }

    /// Adds one line and returns it cleaned.
    pub(super) fn push(&mut self, line: &str) -> String {
        let line = clean(line);
        self.0.push(line.as_bytes());
        self.0.push(b"\n");
        line
    }

    /// The kept text, without the line break at its end.
    pub(super) fn text(&self) -> String {
        self.0.text().trim_end_matches('\n').to_owned()
    }
}

/// Removes terminal escapes and control characters other than tabs; of what
/// was written over with carriage returns only the last state is kept.
fn clean(line: &str) -> String {
    let plain = anstream::adapter::strip_str(line).to_string();
    let shown = plain
        .trim_end_matches('\r')
        .rsplit('\r')
        .next()
        .unwrap_or_default();
    shown
        .chars()
        .filter(|c| *c == '\t' || !c.is_control())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{CAP, OutputTail, clean};

    #[test]
    fn lines_are_cleaned() {
        for (raw, want) in [
            ("plain", "plain"),
            ("\u{1b}[31mred\u{1b}[0m end", "red end"),
            ("\u{1b}]0;title\u{7}shown", "shown"),
            ("10%\r50%\r100%", "100%"),
            ("done\r", "done"),
            ("a\tb\u{8}\u{0}c", "a\tbc"),
            ("ünïcode ✓", "ünïcode ✓"),
            ("", ""),
        ] {
            assert_eq!(clean(raw), want, "{raw:?}");
        }
    }

    #[test]
    fn only_the_end_is_kept() {
        let mut tail = OutputTail::new();
        for n in 0..10_000 {
            tail.push(&format!("line {n}"));
        }
        let text = tail.text();
        assert!(text.len() <= CAP);
        assert!(text.ends_with("line 9999"));
        assert!(text.starts_with("line "));
    }
}
