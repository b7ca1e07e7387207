//! The running child: one loop over its exit, its pipes, the clock and the
//! caller's wish to stop.

use std::future::Future;
use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::pin::Pin;
use std::process::ExitStatus;
use std::time::Duration;

use futures::FutureExt as _;
use tokio::io::AsyncWriteExt as _;
use tokio::net::unix::pipe::Receiver;
use tokio::process::{Child, ChildStdin};
use tokio::time::{Instant, sleep, sleep_until};

use super::group::Group;
use super::launch::{Launch, Launched, launch};
use super::lines::{Framing, Line, Lines, Stream};
use super::report::{Ended, Exit, Finished, Flow, StartError};
use super::spec::{ProcessSpec, Stop};
use super::tail::Tail;
use super::transcript::Transcript;
use crate::port::{StepContext, StepEvent};
use crate::rt::guard::TryLog;
use crate::rt::sweep::{MARK_VARIABLE, MarkKey, Sweeper, start_time};

/// How long the pipes may stay open after the leader's exit before whoever
/// holds them is ended. Enough for a `tee` to write its last lines.
const HELD_PIPE: Duration = Duration::from_millis(500);
/// How long reading goes on after everything was ended.
const LAST_READ: Duration = Duration::from_millis(500);
/// How long a killed leader may take to disappear.
const KILL_WAIT: Duration = Duration::from_secs(3);

/// The callback that sees every line.
pub(super) type OnLine<'a> = &'a mut (dyn FnMut(Line<'_>) -> Flow + Send);

/// Runs a program to its end.
///
/// `on_line` sees every line of both streams as it comes. When the context's
/// signal is given, or `on_line` answers [`Flow::Stop`], or the program
/// lingers, it is stopped as [`Stop`] says; its lines are still read meanwhile.
/// The context's mark is set and swept unless the spec has a mark of its own:
/// nothing that carries it is left when this returns, and a child that holds a
/// pipe delays that by half a second at most. Emits [`StepEvent::Started`], and
/// a [`StepEvent::Denied`] for everything that the shims refused.
///
/// # Errors
/// [`StartError`] when the program did not start; whatever happens later is in
/// [`Finished`].
///
/// # Cancellation
/// Dropping the future kills the process group and sweeps before it returns:
/// some milliseconds, up to five seconds when a nested xiv must end first.
pub async fn run(
    mut spec: ProcessSpec,
    on_line: &mut (dyn FnMut(Line<'_>) -> Flow + Send),
    cx: &StepContext,
) -> Result<Finished, StartError> {
    if spec.mark.is_none() && !cx.mark.is_empty() {
        spec.mark = Some(MarkKey::new(cx.mark.as_str())?);
    }
    let started = |pid| {
        cx.events.emit(StepEvent::Started {
            pid,
            start_time: start_time(pid),
            version: None,
            session: None,
        });
    };
    let cancelled = cx.cancel.clone().map(drop);
    let finished = drive(spec, Framing::Lines, on_line, cancelled, started).await?;
    for refused in &finished.tries {
        cx.events.emit(refused.to_event());
    }
    Ok(finished)
}

/// [`run`] without a step: stopped when `cancelled` completes, marked only if
/// the spec says so.
///
/// # Errors
/// As [`run`].
///
/// # Cancellation
/// As [`run`].
pub async fn run_until(
    spec: ProcessSpec,
    on_line: &mut (dyn FnMut(Line<'_>) -> Flow + Send),
    cancelled: impl Future<Output = ()> + Send,
) -> Result<Finished, StartError> {
    drive(spec, Framing::Lines, on_line, cancelled, |_| {}).await
}

/// [`run_until`] with a choice of framing.
pub(super) async fn drive(
    spec: ProcessSpec,
    framing: Framing,
    on_line: OnLine<'_>,
    cancelled: impl Future<Output = ()> + Send,
    started: impl FnOnce(u32) + Send,
) -> Result<Finished, StartError> {
    let cancelled = std::pin::pin!(cancelled);
    let mut live = Live::start(spec, framing).await?;
    started(live.pid);
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
    /// None for a program that belongs to no step.
    tries: Option<TryLog>,
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
            stdin,
            stop,
            limits,
            mark,
            keep,
            transcript,
            ..
        } = spec;
        let (mut env, sweeper) = (
            spec.env,
            match &mark {
                Some(key) => Sweeper::new(key.clone(), keep),
                None => Sweeper::unmarked(keep),
            },
        );
        let tries = mark.map(|key| {
            let mark = key.appended_to(env.get(MARK_VARIABLE));
            env.set(MARK_VARIABLE, mark);
            TryLog::open(env.get("PATH"), key)
        });
        let started = Instant::now();
        let Launched {
            mut child,
            leader,
            stdout,
            stderr,
        } = launch(Launch {
            program: spec.program,
            args: spec.args,
            env,
            cwd: spec.cwd,
            has_stdin: !stdin.is_empty(),
            stderr: spec.stderr,
        })
        .await?;
        let lines =
            |source, stream| Lines::new(source, stream, framing, limits.line, limits.stream);
        Ok(Self {
            group: Group::new(leader, sweeper),
            pid: leader.as_raw_nonzero().get().unsigned_abs(),
            stdin: child.stdin.take().map(|pipe| Feed {
                pipe,
                bytes: stdin,
                written: 0,
            }),
            child,
            stdout: lines(Some(stdout), Stream::Stdout),
            stderr: lines(stderr, Stream::Stderr),
            tail: Tail::new(limits.stderr_tail),
            transcript,
            stop,
            tries,
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

    fn is_marked(&self) -> bool {
        self.tries.is_some()
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
            Phase::Draining { .. } if self.is_marked() || self.ended != Ended::Exited => {
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
        if !self.is_marked() && self.ended == Ended::Exited && self.status.is_some() {
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
            tries: self.tries.map(|log| log.new_tries()).unwrap_or_default(),
            transcript_error: self.transcript.take().and_then(Transcript::finish),
        }
    }
}
