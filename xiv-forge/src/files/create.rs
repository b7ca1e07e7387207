//! New issue files. Written whole or not at all, and never over another one.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use xiv_core::model::IssueKey;
use xiv_core::port::{IssueError, IssueErrorKind};

use super::{MarkdownIssues, keys};

/// The series of keys in a folder that has none yet.
const FALLBACK_PREFIX: &str = "ISSUE";

/// An issue to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewIssue {
    /// Its key; none means the next one of the folder.
    pub key: Option<IssueKey>,
    /// One line.
    pub title: String,
    /// Markdown.
    pub description: String,
    /// One line each.
    pub criteria: Vec<String>,
    /// Label names.
    pub labels: Vec<String>,
}

impl NewIssue {
    /// An issue with nothing but a title.
    pub fn new(title: impl Into<String>) -> Self {
        Self {
            key: None,
            title: title.into(),
            description: String::new(),
            criteria: Vec::new(),
            labels: Vec::new(),
        }
    }

    /// Sets the key.
    #[must_use]
    pub fn with_key(mut self, key: IssueKey) -> Self {
        self.key = Some(key);
        self
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
        self.criteria = criteria.into_iter().map(Into::into).collect();
        self
    }
}

/// An issue file that was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreatedIssue {
    /// The issue's key.
    pub key: IssueKey,
    /// Where it is.
    pub path: PathBuf,
}

impl MarkdownIssues {
    /// Writes a new issue file into the own folder, which is made when it does
    /// not exist.
    ///
    /// # Errors
    /// [`IssueErrorKind::Invalid`] when there is such an issue already, or the
    /// title is not one line; [`IssueErrorKind::Forbidden`] when the folder
    /// cannot be written.
    pub fn create(&self, new: &NewIssue) -> Result<CreatedIssue, IssueError> {
        let title = new.title.trim();
        if title.is_empty() || title.contains(['\n', '\r']) {
            let message = "an issue's title is one line that is not empty";
            return Err(IssueError::new(IssueErrorKind::Invalid, message));
        }
        let scan = self.scan()?;
        let key = match &new.key {
            Some(key) => key.clone(),
            None => {
                let known = scan.entries.iter().map(|entry| entry.key.as_str());
                keys::normalise(&keys::next(known, FALLBACK_PREFIX))?
            }
        };
        if let Some(taken) = scan.entries.iter().find(|entry| entry.answers_to(&key)) {
            return Err(exists(&key, &self.shown(&taken.path)));
        }
        let path = self.own.join(format!("{key}.md"));
        let text = render(&key, title, new);
        match write_new(&self.own, &path, &text) {
            Ok(()) => Ok(CreatedIssue { key, path }),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                Err(exists(&key, &self.shown(&path)))
            }
            Err(error) => {
                let message = format!("{} cannot be written", self.shown(&path));
                Err(IssueError::new(IssueErrorKind::Forbidden, message).with_source(error))
            }
        }
    }
}

fn exists(key: &IssueKey, place: &str) -> IssueError {
    let message = format!("the issue {key} exists already: {place}");
    IssueError::new(IssueErrorKind::Invalid, message)
        .with_hint("edit that file or choose another key")
}

/// Writes beside the target and then gives it its name, unless that is taken.
fn write_new(folder: &Path, path: &Path, text: &str) -> io::Result<()> {
    std::fs::create_dir_all(folder)?;
    let mut file = new_file(folder)?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    file.persist_noclobber(path).map_err(|error| error.error)?;
    Ok(())
}

/// A temporary file with the rights of any other new file.
fn new_file(folder: &Path) -> io::Result<tempfile::NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".new-").suffix(".tmp");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // the user's umask is taken off
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(folder)
}

fn render(key: &IssueKey, title: &str, new: &NewIssue) -> String {
    let labels: Vec<String> = new.labels.iter().map(|label| quoted(label)).collect();
    let description = match new.description.trim() {
        "" => "<!-- What is to be done, and why. -->",
        text => text,
    };
    let criteria = if new.criteria.is_empty() {
        "<!-- One line for each thing that must be true when this is done:\n- [ ] … -->".to_owned()
    } else {
        let lines = new.criteria.iter().map(|c| format!("- [ ] {}", item(c)));
        lines.collect::<Vec<_>>().join("\n")
    };
    format!(
        "---\nid: {}\ntitle: {}\nstatus: todo\nlabels: [{}]\n---\n\n{description}\n\n\
         ## Acceptance Criteria\n\n{criteria}\n",
        quoted(key.as_str()),
        quoted(title),
        labels.join(", "),
    )
}

/// A text as the inside of a list item.
fn item(text: &str) -> String {
    text.trim().replace("\r\n", "\n").replace('\n', "\n  ")
}

/// A YAML scalar that reads back as this text.
fn quoted(text: &str) -> String {
    let plain = text
        .chars()
        .all(|c| c.is_alphanumeric() || " -_/".contains(c));
    let starts_plain = text.starts_with(char::is_alphabetic);
    let reserved = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];
    let is_word = !reserved.contains(&text.to_ascii_lowercase().as_str());
    if plain && starts_plain && is_word && text.trim() == text {
        return text.to_owned();
    }
    // JSON strings are YAML strings
    serde_json::Value::from(text).to_string()
}
