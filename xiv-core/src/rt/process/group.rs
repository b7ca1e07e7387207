//! Owns a running process group: whoever drops it ends it.

use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process, kill_process_group, test_kill_process};

use super::spec::StopSignal;
use crate::rt::sweep::{Sweeper, Swept};

/// The process group of one child, named by its leader.
#[derive(Debug)]
pub(super) struct Group {
    leader: Pid,
    /// The leader's exit was collected, so its number may be given away.
    reaped: bool,
    killed: bool,
    done: bool,
    sweeper: Sweeper,
}

impl Group {
    /// The group of a child that was started as its leader.
    pub(super) fn new(leader: Pid, sweeper: Sweeper) -> Self {
        Self {
            leader,
            reaped: false,
            killed: false,
            done: false,
            sweeper,
        }
    }

    /// Notes that the leader's exit status was collected.
    pub(super) fn reaped(&mut self) {
        self.reaped = true;
    }

    /// Asks politely: the leader by `signal`, nested xivs by `SIGTERM`. Who
    /// descends from the leader is remembered first, while that can be seen.
    pub(super) fn request(&mut self, signal: StopSignal) {
        if self.reaped {
            return;
        }
        self.sweeper
            .remember(self.leader.as_raw_nonzero().get().unsigned_abs());
        self.sweeper.ask_nested();
        let signal = match signal {
            StopSignal::Interrupt => Signal::INT,
            StopSignal::Terminate => Signal::TERM,
        };
        let _ = kill_process(self.leader, signal);
    }

    /// One round of ending everything; the pause before the next, or `None`
    /// when nothing is left.
    pub(super) fn round(&mut self) -> Option<std::time::Duration> {
        if self.done {
            return None;
        }
        if !self.killed {
            if !self.reaped && !self.sweeper.is_waiting() {
                self.sweeper
                    .remember(self.leader.as_raw_nonzero().get().unsigned_abs());
            }
            self.sweeper.ask_nested();
        }
        if !self.sweeper.is_waiting() {
            self.kill();
        }
        let pause = self.sweeper.round();
        if pause.is_none() {
            self.kill();
            self.done = true;
        }
        pause
    }

    /// Leaves the group alone from now on.
    pub(super) fn release(&mut self) {
        self.done = true;
    }

    /// What the sweep ended so far.
    pub(super) fn take_swept(&mut self) -> Vec<Swept> {
        self.sweeper.take_swept()
    }

    /// Kills the group. Once the leader is reaped its number could belong to
    /// somebody else: that is so exactly when a process has it.
    fn kill(&mut self) {
        let is_ours = !self.reaped || test_kill_process(self.leader) == Err(Errno::SRCH);
        if !self.killed && is_ours {
            let _ = kill_process_group(self.leader, Signal::KILL);
        }
        self.killed = true;
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        while let Some(pause) = self.round() {
            std::thread::sleep(pause);
        }
    }
}
