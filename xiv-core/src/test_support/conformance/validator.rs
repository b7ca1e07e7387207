//! The rules of the [`Validator`] port.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures::future::join;

use super::mark_in;
use crate::model::{CommandExit, CommandResult, ValidationCommand};
use crate::port::{
    Cancel, CancelReason, Clock, StepContext, ValidateRequest, Validator, ValidatorError,
};

/// A command that the suite wants to be run.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a bench must set up each")]
pub enum CommandScript {
    /// Prints this line and exits with this code.
    Exit {
        /// The line.
        prints: &'static str,
        /// The code.
        code: i32,
    },
    /// Does not end by itself; its own limit is short.
    RunsOutOfTime,
    /// Does not end by itself and has no limit.
    Hangs,
}

impl CommandScript {
    /// The script as a line for a POSIX shell.
    #[must_use]
    pub fn shell(&self) -> ValidationCommand {
        let (name, run, timeout_ms) = match self {
            Self::Exit { prints, code } => ("exit", format!("echo '{prints}'; exit {code}"), None),
            Self::RunsOutOfTime => ("slow", "sleep 600".to_owned(), Some(300)),
            Self::Hangs => ("hang", "sleep 600".to_owned(), None),
        };
        ValidationCommand {
            name: name.to_owned(),
            run,
            timeout_ms,
        }
    }
}

/// A validator under test and what surrounds it.
#[derive(Debug)]
pub struct ValidatorBench {
    /// The validator.
    pub validator: Arc<dyn Validator>,
    /// The clock that its limits go by.
    pub clock: Arc<dyn Clock>,
    /// The work tree that commands run in.
    pub cwd: PathBuf,
}

/// Runs every case.
///
/// `new` makes a bench on which these commands do what their scripts say when
/// they are run as [`CommandScript::shell`] writes them.
///
/// # Panics
/// When a rule is broken.
pub async fn validator<N>(new: N)
where
    N: Fn(&[CommandScript]) -> ValidatorBench + Send + Sync,
{
    every_command_runs_and_tells_how_it_ended(&new).await;
    a_command_that_runs_out_of_time_does_not_stop_the_others(&new).await;
    nothing_to_run_is_no_error(&new).await;
    the_stop_signal_ends_it(&new).await;
}

async fn run(
    bench: &ValidatorBench,
    scripts: &[CommandScript],
    cancel: Cancel,
) -> Result<Vec<CommandResult>, ValidatorError> {
    let request = ValidateRequest {
        commands: scripts.iter().map(CommandScript::shell).collect(),
        cwd: bench.cwd.clone(),
        run: None,
        env_allow: Vec::new(),
    };
    let cx = StepContext::new(Arc::clone(&bench.clock), mark_in(&bench.cwd)).with_cancel(cancel);
    let ran = bench.validator.validate(request, cx).await?;
    Ok(ran.commands)
}

async fn every_command_runs_and_tells_how_it_ended(
    new: &(impl Fn(&[CommandScript]) -> ValidatorBench + Sync),
) {
    let scripts = [
        (0, "all is well"),
        (3, "three went wrong"),
        (0, "after the failure"),
        (1, "one went wrong"),
    ]
    .map(|(code, prints)| CommandScript::Exit { prints, code });
    let bench = new(&scripts);
    let results = run(&bench, &scripts, Cancel::never())
        .await
        .expect("a command that fails is a result, not an error");
    assert_eq!(results.len(), scripts.len(), "one result per command");
    for (script, result) in scripts.iter().zip(&results) {
        let asked = script.shell();
        assert_eq!((&result.name, &result.run), (&asked.name, &asked.run));
        let CommandScript::Exit { prints, code } = script else {
            unreachable!("all scripts of this case exit");
        };
        assert_eq!(result.exit, CommandExit::Code(*code), "of {}", asked.run);
        assert_eq!(result.exit.passed(), *code == 0);
        let tail = &result.output_tail;
        assert!(tail.contains(prints), "{tail:?} lacks {prints:?}");
    }
}

async fn a_command_that_runs_out_of_time_does_not_stop_the_others(
    new: &(impl Fn(&[CommandScript]) -> ValidatorBench + Sync),
) {
    let scripts = [
        CommandScript::RunsOutOfTime,
        CommandScript::Exit {
            prints: "still run",
            code: 0,
        },
    ];
    let bench = new(&scripts);
    let results = run(&bench, &scripts, Cancel::never())
        .await
        .expect("a limit of a command is a result, not an error");
    let exits: Vec<&CommandExit> = results.iter().map(|result| &result.exit).collect();
    assert_eq!(exits, [&CommandExit::TimedOut, &CommandExit::Code(0)]);
}

async fn nothing_to_run_is_no_error(new: &(impl Fn(&[CommandScript]) -> ValidatorBench + Sync)) {
    let bench = new(&[]);
    let results = run(&bench, &[], Cancel::never()).await.expect("no error");
    assert_eq!(results, []);
}

async fn the_stop_signal_ends_it(new: &(impl Fn(&[CommandScript]) -> ValidatorBench + Sync)) {
    let scripts = [CommandScript::Hangs];
    for delay in [Duration::ZERO, Duration::from_millis(200)] {
        let bench = new(&scripts);
        let (canceller, cancel) = Cancel::new();
        let stop = async {
            bench.clock.sleep(delay).await;
            canceller.cancel(CancelReason::User);
        };
        let (result, ()) = join(run(&bench, &scripts, cancel), stop).await;
        match result {
            Err(ValidatorError::Cancelled) => {}
            other => panic!("stopped after {delay:?} it returned {other:?}"),
        }
    }
}
