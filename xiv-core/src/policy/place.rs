//! Where each finding of a review goes: on a line of the diff, or in the body.
//!
//! A forge refuses a whole review for one comment on a line that its diff does
//! not show. So a finding is placed inline only when the reviewer claims that
//! it can be and the diff proves it; all others go into the body, with the
//! reason. Every finding goes to exactly one place.

use schemars::JsonSchema;
use serde::Serialize;

use crate::model::{Diff, FileDiff, Finding, FindingId, Hunk, LocalReview};

/// Which side of a diff a comment hangs on. Findings are about the new code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
#[non_exhaustive]
pub enum Side {
    /// The new side.
    Right,
}

/// A finding that goes on a line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InlinePlace {
    /// The finding.
    pub id: FindingId,
    /// The file.
    pub path: String,
    /// First line, when it is a range.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_line: Option<u32>,
    /// The line; of a range the last one.
    pub line: u32,
    /// The side.
    pub side: Side,
}

/// Why a finding goes into the body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum BodyReason {
    /// The reviewer does not say that it can be placed.
    NotClaimed,
    /// The diff does not show its file or its line.
    NotInDiff,
    /// No part of its range is inside a hunk.
    RangeLeavesHunk,
}

/// A finding that goes into the body.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BodyPlace {
    /// The finding.
    pub id: FindingId,
    /// Why it is there.
    pub reason: BodyReason,
}

/// Where all findings of a review go, each list in the review's order.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Placement {
    /// On lines.
    pub inline: Vec<InlinePlace>,
    /// In the body.
    pub body: Vec<BodyPlace>,
}

/// Places every finding of the review.
#[must_use]
pub fn place(review: &LocalReview, diff: &Diff) -> Placement {
    let mut placement = Placement::default();
    for finding in &review.findings {
        let id = finding.id.clone();
        match place_finding(finding, diff) {
            Ok(inline) => placement.inline.push(inline),
            Err(reason) => placement.body.push(BodyPlace { id, reason }),
        }
    }
    placement
}

fn place_finding(finding: &Finding, diff: &Diff) -> Result<InlinePlace, BodyReason> {
    if !finding.inlineable {
        return Err(BodyReason::NotClaimed);
    }
    let (Some(path), Some(line)) = (&finding.path, finding.line) else {
        return Err(BodyReason::NotInDiff);
    };
    let file = diff.file(path).ok_or(BodyReason::NotInDiff)?;
    // a range that ends before it begins has one line that means something
    let start = finding.start_line.filter(|start| *start < line);
    let (first, last) = match start {
        None if file.hunks.iter().any(|hunk| hunk.contains(line)) => (line, line),
        None => return Err(BodyReason::NotInDiff),
        Some(start) => inside_part(file, start, line).ok_or(BodyReason::RangeLeavesHunk)?,
    };
    Ok(InlinePlace {
        id: finding.id.clone(),
        path: path.clone(),
        start_line: (first < last).then_some(first),
        line: last,
        side: Side::Right,
    })
}

/// The part of the range that is inside one hunk: the hunk of its last line,
/// else the nearest one before that.
fn inside_part(file: &FileDiff, start: u32, line: u32) -> Option<(u32, u32)> {
    let overlap = |hunk: &Hunk| {
        let lines = hunk.lines()?;
        let (first, last) = (start.max(*lines.start()), line.min(*lines.end()));
        (first <= last).then_some((first, last))
    };
    file.hunks
        .iter()
        .filter_map(overlap)
        .max_by_key(|(_, last)| *last)
}

#[cfg(test)]
mod tests {
    use super::{BodyReason, place};
    use crate::model::{Diff, Finding, LocalReview, Severity, Verdict};

    /// New side: lines 10–13 and 40–41 of `src/a.rs`; `gone.rs` is deleted;
    /// `new.rs` was `old.rs`.
    const DIFF: &str = "diff --git a/src/a.rs b/src/a.rs\n--- a/src/a.rs\n+++ b/src/a.rs\n\
        @@ -10,3 +10,4 @@\n a\n+b\n c\n d\n@@ -39,3 +40,2 @@\n x\n-y\n z\n\
        diff --git a/gone.rs b/gone.rs\ndeleted file mode 100644\n--- a/gone.rs\n+++ /dev/null\n\
        @@ -1 +0,0 @@\n-x\ndiff --git a/old.rs b/new.rs\nsimilarity index 90%\n\
        rename from old.rs\nrename to new.rs\n--- a/old.rs\n+++ b/new.rs\n@@ -1 +1 @@\n-x\n+y\n";

