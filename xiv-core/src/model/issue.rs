//! An issue as xiv works on it, whatever tracker it came from.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::IssueKey;

/// One issue: what is to be done and how to tell that it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Issue {
    /// The tracker's own key, normalised.
    pub key: IssueKey,
    /// One line. The fetch gate refuses an empty one.
    pub title: String,
    /// Markdown.
    #[serde(default)]
    pub description: String,
    /// Source Markdown of each criterion, in order.
    #[serde(default)]
    pub acceptance_criteria: Vec<String>,
    /// Oldest first.
    #[serde(default)]
    pub comments: Vec<Comment>,
    /// Label names.
    #[serde(default)]
    pub labels: Vec<String>,
    /// Where a person can read it; may be empty or a file path.
    #[serde(default)]
    pub url: String,
    /// The issue that this one is part of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// Keys of the issues below this one.
    #[serde(default)]
    pub children: Vec<String>,
    /// Keys of the issues that must be done first.
    #[serde(default)]
    pub blocked_by: Vec<String>,
}

impl Issue {
    /// An issue with nothing but a key and a title.
    pub fn new(key: IssueKey, title: impl Into<String>) -> Self {
        Self {
            key,
            title: title.into(),
            description: String::new(),
            acceptance_criteria: Vec::new(),
            comments: Vec::new(),
            labels: Vec::new(),
            url: String::new(),
            parent: None,
            children: Vec::new(),
            blocked_by: Vec::new(),
        }
    }

    /// Sets the description.
    #[must_use]
    pub fn with_description(mut self, markdown: impl Into<String>) -> Self {
        self.description = markdown.into();
        self
    }

    /// Sets the acceptance criteria.
    #[must_use]
    pub fn with_criteria<S: Into<String>>(mut self, criteria: impl IntoIterator<Item = S>) -> Self {
        self.acceptance_criteria = criteria.into_iter().map(Into::into).collect();
        self
    }
}

/// A remark of a person on an issue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Comment {
    /// Login or display name.
    pub author: String,
    /// Markdown.
    pub body: String,
    /// When it was written, if the tracker says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub created_at: Option<jiff::Timestamp>,
}
