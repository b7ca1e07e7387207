//! What the runner and its caller tell each other.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use super::program::ProgramNotFound;
use crate::rt::guard::Try;
use crate::rt::sweep::{InvalidMark, Swept};

/// What the caller makes of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(clippy::exhaustive_enums, reason = "the runner must know every answer")]
pub enum Flow {
    /// Go on.
    Continue,
    /// The program said its last word; it may linger, but not for ever.
    Terminal,
    /// Stop it now.
    Stop,
}

/// How the leader ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "Unix knows these two")]
pub enum Exit {
    /// By itself, with this code.
    Code(i32),
    /// By this signal.
    Signal(i32),
}

/// Why the run was over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "classifiers must treat every case")]
pub enum Ended {
    /// The program ended by itself.
    Exited,
    /// It lingered too long after its terminal event.
    Lingered,
    /// The line callback answered [`Flow::Stop`].
    Stopped,
    /// The caller cancelled.
    Cancelled,
}

/// The report about a program that has ended, with everything it left behind.
#[derive(Debug)]
pub struct Finished {
    /// The id its process had.
    pub pid: u32,
    /// How the leader ended.
    pub exit: Exit,
    /// Why the run was over.
    pub ended: Ended,
    /// Whether the polite request did not suffice.
    pub forced: bool,
    /// The end of standard error.
    pub stderr_tail: String,
    /// Bytes of output dropped because of a limit.
    pub dropped: u64,
    /// From start to exit.
    pub duration: Duration,
    /// What the sweep ended.
    pub swept: Vec<Swept>,
    /// What the program and its children tried and were refused by the shims.
    pub tries: Vec<Try>,
    /// Why the transcript is incomplete.
    pub transcript_error: Option<io::Error>,
}

/// The program did not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// There is no such program.
    #[error(transparent)]
    NotFound(#[from] ProgramNotFound),
    /// The step's mark cannot be put into an environment.
    #[error(transparent)]
    Mark(#[from] InvalidMark),
    /// The working directory cannot be used.
    #[error("cannot run a program in `{}`", cwd.display())]
    WorkingDirectory {
        /// The directory.
        cwd: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The system refused.
    #[error("cannot start `{}`", program.display())]
    Refused {
        /// The program.
        program: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}
