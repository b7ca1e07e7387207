//! One call of an agent: its tries, its bounds, and what became of it.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures::future::{BoxFuture, Either, select};

use super::failure::timed_out;
use super::session::RunSession;
use super::steps::record_refusals;
use super::supervise::{Bounds, SpentBudget, Supervised};
use super::{DriveError, Driver, Stood, Stop};
use crate::flow::{AgentSettings, Event, StepLimits, Wait};
use crate::model::{ImplementReport, LocalReview, StepId, TreeId, Usage};
use crate::policy::extract;
use crate::policy::retry::{RetryDecision, retry};
use crate::port::{
    Agent, AgentError, AgentErrorKind, AgentExt, AgentReply, AgentRequest, AgentRole, CancelReason,
    Effort, Session, StepContext, TimeoutKind,
};
use crate::prompt;

/// How a call ended, all tries included.
pub(super) enum Called<T> {
    /// With an answer.
    Answered(T, AgentReply),
    /// With an error that is the step's result.
    Failed(AgentError),
    /// The run has to stand still.
    Stood(Stood),
}

/// One agent step: what is asked, and what the driver keeps of it.
pub(super) struct AgentCall {
    pub(super) step: StepId,
    pub(super) role: AgentRole,
    pub(super) prompt: String,
    /// Noted in `stepStarted` of the first attempt.
    pub(super) tree: Option<TreeId>,
}

impl Driver {
    /// One agent step with its retries.
    pub(super) async fn call<T: Send>(
        &self,
        session: &mut RunSession<'_>,
        call: AgentCall,
        settings: &AgentSettings,
        stop: &Stop,
        run: RunFn<T>,
    ) -> Result<Called<T>, DriveError> {
        let earlier = session.machine.session_of(&call.step).map(str::to_owned);
        let resume = move |mut request: AgentRequest| {
            if let Some(id) = &earlier {
                request.session = Session::Resume(id.clone());
            }
            request
        };
        self.call_with(session, call, settings, stop, resume, run)
            .await
    }

    pub(super) async fn call_with<T: Send>(
        &self,
        session: &mut RunSession<'_>,
        call: AgentCall,
        settings: &AgentSettings,
        stop: &Stop,
        adjust: impl Fn(AgentRequest) -> AgentRequest + Send + Sync,
        run: RunFn<T>,
    ) -> Result<Called<T>, DriveError> {
        self.sweep_earlier_attempts(session).await;
        let began = self.ports.clock.elapsed();
        let mut tries = 0;
        loop {
            tries += 1;
            let spent = self.ports.clock.elapsed().saturating_sub(began);
            let total = Duration::from_millis(settings.limits.total_ms);
            let remaining = total.saturating_sub(spent);
            let supervised = self
                .attempt(session, &call, settings, remaining, stop, &adjust, run)
                .await?;
            let error = match self.settle(&call, settings, supervised) {
                Ok(Ok((value, reply))) => return Ok(Called::Answered(value, reply)),
                Ok(Err(error)) => error,
                Err(stood) => return Ok(Called::Stood(*stood)),
            };
            let left = total.saturating_sub(self.ports.clock.elapsed().saturating_sub(began));
            let decision = retry(&error.kind, tries, session.machine.seed(), left);
            let RetryDecision::After(delay) = decision else {
                return Ok(Called::Failed(error));
            };
            let retried = Event::Retried {
                step: call.step.clone(),
                attempt: session.machine.attempts(&call.step),
                reason: error.message,
                delay_ms: u64::try_from(delay.as_millis()).unwrap_or(u64::MAX),
                usage: error.usage,
            };
            session.record(retried).await?;
            if self.pause(delay, stop).await {
                stop.check_lease()?;
                return Ok(Called::Stood(Wait::Interrupted.into()));
            }
        }
    }

