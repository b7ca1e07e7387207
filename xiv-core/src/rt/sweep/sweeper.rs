//! Carries a sweep out: asks, waits, kills, looks again.

use std::path::PathBuf;
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::mark::MarkKey;
use super::select::{Facts, Identity, Keep, Targets, select};
use super::system;

/// How long a nested xiv may take to end its own children.
const NESTED_GRACE: Duration = Duration::from_secs(5);
/// How long the kills themselves may take; a process in an uninterruptible
/// system call is then given up.
const KILL_BUDGET: Duration = Duration::from_secs(3);
/// Looks in a row that must find nothing.
const CLEAN_LOOKS: u32 = 2;

/// A process that a sweep ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Swept {
    /// Its id.
    pub pid: u32,
    /// Its executable, when that could be read.
    pub executable: Option<PathBuf>,
}

/// The sweep of one step. Every method takes a few milliseconds, except
/// [`finish`](Self::finish), which also waits.
#[derive(Debug)]
pub struct Sweeper {
    key: Option<MarkKey>,
    keep: Keep,
    /// Processes to find by identity, whatever their environment says.
    known: Vec<Identity>,
    /// When the nested xivs were asked to end.
    asked: Option<Instant>,
    /// Nested xivs were seen and may still use their time.
    waiting: bool,
    clean_looks: u32,
    pause: Duration,
    kill_until: Option<Instant>,
    swept: Vec<Swept>,
}

impl Sweeper {
    /// A sweep of everything that carries `key`.
    #[must_use]
    pub fn new(key: MarkKey, keep: Keep) -> Self {
        Self::build(Some(key), keep)
    }

    /// A sweep by parentage alone, of what [`remember`](Self::remember) saw.
    pub(crate) fn unmarked(keep: Keep) -> Self {
        Self::build(None, keep)
    }

    fn build(key: Option<MarkKey>, keep: Keep) -> Self {
        Self {
            key,
            keep,
            known: Vec::new(),
            asked: None,
            waiting: false,
            clean_looks: 0,
            pause: Duration::from_millis(1),
            kill_until: None,
            swept: Vec::new(),
        }
    }

    /// Remembers the descendants of `leader`, to find them again when their
    /// parents are gone and their environment says nothing.
    pub fn remember(&mut self, leader: u32) {
        let Some(start) = system::start_time(leader) else {
            return;
        };
        let table = system::table(self.key.as_ref());
        let targets = select(&table, &[(leader, start)], std::process::id(), &*self);
        let Targets {
            plain,
            nested,
            sheltered,
        } = targets;
        let all = plain.into_iter().chain(nested).chain(sheltered);
        self.known.extend(all.filter(|(pid, _)| *pid != leader));
    }

    /// Asks every nested xiv to end, once, and starts its five seconds.
    pub fn ask_nested(&mut self) {
        if self.asked.is_none() && !self.is_blind() {
            let nested = self.look().nested;
            self.waiting = !nested.is_empty();
            self.ask(&nested);
        }
    }

    /// Whether a nested xiv is still using the time it was given.
    #[must_use]
    pub fn is_waiting(&self) -> bool {
        self.waiting
    }

    /// Looks once and ends what it sees. Returns how long to pause before the
    /// next round, or `None` when nothing is left (or cannot be ended).
    pub fn round(&mut self) -> Option<Duration> {
        if self.is_blind() {
            return None;
        }
        let targets = self.look();
        self.clean_looks = if targets.is_empty() {
            self.clean_looks + 1
        } else {
            0
        };
        let Targets {
            mut plain,
            nested,
            sheltered,
        } = targets;
        self.ask(&nested);
        let in_time = self
            .asked
            .is_some_and(|asked| asked.elapsed() < NESTED_GRACE);
        self.waiting = !nested.is_empty() && in_time;
        if self.waiting {
            self.kill_until = None;
        } else {
            plain.extend(nested);
            plain.extend(sheltered);
        }
        plain.into_iter().for_each(|target| self.kill(target));
        let until = *self
            .kill_until
            .get_or_insert_with(|| Instant::now() + KILL_BUDGET);
        if self.clean_looks >= CLEAN_LOOKS || Instant::now() >= until {
            return None;
        }
        let pause = self.pause;
        self.pause = (pause * 2).min(Duration::from_millis(25));
        Some(pause)
    }

    /// Ends everything and says what that was. Blocks for a few milliseconds,
    /// or up to five seconds more for a nested xiv.
    pub fn finish(&mut self) -> Vec<Swept> {
        while let Some(pause) = self.round() {
            sleep(pause);
        }
        self.take_swept()
    }

    /// What was ended since the last call.
    pub fn take_swept(&mut self) -> Vec<Swept> {
        std::mem::take(&mut self.swept)
    }

    /// Whether nothing can be found at all, for want of a mark and of memory.
    fn is_blind(&self) -> bool {
        self.key.is_none() && self.known.is_empty()
    }

    fn look(&self) -> Targets {
        let table = system::table(self.key.as_ref());
        select(&table, &self.known, std::process::id(), self)
    }

    fn ask(&mut self, nested: &[Identity]) {
        if self.asked.is_none() && !nested.is_empty() {
            self.asked = Some(Instant::now());
            for target in nested {
                system::signal(*target, Signal::TERM);
            }
        }
    }

    fn kill(&mut self, target: Identity) {
        let executable = system::executable(target.0);
        let is_new = !self.swept.iter().any(|seen| seen.pid == target.0);
        if system::signal(target, Signal::KILL) && is_new {
            self.swept.push(Swept {
                pid: target.0,
                executable,
            });
        }
    }
}

impl Facts for Sweeper {
    fn is_kept(&self, pid: u32) -> bool {
        let executable = system::executable(pid);
        self.keep
            .spares(executable.as_deref(), system::short_name(pid).as_deref())
    }

    fn is_xiv(&self, pid: u32) -> bool {
        let named_xiv = system::executable(pid)
            .is_some_and(|exe| exe.file_name().is_some_and(|name| name == "xiv"));
        named_xiv || system::runs_own_executable(pid)
    }
}
