//! Validation whose results are known beforehand.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use futures::future::{Either, select};

use super::{CrashSwitch, FakeVcs, lock};
use crate::model::{CommandExit, CommandResult};
use crate::port::{CommandsRun, StepContext, ValidateRequest, Validator, ValidatorError};

type Action = Box<dyn FnOnce(&ValidateRequest) + Send>;
type Rule = Arc<dyn Fn(&ValidateRequest) -> ScriptedValidation + Send + Sync>;

/// What comes of validating once.
///
/// In this order: actions are carried out, time passes, results are given.
pub struct ScriptedValidation {
    end: End,
    output: String,
    actions: Vec<Action>,
    takes: Duration,
}

enum End {
    /// Each command exits like this.
    Every(CommandExit),
    /// The commands exit like these; further ones pass.
    Each(Vec<CommandExit>),
    Error(ValidatorError),
    Hang,
    Crash(CrashSwitch),
}

impl ScriptedValidation {
    const fn ending(end: End) -> Self {
        Self {
            end,
            output: String::new(),
            actions: Vec::new(),
            takes: Duration::ZERO,
        }
    }

    /// Every command exits 0.
    #[must_use]
    pub const fn pass() -> Self {
        Self::ending(End::Every(CommandExit::Code(0)))
    }

    /// Every command exits 1.
    #[must_use]
    pub const fn fail() -> Self {
        Self::ending(End::Every(CommandExit::Code(1)))
    }

    /// The commands exit like these, in order; those beyond the list pass.
    #[must_use]
    pub fn exits(exits: impl IntoIterator<Item = CommandExit>) -> Self {
        Self::ending(End::Each(exits.into_iter().collect()))
    }

    /// It cannot be set up, or was stopped.
    #[must_use]
    pub const fn error(error: ValidatorError) -> Self {
        Self::ending(End::Error(error))
    }

    /// It does not end until it is cancelled.
    #[must_use]
    pub const fn hang() -> Self {
        Self::ending(End::Hang)
    }

    /// xiv itself dies during validation.
    #[must_use]
    pub fn crash(switch: &CrashSwitch) -> Self {
        Self::ending(End::Crash(switch.clone()))
    }

    /// Every command prints this at its end.
    #[must_use]
    pub fn printing(mut self, output: impl Into<String>) -> Self {
        self.output = output.into();
        self
    }

    /// Does something meanwhile.
    #[must_use]
    pub fn doing(mut self, action: impl FnOnce(&ValidateRequest) + Send + 'static) -> Self {
        self.actions.push(Box::new(action));
        self
    }

    /// Writes a file into the work tree that the request names, as a formatter
    /// or a build does.
    ///
    /// # Panics
    /// During the call, when the request names none of the repository's work
    /// trees.
    #[must_use]
    pub fn writing(
        self,
        vcs: &FakeVcs,
        path: impl Into<String>,
        content: impl Into<Vec<u8>>,
    ) -> Self {
        let (vcs, path, content) = (vcs.clone(), path.into(), content.into());
        self.doing(move |request| vcs.work_tree(&request.cwd).write(&path, content))
    }

    /// Takes this long, by the context's clock.
    #[must_use]
    pub const fn taking(mut self, duration: Duration) -> Self {
        self.takes = duration;
        self
    }

    async fn play(
        mut self,
        request: ValidateRequest,
        cx: StepContext,
    ) -> Result<CommandsRun, ValidatorError> {
        for action in self.actions.drain(..) {
            action(&request);
        }
        if !self.takes.is_zero() {
            let work = cx.clock.sleep(self.takes);
            if let Either::Right(_) = select(work, cx.cancel.clone()).await {
                return Err(ValidatorError::Cancelled);
            }
        }
        let exits = match self.end {
            End::Every(exit) => vec![exit; request.commands.len()],
            End::Each(exits) => exits,
            End::Error(error) => return Err(error),
            End::Hang => {
                let _reason = cx.cancel.await;
                return Err(ValidatorError::Cancelled);
            }
            End::Crash(switch) => switch.crash().await,
        };
        let mut exits = exits.into_iter();
        let results = request.commands.into_iter().map(|command| CommandResult {
            name: command.name,
            run: command.run,
            exit: exits.next().unwrap_or(CommandExit::Code(0)),
            duration_ms: 0,
            output_tail: self.output.clone(),
        });
        Ok(CommandsRun {
            commands: results.collect(),
        })
    }
}

impl fmt::Debug for ScriptedValidation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = match &self.end {
            End::Every(exit) => format!("every command: {exit}"),
            End::Each(exits) => format!("{exits:?}"),
            End::Error(error) => error.to_string(),
            End::Hang => "hang".to_owned(),
            End::Crash(_) => "crash".to_owned(),
        };
        f.debug_tuple("ScriptedValidation").field(&end).finish()
    }
}

/// A validator with a queue of results, and a rule for when it is empty.
/// Clones share script and record.
#[derive(Clone, Default)]
pub struct FakeValidator(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    queue: VecDeque<ScriptedValidation>,
    rule: Option<Rule>,
    requests: Vec<ValidateRequest>,
}

impl FakeValidator {
    /// A validator without a script.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A validator where everything passes.
    #[must_use]
    pub fn passing() -> Self {
        Self::new().always(|_| ScriptedValidation::pass())
    }

    /// Queues what comes of validating once.
    #[must_use]
    pub fn then(self, validation: ScriptedValidation) -> Self {
        self.push(validation);
        self
    }

    /// Queues what comes of validating once.
    pub fn push(&self, validation: ScriptedValidation) {
        lock(&self.0).queue.push_back(validation);
    }

    /// Answers every request for which nothing is queued.
    #[must_use]
    pub fn always(
        self,
        rule: impl Fn(&ValidateRequest) -> ScriptedValidation + Send + Sync + 'static,
    ) -> Self {
        self.answer_by(rule);
        self
    }

    /// Answers every request for which nothing is queued.
    pub fn answer_by(
        &self,
        rule: impl Fn(&ValidateRequest) -> ScriptedValidation + Send + Sync + 'static,
    ) {
        lock(&self.0).rule = Some(Arc::new(rule));
    }

    /// Every request so far, in order.
    #[must_use]
    pub fn requests(&self) -> Vec<ValidateRequest> {
        lock(&self.0).requests.clone()
    }

    /// How often it was asked.
    #[must_use]
    pub fn calls(&self) -> usize {
        lock(&self.0).requests.len()
    }

    /// Notes the request and finds its result.
    fn take(&self, request: &ValidateRequest) -> ScriptedValidation {
        let mut state = lock(&self.0);
        state.requests.push(request.clone());
        if let Some(validation) = state.queue.pop_front() {
            return validation;
        }
        let rule = state.rule.clone();
        drop(state);
        let Some(rule) = rule else {
            panic!("the validator has no result left for another call");
        };
        rule(request)
    }
}

impl fmt::Debug for FakeValidator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FakeValidator")
            .field("calls", &self.calls())
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl Validator for FakeValidator {
    /// # Panics
    /// When the script has no result for the call.
    async fn validate(
        &self,
        request: ValidateRequest,
        cx: StepContext,
    ) -> Result<CommandsRun, ValidatorError> {
        self.take(&request).play(request, cx).await
    }
}
