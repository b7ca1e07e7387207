//! Reading git's unified format, line by line and without a backward look.

use super::name::{self, Names};
use super::{FileDiff, FileStatus, Hunk};
use crate::model::RepoPath;

/// Why a text is not a diff that can be worked with.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DiffError {
    /// There is text, but no file begins in it.
    #[error("there is no `diff --git` line")]
    NoHeader,
    /// The diff of a merge, which has more than one old side.
    #[error("line {line}: combined diffs of merges are not supported")]
    Combined {
        /// The line, counted from 1.
        line: usize,
    },
    /// A hunk has fewer lines than its header says.
    #[error("line {line}: the hunk is cut short")]
    CutShort {
        /// The line of its header, counted from 1.
        line: usize,
    },
    /// A header that cannot be read.
    #[error("line {line}: {what}")]
    Malformed {
        /// The line, counted from 1.
        line: usize,
        /// What is wrong with it.
        what: &'static str,
    },
}

pub(super) fn parse(text: &[u8]) -> Result<Vec<FileDiff>, DiffError> {
    if text.iter().all(u8::is_ascii_whitespace) {
        return Ok(Vec::new());
    }
    let mut lines = Lines::new(text);
    let mut files = Vec::new();
    let mut current: Option<Section> = None;
    while let Some(line) = lines.next() {
        let number = lines.number;
        if line.starts_with(b"diff --cc ") || line.starts_with(b"diff --combined ") {
            return Err(DiffError::Combined { line: number });
        }
        if let Some(rest) = header(line).strip_prefix(b"diff --git ") {
            if let Some(section) = current.replace(Section::new(rest, number)) {
                files.push(section.finish()?);
            }
        } else if let Some(section) = &mut current {
            section.line(line, &mut lines)?;
        }
    }
    let last = current.ok_or(DiffError::NoHeader)?;
    files.push(last.finish()?);
    Ok(files)
}

/// A header line without the carriage return of a converted file; a name that
/// ends in one is quoted.
fn header(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// The lines of a text, without their line feeds.
struct Lines<'a> {
    rest: &'a [u8],
    /// Number of the line that was read last.
    number: usize,
}

impl<'a> Lines<'a> {
    const fn new(text: &'a [u8]) -> Self {
        Self {
            rest: text,
            number: 0,
        }
    }

    fn peek(&self) -> Option<&'a [u8]> {
        if self.rest.is_empty() {
            return None;
        }
        let end = self.rest.iter().position(|b| *b == b'\n');
        Some(&self.rest[..end.unwrap_or(self.rest.len())])
    }

    fn next(&mut self) -> Option<&'a [u8]> {
        let line = self.peek()?;
        self.rest = self.rest.get(line.len() + 1..).unwrap_or_default();
        self.number += 1;
        Some(line)
    }
}

/// Where a file's part stands.
#[derive(Debug, PartialEq, Eq)]
enum Place {
    /// Before its first hunk.
    Header,
    /// Right behind a hunk.
    Hunks,
    /// Behind its last hunk: text that belongs to no file.
    Over,
}

/// What is known of a file so far.
struct Section {
    line: usize,
    names: Option<Names>,
    old_line: Option<Vec<u8>>,
    new_line: Option<Vec<u8>>,
    moved_from: Option<Vec<u8>>,
    moved_to: Option<Vec<u8>>,
    status: Option<FileStatus>,
    mode_changed: bool,
    content_changed: bool,
    binary: bool,
    hunks: Vec<Hunk>,
    place: Place,
}

impl Section {
    fn new(rest: &[u8], line: usize) -> Self {
        Self {
            line,
            names: name::from_header(rest),
            old_line: None,
            new_line: None,
            moved_from: None,
            moved_to: None,
            status: None,
            mode_changed: false,
            content_changed: false,
            binary: false,
            hunks: Vec::new(),
            place: Place::Header,
        }
    }

    fn line(&mut self, line: &[u8], lines: &mut Lines<'_>) -> Result<(), DiffError> {
        if self.place == Place::Over {
            return Ok(());
        }
        if line.starts_with(b"@@@ ") {
            return Err(DiffError::Combined { line: lines.number });
        }
        if line.starts_with(b"@@ ") {
            self.hunks.push(walk_hunk(line, lines)?);
            self.place = Place::Hunks;
        } else if self.place == Place::Header {
            self.header_line(header(line));
        } else if !line.starts_with(b"\\") {
            self.place = Place::Over;
        }
        Ok(())
    }

