//! A diff as far as a review needs it: which files changed, and which lines of
//! their new side can carry a comment.
//!
//! [`Diff::parse`] reads git's unified format. How far a hunk goes is decided
//! by the counts in its header and never by what a line looks like: a changed
//! patch file or SQL comment is content, however much it resembles a header.

mod name;
mod parse;

#[cfg(test)]
mod tests;

use std::ops::RangeInclusive;

use schemars::JsonSchema;
use serde::Serialize;

use super::RepoPath;
pub use parse::DiffError;

/// What happened to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::exhaustive_enums, reason = "git knows no others")]
pub enum FileStatus {
    /// It is new.
    Added,
    /// It is gone.
    Deleted,
    /// Its content changed.
    Modified,
    /// It moved, with or without changes.
    Renamed,
    /// It was copied, with or without changes.
    Copied,
    /// Its mode changed, and nothing else.
    ModeChanged,
}

/// A stretch of a file's new side that the diff shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(into = "HunkWire")]
pub struct Hunk {
    /// First line of the new side; for a hunk that only removes, the line
    /// before it.
    pub new_start: u32,
    /// Lines of the new side, added ones and context.
    pub new_lines: u32,
}

impl Hunk {
    /// The lines that can carry a comment: all of the new side. None for a
    /// hunk that only removes.
    #[must_use]
    pub const fn lines(&self) -> Option<RangeInclusive<u32>> {
        if self.new_lines == 0 {
            return None;
        }
        Some(self.new_start..=self.new_start + (self.new_lines - 1))
    }

    /// Whether the line is on this hunk's new side.
    #[must_use]
    pub fn contains(&self, line: u32) -> bool {
        self.lines().is_some_and(|lines| lines.contains(&line))
    }
}

/// A hunk with its lines spelled out.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Hunk")]
struct HunkWire {
    /// First line of the new side.
    new_start: u32,
    /// Lines of the new side, added ones and context.
    new_lines: u32,
    /// Numbers of the new side's lines.
    commentable: Vec<u32>,
}

impl From<Hunk> for HunkWire {
    fn from(hunk: Hunk) -> Self {
        Self {
            new_start: hunk.new_start,
            new_lines: hunk.new_lines,
            commentable: hunk.lines().into_iter().flatten().collect(),
        }
    }
}

/// One file's part of a diff.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FileDiff {
    /// Its path before; null when it was added.
    pub old_path: Option<RepoPath>,
    /// Its path now; null when it was deleted.
    pub new_path: Option<RepoPath>,
    /// What happened to it.
    pub status: FileStatus,
    /// Whether git treats it as binary.
    pub binary: bool,
    /// What is shown of its text, in order.
    pub hunks: Vec<Hunk>,
}

/// A whole diff, in the order in which git wrote it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct Diff {
    /// Its files. One that changed its type is there twice: deleted and added.
    pub files: Vec<FileDiff>,
}

impl Diff {
    /// Reads a diff as `git diff` writes it. No text is an empty diff; text
    /// before the first file is skipped.
    ///
    /// # Errors
    /// [`DiffError`] for text without any `diff --git` line, for the combined
    /// diff of a merge, and for a hunk that is cut short.
    pub fn parse(text: &[u8]) -> Result<Self, DiffError> {
        parse::parse(text).map(|files| Self { files })
    }

    /// The file that has this path now.
    #[must_use]
    pub fn file(&self, path: &str) -> Option<&FileDiff> {
        let has_path = |p: &RepoPath| p.as_bytes() == path.as_bytes();
        self.files
            .iter()
            .find(|file| file.new_path.as_ref().is_some_and(has_path))
    }
}
