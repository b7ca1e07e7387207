//! The result of a run for people.

use std::fmt::Write;

use xiv_core::model::{ImplementOutput, Outcome, Usage};

use super::{count, first_line, lines::seconds, severities, short};
use crate::ui::style::{BAD, DIM, GOOD, HEAD, WARN, paint};

/// The result as text, ended by a line break.
pub(crate) fn result(output: &ImplementOutput) -> String {
    let mut text = String::new();
    let key = output.issue_key.as_ref().map_or("-", |key| key.as_str());
    let style = match output.outcome {
        Outcome::Done => GOOD,
        Outcome::Refused | Outcome::Failed => BAD,
        _ => WARN,
    };
    let title = if output.title.is_empty() {
        String::new()
    } else {
        format!("  {}", output.title)
    };
    put(
        &mut text,
        &format!("{} {key}{title}", paint(style, output.outcome)),
    );
    let mut field = |name: &str, value: &str| {
        if !value.is_empty() {
            put(&mut text, &format!("  {name:<10} {value}"));
        }
    };
    if let Some(branch) = &output.branch {
        let head = output
            .head_sha
            .as_ref()
            .map_or(String::new(), |sha| format!(" at {}", short(sha.as_str())));
        field("branch", &format!("{branch}{head}"));
    }
    field("work tree", output.worktree.as_deref().unwrap_or_default());
    let verdict = output
        .review_verdict
        .map_or("no review".to_owned(), |verdict| verdict.to_string());
    field(
        "passes",
        &format!("{}, last review: {verdict}", output.passes),
    );
    field("summary", &first_line(&output.summary, 160));
    let error = output.error.as_deref().unwrap_or_default();
    field("error", &first_line(error, 160));
    if let Some(until) = output.paused_until {
        field("until", &until.to_string());
    }
    field("used", &usage(&output.usage));
    field("run", output.run_id.as_str());
    if output.incoherent {
        let loud = "the last review approved and named a blocker all the same";
        put(&mut text, &format!("  {}", paint(BAD, loud)));
    }
    for failure in &output.review_failures {
        let line = format!(
            "  pass {} had no review: {}",
            failure.pass,
            first_line(&failure.reason, 160)
        );
        put(&mut text, &paint(DIM, line));
    }
    gaps(&mut text, output);
    text
}

fn gaps(text: &mut String, output: &ImplementOutput) {
    if !output.known_gaps.is_empty() {
        let counted = severities(output.known_gaps.iter().map(|gap| gap.severity));
        put(text, &paint(HEAD, format!("Known gaps ({counted})")));
        for gap in &output.known_gaps {
            let place = gap
                .path
                .as_deref()
                .map_or(String::new(), |path| format!("  ({path})"));
            put(text, &format!("  [{}] {}{place}", gap.severity, gap.title));
        }
    }
    if !output.outstanding.is_empty() {
        put(text, &paint(HEAD, "Outstanding from earlier passes"));
        for finding in &output.outstanding {
            put(text, &format!("  [{}] {}", finding.severity, finding.title));
        }
    }
}

/// What agents used, in one line; empty when there was no call.
pub(crate) fn usage(usage: &Usage) -> String {
    if usage.calls == 0 {
        return String::new();
    }
    let mut parts = vec![count(
        usize::try_from(usage.calls).unwrap_or(usize::MAX),
        "call",
    )];
    if usage.tokens() > 0 {
        parts.push(format!("{} tokens", usage.tokens()));
    }
    if let Some(cost) = usage.cost_usd {
        let at_least = if usage.cost_complete { "" } else { "at least " };
        parts.push(format!("{at_least}${cost:.2}"));
    }
    parts.push(format!("{} of agent time", seconds(usage.wall_ms)));
    parts.join(", ")
}

fn put(text: &mut String, line: &str) {
    // writing to a string does not fail
    let _infallible = writeln!(text, "{line}");
}
