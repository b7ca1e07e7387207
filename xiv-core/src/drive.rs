//! Executing a machine: the one driver of all flows.
//!
//! Asks the machine what comes next, carries it out through the ports and
//! records what happened **before** the machine hears of it. So a crash at any
//! point repeats at most the one command that was under way. The driver is
//! bound to no async runtime; its only clock is the
//! [`Clock`](crate::port::Clock) port.

mod agents;
mod call;
mod error;
mod failure;
mod finalize;
mod fitness;
mod ports;
mod report;
mod session;
mod steps;
mod supervise;

pub use error::DriveError;
pub use fitness::work_tree_is_fit;
pub use ports::{DriverOptions, Ports};
pub use report::RunReport;

use std::sync::Arc;

use futures::future::{Either, select};
use jiff::Timestamp;

use crate::flow::{BudgetLimits, CORE_VERSION, Event, Machine, Next, RunConfig, RunSpec, Wait};
use crate::model::{BranchName, FailureCause, IssueKey, Outcome, RunId, StepId, Usage};
use crate::port::{
    AgentRole, Cancel, CancelReason, Canceller, Fence, GateRequest, JournalError, JournalErrorKind,
    NewRun, OwnerId, StepContext,
};

use error::locked;
use session::RunSession;

/// A run to be started.
#[derive(Debug, Clone)]
pub struct NewRunRequest {
    /// Its id; a fresh one.
    pub id: RunId,
    /// What it is to do.
    pub spec: RunSpec,
    /// The configuration that it will keep.
    pub config: RunConfig,
    /// Its only randomness.
    pub seed: u64,
}

/// Drives runs.
#[derive(Debug, Clone)]
pub struct Driver {
    ports: Ports,
    options: DriverOptions,
    owner: OwnerId,
}

impl Driver {
    /// A driver over these ports. `id` tells it from other drivers in this
    /// process; a fresh one.
    #[must_use]
    pub fn new(ports: Ports, options: DriverOptions, id: RunId) -> Self {
        let owner = OwnerId {
            process: ports.processes.current(),
            driver: id,
        };
        Self {
            ports,
            options,
            owner,
        }
    }

    /// Starts a run and drives it until it ends or stands.
    ///
    /// # Errors
    /// [`DriveError`]; nothing is recorded when the repository, the
    /// configuration or a lock refuses the run.
    ///
    /// # Cancellation
    /// `cancel` suspends the run cleanly. Dropping the future is like a crash:
    /// the run can be resumed at once.
    pub async fn start(
        &self,
        request: NewRunRequest,
        cancel: Cancel,
    ) -> Result<RunReport, DriveError> {
        self.preflight(&request.config).await?;
        let RunSpec::Implement { input } = &request.spec;
        let new_run = NewRun {
            id: request.id.clone(),
            kind: request.spec.kind().to_owned(),
            key: input.issue_id.clone(),
            repo: self.ports.vcs.root().to_string_lossy().into_owned(),
            parent: None,
        };
        let journal = &self.ports.journal;
        let fence = journal
            .create(new_run, self.owner.clone(), self.options.lease)
            .await?;
        if let Err(error) = self.reserve(&fence, &request.config, &input.issue_id).await {
            // a run that was never begun leaves no trace
            journal.release(&fence).await?;
            journal.remove(&request.id).await?;
            return Err(error);
        }
        let started = Event::RunStarted {
            run: request.id,
            spec: request.spec,
            config: request.config,
            core_version: CORE_VERSION,
            seed: request.seed,
            guard: self.options.guard,
        };
        let session = RunSession::start(&self.ports, fence, started).await?;
        self.drive(session, cancel).await
    }

