//! The shell validator with real commands.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::ShellValidator;
use crate::model::{CommandExit, CommandResult, ValidationCommand};
use crate::port::{
    Cancel, CancelReason, Events, StepContext, StepEvent, ValidateRequest, Validator as _,
    ValidatorError,
};
use crate::rt::guard::{Guard, GuardPlan};
use crate::rt::process::Environment;
use crate::rt::{SystemClock, sweep};

struct Bench {
    root: TempDir,
    validator: ShellValidator,
    events: Arc<Mutex<Vec<StepEvent>>>,
    mark: String,
}

impl Bench {
    fn new(env: Environment) -> Self {
        let root = tempfile::tempdir().expect("a folder");
        let guard = Guard::install(root.path().join("guard"), GuardPlan::default());
        let validator = ShellValidator::new(Arc::new(guard.expect("installed")), env);
        let events = Arc::default();
        let mark = format!("validate-{}-{}", std::process::id(), root.path().display());
        Self {
            root,
            validator,
            events,
            mark,
        }
    }

    fn context(&self, cancel: Cancel) -> StepContext {
        let sink = Arc::clone(&self.events);
        StepContext::new(Arc::new(SystemClock), self.mark.clone())
            .with_cancel(cancel)
            .with_events(Events::new(move |event| {
                sink.lock().expect("unpoisoned").push(event)
            }))
    }

    fn request(&self, commands: &[(&str, Option<u64>)]) -> ValidateRequest {
        let command = |(run, timeout_ms): &(&str, Option<u64>)| ValidationCommand {
            name: "test".to_owned(),
            run: (*run).to_owned(),
            timeout_ms: *timeout_ms,
        };
        ValidateRequest {
            commands: commands.iter().map(command).collect(),
            cwd: self.root.path().to_path_buf(),
            run: None,
            env_allow: Vec::new(),
        }
    }

    async fn run(&self, commands: &[(&str, Option<u64>)]) -> Vec<CommandResult> {
        let request = self.request(commands);
        let ran = self
            .validator
            .validate(request, self.context(Cancel::never()))
            .await;
        ran.expect("not cancelled").commands
    }

    fn is_swept(&self) -> bool {
        let key = sweep::MarkKey::new(self.mark.clone()).expect("valid");
        sweep::Sweeper::new(key, sweep::Keep::default())
            .finish()
            .is_empty()
    }
}

fn exits(results: &[CommandResult]) -> Vec<&CommandExit> {
    results.iter().map(|result| &result.exit).collect()
}

#[tokio::test]
async fn every_command_runs_and_says_how_it_ended() {
    let bench = Bench::new(Environment::inherited());
    let results = bench
        .run(&[
            ("echo out; echo err >&2; exit 3", None),
            ("pwd", None),
            ("kill -9 $$", None),
            ("xiv-no-such-program", None),
        ])
        .await;
    assert_eq!(
        exits(&results),
        [
            &CommandExit::Code(3),
            &CommandExit::Code(0),
            &CommandExit::Signal(9),
            &CommandExit::Code(127),
        ]
    );
    assert_eq!(results[0].output_tail, "out\nerr");
    assert_eq!(results[0].run, "echo out; echo err >&2; exit 3");
    let root = bench.root.path().canonicalize().expect("there");
    assert_eq!(Path::new(&results[1].output_tail), root);
    assert!(
        results[3].output_tail.contains("not found"),
        "{:?}",
        results[3]
    );
    let events = bench.events.lock().expect("unpoisoned");
    assert!(events.contains(&StepEvent::Output {
        line: "err".to_owned()
    }));
    let activities = events
        .iter()
        .filter(|e| matches!(e, StepEvent::Activity { .. }))
        .count();
    assert_eq!(activities, 4);
}

#[tokio::test]
async fn a_command_over_its_time_is_ended_with_its_children() {
    let bench = Bench::new(Environment::inherited());
    let begin = Instant::now();
    let results = bench
        .run(&[
            ("echo begun; setsid sleep 300 & sleep 300", Some(300)),
            ("echo next", None),
        ])
        .await;
    assert_eq!(
        exits(&results),
        [&CommandExit::TimedOut, &CommandExit::Code(0)]
    );
    assert_eq!(results[0].output_tail, "begun");
    assert!(begin.elapsed() < Duration::from_secs(15));
    assert!(bench.is_swept());
}

#[tokio::test]
async fn what_a_passing_command_leaves_behind_is_ended() {
    let bench = Bench::new(Environment::inherited());
    let results = bench
        .run(&[("setsid sleep 300 & nohup sleep 300 & exit 0", None)])
        .await;
    assert_eq!(exits(&results), [&CommandExit::Code(0)]);
    assert!(bench.is_swept());
}

#[tokio::test]
async fn a_missing_folder_is_said_per_command() {
    let bench = Bench::new(Environment::inherited());
    let mut request = bench.request(&[("true", None)]);
    request.cwd = bench.root.path().join("gone");
    let ran = bench
        .validator
        .validate(request, bench.context(Cancel::never()))
        .await;
    let results = ran.expect("not cancelled").commands;
    let CommandExit::NotStarted(reason) = &results[0].exit else {
        panic!("{results:?}")
    };
    assert!(reason.contains("gone"), "{reason}");
}

#[tokio::test]
async fn cancelling_is_an_error_and_leaves_nothing_behind() {
    let bench = Bench::new(Environment::inherited());
    let (canceller, cancel) = Cancel::new();
    let request = bench.request(&[("setsid sleep 300 & sleep 300", None), ("echo next", None)]);
    let stop = async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        canceller.cancel(CancelReason::User);
    };
    let (ran, ()) = tokio::join!(
        bench.validator.validate(request, bench.context(cancel)),
        stop
    );
    assert!(matches!(ran, Err(ValidatorError::Cancelled)), "{ran:?}");
    assert!(bench.is_swept());
}

#[tokio::test]
async fn commands_see_no_token_unless_it_is_allowed() {
    let env = Environment::inherited()
        .with("GH_TOKEN", "one")
        .with("LINEAR_API_KEY", "two")
        .with("CLAUDECODE", "1");
    let bench = Bench::new(env);
    let show = "echo ${GH_TOKEN-none} ${LINEAR_API_KEY-none} ${CLAUDECODE-none}";
    let results = bench.run(&[(show, None)]).await;
    assert_eq!(results[0].output_tail, "none none none");
    let mut request = bench.request(&[(show, None)]);
    request.env_allow = vec!["LINEAR_API_KEY".to_owned()];
    let ran = bench
        .validator
        .validate(request, bench.context(Cancel::never()))
        .await;
    assert_eq!(ran.expect("ran").commands[0].output_tail, "none two none");
}

#[tokio::test]
async fn long_and_coloured_output_is_cut_and_cleaned() {
    let bench = Bench::new(Environment::inherited());
    let script =
        "i=0; while [ $i -lt 4000 ]; do printf '\\033[32mline %s\\033[0m\\n' $i; i=$((i+1)); done";
    let results = bench.run(&[(script, None)]).await;
    let tail = &results[0].output_tail;
    assert!(tail.len() <= 16 << 10, "{}", tail.len());
    assert!(tail.ends_with("line 3999"));
    assert!(!tail.contains('\u{1b}'));
}
