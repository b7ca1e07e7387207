//! The log of refused tries: one JSON line each, written by the shims.

use std::ffi::OsStr;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::folder::{BIN, PLAN, TRIES};
use crate::policy::guard::Rule;
use crate::port::StepEvent;
use crate::rt::sweep::MarkKey;

/// A command that a shim refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Try {
    /// The mark of the process that tried.
    pub mark: String,
    /// The rule that refused it.
    pub rule: Rule,
    /// The command line.
    pub argv: Vec<String>,
}

impl Try {
    /// The try as a progress event.
    #[must_use]
    pub fn to_event(&self) -> StepEvent {
        StepEvent::Denied {
            rule: self.rule.as_str().to_owned(),
            argv: self.argv.clone(),
        }
    }
}

/// Appends one try. One `write` per line, so that lines of processes that try
/// at the same time do not mix.
pub(super) fn record(folder: &Path, entry: &Try) -> std::io::Result<()> {
    let mut line = serde_json::to_vec(entry)?;
    line.push(b'\n');
    OpenOptions::new()
        .create(true)
        .append(true)
        .mode(0o600)
        .open(folder.join(TRIES))?
        .write_all(&line)
}

/// All tries in the log. Lines that are no tries are passed over.
pub(super) fn read(folder: &Path) -> Vec<Try> {
    let text = fs::read_to_string(folder.join(TRIES)).unwrap_or_default();
    text.lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect()
}

/// The logs that one step's programs can write to.
#[derive(Debug)]
pub(crate) struct TryLog {
    folders: Vec<PathBuf>,
    key: MarkKey,
    /// How many tries of this step were there before.
    seen: usize,
}

impl TryLog {
    /// Opens the logs of the guard folders on a search path, at their end.
    pub(crate) fn open(path: Option<&OsStr>, key: MarkKey) -> Self {
        let folders = std::env::split_paths(path.unwrap_or_default())
            .filter(|entry| entry.ends_with(BIN))
            .filter_map(|entry| entry.parent().map(Path::to_path_buf))
            .filter(|folder| folder.join(PLAN).is_file())
            .collect();
        let mut log = Self {
            folders,
            key,
            seen: 0,
        };
        log.seen = log.of_step().len();
        log
    }

    /// What the step's programs tried since the log was opened.
    pub(crate) fn new_tries(&self) -> Vec<Try> {
        self.of_step().split_off(self.seen)
    }

    fn of_step(&self) -> Vec<Try> {
        let is_own = |entry: &Try| entry.mark.split(':').any(|key| key == self.key.as_str());
        self.folders
            .iter()
            .flat_map(|folder| read(folder))
            .filter(is_own)
            .collect()
    }
}
