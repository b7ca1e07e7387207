//! The steps that agents carry out: plan, implement, review.

use std::time::Duration;

use super::failure::{agent_wait, review_failure, timed_out, vcs_wait};
use super::session::RunSession;
use super::supervise::{Bounds, SpentBudget, Supervised};
use super::{DriveError, Driver, Stood, Stop};
use crate::flow::{
    AgentSettings, Event, ImplementCommand, PlanCommand, ReviewCommand, ReviewFailure,
    ReviewFailureKind, StepLimits, Wait,
};
use crate::model::{ImplementReport, LocalReview, Plan, StepId, TreeId, Usage};
use crate::policy::extract;
use crate::policy::retry::{RetryDecision, retry};
use crate::port::{
    AgentError, AgentErrorKind, AgentExt, AgentReply, AgentRequest, AgentRole, Cancel,
    CancelReason, Effort, RefGuard, Session, StepContext, TimeoutKind, TreeDiff, Vcs, VcsError,
};
use crate::prompt::{self, DiffView, PromptContext};

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
    /// Makes the plan.
    pub(super) async fn plan_step(
        &self,
        session: &mut RunSession<'_>,
        step: StepId,
        command: &PlanCommand,
        stop: &Stop,
    ) -> Result<Option<Stood>, DriveError> {
        let settings = settings_of(session, AgentRole::Plan);
        let prompt = prompt::plan(command, context_of(session, &settings))?;
        let call = AgentCall {
            step: step.clone(),
            role: AgentRole::Plan,
            prompt,
            tree: None,
        };
        match self
            .ask_with_repair::<Plan>(session, call, &settings, stop)
            .await?
        {
            Called::Answered(plan, reply) => {
                let event = Event::PlanMade {
                    step,
                    plan,
                    usage: reply.usage,
                };
                session.record(event).await?;
                Ok(None)
            }
            Called::Failed(error) => Ok(Some(self.stood_by(&step, error))),
            Called::Stood(stood) => Ok(Some(stood)),
        }
    }

    /// Does the work of one pass. The work tree is the result; the report only
    /// an account of it.
    pub(super) async fn implement_step(
        &self,
        session: &mut RunSession<'_>,
        step: StepId,
        command: &ImplementCommand,
        stop: &Stop,
    ) -> Result<Option<Stood>, DriveError> {
        let settings = settings_of(session, AgentRole::Implement);
        let prompt = prompt::implement(command, context_of(session, &settings))?;
        let vcs = match self.work_tree(session) {
            Ok(vcs) => vcs,
            Err(error) => return Ok(Some(vcs_wait(&step, &error).into())),
        };
        let cx = self.context(&session.mark(&step, 0), Cancel::never());
        let before = match observe(&*vcs, &command.branch, &cx).await {
            Ok(before) => before,
            Err(error) => return Ok(Some(vcs_wait(&step, &error).into())),
        };
        let tree_before = session
            .machine
            .tree_at_start(&step)
            .cloned()
            .unwrap_or_else(|| before.tree.clone());
        self.pin(&*vcs, session, "last", &before.tree, &cx).await;
        let call = AgentCall {
            step: step.clone(),
            role: AgentRole::Implement,
            prompt,
            tree: Some(before.tree.clone()),
        };
        let called = self.call(session, call, &settings, stop, run_any).await?;
        let after = match self
            .after_writing(session, &step, &*vcs, &before.refs, &cx)
            .await?
        {
            Ok(tree) => tree,
            Err(error) => return Ok(Some(vcs_wait(&step, &error).into())),
        };
        match called {
            Called::Answered((), reply) => {
                let report =
                    extract::from_reply::<ImplementReport>(reply.json.as_ref(), &reply.text).ok();
                session
                    .record(Event::Implemented {
                        step,
                        pass: command.pass,
                        report,
                        tree_before,
                        tree_after: after,
                        session: reply.session,
                        usage: reply.usage,
                    })
                    .await?;
                Ok(None)
            }
            Called::Failed(error) => {
                self.pin(&*vcs, session, "last", &after, &cx).await;
                Ok(Some(self.stood_by(&step, error)))
            }
            Called::Stood(stood) => {
                self.pin(&*vcs, session, "last", &after, &cx).await;
                Ok(Some(stood))
            }
        }
    }

    /// Has the work judged. Whatever goes wrong is an event, never an error of
    /// the run; only an interrupted review leaves the run standing.
    pub(super) async fn review_step(
        &self,
        session: &mut RunSession<'_>,
        step: StepId,
        command: &ReviewCommand,
        stop: &Stop,
    ) -> Result<Option<Stood>, DriveError> {
        let settings = settings_of(session, AgentRole::Review);
        let vcs = match self.work_tree(session) {
            Ok(vcs) => vcs,
            Err(error) => return Ok(Some(vcs_wait(&step, &error).into())),
        };
        let cx = self.context(&session.mark(&step, 0), Cancel::never());
        let before = match observe(&*vcs, &command.branch, &cx).await {
            Ok(before) => before,
            Err(error) => return Ok(Some(vcs_wait(&step, &error).into())),
        };
        let diff = match vcs
            .diff(&command.start_tree, &command.tree, cx.clone())
            .await
        {
            Ok(diff) => diff,
            Err(error) => return Ok(Some(vcs_wait(&step, &error).into())),
        };
        let path = self.write_diff(session, command, &diff).await;
        let view = DiffView {
            diff: &diff,
            path: &path,
        };
        let prompt = prompt::review(command, view, context_of(session, &settings))?;
        let call = AgentCall {
            step: step.clone(),
            role: AgentRole::Review,
            prompt,
            tree: None,
        };
        let called = self
            .call(session, call, &settings, stop, run_review)
            .await?;
        let tampered = self.put_back(session, &step, &*vcs, &before, &cx).await?;
        let (review, usage) = match called {
            Called::Stood(stood) => return Ok(Some(stood)),
            Called::Failed(error) => {
                let kind = review_failure(&error.kind);
                (
                    Err(ReviewFailure {
                        kind,
                        message: error.message,
                    }),
                    error.usage,
                )
            }
            Called::Answered(review, reply) => (Ok(review), reply.usage),
        };
        let review = match tampered {
            Some(what) => Err(ReviewFailure {
                kind: ReviewFailureKind::Tampered,
                message: what,
            }),
            None => review,
        };
        let pass = command.pass;
        session
            .record(match review {
                Ok(review) => Event::Reviewed {
                    step,
                    pass,
                    review,
                    usage,
                },
                Err(reason) => Event::ReviewFailed {
                    step,
                    pass,
                    reason,
                    usage,
                },
            })
            .await?;
        Ok(None)
    }

    /// Asks for a typed answer; when it does not parse, once more in the same
    /// conversation.
    async fn ask_with_repair<T>(
        &self,
        session: &mut RunSession<'_>,
        call: AgentCall,
        settings: &AgentSettings,
        stop: &Stop,
    ) -> Result<Called<T>, DriveError>
    where
        T: Answerable,
    {
        let (step, role) = (call.step.clone(), call.role);
        let called = self
            .call(session, call, settings, stop, run_typed::<T>)
            .await?;
        let Called::Failed(error) = called else {
            return Ok(called);
        };
        let resumable = self
            .ports
            .agents
            .get(&role)
            .is_some_and(|a| a.caps().resume);
        let (AgentErrorKind::Unparseable, Some(id), true) =
            (&error.kind, error.session.clone(), resumable)
        else {
            return Ok(Called::Failed(error));
        };
        let retried = Event::Retried {
            step: step.clone(),
            attempt: session.machine.attempts(&step),
            reason: error.message.clone(),
            delay_ms: 0,
            usage: error.usage,
        };
        session.record(retried).await?;
        let call = AgentCall {
            step,
            role,
            prompt: prompt::repair(&error.message)?,
            tree: None,
        };
        let in_session = move |mut request: AgentRequest| {
            request.session = Session::Resume(id.clone());
            request
        };
        self.call_with(session, call, settings, stop, in_session, run_typed::<T>)
            .await
    }

    /// One agent step with its retries.
    async fn call<T: Send>(
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

    async fn call_with<T: Send>(
        &self,
        session: &mut RunSession<'_>,
        call: AgentCall,
        settings: &AgentSettings,
        stop: &Stop,
        adjust: impl Fn(AgentRequest) -> AgentRequest,
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
                Err(stood) => return Ok(Called::Stood(stood)),
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
        adjust: &impl Fn(AgentRequest) -> AgentRequest,
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
        let agent = std::sync::Arc::clone(agent);
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
        for (rule, argv) in std::mem::take(&mut supervised.refusals) {
            session
                .record(Event::Denied {
                    step: call.step.clone(),
                    rule,
                    argv,
                })
                .await?;
        }
        Ok(supervised)
    }

    /// What became of a try: an answer, an error, or a run that stands.
    #[expect(
        clippy::type_complexity,
        reason = "an answer or an error, unless the run stands"
    )]
    fn settle<T>(
        &self,
        call: &AgentCall,
        settings: &AgentSettings,
        supervised: Supervised<Result<(T, AgentReply), AgentError>>,
    ) -> Result<Result<(T, AgentReply), AgentError>, Stood> {
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
        let stood = |wait| Stood {
            wait,
            usage: error_usage,
            session: session.clone(),
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
        let cwd = machine.work_root().map_or_else(
            || self.ports.vcs.root().to_path_buf(),
            std::path::PathBuf::from,
        );
        let rules = prompt::system_rules(call.role);
        let mut request = AgentRequest::new(call.role, call.prompt.clone(), rules, cwd);
        request.model.clone_from(&settings.model);
        request.effort = settings.effort.clone().map(Effort);
        request.run = Some(machine.run().clone());
        request.pass = call.step.pass();
        request.scratch = Some(self.ports.files.folder(machine.run()));
        request
    }

    /// Why the run stands after a step's own error.
    fn stood_by(&self, step: &StepId, error: AgentError) -> Stood {
        let wait = agent_wait(step, &error, self.ports.clock.now());
        Stood {
            wait,
            usage: error.usage,
            session: error.session,
        }
    }

    /// Waits; true when told to stop meanwhile.
    async fn pause(&self, delay: Duration, stop: &Stop) -> bool {
        let orders = futures::future::select(stop.user.clone(), stop.lease_lost.clone());
        let pause = self.ports.clock.sleep(delay);
        match futures::future::select(pause, orders).await {
            futures::future::Either::Left(_) => false,
            futures::future::Either::Right(_) => true,
        }
    }

    /// Keeps the diff beside the run and says where; the prompt may need it.
    async fn write_diff(
        &self,
        session: &RunSession<'_>,
        command: &ReviewCommand,
        diff: &TreeDiff,
    ) -> String {
        let name = format!("pass-{}/review.diff", command.pass);
        match self
            .ports
            .files
            .write(&session.fence.run, &name, &diff.patch)
            .await
        {
            Ok(path) => path.to_string_lossy().into_owned(),
            Err(_) => "(could not be written; use the file list)".to_owned(),
        }
    }
}