    /// Takes a run up where it stands and drives it on. An ended run gives its
    /// recorded result again.
    ///
    /// # Errors
    /// [`DriveError`]; [`DriveError::Journal`] when a living driver owns it.
    ///
    /// # Cancellation
    /// As [`Driver::start`].
    pub async fn resume(
        &self,
        run: &RunId,
        budget: Option<BudgetLimits>,
        cancel: Cancel,
    ) -> Result<RunReport, DriveError> {
        let journal = &self.ports.journal;
        let machine = Machine::replay(&journal.load(run).await?)?;
        if machine.finished().is_some() {
            return Ok(RunReport::of(&machine));
        }
        let fence = journal
            .acquire(run, self.owner.clone(), self.options.lease)
            .await?;
        let history = journal.load(run).await?;
        let mut session = RunSession::resume(&self.ports, fence, &history)?;
        let RunSpec::Implement { input } = session.machine.spec();
        let reserved = self
            .reserve(&session.fence, session.machine.config(), &input.issue_id)
            .await;
        if let Err(error) = reserved {
            session.release().await?;
            return Err(error);
        }
        let open_gate = matches!(session.machine.suspended(), Some(Wait::Human { .. }));
        if !open_gate || budget.is_some() {
            session.record(Event::Resumed { budget }).await?;
        }
        self.drive(session, cancel).await
    }

    /// Ends a run for good. Its work stays on disk.
    ///
    /// # Errors
    /// [`DriveError`]; [`DriveError::Journal`] when a living driver owns it.
    pub async fn cancel(&self, run: &RunId) -> Result<RunReport, DriveError> {
        let journal = &self.ports.journal;
        let machine = Machine::replay(&journal.load(run).await?)?;
        if machine.finished().is_some() {
            return Ok(RunReport::of(&machine));
        }
        let fence = journal
            .acquire(run, self.owner.clone(), self.options.lease)
            .await?;
        let history = journal.load(run).await?;
        let mut session = RunSession::resume(&self.ports, fence, &history)?;
        self.sweep_earlier_attempts(&session).await;
        let output = session.machine.output_when_cancelled();
        session
            .record(Event::RunFinished {
                outcome: Outcome::Cancelled,
                output,
            })
            .await?;
        session.release().await?;
        Ok(RunReport::of(&session.machine))
    }

    /// Everything that refuses a run before it exists.
    async fn preflight(&self, config: &RunConfig) -> Result<(), DriveError> {
        if config.validate.is_empty() {
            return Err(DriveError::NoValidation);
        }
        for role in [AgentRole::Plan, AgentRole::Implement, AgentRole::Review] {
            if !self.ports.agents.contains_key(&role) {
                return Err(DriveError::NoAgent { role });
            }
        }
        let state = self
            .ports
            .vcs
            .state(self.context("preflight", Cancel::never()))
            .await?;
        Ok(work_tree_is_fit(&state, config.worktree.is_some())?)
    }

    /// Reserves the work tree and the branch until the run ends. Doing so
    /// again is no error.
    async fn reserve(
        &self,
        fence: &Fence,
        config: &RunConfig,
        issue_id: &str,
    ) -> Result<(), DriveError> {
        let vcs = &self.ports.vcs;
        let main_tree = || vcs.root().to_string_lossy().into_owned();
        let mut resources = vec![format!(
            "tree:{}",
            config.worktree.clone().unwrap_or_else(main_tree)
        )];
        if let Ok(key) = IssueKey::normalise(issue_id) {
            let branch = BranchName::for_issue(&key);
            resources.push(format!(
                "branch:{}:{branch}",
                vcs.common_dir().to_string_lossy()
            ));
        }
        for resource in resources {
            let reserved = self.ports.journal.lock(fence, &resource).await;
            reserved.map_err(|error| locked(error, &resource))?;
        }
        Ok(())
    }

    fn context(&self, mark: &str, cancel: Cancel) -> StepContext {
        StepContext::new(Arc::clone(&self.ports.clock), mark).with_cancel(cancel)
    }

    /// Drives a session while its lease is renewed beside it.
    async fn drive(
        &self,
        session: RunSession<'_>,
        cancel: Cancel,
    ) -> Result<RunReport, DriveError> {
        let (lost, lease_lost) = Cancel::new();
        let renewal = self.renew(session.fence.clone(), lost);
        let stop = Stop {
            user: cancel,
            lease_lost,
        };
        let steps = self.run_steps(session, stop);
        match select(Box::pin(steps), Box::pin(renewal)).await {
            Either::Left((report, _)) => report,
            Either::Right((never, _)) => match never {},
        }
    }

    /// Renews the lease by a timer until it is lost; then only says so.
    async fn renew(&self, fence: Fence, lost: Canceller) -> std::convert::Infallible {
        loop {
            self.ports.clock.sleep(self.options.renew_every).await;
            if self
                .ports
                .journal
                .renew(&fence, self.options.lease)
                .await
                .is_err()
            {
                lost.cancel(CancelReason::LeaseLost);
                return futures::future::pending().await;
            }
        }
    }