    /// One try of an agent step.
    #[expect(
        clippy::too_many_arguments,
        reason = "the pieces of one call, used once"
    )]
    async fn attempt<T: Send>(
        &self,
        session: &mut RunSession<'_>,
        call: &AgentCall,
        settings: &AgentSettings,
        remaining: Duration,
        stop: &Stop,
        adjust: &(impl Fn(AgentRequest) -> AgentRequest + Sync),
        run: RunFn<T>,
    ) -> Result<Supervised<Result<(T, AgentReply), AgentError>>, DriveError> {
        let blob = self.ports.journal.put_blob(call.prompt.as_bytes()).await?;
        let attempt = session.machine.attempts(&call.step) + 1;
        session
            .record(Event::StepStarted {
                step: call.step.clone(),
                attempt,
                prompt_sha256: Some(blob.as_str().to_owned()),
                tree: call.tree.clone(),
            })
            .await?;
        let agent = self
            .ports
            .agents
            .get(&call.role)
            .ok_or(DriveError::NoAgent { role: call.role })?;
        let request = adjust(self.request(session, call, settings));
        let limits = StepLimits {
            total_ms: u64::try_from(remaining.as_millis()).unwrap_or(u64::MAX),
            idle_ms: settings.limits.idle_ms,
        };
        let machine = &session.machine;
        let bounds = Bounds {
            limits,
            run_budget: (*machine.budget(), *machine.usage()),
            step_budget: (settings.budget, machine.usage_of_step(&call.step)),
        };
        let mark = session.mark(&call.step, attempt);
        let run_id = session.fence.run.clone();
        let agent = Arc::clone(agent);
        let begun = self.ports.clock.elapsed();
        let mut supervised = self
            .supervise(&run_id, &call.step, &mark, bounds, stop, |cx| {
                run(agent, request, cx)
            })
            .await;
        stop.check_lease()?;
        let wall = self.ports.clock.elapsed().saturating_sub(begun);
        let wall_ms = u64::try_from(wall.as_millis()).unwrap_or(u64::MAX);
        count_call(&mut supervised.usage, wall_ms);
        match &mut supervised.result {
            Some(Ok((_, reply))) => count_call(&mut reply.usage, wall_ms),
            Some(Err(error)) => count_call(&mut error.usage, wall_ms),
            None => {}
        }
        let refusals = std::mem::take(&mut supervised.refusals);
        record_refusals(session, &call.step, refusals).await?;
        Ok(supervised)
    }

    /// What became of a try: an answer, an error, or a run that stands.
    fn settle<T>(
        &self,
        call: &AgentCall,
        settings: &AgentSettings,
        supervised: Supervised<Result<(T, AgentReply), AgentError>>,
    ) -> Result<Result<(T, AgentReply), AgentError>, Box<Stood>> {
        let Supervised {
            result,
            stopped,
            spent,
            usage,
            session,
            ..
        } = supervised;
        // what ended by itself before the order reached it counts as it ended
        let (error, stopped) = match (result, stopped) {
            (Some(Ok(answer)), _) if spent.is_none() => return Ok(Ok(answer)),
            (Some(Err(error)), None) => return Ok(Err(error)),
            (Some(Err(error)), Some(reason)) => (Some(error), reason),
            (_, Some(reason)) => (None, reason),
            (_, None) => (None, CancelReason::User),
        };
        let error_usage = error.as_ref().map_or(usage, |e| e.usage);
        let session = error.and_then(|e| e.session).or(session);
        let stood = |wait| {
            Box::new(Stood {
                wait,
                usage: error_usage,
                session: session.clone(),
            })
        };
        let timeout = |kind, limit| AgentError {
            usage: error_usage,
            session: session.clone(),
            ..timed_out(kind, limit)
        };
        match stopped {
            CancelReason::TimedOutIdle => Ok(Err(timeout(
                TimeoutKind::Idle,
                settings.limits.idle_ms.unwrap_or(0),
            ))),
            CancelReason::TimedOutTotal => {
                Ok(Err(timeout(TimeoutKind::Total, settings.limits.total_ms)))
            }
            CancelReason::Budget => match spent {
                Some(SpentBudget::Step(which)) if call.role == AgentRole::Review => {
                    let message = format!("the review step's budget ({which}) is spent");
                    Ok(Err(AgentError {
                        usage: error_usage,
                        ..AgentError::new(AgentErrorKind::LimitReached, message)
                    }))
                }
                Some(SpentBudget::Run(which) | SpentBudget::Step(which)) => {
                    let step = call.step.clone();
                    Err(stood(Wait::Budget {
                        which: which.to_owned(),
                        step,
                    }))
                }
                None => Err(stood(Wait::Interrupted)),
            },
            CancelReason::User | CancelReason::LeaseLost => Err(stood(Wait::Interrupted)),
        }
    }

    fn request(
        &self,
        session: &RunSession<'_>,
        call: &AgentCall,
        settings: &AgentSettings,
    ) -> AgentRequest {
        let machine = &session.machine;
        let cwd = machine
            .work_root()
            .map_or_else(|| self.ports.vcs.root().to_path_buf(), PathBuf::from);
        let rules = prompt::system_rules(call.role);
        let mut request = AgentRequest::new(call.role, call.prompt.clone(), rules, cwd);
        request.model.clone_from(&settings.model);
        request.effort = settings.effort.clone().map(Effort);
        request.run = Some(machine.run().clone());
        request.pass = call.step.pass();
        request.scratch = Some(self.ports.files.folder(machine.run()));
        request
    }

    /// Waits; true when told to stop meanwhile.
    async fn pause(&self, delay: Duration, stop: &Stop) -> bool {
        let orders = select(stop.user.clone(), stop.lease_lost.clone());
        let pause = self.ports.clock.sleep(delay);
        match select(pause, orders).await {
            Either::Left(_) => false,
            Either::Right(_) => true,
        }
    }
}

