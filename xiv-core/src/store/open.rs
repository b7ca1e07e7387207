//! Opening the file: who may read it, what it must be, how it is made.
#![expect(
    clippy::disallowed_methods,
    reason = "the store is where the journal touches the disk"
)]

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior};
use rustix::fs::{Access, access};

use super::DATABASE_FILE;
use super::error::{Fault, corrupt};
use super::network_fs;
use super::schema::{APPLICATION_ID, STEPS, VERSION};
use crate::port::{JournalError, JournalErrorKind};

/// How long a statement waits for another process. Every wait is for one
/// short transaction.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// Folders of the store are for their owner alone.
pub(super) const DIR_MODE: u32 = 0o700;

/// Files too.
pub(super) const FILE_MODE: u32 = 0o600;

/// Opens the database, making it where there is none.
pub(super) fn for_writing(dir: &Path) -> Result<Connection, Fault> {
    network_fs::refuse(dir)?;
    let path = dir.join(DATABASE_FILE);
    create_dir(dir)?;
    // An existing file is not opened here, not even to see whether that is
    // allowed: closing it again would drop the locks that SQLite holds on it
    // elsewhere in this process.
    let made = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(FILE_MODE)
        .open(&path);
    match made {
        Ok(_) => sync_dir(dir)?,
        Err(error) if path.exists() => {
            access(&path, Access::WRITE_OK)
                .map_err(io::Error::from)
                .map_err(Fault::file("write", &path))?;
            if error.kind() != io::ErrorKind::AlreadyExists {
                return Err(Fault::file("open", &path)(error));
            }
        }
        Err(error) => return Err(Fault::file("create", &path)(error)),
    }
    let mut connection = connect(&path)?;
    migrate(&mut connection)?;
    Ok(connection)
}

/// Opens the database for looking only; `None` where there is none. It must
/// also work where nothing can be written.
pub(super) fn for_reading(dir: &Path) -> Result<Option<Connection>, Fault> {
    let path = dir.join(DATABASE_FILE);
    if size(&path)? == 0 {
        return Ok(None);
    }
    network_fs::refuse(dir)?;
    let opened = connect(&path).and_then(|mut connection| {
        if is_blank(&connection)? {
            return Ok(None); // another process is just making it
        }
        migrate(&mut connection)?;
        let _runs: i64 = connection.query_row("SELECT count(*) FROM runs", [], |row| row.get(0))?;
        Ok(Some(connection))
    });
    match opened {
        Err(fault) if fault.is_read_only() && size(&wal_of(&path))? == 0 => {
            let connection = connect_immutable(&path)?;
            expect_format(&connection)?;
            Ok(Some(connection))
        }
        other => other,
    }
}

/// Makes a folder for its owner alone, with its parents, durably: a journal in
/// a folder that a power cut takes away has lost everything.
pub(super) fn create_dir(dir: &Path) -> Result<(), Fault> {
    let missing: Vec<&Path> = dir
        .ancestors()
        .take_while(|place| !here(place).exists())
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    DirBuilder::new()
        .recursive(true)
        .mode(DIR_MODE)
        .create(dir)
        .map_err(Fault::file("create", dir))?;
    missing
        .into_iter()
        .filter_map(Path::parent)
        .try_for_each(|parent| sync_dir(here(parent)))
}

/// The end of a relative path's ancestors is where one is.
pub(super) fn here(path: &Path) -> &Path {
    if path.as_os_str().is_empty() {
        Path::new(".")
    } else {
        path
    }
}

/// Makes the names in a folder durable.
pub(super) fn sync_dir(dir: &Path) -> Result<(), Fault> {
    File::open(dir)
        .and_then(|folder| folder.sync_all())
        .map_err(Fault::file("write", dir))
}

fn size(path: &Path) -> Result<u64, Fault> {
    match fs::metadata(path) {
        Ok(meta) => Ok(meta.len()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(0),
        Err(error) => Err(Fault::file("read", path)(error)),
    }
}

fn wal_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push("-wal");
    name.into()
}

fn connect(path: &Path) -> Result<Connection, Fault> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    // first of all: even the statements below may meet another process
    connection.busy_timeout(BUSY_TIMEOUT)?;
    expect_format(&connection)?;
    write_ahead(&connection)?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "fullfsync", true)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    Ok(connection)
}

/// A file that nobody can change: on a read-only file system SQLite cannot
/// make the file of shared memory that it otherwise needs.
fn connect_immutable(path: &Path) -> Result<Connection, Fault> {
    let mut uri = String::from("file:");
    for &byte in path.as_os_str().as_bytes() {
        if byte.is_ascii_alphanumeric() || b"/-_.~".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            uri.push_str(&format!("%{byte:02X}"));
        }
    }
    uri.push_str("?immutable=1");
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_URI
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    Ok(Connection::open_with_flags(uri, flags)?)
}

/// Switches to the write-ahead log. Two processes that make the file at the
/// same time can meet here without SQLite waiting by itself.
fn write_ahead(connection: &Connection) -> Result<(), Fault> {
    const TRIES: u32 = 200;
    const PAUSE: Duration = Duration::from_millis(25);
    let mut tries = 0;
    loop {
        let mode: Result<String, _> =
            connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0));
        match mode {
            Ok(mode) if mode.eq_ignore_ascii_case("wal") => return Ok(()),
            Ok(mode) => {
                return Err(Fault::Refused(JournalError::new(
                    JournalErrorKind::Io,
                    format!("the file system allows no write-ahead log, only {mode:?}"),
                )));
            }
            Err(error)
                if tries < TRIES
                    && matches!(
                        error.sqlite_error_code(),
                        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked)
                    ) =>
            {
                tries += 1;
                thread::sleep(PAUSE);
            }
            Err(error) => return Err(error.into()),
        }
    }
}

fn pragma(connection: &Connection, name: &str) -> Result<i32, Fault> {
    Ok(connection.pragma_query_value(None, name, |row| row.get(0))?)
}

fn is_blank(connection: &Connection) -> Result<bool, Fault> {
    Ok(pragma(connection, "user_version")? == 0)
}

/// Refuses files of newer versions and of other programs.
fn expect_format(connection: &Connection) -> Result<(), Fault> {
    let application = pragma(connection, "application_id")?;
    let version = pragma(connection, "user_version")?;
    let tables: i64 =
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    if application == 0 && version == 0 && tables == 0 {
        return Ok(());
    }
    if application != APPLICATION_ID {
        let error = corrupt("the database belongs to another program")
            .with_hint("set XIV_HOME to a folder of its own");
        return Err(error.into());
    }
    if version > VERSION {
        let message = format!(
            "the journal has format {version}; this version of xiv reads up to format {VERSION}"
        );
        let error = JournalError::new(JournalErrorKind::NewerFormat, message)
            .with_hint("use the newer xiv that wrote it, or set XIV_HOME to another folder");
        return Err(error.into());
    }
    Ok(())
}

/// Brings the file to the current format.
fn migrate(connection: &mut Connection) -> Result<(), Fault> {
    if pragma(connection, "user_version")? == VERSION {
        return Ok(());
    }
    let change = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    expect_format(&change)?; // another process may have been quicker
    let version = pragma(&change, "user_version")?;
    let done = usize::try_from(version).map_err(|_| corrupt("the format is negative"))?;
    for step in STEPS.iter().skip(done) {
        change.execute_batch(step)?;
    }
    change.pragma_update(None, "application_id", APPLICATION_ID)?;
    change.pragma_update(None, "user_version", VERSION)?;
    change.commit()?;
    Ok(())
}