    fn header_line(&mut self, line: &[u8]) {
        let after = |prefix: &str| line.strip_prefix(prefix.as_bytes());
        if let Some(rest) = after("--- ") {
            self.old_line = Some(name::of_line(rest));
        } else if let Some(rest) = after("+++ ") {
            self.new_line = Some(name::of_line(rest));
        } else if let Some(rest) = after("rename from ") {
            self.moved_from = Some(name::of_line(rest));
            self.status = Some(FileStatus::Renamed);
        } else if let Some(rest) = after("copy from ") {
            self.moved_from = Some(name::of_line(rest));
            self.status = Some(FileStatus::Copied);
        } else if let Some(rest) = after("rename to ").or_else(|| after("copy to ")) {
            self.moved_to = Some(name::of_line(rest));
        } else if line.starts_with(b"new file mode ") {
            self.status = Some(FileStatus::Added);
        } else if line.starts_with(b"deleted file mode ") {
            self.status = Some(FileStatus::Deleted);
        } else if line.starts_with(b"old mode ") {
            self.mode_changed = true;
        } else if line.starts_with(b"index ") {
            self.content_changed = true;
        } else if line.starts_with(b"Binary files ") || line == b"GIT binary patch" {
            self.binary = true;
        }
    }

    fn finish(self) -> Result<FileDiff, DiffError> {
        const NOWHERE: &[u8] = b"/dev/null";
        let is_nowhere = |name: &Option<Vec<u8>>| name.as_deref() == Some(NOWHERE);
        let changed = self.content_changed || self.binary || !self.hunks.is_empty();
        let status = match self.status {
            Some(status) => status,
            None if is_nowhere(&self.old_line) => FileStatus::Added,
            None if is_nowhere(&self.new_line) => FileStatus::Deleted,
            None if self.mode_changed && !changed => FileStatus::ModeChanged,
            None => FileStatus::Modified,
        };
        let bare = self.names.as_ref().is_some_and(|(old, new)| {
            // the header has no prefixes, so the other lines have none either
            self.old_line.as_ref() == Some(old) || self.new_line.as_ref() == Some(new)
        });
        let strip = |name: Vec<u8>| {
            if bare {
                name
            } else {
                name::without_prefix(&name).to_vec()
            }
        };
        let (header_old, header_new) = self.names.unzip();
        let old = self
            .moved_from
            .or_else(|| self.old_line.filter(|n| n != NOWHERE).map(strip))
            .or(header_old);
        let new = self
            .moved_to
            .or_else(|| self.new_line.filter(|n| n != NOWHERE).map(strip))
            .or(header_new);
        let named = |name: Option<Vec<u8>>| {
            name.map(RepoPath::new).ok_or(DiffError::Malformed {
                line: self.line,
                what: "the file's name cannot be told",
            })
        };
        Ok(FileDiff {
            old_path: match status {
                FileStatus::Added => None,
                _ => Some(named(old)?),
            },
            new_path: match status {
                FileStatus::Deleted => None,
                _ => Some(named(new)?),
            },
            status,
            binary: self.binary,
            hunks: self.hunks,
        })
    }
}

/// Reads as many lines as the hunk's header counts.
fn walk_hunk(head: &[u8], lines: &mut Lines<'_>) -> Result<Hunk, DiffError> {
    let line = lines.number;
    let malformed = DiffError::Malformed {
        line,
        what: "the hunk's header cannot be read",
    };
    let (mut old_left, hunk) = hunk_header(head).ok_or(malformed)?;
    let mut new_left = hunk.new_lines;
    while old_left > 0 || new_left > 0 {
        let content = lines.next().ok_or(DiffError::CutShort { line })?;
        let (old, new) = match content.first() {
            // editors strip the blank of an empty context line
            Some(b' ' | b'\r') | None => (1, 1),
            Some(b'-') => (1, 0),
            Some(b'+') => (0, 1),
            Some(b'\\') => (0, 0),
            Some(_) => return Err(DiffError::CutShort { line }),
        };
        let counted = old_left.checked_sub(old).zip(new_left.checked_sub(new));
        (old_left, new_left) = counted.ok_or(DiffError::CutShort { line })?;
    }
    Ok(hunk)
}

/// `@@ -1,2 +3,4 @@ …`: the old side's count, and the hunk.
fn hunk_header(head: &[u8]) -> Option<(u32, Hunk)> {
    let head = head.strip_prefix(b"@@ -")?;
    let (_, old_lines, head) = range(head)?;
    let head = head.strip_prefix(b" +")?;
    let (new_start, new_lines, head) = range(head)?;
    new_start.checked_add(new_lines)?;
    head.starts_with(b" @@").then_some((
        old_lines,
        Hunk {
            new_start,
            new_lines,
        },
    ))
}

/// `12,3` or `12`, which means `12,1`, and what follows.
fn range(text: &[u8]) -> Option<(u32, u32, &[u8])> {
    let (start, rest) = number(text)?;
    match rest.strip_prefix(b",") {
        Some(rest) => {
            let (lines, rest) = number(rest)?;
            Some((start, lines, rest))
        }
        None => Some((start, 1, rest)),
    }
}

fn number(text: &[u8]) -> Option<(u32, &[u8])> {
    let length = text.iter().take_while(|b| b.is_ascii_digit()).count();
    let digits = std::str::from_utf8(&text[..length]).ok()?;
    Some((digits.parse().ok()?, &text[length..]))
}
