//! Issue sources and forges for xiv: where the work comes from, and where it
//! is shown.
//!
//! * [`MarkdownIssues`]: Markdown files in the repository, the built-in tracker,
//! * [`criteria`]: the acceptance criteria in an issue's text,
//! * [`IssueFile`]: one issue from a file or from standard input.

pub mod criteria;
mod files;
mod markdown;
mod single;

pub use files::{CreatedIssue, DEFAULT_FOLDER, MarkdownIssues, NewIssue};
pub use single::IssueFile;
