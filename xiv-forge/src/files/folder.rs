//! What lies in the issue folders.

use std::fs::{self, DirEntry};
use std::io;
use std::path::{Path, PathBuf};

use xiv_core::model::IssueKey;
use xiv_core::port::{IssueError, IssueErrorKind};

use super::keys;
use crate::markdown::Document;

/// The largest file that is taken for an issue, in bytes.
const MAX_BYTES: u64 = 4 * 1024 * 1024;

/// One issue file.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    /// Its key: the front matter's `id`, else from the file's name.
    pub(super) key: IssueKey,
    /// The name that the file goes by: `task-12` of `task-12 - Title.md`.
    pub(super) name: String,
    /// A file named as Backlog.md names them; its number alone is a key, too.
    pub(super) numbered: bool,
    /// Where it is.
    pub(super) path: PathBuf,
    /// What is in it.
    pub(super) document: Document,
}

/// Everything found in the folders, in the order of the keys.
#[derive(Debug, Default)]
pub(super) struct Scan {
    /// The issues.
    pub(super) entries: Vec<Entry>,
    /// Files that look like issues and cannot be read, with the reason.
    pub(super) unreadable: Vec<(PathBuf, String)>,
    /// The folders that exist.
    pub(super) folders: Vec<PathBuf>,
}

impl Scan {
    pub(super) fn of<'a>(folders: impl Iterator<Item = &'a Path>) -> Result<Self, IssueError> {
        let mut scan = Self::default();
        for folder in folders {
            scan.add(folder).map_err(|error| {
                let message = format!("the folder {} cannot be read", folder.display());
                IssueError::new(IssueErrorKind::Transport, message).with_source(error)
            })?;
        }
        scan.entries
            .sort_by(|a, b| keys::compare(a.key.as_str(), b.key.as_str()));
        Ok(scan)
    }

    fn add(&mut self, folder: &Path) -> io::Result<()> {
        let listing = match fs::read_dir(folder) {
            Ok(listing) => listing,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error),
        };
        self.folders.push(folder.to_path_buf());
        let canonical = folder.canonicalize()?;
        let mut files = listing.collect::<io::Result<Vec<DirEntry>>>()?;
        files.sort_by_key(DirEntry::file_name);
        for file in files {
            let path = file.path();
            if !is_issue_file(&path) {
                continue;
            }
            match read(&canonical, &path) {
                Ok(Some(entry)) => self.entries.push(entry),
                Ok(None) => {}
                Err(reason) => self.unreadable.push((path, reason)),
            }
        }
        Ok(())
    }
}

impl Entry {
    /// Whether the key names this issue: by its `id`, its file's name, or the
    /// number of a Backlog.md task. Upper and lower case are the same.
    pub(super) fn answers_to(&self, key: &IssueKey) -> bool {
        self.answers_to_text(key.as_str())
    }

    pub(super) fn answers_to_text(&self, text: &str) -> bool {
        let names = [self.key.as_str(), self.name.as_str()];
        let same = |name: &str| name.eq_ignore_ascii_case(text);
        let number = || {
            let numbers = names.iter().filter_map(|name| name.rsplit_once('-'));
            self.numbered && numbers.into_iter().any(|(_, number)| same(number))
        };
        names.into_iter().any(same) || number()
    }

    /// Whether it calls that issue its parent.
    pub(super) fn is_child_of(&self, parent: &Self) -> bool {
        let named = self.document.front.parent.as_deref();
        named.is_some_and(|name| parent.answers_to_text(name))
    }
}

/// Markdown files; a readme and hidden files are no issues.
fn is_issue_file(path: &Path) -> bool {
    let markdown = path
        .extension()
        .is_some_and(|ext| ext.eq_ignore_ascii_case("md"));
    let stem = path.file_stem().and_then(|stem| stem.to_str());
    markdown
        && stem.is_none_or(|stem| !stem.starts_with('.') && !stem.eq_ignore_ascii_case("readme"))
}

/// Reads a file of the folder. `None` when it is no file of this folder: a
/// directory, a device, a link that leads elsewhere.
fn read(folder: &Path, path: &Path) -> Result<Option<Entry>, String> {
    let target = path.canonicalize().map_err(|e| e.to_string())?;
    let metadata = fs::metadata(&target).map_err(|e| e.to_string())?;
    if !metadata.is_file() || !target.starts_with(folder) {
        return Ok(None);
    }
    if metadata.len() > MAX_BYTES {
        return Err("it is larger than 4 MiB".to_owned());
    }
    let bytes = fs::read(&target).map_err(|e| e.to_string())?;
    let text = String::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())?;
    let document = Document::parse(&text).map_err(|error| {
        let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}"));
        format!("{error}{}", cause.unwrap_or_default())
    })?;
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let (name, numbered) = match stem.split_once(" - ") {
        Some((name, _)) => (name, true),
        None => (stem.as_ref(), false),
    };
    let id = document.front.id.as_deref().unwrap_or(name);
    let key = keys::normalise(id).map_err(|error| error.message)?;
    Ok(Some(Entry {
        key,
        name: name.to_owned(),
        numbered,
        path: path.to_path_buf(),
        document,
    }))
}
