//! Issue sources and forges for xiv: where the work comes from, and where it
//! is shown.
//!
//! * [`MarkdownIssues`]: Markdown files in the repository, the built-in tracker,
//! * [`IssueFile`]: one issue from a file or from standard input.

mod files;
mod markdown;
mod single;

pub use files::{CreatedIssue, DEFAULT_FOLDER, MarkdownIssues, NewIssue};
pub use single::IssueFile;
