//! Whether a work tree is fit for a run: nothing may be lost or mixed in.

use crate::port::{VcsError, VcsErrorKind, WorkTreeState};

/// Whether a run can work here: no operation is under way and nothing would be
/// lost or mixed in. With a work tree of its own (`isolated`) it always can.
///
/// # Errors
/// [`VcsErrorKind::OperationInProgress`] or [`VcsErrorKind::Dirty`].
pub fn work_tree_is_fit(state: &WorkTreeState, isolated: bool) -> Result<(), VcsError> {
    if isolated {
        return Ok(());
    }
    if let Some(operation) = &state.operation {
        let message = format!("a {operation} is in progress");
        return Err(VcsError::new(VcsErrorKind::OperationInProgress, message)
            .with_hint(format!("finish or abort the {operation}"))
            .with_hint("or work beside it with --worktree"));
    }
    if state.dirty.is_empty() {
        return Ok(());
    }
    let shown: Vec<String> = state
        .dirty
        .iter()
        .take(5)
        .map(ToString::to_string)
        .collect();
    let more = match state.dirty.len().saturating_sub(5) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let message = format!("the work tree has changes: {}{more}", shown.join(", "));
    Err(VcsError::new(VcsErrorKind::Dirty, message)
        .with_hint("commit or stash them")
        .with_hint("or work beside them with --worktree"))
}