/// A type that agents are asked for.
pub(super) trait Answerable:
    extract::Extract
    + serde::Serialize
    + serde::de::DeserializeOwned
    + schemars::JsonSchema
    + Send
    + 'static
{
}
impl<T> Answerable for T where
    T: extract::Extract
        + serde::Serialize
        + serde::de::DeserializeOwned
        + schemars::JsonSchema
        + Send
        + 'static
{
}

pub(super) type Running<T> = BoxFuture<'static, Result<(T, AgentReply), AgentError>>;
/// How an answer is asked for.
pub(super) type RunFn<T> = fn(Arc<dyn Agent>, AgentRequest, StepContext) -> Running<T>;

/// Asks for a typed answer.
pub(super) fn run_typed<T: Answerable>(
    agent: Arc<dyn Agent>,
    request: AgentRequest,
    cx: StepContext,
) -> Running<T> {
    Box::pin(async move { agent.ask::<T>(request, cx).await })
}

/// Asks for a review.
pub(super) fn run_review(
    agent: Arc<dyn Agent>,
    request: AgentRequest,
    cx: StepContext,
) -> Running<LocalReview> {
    run_typed::<LocalReview>(agent, request, cx)
}

/// Asks for work; the clean end of the call is enough.
pub(super) fn run_any(
    agent: Arc<dyn Agent>,
    request: AgentRequest,
    cx: StepContext,
) -> Running<()> {
    let schema = schemars::schema_for!(ImplementReport).to_value();
    Box::pin(async move {
        let reply = agent.run(request.with_schema(schema), cx).await?;
        Ok(((), reply))
    })
}

/// Every call counts as one and takes its wall time, whatever the engine says.
fn count_call(usage: &mut Usage, wall_ms: u64) {
    usage.calls = usage.calls.max(1);
    usage.wall_ms = wall_ms;
    if usage.cost_usd.is_none() && usage.tokens() > 0 {
        usage.cost_complete = false;
    }
}
