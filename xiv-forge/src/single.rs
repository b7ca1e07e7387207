//! One issue that is handed in as it is: `--issue-file`, standard input.
//!
//! It is JSON (an [`Issue`] object) or Markdown. Such a text may come from
//! a script whose tracker failed, so the fetch gate looks at it with more care
//! than at others.

use std::fs;
use std::path::Path;

use async_trait::async_trait;
use serde::Deserialize;
use xiv_core::model::{Comment, Issue, IssueKey};
use xiv_core::port::{IssueError, IssueErrorKind, IssueSource, IssueSummary, StepContext};

use crate::files::normalise;
use crate::markdown::{Document, criteria};

/// An issue from a file or from standard input.
#[derive(Debug, Clone)]
pub struct IssueFile {
    origin: String,
    key: Option<IssueKey>,
    content: Content,
}

#[derive(Debug, Clone)]
enum Content {
    Markdown(Box<Document>),
    Json(Box<JsonIssue>),
}

/// An [`Issue`] as scripts write it: everything but the key may be absent.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
struct JsonIssue {
    #[serde(default)]
    key: String,
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    description: Option<String>,
    #[serde(default)]
    acceptance_criteria: Option<Vec<String>>,
    #[serde(default)]
    comments: Vec<Comment>,
    #[serde(default)]
    labels: Vec<String>,
    #[serde(default)]
    url: Option<String>,
    #[serde(default)]
    parent: Option<String>,
    #[serde(default)]
    children: Vec<String>,
    #[serde(default)]
    blocked_by: Vec<String>,
    /// False when the script could not fetch it.
    #[serde(default)]
    fetched: Option<bool>,
    /// Why it could not.
    #[serde(default)]
    error: Option<String>,
}

impl IssueFile {
    /// Reads a file.
    ///
    /// # Errors
    /// [`IssueErrorKind::NotFound`] when it cannot be read, and
    /// [`IssueErrorKind::Invalid`] when it is no issue.
    pub fn read(path: &Path) -> Result<Self, IssueError> {
        let origin = path.display().to_string();
        let bytes = fs::read(path).map_err(|error| {
            let message = format!("the issue file {origin} cannot be read");
            IssueError::new(IssueErrorKind::NotFound, message).with_source(error)
        })?;
        let text = String::from_utf8(bytes).map_err(|error| {
            let message = format!("the issue file {origin} is not UTF-8");
            IssueError::new(IssueErrorKind::Invalid, message).with_source(error)
        })?;
        let mut file = Self::parse(&text, origin)?;
        if file.key.is_none() && matches!(file.content, Content::Markdown(_)) {
            let stem = path.file_stem().unwrap_or_default().to_string_lossy();
            let name = stem.split_once(" - ").map_or(&*stem, |(name, _)| name);
            file.key = Some(normalise(name)?);
        }
        Ok(file)
    }

    /// Takes an issue's text; `origin` says where it came from, for people.
    /// A text that starts with `{` is JSON, any other is Markdown.
    ///
    /// # Errors
    /// [`IssueErrorKind::Invalid`] when it is no issue.
    pub fn parse(text: &str, origin: impl Into<String>) -> Result<Self, IssueError> {
        let origin = origin.into();
        let invalid = |source: Box<dyn std::error::Error + Send + Sync>| {
            let message = format!("{origin} does not hold an issue");
            IssueError::new(IssueErrorKind::Invalid, message).with_source(source)
        };
        let text = text.trim_start_matches('\u{feff}');
        let (content, key) = if text.trim_start().starts_with('{') {
            let json: JsonIssue =
                serde_json::from_str(text).map_err(|error| invalid(error.into()))?;
            let key = json.key.clone();
            (Content::Json(Box::new(json)), Some(key))
        } else {
            let document = Document::parse(text).map_err(|error| invalid(error.into()))?;
            let key = document.front.id.clone();
            (Content::Markdown(Box::new(document)), key)
        };
        let key = key.filter(|key| !key.trim().is_empty());
        let key = key.map(|key| normalise(&key)).transpose()?;
        Ok(Self {
            origin,
            key,
            content,
        })
    }

    /// The issue's key, when the text or the file's name holds one.
    #[must_use]
    pub const fn key(&self) -> Option<&IssueKey> {
        self.key.as_ref()
    }

    /// The key to use when another may have been asked for.
    fn key_for(&self, asked: &IssueKey) -> Result<IssueKey, IssueError> {
        match (&self.key, &self.content) {
            (Some(own), _) if !own.as_str().eq_ignore_ascii_case(asked.as_str()) => {
                let message = format!("{} holds the issue {own}, not {asked}", self.origin);
                Err(IssueError::new(IssueErrorKind::NotFound, message))
            }
            (Some(own), _) => Ok(own.clone()),
            (None, Content::Markdown(_)) => Ok(asked.clone()),
            (None, Content::Json(_)) => {
                let message = format!("the issue in {} has no key", self.origin);
                Err(IssueError::new(IssueErrorKind::Invalid, message))
            }
        }
    }

    fn issue(&self, asked: &IssueKey) -> Result<Issue, IssueError> {
        if let Content::Json(json) = &self.content
            && json.fetched == Some(false)
        {
            let reason = json.error.as_deref().unwrap_or("no reason is given");
            let message = format!(
                "{} says that the issue was not fetched: {reason}",
                self.origin
            );
            return Err(IssueError::new(IssueErrorKind::NotFound, message));
        }
        let key = self.key_for(asked)?;
        Ok(match &self.content {
            Content::Markdown(document) => {
                (**document).clone().into_issue(key, self.origin.clone())
            }
            Content::Json(json) => (**json).clone().into_issue(key, &self.origin),
        })
    }
}

impl JsonIssue {
    fn into_issue(self, key: IssueKey, origin: &str) -> Issue {
        let description = self.description.unwrap_or_default();
        let in_text = || criteria(&description);
        let acceptance_criteria = self.acceptance_criteria.unwrap_or_else(in_text);
        Issue {
            key,
            title: self.title.unwrap_or_default(),
            acceptance_criteria,
            description,
            comments: self.comments,
            labels: self.labels,
            url: self.url.unwrap_or_else(|| origin.to_owned()),
            parent: self.parent,
            children: self.children,
            blocked_by: self.blocked_by,
        }
    }
}

#[async_trait]
impl IssueSource for IssueFile {
    fn id(&self) -> String {
        "file".to_owned()
    }

    fn is_verbatim(&self) -> bool {
        true
    }

    fn normalise(&self, raw: &str) -> Result<IssueKey, IssueError> {
        normalise(raw)
    }

    async fn fetch(&self, key: &IssueKey, _cx: StepContext) -> Result<Issue, IssueError> {
        self.issue(key)
    }

    async fn list(&self, _cx: StepContext) -> Result<Vec<IssueSummary>, IssueError> {
        let Some(key) = &self.key else {
            return Ok(Vec::new());
        };
        let issue = self.issue(key)?;
        let status = match &self.content {
            Content::Markdown(document) => document.front.status.clone(),
            Content::Json(_) => None,
        };
        Ok(vec![IssueSummary {
            key: issue.key,
            title: issue.title,
            status,
            labels: issue.labels,
        }])
    }
}
