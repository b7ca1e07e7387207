//! Runs an engine's plan: the one place where adapters act.
//!
//! It starts the program through the core's runner, hands its lines to the parser, passes the parser's
//! events on and reports how the process ended. What that means is the classifier's business.

use std::error::Error;
use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::BufWriter;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tempfile::TempDir;
use xiv_core::port::{
    AgentError, AgentErrorKind, AgentReply, AgentRequest, Events, StepContext, StepEvent,
};
use xiv_core::rt::process::{Flow, Line, ProcessSpec, StartError, Stop, Stream, Transcript, run};

use super::pace::Pace;
use super::{End, Fed, Identity, Parser, Plan};
use crate::host::Host;

/// What a run left for the classifier.
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) end: End,
    pub(crate) wall: Duration,
    pub(crate) transcript: Option<PathBuf>,
}

impl Report {
    /// How long the program ran, in milliseconds.
    pub(crate) fn wall_ms(&self) -> u64 {
        u64::try_from(self.wall.as_millis()).unwrap_or(u64::MAX)
    }

    /// The reply with the place of its transcript.
    pub(crate) fn recorded(&self, reply: AgentReply) -> AgentReply {
        AgentReply {
            transcript: self.transcript.clone(),
            ..reply
        }
    }
}

/// A folder for the files that a call and its agent exchange. It lives as long as the call, so nothing of
/// an earlier call can be taken for an answer of this one.
///
/// # Errors
/// [`AgentErrorKind::Config`] when it cannot be made.
pub(crate) fn exchange_folder(request: &AgentRequest) -> Result<TempDir, AgentError> {
    let mut builder = tempfile::Builder::new();
    builder.prefix("xiv-call-");
    let made = match &request.scratch {
        Some(folder) => std::fs::create_dir_all(folder).and_then(|()| builder.tempdir_in(folder)),
        None => builder.tempdir(),
    };
    made.map_err(|error| failed("cannot make a folder for the call", &error))
}

/// One call of an agent program, as the runner needs to know it.
#[derive(Debug)]
pub(crate) struct Call<'a> {
    /// The adapter's name, for messages and file names.
    pub(crate) name: &'a str,
    pub(crate) host: &'a Host,
    pub(crate) request: &'a AgentRequest,
    pub(crate) cx: &'a StepContext,
}

impl Call<'_> {
    /// Runs the plan to its end.
    ///
    /// # Errors
    /// When the program did not start; how it ended is in the [`Report`].
    ///
    /// # Cancellation
    /// Dropping the future ends every process of the call.
    pub(crate) async fn execute(
        &self,
        program: impl Into<OsString>,
        plan: Plan,
        parser: &mut dyn Parser,
    ) -> Result<Report, AgentError> {
        for (path, content) in &plan.files {
            std::fs::write(path, content)
                .map_err(|error| failed("cannot write a file for the agent", &error))?;
        }
        let (cx, started) = self.watched();
        let transcript = self.transcript();
        let spec = self.spec(program.into(), plan, transcript.as_deref());
        let mut relay = Relay {
            cx: self.cx,
            started,
            pace: Pace::default(),
        };
        let mut on_line = |line: Line<'_>| relay.line(&line, parser);
        let finished = run(spec, &mut on_line, &cx)
            .await
            .map_err(|error| not_started(self.name, &error))?;
        for process in &finished.swept {
            let name = process
                .executable
                .as_deref()
                .map_or_else(|| "?".into(), Path::to_string_lossy);
            self.cx.events.warn(format!(
                "ended {name} ({}), which the agent left running",
                process.pid
            ));
        }
        Ok(Report {
            end: End::of(&finished, self.cx.cancel.reason()),
            wall: finished.duration,
            transcript,
        })
    }

    fn spec(&self, program: OsString, plan: Plan, transcript: Option<&Path>) -> ProcessSpec {
        let mut environment = self.host.environment_for(self.request);
        for (name, value) in plan.set {
            environment.set(name, value);
        }
        let spec = ProcessSpec::new(program, environment, &self.request.cwd)
            .with_args(plan.args)
            .with_stdin(plan.stdin)
            .with_stop(Stop {
                signal: plan.signal,
                ..Stop::default()
            })
            .with_keep(self.host.keep().clone());
        match transcript.and_then(append_to) {
            Some(file) => {
                let mut lines = self.host.redactor().lines();
                spec.with_transcript(Transcript::new(
                    file,
                    Box::new(move |line| lines.redact(line)),
                ))
            }
            None => spec,
        }
    }

    /// Where the transcript goes, when the caller has a folder for it.
    fn transcript(&self) -> Option<PathBuf> {
        let folder = self.request.scratch.as_ref()?.join("transcripts");
        let pass = self
            .request
            .pass
            .map_or_else(String::new, |pass| format!("-{pass}"));
        let name: String = self
            .name
            .chars()
            .map(|c| if c.is_alphanumeric() { c } else { '-' })
            .collect();
        Some(folder.join(format!("{}{pass}-{name}.log", self.request.role)))
    }

    /// The step's context, and a place that will hold what the core says about the process.
    fn watched(&self) -> (StepContext, Arc<OnceLock<Process>>) {
        let started = Arc::new(OnceLock::new());
        let (cell, events) = (Arc::clone(&started), self.cx.events.clone());
        let watching = Events::new(move |event| {
            if let StepEvent::Started {
                pid, start_time, ..
            } = event
            {
                cell.get_or_init(|| Process { pid, start_time });
            }
            events.emit(event);
        });
        (self.cx.clone().with_events(watching), started)
    }
}

