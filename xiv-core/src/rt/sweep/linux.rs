//! The process table of Linux: `/proc`, and signals that cannot hit a reused id.

use std::ffi::OsStr;
use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use super::mark::{MARK_VARIABLE, MarkKey, Place};
use super::select::{Identity, Process};

/// Everything that runs, with its place relative to `key`.
pub(super) fn table(key: Option<&MarkKey>) -> Vec<Process> {
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter_map(|pid| {
            let (parent, start) = parent_and_start(pid)?;
            let place = key.map_or(Place::Absent, |key| place(pid, key));
            Some(Process {
                pid,
                parent,
                start,
                place,
            })
        })
        .collect()
}

/// When `pid` started, in clock ticks after boot; `None` for a zombie.
pub(super) fn start_time(pid: u32) -> Option<u64> {
    parent_and_start(pid).map(|(_, start)| start)
}

/// Reads `/proc/<pid>/stat`, whose second field may hold anything but ends
/// with the last parenthesis.
fn parent_and_start(pid: u32) -> Option<(u32, u64)> {
    let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
    let after_name = stat.iter().rposition(|&b| b == b')')? + 1;
    let rest = std::str::from_utf8(&stat[after_name..]).ok()?;
    let mut fields = rest.split_ascii_whitespace();
    if matches!(fields.next()?, "Z" | "X" | "x") {
        return None;
    }
    let parent = fields.next()?.parse().ok()?;
    let start = fields.nth(17)?.parse().ok()?;
    Some((parent, start))
}

/// Where `key` stands in the mark of `pid`. Processes of other users cannot
/// be read, and cannot be ended either.
fn place(pid: u32, key: &MarkKey) -> Place {
    let Ok(environ) = fs::read(format!("/proc/{pid}/environ")) else {
        return Place::Absent;
    };
    environ
        .split(|&b| b == 0)
        .filter_map(|var| {
            var.strip_prefix(MARK_VARIABLE.as_bytes())?
                .strip_prefix(b"=")
        })
        .map(|path| key.place_in(path))
        .find(|place| *place != Place::Absent)
        .unwrap_or(Place::Absent)
}

/// The executable of `pid`; a replaced file keeps the name it had.
pub(super) fn executable(pid: u32) -> Option<PathBuf> {
    let path = fs::read_link(format!("/proc/{pid}/exe")).ok()?;
    let bytes = path.as_os_str().as_bytes();
    match bytes.strip_suffix(b" (deleted)") {
        Some(bytes) => Some(PathBuf::from(OsStr::from_bytes(bytes))),
        None => Some(path),
    }
}

/// The short name of `pid`.
pub(super) fn short_name(pid: u32) -> Option<String> {
    let name = fs::read_to_string(format!("/proc/{pid}/comm")).ok()?;
    Some(name.trim_end_matches('\n').to_owned())
}

/// Whether `pid` runs the file that this process runs.
pub(super) fn runs_own_executable(pid: u32) -> bool {
    let inode = |path: &Path| fs::metadata(path).ok().map(|meta| (meta.dev(), meta.ino()));
    let own = inode(Path::new("/proc/self/exe"));
    own.is_some() && inode(Path::new(&format!("/proc/{pid}/exe"))) == own
}

/// Sends `signal` to exactly this process. Whether it was there to receive it.
pub(super) fn signal((pid, start): Identity, signal: Signal) -> bool {
    let Some(raw) = i32::try_from(pid).ok().and_then(Pid::from_raw) else {
        return false;
    };
    let handle: Option<OwnedFd> = pidfd_open(raw, PidfdFlags::empty()).ok();
    if start_time(pid) != Some(start) {
        return false;
    }
    match handle {
        Some(handle) => pidfd_send_signal(handle, signal).is_ok(),
        // kernels and sandboxes without process descriptors
        None => rustix::process::kill_process(raw, signal).is_ok(),
    }
}
