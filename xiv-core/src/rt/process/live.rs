//! The running child: one loop over its exit, its pipes, the clock and the
//! caller's wish to stop.

use std::future::Future;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::pin::Pin;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::Pid;
use tokio::io::AsyncWriteExt as _;
use tokio::net::unix::pipe::Receiver;
use tokio::process::{Child, ChildStdin, Command};
use tokio::time::{Instant, sleep, sleep_until};

use super::group::Group;
use super::lines::{Framing, Line, Lines, Stream};
use super::program::{Program, ProgramNotFound};
use super::spec::{OnStart, ProcessSpec, StderrMode, Stop};
use super::tail::Tail;
use super::transcript::Transcript;
use crate::rt::sweep::{MARK_VARIABLE, Sweeper, Swept};

/// How long the pipes may stay open after the leader's exit before whoever
/// holds them is ended. Enough for a `tee` to write its last lines.
const HELD_PIPE: Duration = Duration::from_millis(500);
/// How long reading goes on after everything was ended.
const LAST_READ: Duration = Duration::from_millis(500);
/// How long a killed leader may take to disappear.
const KILL_WAIT: Duration = Duration::from_secs(3);

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

/// The callback that sees every line.
pub(super) type OnLine<'a> = &'a mut (dyn FnMut(Line<'_>) -> Flow + Send);

/// Runs a program to its end.
///
/// `on_line` sees every line of both streams as it comes. When `cancelled`
/// completes, or `on_line` answers [`Flow::Stop`], or the program lingers, it
/// is stopped as [`Stop`] says; its lines are still read meanwhile. A marked
/// program is swept after every kind of end, so nothing that carries the mark
/// is left when this returns, and a child that holds a pipe delays it by half
/// a second at most.
///
/// # Errors
/// [`StartError`] when the program did not start; whatever happens later is in
/// [`Finished`].
///
/// # Cancellation
/// Dropping the future kills the process group and sweeps before it returns:
/// some milliseconds, up to five seconds when a nested xiv must end first.
pub async fn run(
    spec: ProcessSpec,
    on_line: &mut (dyn FnMut(Line<'_>) -> Flow + Send),
    cancelled: impl Future<Output = ()> + Send,
) -> Result<Finished, StartError> {
    drive(spec, Framing::Lines, on_line, cancelled).await
}

/// [`run`] with a choice of framing.
pub(super) async fn drive(
    spec: ProcessSpec,
    framing: Framing,
    on_line: OnLine<'_>,
    cancelled: impl Future<Output = ()> + Send,
) -> Result<Finished, StartError> {
    let cancelled = std::pin::pin!(cancelled);
    let mut live = Live::start(spec, framing).await?;
    live.follow(on_line, cancelled).await;
    live.end_group().await;
    Ok(live.finish().await)
}

/// Where the run is on its way to the end.
#[derive(Clone, Copy, Debug)]
enum Phase {
    /// Nothing special.
    Running,
    /// The terminal event was seen.
    Lingering { until: Instant },
    /// The polite request was sent.
    Stopping { until: Instant },
    /// `SIGKILL` was sent.
    Killed { until: Instant },
    /// The leader is gone, a pipe is still open.
    Draining { until: Instant },
    /// Everything is ended, a pipe is still open.
    LastRead { until: Instant },
}

/// What woke the loop.
enum Wake {
    Exited(io::Result<ExitStatus>),
    Read(Stream),
    Fed,
    Cancelled,
    Deadline,
}

struct Live {
    group: Group,
    pid: u32,
    child: Child,
    stdin: Option<Feed>,
    stdout: Lines<Receiver>,
    stderr: Lines<Receiver>,
    tail: Tail,
    transcript: Option<Transcript>,
    stop: Stop,
    marked: bool,
    phase: Phase,
    started: Instant,
    lasted: Option<Duration>,
    status: Option<ExitStatus>,
    ended: Ended,
    forced: bool,
}

/// Standard input that is being written.
struct Feed {
    pipe: ChildStdin,
    bytes: Vec<u8>,
    written: usize,
}

impl Feed {
    /// Writes once. Whether there is more to write; a reader that went away
    /// ends the feeding like the last byte does. Cancel safe.
    async fn write(&mut self) -> bool {
        match self.pipe.write(&self.bytes[self.written..]).await {
            Ok(0) | Err(_) => false,
            Ok(written) => {
                self.written += written;
                self.written < self.bytes.len()
            }
        }
    }
}

impl Live {
    async fn start(spec: ProcessSpec, framing: Framing) -> Result<Self, StartError> {
        let ProcessSpec {
            program,
            args,
            mut env,
            cwd,
            stdin,
            stderr,
            stop,
            limits,
            ..
        } = spec;
        if let Err(source) = cwd.read_dir() {
            return Err(StartError::WorkingDirectory { cwd, source });
        }
        let search = env.get("PATH").unwrap_or_default().to_os_string();
        let program = Program::find_on(program, &search, &cwd)?
            .path()
            .to_path_buf();
        let refused = |source| StartError::Refused {
            program: program.clone(),
            source,
        };
        let (sweeper, marked) = match spec.mark {
            Some(key) => {
                let mark = key.appended_to(env.get(MARK_VARIABLE));
                env.set(MARK_VARIABLE, mark);
                (Sweeper::new(key, spec.keep), true)
            }
            None => (Sweeper::unmarked(spec.keep), false),
        };

        let (out_reader, out_writer) = pipe().map_err(refused)?;
        let (err_reader, err_writer) = match stderr {
            StderrMode::Merged => (None, out_writer.try_clone().map_err(refused)?),
            StderrMode::Separate => pipe()
                .map(|(reader, writer)| (Some(reader), writer))
                .map_err(refused)?,
        };
        let mut command = Command::new(&program);
        command
            .args(args)
            .env_clear()
            .envs(env.iter())
            .current_dir(&cwd)
            .stdin(if stdin.is_empty() {
                Stdio::null()
            } else {
                Stdio::piped()
            })
            .stdout(out_writer)
            .stderr(err_writer)
            .process_group(0)
            .kill_on_drop(true);
        let started = Instant::now();
        let mut child = spawn(&mut command).await.map_err(refused)?;
        // with it go this process's copies of the writing ends
        drop(command);
        let pid = child.id().unwrap_or_default();
        let leader = i32::try_from(pid).ok().and_then(Pid::from_raw);
        let Some(leader) = leader else {
            return Err(refused(io::Error::other("the child has no process id")));
        };
        if let Some(OnStart(tell)) = spec.on_start {
            tell(pid);
        }
        let lines =
            |source, stream| Lines::new(source, stream, framing, limits.line, limits.stream);
        Ok(Self {
            group: Group::new(leader, sweeper),
            pid,
            stdin: child.stdin.take().map(|pipe| Feed {
                pipe,
                bytes: stdin,
                written: 0,
            }),
            child,
            stdout: lines(Some(out_reader), Stream::Stdout),
            stderr: lines(err_reader, Stream::Stderr),
            tail: Tail::new(limits.stderr_tail),
            transcript: spec.transcript,
            stop,
            marked,
            phase: Phase::Running,
            started,
            lasted: None,
            status: None,
            ended: Ended::Exited,
            forced: false,
        })
    }

    /// Follows the program until it is gone and its pipes are read.
    async fn follow(
        &mut self,
        on_line: OnLine<'_>,
        mut cancelled: Pin<&mut (impl Future<Output = ()> + Send)>,
    ) {
        let mut may_cancel = true;
        while !self.is_over() {
            match self.next(cancelled.as_mut(), may_cancel).await {
                Wake::Fed => self.stdin = None,
                Wake::Exited(status) => self.exited(status),
                Wake::Read(stream) => self.read(stream, on_line),
                Wake::Cancelled => {
                    may_cancel = false;
                    self.begin_stop(Ended::Cancelled);
                }
                Wake::Deadline => {
                    if self.deadline_passed().await {
                        break;
                    }
                }
            }
        }
    }

    fn is_over(&self) -> bool {
        self.status.is_some() && self.stdout.is_eof() && self.stderr.is_eof()
    }

    /// Waits for the next thing to happen. Cancel safe.
    async fn next(
        &mut self,
        cancelled: Pin<&mut (impl Future<Output = ()> + Send)>,
        may_cancel: bool,
    ) -> Wake {
        let deadline = match self.phase {
            Phase::Running => None,
            Phase::Lingering { until }
            | Phase::Stopping { until }
            | Phase::Killed { until }
            | Phase::Draining { until }
            | Phase::LastRead { until } => Some(until),
        };
        let timer = async {
            match deadline {
                Some(until) => sleep_until(until).await,
                None => std::future::pending().await,
            }
        };
        let feed = async {
            match self.stdin.as_mut() {
                Some(feed) => while feed.write().await {},
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = cancelled, if may_cancel => Wake::Cancelled,
            status = self.child.wait(), if self.status.is_none() => Wake::Exited(status),
            () = self.stdout.fill() => Wake::Read(Stream::Stdout),
            () = self.stderr.fill() => Wake::Read(Stream::Stderr),
            () = feed => Wake::Fed,
            () = timer => Wake::Deadline,
        }
    }

    /// Hands out the lines that were read and follows the caller's answers.
    fn read(&mut self, stream: Stream, on_line: OnLine<'_>) {
        let lines = match stream {
            Stream::Stdout => &mut self.stdout,
            Stream::Stderr => &mut self.stderr,
        };
        let mut flow = Flow::Continue;
        let mut any = false;
        while let Some(line) = lines.next_line() {
            any = true;
            if stream == Stream::Stderr {
                self.tail.push(line.bytes);
                self.tail.push(b"\n");
            }
            if let Some(transcript) = &mut self.transcript {
                transcript.record(&line);
            }
            flow = flow.max(on_line(line));
        }
        match (flow, self.phase) {
            (Flow::Stop, _) => self.begin_stop(Ended::Stopped),
            (Flow::Terminal, Phase::Running) | (_, Phase::Lingering { .. }) if any => {
                self.phase = Phase::Lingering {
                    until: Instant::now() + self.stop.linger,
                };
            }
            _ => {}
        }
    }

    /// Sends the polite request, once.
    fn begin_stop(&mut self, why: Ended) {
        if matches!(self.phase, Phase::Running | Phase::Lingering { .. }) {
            self.ended = why;
            self.group.request(self.stop.signal);
            self.phase = Phase::Stopping {
                until: Instant::now() + self.stop.grace,
            };
        }
    }

    fn exited(&mut self, status: io::Result<ExitStatus>) {
        self.group.reaped();
        self.lasted = Some(self.started.elapsed());
        self.status = Some(status.unwrap_or_else(|_| ExitStatus::from_raw(0x7f00)));
        self.stdin = None;
        self.phase = Phase::Draining {
            until: Instant::now() + HELD_PIPE,
        };
    }

    /// Takes the next step of the ladder. Whether the run is over.
    async fn deadline_passed(&mut self) -> bool {
        match self.phase {
            Phase::Running => false,
            Phase::Lingering { .. } => {
                self.begin_stop(Ended::Lingered);
                false
            }
            Phase::Stopping { .. } => {
                self.forced = true;
                self.end_group().await;
                self.phase = Phase::Killed {
                    until: Instant::now() + KILL_WAIT,
                };
                false
            }
            Phase::Draining { .. } if self.marked || self.ended != Ended::Exited => {
                self.end_group().await;
                self.phase = Phase::LastRead {
                    until: Instant::now() + LAST_READ,
                };
                false
            }
            Phase::Killed { .. } | Phase::Draining { .. } | Phase::LastRead { .. } => true,
        }
    }

    /// Ends what is left of the group and sweeps. An unmarked program that
    /// ended by itself may leave servers behind, as git does.
    async fn end_group(&mut self) {
        if !self.marked && self.ended == Ended::Exited && self.status.is_some() {
            self.group.release();
            return;
        }
        while let Some(pause) = self.group.round() {
            sleep(pause).await;
        }
    }

    async fn finish(mut self) -> Finished {
        let dropped = self.stdout.dropped() + self.stderr.dropped();
        let exit = match self.status {
            Some(status) => match (status.code(), status.signal()) {
                (Some(code), _) => Exit::Code(code),
                (None, signal) => Exit::Signal(signal.unwrap_or_default()),
            },
            // killed, and stuck in the kernel
            None => Exit::Signal(9),
        };
        Finished {
            pid: self.pid,
            exit,
            ended: self.ended,
            forced: self.forced,
            stderr_tail: self.tail.text(),
            dropped,
            duration: self.lasted.unwrap_or_else(|| self.started.elapsed()),
            swept: self.group.take_swept(),
            transcript_error: self.transcript.take().and_then(Transcript::finish),
        }
    }
}

/// A pipe with an asynchronous reading end.
fn pipe() -> io::Result<(Receiver, OwnedFd)> {
    let (reader, writer) = io::pipe()?;
    Ok((Receiver::from_owned_fd(reader.into())?, writer.into()))
}

/// Starts the program. A file that another thread's fork still holds open for
/// writing is busy for a moment.
async fn spawn(command: &mut Command) -> io::Result<Child> {
    let mut tries = 0;
    loop {
        match command.spawn() {
            Err(error) if error.kind() == io::ErrorKind::ExecutableFileBusy && tries < 20 => {
                tries += 1;
                sleep(Duration::from_millis(10)).await;
            }
            other => return other,
        }
    }
}