    async fn run_steps(
        &self,
        mut session: RunSession<'_>,
        stop: Stop,
    ) -> Result<RunReport, DriveError> {
        loop {
            stop.check_lease()?;
            while let Some(decision) = session.machine.decision() {
                session.record(decision).await?;
            }
            match session.machine.next() {
                Next::Do(command) => {
                    if let Some(stood) = self.step(&mut session, &command, &stop).await? {
                        session.suspend(stood).await?;
                        return self.stand(session).await;
                    }
                }
                Next::Wait(wait) => {
                    if self.answer_gate(&mut session, &wait, &stop).await? {
                        continue;
                    }
                    if session.machine.suspended().is_none() {
                        session.suspend(wait.into()).await?;
                    }
                    return self.stand(session).await;
                }
                Next::Finish(outcome) => {
                    if session.machine.finished().is_none() {
                        let output = session.machine.output();
                        session
                            .record(Event::RunFinished { outcome, output })
                            .await?;
                    }
                    return self.stand(session).await;
                }
            }
        }
    }

    /// Gives the ownership up and reports. A run that has no branch yet holds
    /// nothing that another run could disturb.
    async fn stand(&self, session: RunSession<'_>) -> Result<RunReport, DriveError> {
        if session.machine.branch().is_none() && session.machine.finished().is_none() {
            self.ports.journal.unlock_all(&session.fence).await?;
        }
        session.release().await?;
        Ok(RunReport::of(&session.machine))
    }

    /// Asks a person at once, when there is one.
    async fn answer_gate(
        &self,
        session: &mut RunSession<'_>,
        wait: &Wait,
        stop: &Stop,
    ) -> Result<bool, DriveError> {
        let (Wait::Human { gate }, Some(human)) = (wait, &self.ports.human) else {
            return Ok(false);
        };
        let Some((pass, tree)) = session.machine.open_gate(gate) else {
            return Ok(false);
        };
        let request = GateRequest {
            gate: gate.clone(),
            pass,
            tree,
        };
        let cx = self.context("gate", stop.user.clone());
        match human.gate(request, cx).await {
            Ok(Some(answer)) => {
                session
                    .record(Event::GateAnswered {
                        gate: gate.clone(),
                        answer,
                    })
                    .await?;
                Ok(true)
            }
            Ok(None) | Err(_) => Ok(false),
        }
    }

    /// Ends what earlier attempts of the open step may have left running: an
    /// orphan that still edits is the worst case.
    async fn sweep_earlier_attempts(&self, session: &RunSession<'_>) {
        let Some(command) = session.machine.command() else {
            return;
        };
        let step = command.step();
        for attempt in 1..=session.machine.attempts(&step) {
            self.ports
                .processes
                .sweep(&session.mark(&step, attempt))
                .await;
        }
    }
}

/// The signals that stop any step.
#[derive(Debug, Clone)]
struct Stop {
    user: Cancel,
    lease_lost: Cancel,
}

impl Stop {
    /// Nothing may be recorded any more once the lease is lost.
    fn check_lease(&self) -> Result<(), DriveError> {
        if self.lease_lost.reason().is_none() {
            return Ok(());
        }
        let message = "another process has taken the run over";
        Err(JournalError::new(JournalErrorKind::Fenced, message).into())
    }
}

/// Why a step left the run standing.
#[derive(Debug, Clone)]
struct Stood {
    wait: Wait,
    usage: Usage,
    session: Option<String>,
}

impl From<Wait> for Stood {
    fn from(wait: Wait) -> Self {
        Self {
            wait,
            usage: Usage::default(),
            session: None,
        }
    }
}

/// A failed step, with the whole chain of causes as its message.
fn step_failed(
    step: &StepId,
    cause: FailureCause,
    error: &dyn std::error::Error,
    hints: Vec<String>,
) -> Wait {
    Wait::StepFailed {
        step: step.clone(),
        cause,
        error: chain(error),
        hints,
    }
}

/// An error and its causes in one line.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}

/// A time in whole seconds, as commits have them.
fn whole_seconds(at: Timestamp) -> Timestamp {
    Timestamp::from_second(at.as_second()).unwrap_or(at)
}
