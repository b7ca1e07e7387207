//! The one review vocabulary: agent reviews in the loop, reviews of other
//! people's pull requests and human notes all use it.

use std::collections::HashSet;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A reviewer's judgement. It has no default on purpose: a review without a
/// real verdict is not a review.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[expect(
    clippy::exhaustive_enums,
    reason = "every consumer must decide on each verdict"
)]
pub enum Verdict {
    /// Every criterion is met with evidence.
    Approve,
    /// The work must go back; the only word that withholds done.
    RequestChanges,
    /// Worth raising, not blocking.
    Comment,
}

impl Verdict {
    /// The exact word of the wire form.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Approve => "approve",
            Self::RequestChanges => "request_changes",
            Self::Comment => "comment",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// How much a finding matters, worst first.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
#[expect(
    clippy::exhaustive_enums,
    reason = "every consumer must decide on each severity"
)]
pub enum Severity {
    /// Must not ship.
    Blocker,
    /// A correctness or security problem.
    High,
    /// Should be fixed.
    Medium,
    /// Could be fixed.
    Low,
    /// A matter of taste.
    Nit,
}

impl Severity {
    /// The exact word of the wire form.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Blocker => "blocker",
            Self::High => "high",
            Self::Medium => "medium",
            Self::Low => "low",
            Self::Nit => "nit",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A finding's name within its review. Never blank inside a [`LocalReview`].
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
#[schemars(inline)]
pub struct FindingId(String);

impl FindingId {
    /// Wraps a reviewer's name for a finding.
    pub fn new(id: impl Into<String>) -> Self {
        Self(id.into())
    }

    /// The text of the id.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn is_blank(&self) -> bool {
        self.0.trim().is_empty()
    }
}

impl fmt::Display for FindingId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// One review remark.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    /// Unique within the review; blank and repeated ids are replaced.
    pub id: FindingId,
    /// How much it matters.
    pub severity: Severity,
    /// One line.
    pub title: String,
    /// Markdown.
    pub body: String,
    /// Repository-relative path, when the finding is about a file.
    #[serde(default)]
    pub path: Option<String>,
    /// First line of a range.
    #[serde(default)]
    pub start_line: Option<u32>,
    /// The line that the finding hangs on: the **last** one of a range.
    #[serde(default)]
    pub line: Option<u32>,
    /// The reviewer's claim that `line` is on the diff's new side. Verified
    /// before it is used.
    #[serde(default)]
    pub inlineable: bool,
}

impl Finding {
    /// A finding that is not tied to a place.
    pub fn new(
        id: impl Into<String>,
        severity: Severity,
        title: impl Into<String>,
        body: impl Into<String>,
    ) -> Self {
        Self {
            id: FindingId::new(id),
            severity,
            title: title.into(),
            body: body.into(),
            path: None,
            start_line: None,
            line: None,
            inlineable: false,
        }
    }

    /// Ties the finding to a line of a file.
    #[must_use]
    pub fn at(mut self, path: impl Into<String>, line: u32) -> Self {
        self.path = Some(path.into());
        self.line = Some(line);
        self
    }

    /// Where it is, for people: `path:line`, `path`, or nothing.
    #[must_use]
    pub fn place(&self) -> Option<String> {
        let path = self.path.as_deref()?;
        Some(
            self.line
                .map_or_else(|| path.to_owned(), |line| format!("{path}:{line}")),
        )
    }
}

/// A whole review. `verdict` and `summary` are required; there is no default
/// for the verdict anywhere.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", from = "ReviewWire")]
pub struct LocalReview {
    /// The judgement.
    pub verdict: Verdict,
    /// Markdown; the body of the review.
    pub summary: String,
    /// Remarks, in the reviewer's order.
    #[serde(default)]
    pub findings: Vec<Finding>,
    /// Repository-relative paths that the reviewer says it looked at.
    /// Reported, never gating.
    #[serde(default)]
    pub reviewed: Vec<String>,
}

impl LocalReview {
    /// A review without findings.
    pub fn new(verdict: Verdict, summary: impl Into<String>) -> Self {
        Self {
            verdict,
            summary: summary.into(),
            findings: Vec::new(),
            reviewed: Vec::new(),
        }
    }

