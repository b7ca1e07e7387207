//! The done gate.
//!
//! Validation is the arbiter: only the exit codes of the repository's own
//! commands, run by xiv, can open the gate. A review may withhold done and can
//! never grant it; a pass without a review is decided by validation alone. So
//! a broken reviewer cannot wedge a run, and a friendly one cannot wave a red
//! tree through.

use crate::flow::PassValidation;
use crate::model::Verdict;

/// Whether a pass is done: its validation passed, and its review, if there is
/// one, did not request changes.
///
/// `effective` is the verdict **of this pass**, after
/// [`coherence`](super::coherence::coherence). No other pass matters.
#[must_use]
pub const fn done(validation: PassValidation, effective: Option<Verdict>) -> bool {
    let passed = matches!(validation, PassValidation::Passed);
    let requested_changes = matches!(effective, Some(Verdict::RequestChanges));
    passed && !requested_changes
}

#[cfg(test)]
mod tests {
    use super::done;
    use crate::flow::PassValidation::{Failed, None as NotRun, Passed};
    use crate::model::Verdict::{Approve, Comment, RequestChanges};

    #[test]
    fn the_whole_table() {
        let table = [
            (Passed, None, true),
            (Passed, Some(Approve), true),
            (Passed, Some(Comment), true),
            (Passed, Some(RequestChanges), false),
            (Failed, None, false),
            (Failed, Some(Approve), false),
            (Failed, Some(Comment), false),
            (Failed, Some(RequestChanges), false),
            (NotRun, None, false),
            (NotRun, Some(Approve), false),
            (NotRun, Some(Comment), false),
            (NotRun, Some(RequestChanges), false),
        ];
        for (validation, verdict, expected) in table {
            assert_eq!(
                done(validation, verdict),
                expected,
                "{validation:?} {verdict:?}"
            );
        }
    }
}