    /// Path, first and last line as claimed → lines as placed, or the reason.
    #[test]
    fn a_finding_is_inline_only_where_the_diff_proves_it() {
        use BodyReason::{NotInDiff, RangeLeavesHunk};
        let table = [
            ("src/a.rs", None, Some(10), Ok((None, 10))),
            ("src/a.rs", None, Some(13), Ok((None, 13))),
            ("src/a.rs", None, Some(41), Ok((None, 41))),
            ("src/a.rs", None, Some(9), Err(NotInDiff)),
            ("src/a.rs", None, Some(14), Err(NotInDiff)),
            ("src/a.rs", None, Some(0), Err(NotInDiff)),
            ("src/a.rs", None, None, Err(NotInDiff)),
            ("src/a.rs", Some(10), None, Err(NotInDiff)),
            ("src/b.rs", None, Some(10), Err(NotInDiff)),
            ("gone.rs", None, Some(1), Err(NotInDiff)),
            ("old.rs", None, Some(1), Err(NotInDiff)),
            ("new.rs", None, Some(1), Ok((None, 1))),
            // ranges
            ("src/a.rs", Some(11), Some(13), Ok((Some(11), 13))),
            ("src/a.rs", Some(12), Some(12), Ok((None, 12))),
            ("src/a.rs", Some(13), Some(11), Ok((None, 11))),
            ("src/a.rs", Some(5), Some(12), Ok((Some(10), 12))),
            ("src/a.rs", Some(5), Some(10), Ok((None, 10))),
            ("src/a.rs", Some(12), Some(20), Ok((Some(12), 13))),
            ("src/a.rs", Some(13), Some(20), Ok((None, 13))),
            ("src/a.rs", Some(12), Some(40), Ok((None, 40))),
            ("src/a.rs", Some(1), Some(99), Ok((Some(40), 41))),
            ("src/a.rs", Some(14), Some(39), Err(RangeLeavesHunk)),
            ("src/a.rs", Some(0), Some(4_294_967_295), Ok((Some(40), 41))),
            ("src/b.rs", Some(1), Some(10), Err(NotInDiff)),
        ];
        let diff = Diff::parse(DIFF.as_bytes()).expect("a diff");
        for (path, start, line, want) in table {
            let finding = Finding {
                path: Some(path.to_owned()),
                start_line: start,
                line,
                inlineable: true,
                ..Finding::new("x", Severity::Low, "t", "b")
            };
            let claimed = LocalReview::new(Verdict::Comment, "s").with_findings([finding.clone()]);
            let placed = place(&claimed, &diff);
            let got = match (placed.inline.as_slice(), placed.body.as_slice()) {
                ([inline], []) => Ok((inline.start_line, inline.line)),
                ([], [body]) => Err(body.reason),
                _ => panic!("not exactly one place: {placed:?}"),
            };
            assert_eq!(got, want, "{path} {start:?} {line:?}");

            let unclaimed = Finding {
                inlineable: false,
                ..finding
            };
            let unclaimed = LocalReview::new(Verdict::Comment, "s").with_findings([unclaimed]);
            let placed = place(&unclaimed, &diff);
            assert_eq!(placed.body[0].reason, BodyReason::NotClaimed);
        }
    }

    #[test]
    fn every_finding_is_placed_once_and_in_order() {
        let finding = |id: &str, line: u32| Finding {
            inlineable: true,
            ..Finding::new(id, Severity::Nit, "t", "b").at("src/a.rs", line)
        };
        let review = LocalReview::new(Verdict::Comment, "s").with_findings([
            finding("b", 10),
            finding("", 1),
            finding("a", 11),
            finding("b", 2),
        ]);
        let placed = place(&review, &Diff::parse(DIFF.as_bytes()).expect("a diff"));
        let inline: Vec<_> = placed.inline.iter().map(|p| p.id.as_str()).collect();
        let body: Vec<_> = placed.body.iter().map(|p| p.id.as_str()).collect();
        assert_eq!((inline, body), (vec!["b", "a"], vec!["f1", "f2"]));
    }
}
