//! Issues as Markdown files in the repository: `.xiv/issues/KEY.md`, and the
//! task folders of Backlog.md.
//!
//! A key is looked up among the files of the folder and is never made into a
//! path, so no key can lead out of it.

mod create;
mod folder;
mod keys;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use async_trait::async_trait;
use xiv_core::model::{Issue, IssueKey};
use xiv_core::port::{IssueError, IssueErrorKind, IssueSource, IssueSummary, StepContext};

pub use create::{CreatedIssue, NewIssue};
use folder::{Entry, Scan};
pub(crate) use keys::normalise;

/// Where an own folder lies in a repository unless it is configured.
pub const DEFAULT_FOLDER: &str = ".xiv/issues";

/// Where Backlog.md keeps its tasks.
const BACKLOG_FOLDERS: [&str; 2] = ["backlog/tasks", ".backlog/tasks"];

/// Statuses, in lower case, of issues that nobody works on any more.
const FINISHED: [&str; 9] = [
    "done",
    "closed",
    "complete",
    "completed",
    "cancelled",
    "canceled",
    "archived",
    "wontfix",
    "won't do",
];

/// Markdown files as a tracker.
#[derive(Debug, Clone)]
pub struct MarkdownIssues {
    root: PathBuf,
    own: PathBuf,
    more: Vec<PathBuf>,
}

impl MarkdownIssues {
    /// The issues of a repository: its `.xiv/issues` and, when there is one,
    /// its Backlog.md folder.
    pub fn in_repository(root: impl Into<PathBuf>) -> Self {
        let root = root.into();
        Self {
            own: root.join(DEFAULT_FOLDER),
            more: BACKLOG_FOLDERS.iter().map(|f| root.join(f)).collect(),
            root,
        }
    }

    /// The issues of one folder; a relative one lies in the repository. It may
    /// also be a Backlog.md folder (`backlog`) or its `tasks`.
    pub fn in_folder(root: impl Into<PathBuf>, folder: impl AsRef<Path>) -> Self {
        let root = root.into();
        let own = root.join(folder);
        let more = vec![own.join("tasks")];
        Self { root, own, more }
    }

    /// The folder that new issues are written to.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.own
    }

    /// Whether any of the folders exists.
    #[must_use]
    pub fn exists(&self) -> bool {
        self.folders().any(Path::is_dir)
    }

    /// Whether there is a file for the key; an unreadable folder counts as
    /// none. For a tracker that is chosen automatically.
    #[must_use]
    pub fn contains(&self, key: &IssueKey) -> bool {
        self.scan()
            .is_ok_and(|scan| scan.entries.iter().any(|entry| entry.answers_to(key)))
    }

    fn folders(&self) -> impl Iterator<Item = &Path> {
        std::iter::once(self.own.as_path()).chain(self.more.iter().map(PathBuf::as_path))
    }

    fn scan(&self) -> Result<Scan, IssueError> {
        Scan::of(self.folders())
    }

    /// A path for people: relative to the repository when it is inside.
    fn shown(&self, path: &Path) -> String {
        let inside = path.strip_prefix(&self.root).unwrap_or(path);
        inside.display().to_string()
    }

    /// The one entry that a key names.
    fn find<'a>(&self, scan: &'a Scan, key: &IssueKey) -> Result<&'a Entry, IssueError> {
        let found: Vec<&Entry> = scan.entries.iter().filter(|e| e.answers_to(key)).collect();
        match found.as_slice() {
            [] => Err(self.not_found(scan, key)),
            [one] => Ok(one),
            several => {
                let mut message = format!("{key} names more than one issue:");
                for entry in several {
                    // writing to a string cannot fail
                    let _ok = write!(message, " {}", self.shown(&entry.path));
                }
                Err(
                    IssueError::new(IssueErrorKind::Ambiguous, message).with_hint(
                        "give each file an `id` of its own; upper and lower case are the same",
                    ),
                )
            }
        }
    }

    fn not_found(&self, scan: &Scan, key: &IssueKey) -> IssueError {
        let looked_in: Vec<String> = if scan.folders.is_empty() {
            vec![self.shown(&self.own)]
        } else {
            scan.folders
                .iter()
                .map(|folder| self.shown(folder))
                .collect()
        };
        let message = format!("there is no issue {key} in {}", looked_in.join(", "));
        let mut error = IssueError::new(IssueErrorKind::NotFound, message);
        let similar = keys::similar(key, scan.entries.iter().map(|entry| &entry.key));
        if !similar.is_empty() {
            error = error.with_hint(format!("did you mean {}?", similar.join(" or ")));
        }
        for (path, reason) in &scan.unreadable {
            let place = self.shown(path);
            error = error.with_hint(format!("{place} could not be read: {reason}"));
        }
        if scan.entries.is_empty() {
            error = error.with_hint(format!("`xiv issue new {key}` makes one"));
        }
        error
    }
}

#[async_trait]
impl IssueSource for MarkdownIssues {
    fn id(&self) -> String {
        "files".to_owned()
    }

    fn is_verbatim(&self) -> bool {
        false
    }

    fn normalise(&self, raw: &str) -> Result<IssueKey, IssueError> {
        normalise(raw)
    }

    async fn fetch(&self, key: &IssueKey, _cx: StepContext) -> Result<Issue, IssueError> {
        let scan = self.scan()?;
        let entry = self.find(&scan, key)?;
        let mut issue = entry
            .document
            .clone()
            .into_issue(entry.key.clone(), self.shown(&entry.path));
        let children = scan.entries.iter().filter(|other| other.is_child_of(entry));
        for child in children {
            let known = |name: &String| child.answers_to_text(name);
            if !issue.children.iter().any(known) {
                issue.children.push(child.key.to_string());
            }
        }
        Ok(issue)
    }

    async fn list(&self, cx: StepContext) -> Result<Vec<IssueSummary>, IssueError> {
        let scan = self.scan()?;
        for (path, reason) in &scan.unreadable {
            let place = self.shown(path);
            cx.events
                .warn(format!("{place} could not be read: {reason}"));
        }
        let open = scan.entries.into_iter().filter(|entry| {
            let status = entry.document.front.status.as_deref().unwrap_or_default();
            !FINISHED.contains(&status.to_lowercase().as_str())
        });
        let summaries = open.map(|entry| IssueSummary {
            key: entry.key,
            title: entry.document.title,
            status: entry.document.front.status,
            labels: entry.document.front.labels,
        });
        Ok(summaries.collect())
    }
}