    /// Sets the findings and gives blank or repeated ids a free name.
    #[must_use]
    pub fn with_findings(mut self, findings: impl IntoIterator<Item = Finding>) -> Self {
        self.findings = findings.into_iter().collect();
        name_findings(&mut self.findings);
        self
    }

    /// Whether any finding is a blocker.
    #[must_use]
    pub fn has_blocker(&self) -> bool {
        self.findings
            .iter()
            .any(|f| f.severity == Severity::Blocker)
    }
}

/// The wire form before ids are made unique.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "LocalReview")]
struct ReviewWire {
    /// The judgement.
    verdict: Verdict,
    /// Markdown; the body of the review.
    summary: String,
    /// Remarks, in the reviewer's order.
    #[serde(default)]
    findings: Vec<Finding>,
    /// Repository-relative paths that the reviewer says it looked at.
    #[serde(default)]
    reviewed: Vec<String>,
}

impl From<ReviewWire> for LocalReview {
    fn from(mut wire: ReviewWire) -> Self {
        name_findings(&mut wire.findings);
        Self {
            verdict: wire.verdict,
            summary: wire.summary,
            findings: wire.findings,
            reviewed: wire.reviewed,
        }
    }
}

/// Each blank or repeated id becomes the first free `f<n>`; the first holder
/// of an id keeps it.
fn name_findings(findings: &mut [Finding]) {
    let mut taken: HashSet<String> = findings
        .iter()
        .map(|f| f.id.0.clone())
        .filter(|id| !id.trim().is_empty())
        .collect();
    let mut seen = HashSet::new();
    let mut n = 0usize;
    for finding in findings {
        if !finding.id.is_blank() && seen.insert(finding.id.0.clone()) {
            continue;
        }
        let free = loop {
            n += 1;
            let name = format!("f{n}");
            if taken.insert(name.clone()) {
                break name;
            }
        };
        seen.insert(free.clone());
        finding.id = FindingId(free);
    }
}

/// A finding that shipped unfixed. It has no line numbers: it outlives the
/// diff that they belong to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KnownGap {
    /// How much it matters.
    pub severity: Severity,
    /// One line.
    pub title: String,
    /// The finding's body.
    pub detail: String,
    /// The file, when the finding named one.
    pub path: Option<String>,
}

impl From<&Finding> for KnownGap {
    fn from(finding: &Finding) -> Self {
        Self {
            severity: finding.severity,
            title: finding.title.clone(),
            detail: finding.body.clone(),
            path: finding.path.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Finding, LocalReview, Severity, Verdict};

    fn ids(given: &[&str]) -> Vec<String> {
        let findings = given
            .iter()
            .map(|id| Finding::new(*id, Severity::Low, "t", "b"));
        LocalReview::new(Verdict::Comment, "s")
            .with_findings(findings)
            .findings
            .iter()
            .map(|f| f.id.to_string())
            .collect()
    }

    #[test]
    fn blank_and_repeated_ids_get_the_first_free_name() {
        assert_eq!(ids(&["", "a", "a", " "]), ["f1", "a", "f2", "f3"]);
        assert_eq!(ids(&["", "f1", "f1"]), ["f2", "f1", "f3"]);
        assert_eq!(ids(&["x", "y"]), ["x", "y"]);
    }

    #[test]
    fn a_review_needs_a_verdict_and_a_summary() {
        for bad in [
            r#"{"summary":"s"}"#,
            r#"{"verdict":"","summary":"s"}"#,
            r#"{"verdict":"approved","summary":"s"}"#,
            r#"{"verdict":null,"summary":"s"}"#,
            r#"{"verdict":"approve"}"#,
        ] {
            assert!(
                serde_json::from_str::<LocalReview>(bad).is_err(),
                "{bad} was accepted"
            );
        }
    }

    #[test]
    fn the_wire_form_writes_every_nullable_field() {
        let review = LocalReview::new(Verdict::RequestChanges, "s").with_findings([Finding::new(
            "a",
            Severity::High,
            "t",
            "b",
        )]);
        let json = serde_json::to_value(&review).expect("serialises");
        assert_eq!(
            json,
            serde_json::json!({
                "verdict": "request_changes",
                "summary": "s",
                "findings": [{
                    "id": "a", "severity": "high", "title": "t", "body": "b", "path": null,
                    "startLine": null, "line": null, "inlineable": false,
                }],
                "reviewed": [],
            })
        );
    }
}
