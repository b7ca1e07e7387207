//! What becomes of findings that nobody fixed.
//!
//! However a run ends, every finding that its final pass's review still listed
//! is by definition unfixed and becomes a known gap: nits included, in the
//! reviewer's order. A final pass without a review has none; what an earlier
//! review said and no later one looked at again is kept apart, as outstanding.

use crate::model::{Finding, KnownGap, LocalReview};

/// The known gaps of a run whose final pass had this review.
#[must_use]
pub fn known_gaps(final_review: Option<&LocalReview>) -> Vec<KnownGap> {
    final_review
        .into_iter()
        .flat_map(|r| &r.findings)
        .map(KnownGap::from)
        .collect()
}

/// The findings that no later review covered.
///
/// `reviews` holds each pass's review, in order, the final pass last. A review
/// covers everything before it, so only the last one can leave something
/// outstanding, and only when it is not the final pass's own.
#[must_use]
pub fn outstanding<'a>(
    reviews: impl DoubleEndedIterator<Item = Option<&'a LocalReview>>,
) -> Vec<Finding> {
    let mut latest_first = reviews.rev();
    if latest_first.next().flatten().is_some() {
        return Vec::new();
    }
    latest_first
        .flatten()
        .next()
        .map(|r| r.findings.clone())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{known_gaps, outstanding};
    use crate::model::{Finding, LocalReview, Severity, Verdict};

    fn review(titles: &[&str]) -> LocalReview {
        let findings = titles
            .iter()
            .map(|t| Finding::new("", Severity::Nit, *t, "b"));
        LocalReview::new(Verdict::Comment, "s").with_findings(findings)
    }

    fn titles(findings: &[Finding]) -> Vec<&str> {
        findings.iter().map(|f| f.title.as_str()).collect()
    }

    #[test]
    fn every_finding_becomes_a_gap_in_order() {
        let gaps = known_gaps(Some(&review(&["b", "a"])));
        assert_eq!(
            gaps.iter().map(|g| g.title.as_str()).collect::<Vec<_>>(),
            ["b", "a"]
        );
        assert!(known_gaps(None).is_empty());
    }

    #[test]
    fn only_the_last_review_can_leave_something_outstanding() {
        let (one, two) = (review(&["one"]), review(&["two"]));
        assert!(outstanding([].into_iter()).is_empty());
        assert!(outstanding([Some(&one), Some(&two)].into_iter()).is_empty());
        assert_eq!(
            titles(&outstanding([Some(&one), None].into_iter())),
            ["one"]
        );
        assert_eq!(
            titles(&outstanding(
                [Some(&one), Some(&two), None, None].into_iter()
            )),
            ["two"]
        );
        assert!(outstanding([None, None].into_iter()).is_empty());
    }
}
