//! Runs a short helper program and keeps all that it prints.

use super::lines::{Framing, Line, Stream};
use super::live::drive;
use super::report::{Exit, Flow, StartError};
use super::spec::ProcessSpec;

/// What a helper program left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Captured {
    /// How it ended.
    pub exit: Exit,
    /// Its whole standard output.
    pub stdout: Vec<u8>,
    /// Its whole standard error.
    pub stderr: Vec<u8>,
}

impl Captured {
    /// Whether it exited with 0.
    #[must_use]
    pub fn is_success(&self) -> bool {
        self.exit == Exit::Code(0)
    }

    /// Standard error as text, without the line break at its end.
    #[must_use]
    pub fn stderr_text(&self) -> String {
        String::from_utf8_lossy(&self.stderr).trim_end().to_owned()
    }
}

/// Runs a helper program such as git to its end and returns what it printed.
///
/// The program's own [`Environment`](super::Environment) should be made with
/// [`without_git`](super::Environment::without_git), and the program found
/// once with [`Program::find`](super::Program::find).
///
/// # Errors
/// [`StartError`] when the program did not start.
///
/// # Cancellation
/// Dropping the future kills the process group.
pub async fn output(spec: ProcessSpec) -> Result<Captured, StartError> {
    let mut stdout = Vec::new();
    let mut stderr = Vec::new();
    let mut collect = |line: Line<'_>| {
        match line.stream {
            Stream::Stdout => stdout.extend_from_slice(line.bytes),
            Stream::Stderr => stderr.extend_from_slice(line.bytes),
        }
        Flow::Continue
    };
    let finished = drive(
        spec,
        Framing::Raw,
        &mut collect,
        std::future::pending(),
        |_| {},
    )
    .await?;
    Ok(Captured {
        exit: finished.exit,
        stdout,
        stderr,
    })
}
