//! What to run, as a value.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use super::environment::Environment;
use super::transcript::Transcript;
use crate::rt::sweep::{Keep, MarkKey};

/// What happens to standard error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "there is no third way")]
pub enum StderrMode {
    /// Its own stream; the end of it is kept in [`Finished`](super::Finished).
    #[default]
    Separate,
    /// The same pipe as standard output, in the order of printing.
    Merged,
}

/// The signal that asks a program to end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "the two signals that programs treat as a request"
)]
pub enum StopSignal {
    /// `SIGINT`, as from Ctrl-C.
    Interrupt,
    /// `SIGTERM` (default).
    #[default]
    Terminate,
}

/// How a program is stopped: `signal` to the leader, `grace` to comply, then
/// `SIGKILL` to the group and a sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stop {
    /// The polite request. Default `SIGTERM`.
    pub signal: StopSignal,
    /// Time between the request and the kill. Default 5 s.
    pub grace: Duration,
    /// How long a program may live on after its terminal event. Default 10 s;
    /// each further line starts it anew.
    pub linger: Duration,
}

impl Default for Stop {
    fn default() -> Self {
        Self {
            signal: StopSignal::Terminate,
            grace: Duration::from_secs(5),
            linger: Duration::from_secs(10),
        }
    }
}

/// Bounds on what is kept of a program's output. The pipe is always drained,
/// so a limit never blocks the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Longest line handed out whole, in bytes. Default 32 MiB.
    pub line: usize,
    /// Bytes read from each stream before the rest is dropped. Default 512 MiB.
    pub stream: u64,
    /// Bytes kept of the end of standard error. Default 16 KiB.
    pub stderr_tail: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            line: 32 << 20,
            stream: 512 << 20,
            stderr_tail: 16 << 10,
        }
    }
}

/// One program to run.
#[derive(Debug)]
pub struct ProcessSpec {
    pub(super) program: OsString,
    pub(super) args: Vec<OsString>,
    pub(super) env: Environment,
    pub(super) cwd: PathBuf,
    pub(super) stdin: Vec<u8>,
    pub(super) stderr: StderrMode,
    pub(super) stop: Stop,
    pub(super) limits: Limits,
    pub(super) mark: Option<MarkKey>,
    pub(super) keep: Keep,
    pub(super) transcript: Option<Transcript>,
}

impl ProcessSpec {
    /// Runs `program` in `cwd` with exactly the environment `env`.
    ///
    /// A name without a slash is looked up on the `PATH` of `env`, a relative
    /// path starts at `cwd`. Standard input is empty and closed.
    #[must_use]
    pub fn new(program: impl Into<OsString>, env: Environment, cwd: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
            args: Vec::new(),
            env,
            cwd: cwd.into(),
            stdin: Vec::new(),
            stderr: StderrMode::default(),
            stop: Stop::default(),
            limits: Limits::default(),
            mark: None,
            keep: Keep::default(),
            transcript: None,
        }
    }

    /// Adds one argument.
    #[must_use]
    pub fn with_arg(mut self, arg: impl Into<OsString>) -> Self {
        self.args.push(arg.into());
        self
    }

    /// Adds arguments.
    #[must_use]
    pub fn with_args<A: Into<OsString>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// Sets one more variable in the child's environment.
    #[must_use]
    pub fn with_env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.env.set(name, value);
        self
    }

    /// Feeds `bytes` to standard input, then closes it. A program that does
    /// not read them is no error.
    #[must_use]
    pub fn with_stdin(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.stdin = bytes.into();
        self
    }

    /// Says where standard error goes.
    #[must_use]
    pub fn with_stderr(mut self, stderr: StderrMode) -> Self {
        self.stderr = stderr;
        self
    }

    /// Says how the program is stopped.
    #[must_use]
    pub fn with_stop(mut self, stop: Stop) -> Self {
        self.stop = stop;
        self
    }

    /// Bounds what is kept of the output.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Appends `key` to the child's `XIV_MARK` and sweeps everything that
    /// carries it afterwards. Without a key only the process group is ended,
    /// and after a clean exit not even that.
    #[must_use]
    pub fn with_mark(mut self, key: MarkKey) -> Self {
        self.mark = Some(key);
        self
    }

    /// Names the executables that the sweep spares.
    #[must_use]
    pub fn with_keep(mut self, keep: Keep) -> Self {
        self.keep = keep;
        self
    }

    /// Records every line.
    #[must_use]
    pub fn with_transcript(mut self, transcript: Transcript) -> Self {
        self.transcript = Some(transcript);
        self
    }
}
