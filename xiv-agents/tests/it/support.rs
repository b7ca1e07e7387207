//! A clock, a step context and a recorder for the tests of all adapters.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use xiv_core::port::{Cancel, Events, StepContext, StepEvent};
use xiv_core::rt::SystemClock;

/// Everything that a step reported.
#[derive(Debug, Clone, Default)]
pub(crate) struct Seen(Arc<Mutex<Vec<StepEvent>>>);

impl Seen {
    pub(crate) fn all(&self) -> Vec<StepEvent> {
        self.0.lock().expect("events").clone()
    }

    /// Waits until an event of this kind was reported.
    pub(crate) async fn wait(&self, wanted: impl Fn(&StepEvent) -> bool) {
        for _ in 0..3000 {
            if self.all().iter().any(&wanted) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("never reported; seen: {:?}", self.all());
    }
}

/// A step with a mark of its own.
pub(crate) fn step(cancel: Cancel) -> (StepContext, Seen) {
    static COUNT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    let count = COUNT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    let seen = Seen::default();
    let sink = seen.clone();
    let mark = format!("test-{}-{count}", std::process::id());
    let cx = StepContext::new(Arc::new(SystemClock), mark)
        .with_cancel(cancel)
        .with_events(Events::new(move |event| {
            sink.0.lock().expect("events").push(event)
        }));
    (cx, seen)
}

/// The command lines of live processes whose environment holds the mark.
pub(crate) fn left_behind(mark: &str) -> Vec<String> {
    let processes = std::fs::read_dir("/proc").expect("/proc").flatten();
    let read = |path: &Path, name: &str| std::fs::read(path.join(name)).unwrap_or_default();
    processes
        .map(|entry| entry.path())
        .filter(|path| String::from_utf8_lossy(&read(path, "environ")).contains(mark))
        .map(|path| String::from_utf8_lossy(&read(&path, "cmdline")).replace('\0', " "))
        .filter(|command| !command.is_empty())
        .collect()
}
