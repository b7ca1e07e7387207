//! From what SQLite and the file system say to what callers branch on.

use std::io;
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;
use rustix::fs::{Access, access};

use super::DATABASE_FILE;
use crate::model::RunId;
use crate::port::{JournalError, JournalErrorKind};

/// What went wrong inside the store, before it is put into the callers' terms.
#[derive(Debug)]
pub(super) enum Fault {
    /// SQLite.
    Sql(rusqlite::Error),
    /// A file operation.
    File {
        /// What it was for.
        doing: &'static str,
        /// On what.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A refusal that is final as it is.
    Refused(JournalError),
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sql(error)
    }
}

impl From<JournalError> for Fault {
    fn from(error: JournalError) -> Self {
        Self::Refused(error)
    }
}

impl Fault {
    /// Names a failed file operation: `map_err(Fault::file("write", path))`.
    pub(super) fn file(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_path_buf();
        move |source| Self::File {
            doing,
            path,
            source,
        }
    }

    /// Whether the trouble is that nothing can be written here.
    pub(super) fn is_read_only(&self) -> bool {
        match self {
            Self::Sql(error) => matches!(
                error.sqlite_error_code(),
                Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen)
            ),
            Self::File { source, .. } => io_kind(source) == JournalErrorKind::ReadOnly,
            Self::Refused(_) => false,
        }
    }

    /// In the callers' terms, for the store in this folder.
    pub(super) fn at(self, dir: &Path) -> JournalError {
        match self {
            Self::Refused(error) => error,
            Self::File {
                doing,
                path,
                source,
            } => {
                let kind = io_kind(&source);
                let message = format!("cannot {doing} {}", path.display());
                hinted(JournalError::new(kind, message), dir).with_source(source)
            }
            Self::Sql(error) => {
                let kind = sql_kind(&error, dir);
                let file = dir.join(DATABASE_FILE);
                let file = file.display();
                let message = match kind {
                    JournalErrorKind::Full => format!("the disk of the journal {file} is full"),
                    JournalErrorKind::ReadOnly => format!("the journal {file} may not be written"),
                    JournalErrorKind::Corrupt => format!("the journal {file} is damaged"),
                    _ => format!("the journal {file} cannot be used"),
                };
                hinted(JournalError::new(kind, message), dir).with_source(error)
            }
        }
    }
}

fn hinted(error: JournalError, dir: &Path) -> JournalError {
    let dir_name = dir.display();
    let hint = match error.kind {
        JournalErrorKind::Full => format!("free some space for {dir_name}"),
        JournalErrorKind::ReadOnly => {
            format!("make {dir_name} writable, or set XIV_HOME to another folder")
        }
        JournalErrorKind::Corrupt => format!(
            "move {} with its -wal and -shm files away to start anew",
            dir.join(DATABASE_FILE).display()
        ),
        _ => return error,
    };
    error.with_hint(hint)
}

fn io_kind(error: &io::Error) -> JournalErrorKind {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => JournalErrorKind::Full,
        io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied => {
            JournalErrorKind::ReadOnly
        }
        _ => JournalErrorKind::Io,
    }
}

fn sql_kind(error: &rusqlite::Error, dir: &Path) -> JournalErrorKind {
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => JournalErrorKind::Full,
        Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => JournalErrorKind::ReadOnly,
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => JournalErrorKind::Corrupt,
        // a full disk shows as a plain I/O error where the file of shared
        // memory could not grow
        Some(ErrorCode::SystemIoFailure | ErrorCode::CannotOpen) if no_space(dir) => {
            JournalErrorKind::Full
        }
        Some(ErrorCode::CannotOpen) if access(dir, Access::WRITE_OK).is_err() => {
            JournalErrorKind::ReadOnly
        }
        Some(_) => JournalErrorKind::Io,
        // no SQLite code: a column that does not hold what this version puts there
        None => JournalErrorKind::Corrupt,
    }
}

fn no_space(dir: &Path) -> bool {
    rustix::fs::statvfs(dir).is_ok_and(|fs| fs.f_bavail == 0)
}

/// Something stored that makes no sense.
pub(super) fn corrupt(what: impl Into<String>) -> JournalError {
    JournalError::new(JournalErrorKind::Corrupt, what)
}

/// No such run.
pub(super) fn no_run(run: &RunId) -> Fault {
    Fault::Refused(JournalError::new(
        JournalErrorKind::NotFound,
        format!("there is no run {run}"),
    ))
}

/// Refused because of what `holder` has.
pub(super) fn fenced(holder: &RunId, message: impl Into<String>) -> Fault {
    let mut error = JournalError::new(JournalErrorKind::Fenced, message);
    error.holder = Some(holder.clone());
    Fault::Refused(error)
}
