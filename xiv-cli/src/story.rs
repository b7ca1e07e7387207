//! A run in words: one permanent line per thing that happened, the result at
//! the end, and why each pass was judged as it was.

mod explain;
mod lines;
mod result;

pub(crate) use explain::{Explanation, PassExplanation, explain};
pub(crate) use lines::{Mark, Teller};
pub(crate) use result::result;

use xiv_core::model::Severity;

/// `2 high, 1 low`; empty for no finding.
pub(crate) fn severities(all: impl IntoIterator<Item = Severity>) -> String {
    const ORDER: [Severity; 5] = [
        Severity::Blocker,
        Severity::High,
        Severity::Medium,
        Severity::Low,
        Severity::Nit,
    ];
    let all: Vec<Severity> = all.into_iter().collect();
    let counted: Vec<String> = ORDER
        .iter()
        .map(|severity| (severity, all.iter().filter(|s| *s == severity).count()))
        .filter(|(_, count)| *count > 0)
        .map(|(severity, count)| format!("{count} {severity}"))
        .collect();
    counted.join(", ")
}

/// The first line of a text, cut to a width.
pub(crate) fn first_line(text: &str, width: usize) -> String {
    let line = text
        .lines()
        .map(str::trim)
        .find(|line| !line.is_empty())
        .unwrap_or_default();
    if line.chars().count() <= width {
        return line.to_owned();
    }
    let cut: String = line.chars().take(width.saturating_sub(1)).collect();
    format!("{}…", cut.trim_end())
}

/// `1 file`, `2 files`.
pub(crate) fn count(number: usize, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

/// The first seven digits of an object id.
pub(crate) fn short(id: &str) -> &str {
    id.get(..7).unwrap_or(id)
}
