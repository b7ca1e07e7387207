//! `diff-files`: the files of a diff and the lines that can carry a comment.

use xiv_core::model::Diff;

use super::input;
use crate::error::CliError;

pub(super) fn answer(diff: &[u8]) -> Result<Diff, CliError> {
    Diff::parse(diff).map_err(|error| input::bad(error.to_string()))
}