/// A type that agents are asked for.
pub(super) trait Answerable:
    extract::Extract + serde::de::DeserializeOwned + schemars::JsonSchema + Send + 'static
{
}
impl<T> Answerable for T where
    T: extract::Extract + serde::de::DeserializeOwned + schemars::JsonSchema + Send + 'static
{
}

type Running<T> = futures::future::BoxFuture<'static, Result<(T, AgentReply), AgentError>>;
/// How an answer is asked for.
type RunFn<T> = fn(std::sync::Arc<dyn crate::port::Agent>, AgentRequest, StepContext) -> Running<T>;

/// Asks for a typed answer.
fn run_typed<T: Answerable>(
    agent: std::sync::Arc<dyn crate::port::Agent>,
    request: AgentRequest,
    cx: StepContext,
) -> Running<T> {
    Box::pin(async move { agent.ask::<T>(request, cx).await })
}

/// Asks for a review.
fn run_review(
    agent: std::sync::Arc<dyn crate::port::Agent>,
    request: AgentRequest,
    cx: StepContext,
) -> Running<LocalReview> {
    run_typed::<LocalReview>(agent, request, cx)
}

/// Asks for work; the clean end of the call is enough.
fn run_any(
    agent: std::sync::Arc<dyn crate::port::Agent>,
    request: AgentRequest,
    cx: StepContext,
) -> Running<()> {
    let schema = schemars::schema_for!(ImplementReport).to_value();
    Box::pin(async move {
        let reply = agent.run(request.with_schema(schema), cx).await?;
        Ok(((), reply))
    })
}

