//! The open file, and the ways of using it.
#![expect(
    clippy::disallowed_methods,
    reason = "the store is where the journal touches the disk"
)]

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use rusqlite::{Connection, Transaction, TransactionBehavior};

use super::DATABASE_FILE;
use super::error::{Fault, no_run};
use super::open;
use crate::model::RunId;
use crate::port::{Clock, JournalError, JournalErrorKind, Processes};

/// The database of one state folder, opened when it is first needed.
#[derive(Debug)]
pub(super) struct Database {
    dir: PathBuf,
    clock: Arc<dyn Clock>,
    processes: Arc<dyn Processes>,
    reader: Option<Connection>,
    writer: Option<Writer>,
}

#[derive(Debug)]
struct Writer {
    connection: Connection,
    /// Device and inode of the file that is open.
    file: (u64, u64),
}

/// What a decision about ownership depends on besides the database.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moment<'a> {
    /// The time.
    pub(super) now: Timestamp,
    /// Which owners live.
    pub(super) processes: &'a dyn Processes,
}

impl Database {
    /// Nothing is opened yet.
    pub(super) fn new(dir: PathBuf, clock: Arc<dyn Clock>, processes: Arc<dyn Processes>) -> Self {
        Self {
            dir,
            clock,
            processes,
            reader: None,
            writer: None,
        }
    }

    /// The state folder.
    pub(super) fn dir(&self) -> &Path {
        &self.dir
    }

    /// The time.
    pub(super) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// This process's id, for names that no other uses.
    pub(super) fn pid(&self) -> u32 {
        self.processes.current().pid
    }

    /// Looks, at one state of the database; `None` where there is none.
    pub(super) fn read<T>(
        &mut self,
        look: impl FnOnce(&Transaction<'_>, Moment<'_>) -> Result<T, Fault>,
    ) -> Result<Option<T>, Fault> {
        let moment = Moment {
            now: self.clock.now(),
            processes: &*self.processes,
        };
        let connection = if let Some(writer) = &mut self.writer {
            &mut writer.connection
        } else {
            if self.reader.is_none() {
                self.reader = open::for_reading(&self.dir)?;
            }
            match &mut self.reader {
                Some(reader) => reader,
                None => return Ok(None),
            }
        };
        let view = connection.transaction()?;
        look(&view, moment).map(Some)
    }

    /// Changes the database, whole or not at all, making it where there is
    /// none. When it returns the change is on the disk.
    pub(super) fn write<T>(
        &mut self,
        change: impl FnOnce(&Transaction<'_>, Moment<'_>) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let moment = Moment {
            now: self.clock.now(),
            processes: &*self.processes,
        };
        let path = self.dir.join(DATABASE_FILE);
        let writer = match &mut self.writer {
            Some(writer) => writer,
            none => {
                self.reader = None;
                let connection = open::for_writing(&self.dir)?;
                let file = identity(&path)?;
                none.insert(Writer { connection, file })
            }
        };
        if identity(&path).ok() != Some(writer.file) {
            return Err(Fault::Refused(JournalError::new(
                JournalErrorKind::Io,
                format!("{} was removed or replaced while in use", path.display()),
            )));
        }
        let transaction = writer
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        let result = change(&transaction, moment)?;
        transaction.commit()?;
        Ok(result)
    }

    /// Changes a run that must exist, which it cannot where there is no
    /// database.
    pub(super) fn write_run<T>(
        &mut self,
        run: &RunId,
        change: impl FnOnce(&Transaction<'_>, Moment<'_>) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        if self.writer.is_none() && !self.dir.join(DATABASE_FILE).exists() {
            return Err(no_run(run));
        }
        self.write(change)
    }

    /// Gives the space of removed rows back, when it is worth it and nobody
    /// else is at work.
    pub(super) fn shrink(&mut self) {
        const WORTH_IT: i64 = 4;
        let Some(writer) = &self.writer else { return };
        let count = |name: &str| -> i64 {
            let value = writer
                .connection
                .pragma_query_value(None, name, |r| r.get(0));
            value.unwrap_or_default()
        };
        if count("freelist_count") * WORTH_IT > count("page_count") {
            // only tidiness: a busy or full disk is no failure here
            let _tidied = writer.connection.execute_batch("VACUUM");
        }
    }
}

fn identity(path: &Path) -> Result<(u64, u64), Fault> {
    let meta = fs::metadata(path).map_err(Fault::file("read", path))?;
    Ok((meta.dev(), meta.ino()))
}
