//! What one pass tells the next.
//!
//! An explicit value, computed from one pass alone and appended to a prompt
//! that always holds the issue and the plan. It carries the commands that
//! failed and, unless the review plainly approved, what the review said: also
//! for a `comment` verdict when it was validation that failed.

use super::coherence::{BlockerPolicy, coherence};
use crate::flow::Feedback;
use crate::model::{LocalReview, Validation, Verdict};

/// The feedback of a pass with this validation and review.
#[must_use]
pub fn feedback(
    validation: Option<&Validation>,
    review: Option<&LocalReview>,
    policy: BlockerPolicy,
) -> Feedback {
    let mut feedback = Feedback::default();
    if let Some(validation) = validation {
        feedback.failures = validation.failing().cloned().collect();
        feedback.nothing_ran = validation.commands.is_empty();
    }
    if let Some(review) = review {
        let effective = coherence(review, policy).effective;
        if effective != Verdict::Approve {
            feedback.verdict = Some(effective);
            feedback.summary = Some(review.summary.clone());
            feedback.findings.clone_from(&review.findings);
        }
    }
    feedback
}
