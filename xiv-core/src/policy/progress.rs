//! Runs that stand still.
//!
//! When an implement step leaves the tree as it found it, validating again
//! would only repeat what is known. If the two passes before it also ended the
//! same way, further passes are a waste of money and the run ends early.

use crate::model::{CommandExit, LocalReview, Validation, Verdict};

/// How a pass ended, as far as standing still goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PassResult {
    failing: Vec<(String, CommandExit)>,
    verdict: Option<Verdict>,
}

impl PassResult {
    /// The result of a pass with this validation and review.
    #[must_use]
    pub fn of(validation: &Validation, review: Option<&LocalReview>) -> Self {
        Self {
            failing: validation
                .failing()
                .map(|c| (c.run.clone(), c.exit.clone()))
                .collect(),
            verdict: review.map(|r| r.verdict),
        }
    }
}

/// Whether a run stands still: the implement step just now changed nothing,
/// and the pass before it had the same failing commands and exits and the same
/// verdict as the one before that.
#[must_use]
pub fn stands_still(
    tree_changed: bool,
    before_last: Option<&PassResult>,
    last: Option<&PassResult>,
) -> bool {
    !tree_changed && last.is_some() && last == before_last
}
