//! The `Processes` port on this machine: who drives a run, and is it alive.

use async_trait::async_trait;

use super::sweep::{Keep, MarkKey, Sweeper, start_time};
use crate::port::{ProcessId, Processes};

/// Processes of this machine.
#[derive(Clone, Debug, Default)]
pub struct SystemProcesses {
    keep: Keep,
}

impl SystemProcesses {
    /// Sweeps spare the executables in `keep`.
    #[must_use]
    pub fn new(keep: Keep) -> Self {
        Self { keep }
    }
}

#[async_trait]
impl Processes for SystemProcesses {
    fn current(&self) -> ProcessId {
        let pid = std::process::id();
        ProcessId {
            host: host_name(),
            pid,
            start_time: start_time(pid).unwrap_or_default(),
        }
    }

    fn is_alive(&self, process: &ProcessId) -> bool {
        if process.host != host_name() {
            return true;
        }
        let known = (process.start_time != 0).then_some(process.start_time);
        match (start_time(process.pid), known) {
            (Some(now), Some(then)) => now == then,
            (now, _) => now.is_some(),
        }
    }

    async fn sweep(&self, mark: &str) -> usize {
        let Ok(key) = MarkKey::new(mark) else {
            return 0;
        };
        let mut sweeper = Sweeper::new(key, self.keep.clone());
        while let Some(pause) = sweeper.round() {
            tokio::time::sleep(pause).await;
        }
        sweeper.take_swept().len()
    }
}

/// This machine's name in its network.
fn host_name() -> String {
    rustix::system::uname()
        .nodename()
        .to_string_lossy()
        .into_owned()
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::SystemProcesses;
    use crate::port::{ProcessId, Processes as _};
    use crate::rt::sweep::{MARK_VARIABLE, start_time};

    #[test]
    fn this_process_is_alive_and_an_impostor_is_not() {
        let processes = SystemProcesses::default();
        let me = processes.current();
        assert!(processes.is_alive(&me));
        let impostor = ProcessId {
            start_time: me.start_time + 1,
            ..me.clone()
        };
        assert!(!processes.is_alive(&impostor));
        let unknown = ProcessId {
            start_time: 0,
            ..me.clone()
        };
        assert!(processes.is_alive(&unknown));
        let elsewhere = ProcessId {
            host: "another host".to_owned(),
            ..impostor
        };
        assert!(processes.is_alive(&elsewhere));
    }

    #[test]
    fn a_dead_process_is_not_alive() {
        let processes = SystemProcesses::default();
        let mut child = Command::new("sleep").arg("300").spawn().expect("starts");
        let start = start_time(child.id()).expect("runs");
        let id = ProcessId {
            pid: child.id(),
            start_time: start,
            ..processes.current()
        };
        assert!(processes.is_alive(&id));
        child.kill().expect("killed");
        child.wait().expect("ended");
        assert!(!processes.is_alive(&id));
    }

    #[tokio::test]
    async fn a_sweep_counts_what_it_ended() {
        let processes = SystemProcesses::default();
        let mark = format!("processes-{}", std::process::id());
        let mut child = Command::new("sleep")
            .arg("300")
            .env(MARK_VARIABLE, format!("outer:{mark}:inner"))
            .spawn()
            .expect("starts");
        assert_eq!(processes.sweep(&mark).await, 1);
        child.wait().expect("ended");
        assert_eq!(processes.sweep(&mark).await, 0);
        assert_eq!(processes.sweep("not:a:key").await, 0);
    }
}
