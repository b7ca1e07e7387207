//! The fetch gate: nothing is planned from an issue that is not one.
//!
//! Without it, the text of a failed fetch would flow on and be faithfully
//! implemented as if it were the issue.

use crate::flow::FetchOutcome;
use crate::model::Issue;

/// Lets an issue through or says why not.
///
/// # Errors
/// The reason, naming the issue and the cause.
pub fn fetch_gate(issue_id: &str, outcome: &FetchOutcome) -> Result<(), String> {
    if issue_id.trim().is_empty() {
        return Err("no issue was named".to_owned());
    }
    let (issue, verbatim) = match outcome {
        FetchOutcome::NotFetched { error, .. } => {
            return Err(format!("issue {issue_id} could not be fetched: {error}"));
        }
        FetchOutcome::Fetched { issue, verbatim } => (issue, *verbatim),
    };
    if issue.title.trim().is_empty() {
        return Err(format!("issue {issue_id} has no title"));
    }
    if verbatim && looks_like_an_error(issue) {
        return Err(format!(
            "issue {issue_id} looks like an error message, not an issue: {:?}",
            issue.title
        ));
    }
    Ok(())
}

/// A title that is an HTTP status line or starts with `error:`, with nothing
/// to go with it.
fn looks_like_an_error(issue: &Issue) -> bool {
    issue.description.trim().is_empty()
        && (is_status_line(&issue.title) || {
            let title = issue.title.trim_start();
            title
                .get(..6)
                .is_some_and(|start| start.eq_ignore_ascii_case("error:"))
        })
}

/// `HTTP/1.1 401 Unauthorized`, `401 Unauthorized`, `404`.
fn is_status_line(title: &str) -> bool {
    let mut words = title.split_whitespace();
    let mut first = words.next().unwrap_or_default();
    let protocol = first
        .get(..5)
        .is_some_and(|p| p.eq_ignore_ascii_case("HTTP/"));
    if protocol {
        first = words.next().unwrap_or_default();
    }
    let code = first.len() == 3 && first.parse::<u16>().is_ok_and(|c| (100..600).contains(&c));
    let phrase: Vec<&str> = words.collect();
    code && (protocol
        || phrase.is_empty()
        || REASONS.contains(&phrase.join(" ").to_ascii_lowercase().as_str()))
}

/// Reason phrases that a failed request is likely to leave behind.
const REASONS: [&str; 20] = [
    "ok",
    "moved permanently",
    "found",
    "bad request",
    "unauthorized",
    "payment required",
    "forbidden",
    "not found",
    "method not allowed",
    "not acceptable",
    "request timeout",
    "conflict",
    "gone",
    "unprocessable entity",
    "unprocessable content",
    "too many requests",
    "internal server error",
    "bad gateway",
    "service unavailable",
    "gateway timeout",
];

#[cfg(test)]
mod tests {
    use super::fetch_gate;
    use crate::flow::FetchOutcome;
    use crate::model::{Issue, IssueKey};

    fn fetched(title: &str, description: &str, verbatim: bool) -> FetchOutcome {
        let key = IssueKey::parse("A-1").expect("a valid key");
        let issue = Issue::new(key, title).with_description(description);
        FetchOutcome::Fetched { issue, verbatim }
    }

    #[test]
    fn error_texts_in_disguise_are_refused_only_when_handed_in_verbatim() {
        for title in [
            "HTTP/1.1 401 Unauthorized",
            "HTTP/2 503",
            "404 Not Found",
            "500",
            "Error: no such issue",
            "  error: boom",
        ] {
            assert!(
                fetch_gate("A-1", &fetched(title, " ", true)).is_err(),
                "{title}"
            );
            assert!(
                fetch_gate("A-1", &fetched(title, "text", true)).is_ok(),
                "{title}"
            );
            assert!(
                fetch_gate("A-1", &fetched(title, "", false)).is_ok(),
                "{title}"
            );
        }
    }

    #[test]
    fn real_titles_pass() {
        for title in [
            "404 page for missing orders",
            "Errors are swallowed",
            "200 users",
            "é: x",
        ] {
            assert!(
                fetch_gate("A-1", &fetched(title, "", true)).is_ok(),
                "{title}"
            );
        }
    }

    #[test]
    fn what_is_missing_is_named() {
        let refused = |id: &str, outcome: &FetchOutcome| {
            fetch_gate(id, outcome).expect_err("must be refused")
        };
        assert_eq!(refused(" ", &fetched("t", "", false)), "no issue was named");
        assert_eq!(
            refused("A-1", &fetched("\t", "", false)),
            "issue A-1 has no title"
        );
        let not_fetched = FetchOutcome::NotFetched {
            error: "no such file".to_owned(),
            hints: Vec::new(),
        };
        assert_eq!(
            refused("A-1", &not_fetched),
            "issue A-1 could not be fetched: no such file"
        );
    }
}