/// The agent's process.
#[derive(Debug, Clone, Copy)]
struct Process {
    pid: u32,
    start_time: Option<u64>,
}

impl Process {
    fn event(self, identity: Identity) -> StepEvent {
        let Identity { session, version } = identity;
        StepEvent::Started {
            pid: self.pid,
            start_time: self.start_time,
            version,
            session,
        }
    }
}

/// Passes parsed lines on to the step's events.
struct Relay<'a> {
    cx: &'a StepContext,
    started: Arc<OnceLock<Process>>,
    pace: Pace,
}

impl Relay<'_> {
    fn line(&mut self, line: &Line<'_>, parser: &mut dyn Parser) -> Flow {
        let text = line.text();
        if line.stream == Stream::Stderr {
            self.emit(StepEvent::Output {
                line: text.into_owned(),
            });
            return Flow::Continue;
        }
        let before = parser.identity();
        let Fed { events, flow } = parser.feed(&text);
        let now = parser.identity();
        // The process is known already; what is new is whose conversation it is.
        if now != before
            && let Some(process) = self.started.get()
        {
            self.cx.events.emit(process.event(now));
        }
        events.into_iter().for_each(|event| self.emit(event));
        flow
    }

    fn emit(&mut self, event: StepEvent) {
        let passes = match &event {
            StepEvent::Activity { tool: Some(_), .. } => self.pace.tool(self.cx.clock.elapsed()),
            StepEvent::Activity { tool: None, .. } => self.pace.sign(self.cx.clock.elapsed()),
            _ => true,
        };
        if passes {
            self.cx.events.emit(event);
        }
    }
}

/// Opens a transcript. A repair prompt goes on in the file of the first call. Best effort: a call does not
/// fail because its record cannot be kept.
fn append_to(path: &Path) -> Option<BufWriter<File>> {
    std::fs::create_dir_all(path.parent()?).ok()?;
    let mut options = OpenOptions::new();
    options
        .create(true)
        .append(true)
        .mode(0o600)
        .open(path)
        .ok()
        .map(BufWriter::new)
}

fn failed(what: &str, error: &dyn Error) -> AgentError {
    AgentError::new(AgentErrorKind::Config, format!("{what}: {}", chain(error)))
}

fn not_started(name: &str, error: &StartError) -> AgentError {
    let kind = match error {
        StartError::WorkingDirectory { .. } => AgentErrorKind::Config,
        _ => AgentErrorKind::Crashed,
    };
    AgentError::new(kind, format!("{name} did not start: {}", chain(error)))
}

/// An error with its sources: an [`AgentError`] has no source of its own.
fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(error) = next {
        text = format!("{text}: {error}");
        next = error.source();
    }
    text
}
