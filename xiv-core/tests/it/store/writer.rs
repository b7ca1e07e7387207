//! A process that writes to a journal: this test program, started once more.

use std::io::{self, BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use futures::executor::block_on;
use xiv_core::model::RunId;
use xiv_core::port::{Clock as _, Fence, Journal as _, JournalErrorKind};
use xiv_core::rt::SystemClock;
use xiv_core::store::SqliteStore;

use super::{LEASE, new_run, open, owner, signed};

/// Tells the started program what to write: `role name run dir`.
const ORDER: &str = "STORE_TEST_ORDER";

/// Starts lines that are meant for the test.
const ACK: &str = "appended ";

/// What a started writer does.
#[derive(Debug, Clone, Copy)]
pub(super) enum Role {
    /// Takes the run, or makes it, and appends until it is killed.
    Endless,
    /// Competes for the run with a short lease that it sometimes outstays,
    /// until the run is long enough.
    Rival,
}

/// How long rivals make their run.
pub(super) const RIVALS_STOP_AT: u64 = 300;

/// A writer in a process of its own. It is killed when dropped.
#[derive(Debug)]
pub(super) struct Writer {
    child: Child,
    lines: BufReader<ChildStdout>,
}

impl Writer {
    pub(super) fn start(role: Role, name: &str, run: &RunId, dir: &Path) -> Self {
        let role = match role {
            Role::Endless => "endless",
            Role::Rival => "rival",
        };
        let mut child = Command::new(std::env::current_exe().expect("this program"))
            .args(["--exact", "store::writer::child", "--nocapture"])
            .env(ORDER, format!("{role} {name} {run} {}", dir.display()))
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .expect("this program starts again");
        let lines = BufReader::new(child.stdout.take().expect("piped"));
        Self { child, lines }
    }

    /// The number of the next event that it was told is safe; `None` at the
    /// end of its output.
    pub(super) fn next(&mut self) -> Option<u64> {
        let mut line = String::new();
        loop {
            line.clear();
            let read = self.lines.read_line(&mut line).expect("its output");
            if read == 0 {
                return None;
            }
            // a line that was cut off has told nobody anything
            let whole = line.strip_suffix('\n');
            // libtest puts the test's name before the first of them
            let seq = whole.and_then(|line| line.split(ACK).nth(1));
            if let Some(seq) = seq {
                return Some(seq.parse().expect("a number"));
            }
        }
    }

    /// `kill -9`, and whatever it had said before.
    pub(super) fn kill(mut self) -> Vec<u64> {
        self.child.kill().expect("it can be killed");
        self.child.wait().expect("it is gone");
        std::iter::from_fn(|| self.next()).collect()
    }

    /// Waits for its end, which must be a good one.
    pub(super) fn finish(mut self) -> Vec<u64> {
        let acks = std::iter::from_fn(|| self.next()).collect();
        let status = self.child.wait().expect("it ends");
        assert!(status.success(), "a writer failed: {status}");
        acks
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // fails when it has ended by itself
        let _ended = self.child.kill();
        let _reaped = self.child.wait();
    }
}

fn acknowledge(seq: u64) {
    let mut out = io::stdout().lock();
    // one write, so that a kill leaves no half line; a reader that has gone
    // wants to know nothing
    let _gone = out.write_all(format!("{ACK}{seq}\n").as_bytes());
    let _gone = out.flush();
}

/// Not a test by itself: the writer's program. Without an order it does nothing.
#[test]
fn child() {
    let Ok(order) = std::env::var(ORDER) else {
        return;
    };
    let mut words = order.splitn(4, ' ');
    let mut word = || words.next().expect("four words").to_owned();
    let (role, name) = (word(), word());
    let run = RunId::parse(word()).expect("a run id");
    let dir = PathBuf::from(word());
    match role.as_str() {
        "endless" => block_on(endless(&name, &run, &dir)),
        "rival" => block_on(rival(&name, &run, &dir)),
        role => panic!("unknown role {role}"),
    }
}

async fn endless(name: &str, run: &RunId, dir: &Path) {
    let store = open(dir);
    // whoever had the run was killed: it is there at once, by no force
    let taken = match store.acquire(run, owner(), LEASE).await {
        Err(error) if error.kind == JournalErrorKind::NotFound => {
            store.create(new_run(run), owner(), LEASE).await
        }
        taken => taken,
    };
    let fence = taken.expect("the dead owner's run is free");
    let mut seq = next_seq(&store, run).await;
    loop {
        append(&store, &fence, name, seq).await.expect("appended");
        acknowledge(seq);
        if seq.is_multiple_of(16) {
            let blob = store.put_blob(format!("{name}/{seq}").as_bytes()).await;
            blob.expect("stored");
        }
        seq += 1;
    }
}

async fn next_seq(store: &SqliteStore, run: &RunId) -> u64 {
    store.load(run).await.expect("loaded").len() as u64 + 1
}

async fn append(
    store: &SqliteStore,
    fence: &Fence,
    name: &str,
    seq: u64,
) -> Result<(), xiv_core::port::JournalError> {
    let now = SystemClock.now();
    store.append(fence, seq, now, &signed(name, seq)).await
}

/// As unfair as a driver can be: it lets its lease run out and goes on.
async fn rival(name: &str, run: &RunId, dir: &Path) {
    const SHORT: Duration = Duration::from_millis(20);
    let store = open(dir);
    let mut round = name.len() as u64;
    loop {
        round += 1;
        let fence = match store.acquire(run, owner(), SHORT).await {
            Ok(fence) => fence,
            Err(error) if error.kind == JournalErrorKind::Fenced => {
                std::thread::sleep(Duration::from_millis(3));
                continue;
            }
            Err(error) => panic!("{error:?}"),
        };
        let mut seq = next_seq(&store, run).await;
        for _ in 0..5 {
            if seq > RIVALS_STOP_AT {
                return;
            }
            if round.is_multiple_of(3) {
                std::thread::sleep(SHORT * 2);
            }
            match append(&store, &fence, name, seq).await {
                Ok(()) => acknowledge(seq),
                Err(error) if error.kind == JournalErrorKind::Fenced => break,
                Err(error) => panic!("{error:?}"),
            }
            seq += 1;
        }
        if round.is_multiple_of(2) {
            store.release(&fence).await.expect("released");
        }
    }
}
