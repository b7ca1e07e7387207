//! Reviews that contradict themselves.
//!
//! An approval that names a blocker is always reported loudly. Whether it also
//! withholds done is the user's choice. This rule looks before the done gate
//! and can, like every rule, only make it stricter.

use crate::model::{LocalReview, Verdict};

/// What an approval with a blocker means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "the setting has two values")]
pub enum BlockerPolicy {
    /// It is reported. The default.
    Report,
    /// It is gated as `request_changes`.
    Withhold,
}

impl BlockerPolicy {
    /// From the setting `loop.blocker_withholds`.
    #[must_use]
    pub const fn from_setting(blocker_withholds: bool) -> Self {
        if blocker_withholds {
            Self::Withhold
        } else {
            Self::Report
        }
    }
}

/// A review's verdict as the gate takes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Coherence {
    /// The review approves and names a blocker.
    pub incoherent: bool,
    /// The verdict that the gate takes.
    pub effective: Verdict,
}

/// Looks whether a review agrees with itself.
#[must_use]
pub fn coherence(review: &LocalReview, policy: BlockerPolicy) -> Coherence {
    let incoherent = review.verdict == Verdict::Approve && review.has_blocker();
    let effective = match (incoherent, policy) {
        (true, BlockerPolicy::Withhold) => Verdict::RequestChanges,
        (true, BlockerPolicy::Report) | (false, _) => review.verdict,
    };
    Coherence {
        incoherent,
        effective,
    }
}

#[cfg(test)]
mod tests {
    use super::{BlockerPolicy, coherence};
    use crate::model::{Finding, LocalReview, Severity, Verdict};

    #[test]
    fn only_an_approval_with_a_blocker_is_incoherent() {
        for verdict in [Verdict::Approve, Verdict::Comment, Verdict::RequestChanges] {
            for severity in [Severity::Blocker, Severity::High, Severity::Nit] {
                let review = LocalReview::new(verdict, "s")
                    .with_findings([Finding::new("a", severity, "t", "b")]);
                let odd = verdict == Verdict::Approve && severity == Severity::Blocker;
                let reported = coherence(&review, BlockerPolicy::Report);
                assert_eq!((reported.incoherent, reported.effective), (odd, verdict));
                let withheld = coherence(&review, BlockerPolicy::Withhold);
                let effective = if odd {
                    Verdict::RequestChanges
                } else {
                    verdict
                };
                assert_eq!((withheld.incoherent, withheld.effective), (odd, effective));
            }
        }
    }
}
