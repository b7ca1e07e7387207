//! `xiv implement`.

use xiv_core::model::ExitCode;

use crate::error::CliError;
use crate::implement::{self, ImplementArgs};
use crate::runtime::block_on;
use crate::ui::Ui;

/// Implements an issue.
///
/// # Errors
/// When something refuses the run before it begins, or it cannot be recorded.
pub(crate) fn run(args: &ImplementArgs, ui: Ui) -> Result<ExitCode, CliError> {
    if args.detach && args.reads_stdin() {
        return Err(CliError::usage(
            "a run in the background cannot read the issue from standard input",
        )
        .with_hint("write it to a file first: --issue-file FILE"));
    }
    if args.detach {
        return implement::detach(ui);
    }
    if args.detached_as.is_some() {
        implement::leave_session();
    }
    let cwd = std::env::current_dir()
        .map_err(|e| CliError::io("the current folder cannot be used", &e))?;
    let report = block_on(implement::start(args, &cwd, None, ui))?;
    implement::show(&report, ui)
}
