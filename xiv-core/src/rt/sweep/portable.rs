//! The process table of any Unix, from `ps`: parentage only, no marks.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal};

use super::mark::{MarkKey, Place};
use super::select::{Identity, Process};

/// Everything that runs. No process shows its mark here.
pub(super) fn table(_key: Option<&MarkKey>) -> Vec<Process> {
    ps(&["-A", "-o", "pid=,ppid=,stat=,lstart="])
        .map(|text| parse(&text))
        .unwrap_or_default()
}

/// Reads lines of `pid ppid stat start…`.
pub(super) fn parse(text: &str) -> Vec<Process> {
    text.lines()
        .filter_map(|line| {
            let mut fields = line.split_whitespace();
            let pid = fields.next()?.parse().ok()?;
            let parent = fields.next()?.parse().ok()?;
            if fields.next()?.starts_with('Z') {
                return None;
            }
            let start = fingerprint(fields);
            Some(Process {
                pid,
                parent,
                start,
                place: Place::Absent,
            })
        })
        .collect()
}

/// A number for a start time that `ps` writes in words (FNV-1a).
fn fingerprint<'a>(words: impl Iterator<Item = &'a str>) -> u64 {
    words
        .flat_map(str::bytes)
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        })
}

/// A fingerprint of the moment at which `pid` started.
pub(super) fn start_time(pid: u32) -> Option<u64> {
    let text = ps(&["-p", &pid.to_string(), "-o", "pid=,ppid=,stat=,lstart="])?;
    parse(&text).first().map(|process| process.start)
}

/// The executable of `pid`.
pub(super) fn executable(pid: u32) -> Option<PathBuf> {
    let text = ps(&["-p", &pid.to_string(), "-o", "comm="])?;
    Some(PathBuf::from(text.trim()))
}

/// The short name of `pid`.
pub(super) fn short_name(pid: u32) -> Option<String> {
    Some(executable(pid)?.file_name()?.to_string_lossy().into_owned())
}

/// Whether `pid` runs the file that this process runs.
pub(super) fn runs_own_executable(pid: u32) -> bool {
    executable(pid).is_some_and(|exe| std::env::current_exe().is_ok_and(|own| own == exe))
}

/// Sends `signal` to the process. Whether it was there to receive it.
pub(super) fn signal((pid, start): Identity, signal: Signal) -> bool {
    let raw = i32::try_from(pid).ok().and_then(Pid::from_raw);
    start_time(pid) == Some(start)
        && raw.is_some_and(|raw| rustix::process::kill_process(raw, signal).is_ok())
}

/// The output of `ps`.
fn ps(args: &[&str]) -> Option<String> {
    let output = Command::new("ps")
        .args(args)
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}
