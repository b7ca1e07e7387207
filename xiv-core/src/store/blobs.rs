//! Content that is too large for events: files named by their hash.
//!
//! A file appears under its name only when it is whole and on the disk.
#![expect(
    clippy::disallowed_methods,
    reason = "the store is where the journal touches the disk"
)]

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use jiff::Timestamp;

use super::database::Database;
use super::error::{Fault, corrupt};
use super::network_fs;
use super::open::{FILE_MODE, create_dir, sync_dir};
use crate::journal::blob_id;
use crate::port::{BlobId, JournalError, JournalErrorKind};

/// What unfinished files are named like.
const UNFINISHED: &str = ".tmp-";

/// Where blobs lie below the state folder.
pub(super) fn root(dir: &Path) -> PathBuf {
    dir.join("blobs").join("sha256")
}

fn path_of(dir: &Path, id: &BlobId) -> PathBuf {
    root(dir).join(&id.as_str()[..2]).join(id.as_str())
}

/// Stores content.
pub(super) fn put(db: &mut Database, content: &[u8]) -> Result<BlobId, Fault> {
    let id = blob_id(content);
    let path = path_of(db.dir(), &id);
    if touch(&path, content.len() as u64, db.now()) {
        return Ok(id);
    }
    network_fs::refuse(db.dir())?;
    let shard = path.parent().unwrap_or(db.dir()).to_path_buf();
    create_dir(&shard)?;
    let unfinished = shard.join(unfinished_name(db.pid()));
    let written = write_whole(&unfinished, content, db.now())
        .map_err(Fault::file("write", &unfinished))
        .and_then(|()| fs::rename(&unfinished, &path).map_err(Fault::file("write", &path)));
    if let Err(fault) = written {
        // best effort: gc finds what stays behind
        let _left = fs::remove_file(&unfinished);
        return Err(fault);
    }
    sync_dir(&shard)?;
    Ok(id)
}

fn unfinished_name(pid: u32) -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    format!("{UNFINISHED}{pid}-{count}")
}

/// Marks content that is there already as used now, so that it is not
/// collected before it is referred to again. Says whether it is there.
fn touch(path: &Path, length: u64, now: Timestamp) -> bool {
    let Ok(file) = OpenOptions::new().append(true).open(path) else {
        return false;
    };
    let whole = file.metadata().is_ok_and(|meta| meta.len() == length);
    whole && file.set_modified(file_time(now)).is_ok()
}

/// The file system keeps no times before 1970.
fn file_time(now: Timestamp) -> SystemTime {
    SystemTime::try_from(now).unwrap_or(SystemTime::UNIX_EPOCH)
}

fn write_whole(path: &Path, content: &[u8], now: Timestamp) -> io::Result<()> {
    let mut file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(FILE_MODE)
        .open(path)?;
    file.write_all(content)?;
    file.set_modified(file_time(now))?;
    file.sync_all()
}

/// Reads content back and makes sure that it is what was stored.
pub(super) fn get(db: &mut Database, id: &BlobId) -> Result<Vec<u8>, Fault> {
    let path = path_of(db.dir(), id);
    let content = match fs::read(&path) {
        Ok(content) => content,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let message = format!("there is no blob {id}");
            return Err(JournalError::new(JournalErrorKind::NotFound, message).into());
        }
        Err(error) => return Err(Fault::file("read", &path)(error)),
    };
    if blob_id(&content) == *id {
        Ok(content)
    } else {
        Err(corrupt(format!("{} does not hold what was stored", path.display())).into())
    }
}

/// A file among the blobs.
#[derive(Debug)]
pub(super) struct Stored {
    /// The file.
    pub(super) path: PathBuf,
    /// Its name as a blob; `None` for one that was never finished.
    pub(super) id: Option<BlobId>,
    /// Its length in bytes.
    pub(super) length: u64,
    /// When it was last stored.
    pub(super) stored_at: Timestamp,
}

/// Every file among the blobs. What has another name is left alone.
pub(super) fn all(dir: &Path) -> Result<Vec<Stored>, Fault> {
    let mut found = Vec::new();
    for shard in entries(&root(dir))? {
        for path in entries(&shard)? {
            let name = path.file_name().and_then(|name| name.to_str());
            let Some(name) = name else { continue };
            let id = BlobId::parse(name).ok();
            if id.is_none() && !name.starts_with(UNFINISHED) {
                continue;
            }
            // it may have been collected by another process meanwhile
            let Ok(meta) = File::open(&path).and_then(|file| file.metadata()) else {
                continue;
            };
            let modified = meta.modified().map_err(Fault::file("read", &path))?;
            found.push(Stored {
                id,
                length: meta.len(),
                stored_at: Timestamp::try_from(modified).unwrap_or(Timestamp::MIN),
                path,
            });
        }
    }
    Ok(found)
}

fn entries(dir: &Path) -> Result<Vec<PathBuf>, Fault> {
    let listed = match fs::read_dir(dir) {
        Ok(listed) => listed,
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
            ) =>
        {
            return Ok(Vec::new());
        }
        Err(error) => return Err(Fault::file("read", dir)(error)),
    };
    listed
        .map(|entry| Ok(entry.map_err(Fault::file("read", dir))?.path()))
        .collect()
}

/// Removes one. Says whether it was there.
pub(super) fn delete(stored: &Stored) -> Result<bool, Fault> {
    match fs::remove_file(&stored.path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(Fault::file("remove", &stored.path)(error)),
    }
}
