//! Runs the repository's own commands. Validation is the arbiter of the loop,
//! so what counts are exit codes that xiv saw itself.

mod tail;

#[cfg(test)]
mod tests;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures::FutureExt as _;

use self::tail::OutputTail;
use crate::model::{CommandExit, CommandResult, ValidationCommand};
use crate::port::{
    CommandsRun, StepContext, StepEvent, ValidateRequest, Validator, ValidatorError,
};
use crate::rt::guard::Guard;
use crate::rt::process::{
    Ended, Environment, Exit, Finished, Flow, Line, ProcessSpec, StartError, StderrMode, run_until,
};
use crate::rt::sweep::{Keep, MarkKey};

/// The shell of every command. POSIX says that it is there.
const SHELL: &str = "/bin/sh";

/// The [`Validator`] that runs each command by `/bin/sh -c` in the work tree's
/// root, in the guarded environment, and sweeps after each.
///
/// A command that needs more than its own time is stopped and counts as timed
/// out; the step's whole time is the driver's matter. Standard output and
/// error go to one pipe, in the order of printing; the last 16 KiB are kept,
/// without terminal escapes.
#[derive(Clone, Debug)]
pub struct ShellValidator {
    guard: Arc<Guard>,
    base: Environment,
    keep: Keep,
}

impl ShellValidator {
    /// Commands see what `guard` makes of `base`, and the variables that the
    /// request allows them.
    #[must_use]
    pub fn new(guard: Arc<Guard>, base: Environment) -> Self {
        Self {
            guard,
            base,
            keep: Keep::default(),
        }
    }

    /// Names the executables that sweeps spare.
    #[must_use]
    pub fn with_keep(mut self, keep: Keep) -> Self {
        self.keep = keep;
        self
    }

    /// Runs one command. `None` when the step was cancelled meanwhile.
    async fn run_one(
        &self,
        command: &ValidationCommand,
        cwd: &Path,
        env: Environment,
        cx: &StepContext,
    ) -> Option<CommandResult> {
        let mut tail = OutputTail::new();
        let mut on_line = |line: Line<'_>| {
            let text = tail.push(&line.text());
            cx.events.emit(StepEvent::Output { line: text });
            Flow::Continue
        };
        let spec = ProcessSpec::new(SHELL, env, cwd)
            .with_args(["-c", command.run.as_str()])
            .with_stderr(StderrMode::Merged)
            .with_keep(self.keep.clone());
        let begin = cx.clock.elapsed();
        let outcome = self.supervise(spec, command, &mut on_line, cx).await;
        let tries = outcome
            .as_ref()
            .map(|finished| finished.tries.as_slice())
            .unwrap_or_default();
        tries
            .iter()
            .for_each(|refused| cx.events.emit(refused.to_event()));
        let (exit, duration) = match outcome {
            Ok(finished) if finished.ended == Ended::Cancelled => {
                if cx.cancel.reason().is_some() {
                    return None;
                }
                (CommandExit::TimedOut, finished.duration)
            }
            Ok(finished) => (exit_of(finished.exit), finished.duration),
            Err(error) => (
                CommandExit::NotStarted(chain(&error)),
                cx.clock.elapsed().saturating_sub(begin),
            ),
        };
        Some(CommandResult {
            name: command.name.clone(),
            run: command.run.clone(),
            exit,
            duration_ms: u64::try_from(duration.as_millis()).unwrap_or(u64::MAX),
            output_tail: tail.text(),
        })
    }

    /// Runs until the end, the command's own limit or the step's signal.
    async fn supervise(
        &self,
        spec: ProcessSpec,
        command: &ValidationCommand,
        on_line: &mut (dyn FnMut(Line<'_>) -> Flow + Send),
        cx: &StepContext,
    ) -> Result<Finished, StartError> {
        let spec = match cx.mark.as_str() {
            "" => spec,
            mark => spec.with_mark(MarkKey::new(mark)?),
        };
        let time_is_up = async {
            match command.timeout_ms {
                Some(ms) => cx.clock.sleep(Duration::from_millis(ms)).await,
                None => std::future::pending().await,
            }
        };
        let stopped = async {
            futures::pin_mut!(time_is_up);
            futures::future::select(cx.cancel.clone().map(drop).boxed(), time_is_up).await;
        };
        run_until(spec, on_line, stopped).await
    }
}

#[async_trait]
impl Validator for ShellValidator {
    async fn validate(
        &self,
        request: ValidateRequest,
        cx: StepContext,
    ) -> Result<CommandsRun, ValidatorError> {
        let mut env = self
            .guard
            .environment_allowing(self.base.clone(), &request.env_allow);
        if let Some(run) = &request.run {
            env.set("XIV_RUN_ID", run.as_str());
        }
        let mut commands = Vec::with_capacity(request.commands.len());
        for command in &request.commands {
            if cx.cancel.reason().is_some() {
                return Err(ValidatorError::Cancelled);
            }
            cx.events.emit(StepEvent::Activity {
                tool: Some(command.name.clone()),
                target: Some(command.run.clone()),
            });
            let result = self.run_one(command, &request.cwd, env.clone(), &cx).await;
            commands.push(result.ok_or(ValidatorError::Cancelled)?);
        }
        Ok(CommandsRun { commands })
    }
}

fn exit_of(exit: Exit) -> CommandExit {
    match exit {
        Exit::Code(code) => CommandExit::Code(code),
        Exit::Signal(signal) => CommandExit::Signal(signal),
    }
}

/// An error with its causes, in one line.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(source) = cause {
        text.push_str(": ");
        text.push_str(&source.to_string());
        cause = source.source();
    }
    text
}