/// The work tree and the refs at one moment.
pub(super) struct Observed {
    pub(super) tree: TreeId,
    pub(super) refs: RefGuard,
}

/// Looks at the work tree and the refs.
pub(super) async fn observe(
    vcs: &dyn Vcs,
    branch: &crate::model::BranchName,
    cx: &StepContext,
) -> Result<Observed, VcsError> {
    let refs = vcs.guard(branch, cx.clone()).await?;
    let tree = vcs.snapshot(cx.clone()).await?.tree;
    Ok(Observed { tree, refs })
}

/// A role's settings; with none configured, the role's default limits.
fn settings_of(session: &RunSession<'_>, role: AgentRole) -> AgentSettings {
    session
        .machine
        .config()
        .steps
        .get(&role)
        .cloned()
        .unwrap_or_else(|| AgentSettings {
            engine: String::new(),
            model: None,
            effort: None,
            guidance: None,
            limits: StepLimits::for_role(role),
            budget: crate::flow::BudgetLimits::default(),
        })
}

fn context_of<'a>(session: &RunSession<'_>, settings: &'a AgentSettings) -> PromptContext<'a> {
    PromptContext {
        seed: session.machine.seed(),
        guidance: settings.guidance.as_deref(),
    }
}

/// Every call counts as one and takes its wall time, whatever the engine says.
fn count_call(usage: &mut Usage, wall_ms: u64) {
    usage.calls = usage.calls.max(1);
    usage.wall_ms = wall_ms;
    if usage.cost_usd.is_none() && usage.tokens() > 0 {
        usage.cost_complete = false;
    }
}
