//! Processes that are alive because a test says so.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;

use super::lock;
use crate::port::{ProcessId, Processes};

/// A table of processes. Clones share it.
#[derive(Debug, Clone)]
pub struct FakeProcesses {
    current: ProcessId,
    table: Arc<Mutex<Table>>,
}

#[derive(Debug, Default)]
struct Table {
    alive: Vec<ProcessId>,
    marked: BTreeMap<String, usize>,
    swept: Vec<String>,
}

impl FakeProcesses {
    /// Only this process (`fake-host`, pid 1000) is alive.
    #[must_use]
    pub fn new() -> Self {
        Self::at(ProcessId {
            host: "fake-host".to_owned(),
            pid: 1000,
            start_time: 1,
        })
    }

    /// Only this process is alive.
    #[must_use]
    pub fn at(current: ProcessId) -> Self {
        Self {
            table: Arc::new(Mutex::new(Table {
                alive: vec![current.clone()],
                ..Table::default()
            })),
            current,
        }
    }

    /// Another process on the same host, which sees the same table: a second
    /// xiv beside this one.
    #[must_use]
    pub fn beside(&self, pid: u32) -> Self {
        let current = ProcessId {
            pid,
            ..self.current.clone()
        };
        lock(&self.table).alive.push(current.clone());
        Self {
            current,
            table: Arc::clone(&self.table),
        }
    }

    /// Ends a process.
    pub fn kill(&self, process: &ProcessId) {
        lock(&self.table).alive.retain(|alive| alive != process);
    }

    /// Leaves processes with a mark behind, for [`Processes::sweep`] to find.
    pub fn leave_behind(&self, mark: impl Into<String>, count: usize) {
        *lock(&self.table).marked.entry(mark.into()).or_default() += count;
    }

    /// The marks that were swept, in order.
    #[must_use]
    pub fn swept(&self) -> Vec<String> {
        lock(&self.table).swept.clone()
    }
}

impl Default for FakeProcesses {
    fn default() -> Self {
        Self::new()
    }
}

#[async_trait]
impl Processes for FakeProcesses {
    fn current(&self) -> ProcessId {
        self.current.clone()
    }

    fn is_alive(&self, process: &ProcessId) -> bool {
        process.host != self.current.host || lock(&self.table).alive.contains(process)
    }

    async fn sweep(&self, mark: &str) -> usize {
        let mut table = lock(&self.table);
        table.swept.push(mark.to_owned());
        table.marked.remove(mark).unwrap_or(0)
    }
}
