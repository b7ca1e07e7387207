//! Where issues come from: files, Linear, GitHub.

use std::fmt::Debug;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::StepContext;
use crate::model::{Issue, IssueKey};

/// An issue in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct IssueSummary {
    /// Its key.
    pub key: IssueKey,
    /// Its title.
    pub title: String,
    /// Its status, in the tracker's own word.
    pub status: Option<String>,
    /// Its labels.
    pub labels: Vec<String>,
}

/// What callers branch on when an issue cannot be had.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum IssueErrorKind {
    /// There is no such issue.
    NotFound,
    /// No login, or it was refused.
    Unauthenticated,
    /// The login may not see it.
    Forbidden,
    /// More than one issue fits.
    Ambiguous,
    /// Too many requests.
    RateLimited,
    /// It is there, but cannot be understood.
    Invalid,
    /// The tracker could not be reached.
    Transport,
}

/// Why an issue could not be had.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct IssueError {
    /// What callers branch on.
    pub kind: IssueErrorKind,
    /// What happened, for people.
    pub message: String,
    /// How to mend it.
    pub hints: Vec<String>,
    /// What caused it.
    #[source]
    pub source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl IssueError {
    /// An error without hints and without a cause.
    pub fn new(kind: IssueErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            hints: Vec::new(),
            source: None,
        }
    }

    /// Adds a hint.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Sets the cause.
    #[must_use]
    pub fn with_source(
        mut self,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        self.source = Some(source.into());
        self
    }

    /// Whether trying again may help.
    #[must_use]
    pub const fn is_temporary(&self) -> bool {
        matches!(
            self.kind,
            IssueErrorKind::RateLimited | IssueErrorKind::Transport
        )
    }
}

/// A tracker.
#[async_trait]
pub trait IssueSource: Debug + Send + Sync + 'static {
    /// A short name: `files`, `linear`.
    fn id(&self) -> String;

    /// Whether the issue's text was handed in as it is (a file, standard
    /// input), so that the fetch gate must also look whether it is an error
    /// message in disguise.
    fn is_verbatim(&self) -> bool;

    /// Brings what the user typed into key form.
    ///
    /// # Errors
    /// [`IssueErrorKind::Invalid`] when no key can be made of it.
    fn normalise(&self, raw: &str) -> Result<IssueKey, IssueError>;

    /// Fetches one issue with its criteria and comments.
    ///
    /// # Errors
    /// Any [`IssueErrorKind`].
    ///
    /// # Cancellation
    /// Reads only; safe to drop.
    async fn fetch(&self, key: &IssueKey, cx: StepContext) -> Result<Issue, IssueError>;

    /// Lists the issues that can be worked on, in the tracker's order.
    ///
    /// # Errors
    /// Any [`IssueErrorKind`].
    ///
    /// # Cancellation
    /// Reads only; safe to drop.
    async fn list(&self, cx: StepContext) -> Result<Vec<IssueSummary>, IssueError>;
}

const _: Option<&dyn IssueSource> = None;
