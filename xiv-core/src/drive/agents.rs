//! The steps that agents carry out: plan, implement, review.

use super::call::{AgentCall, Answerable, Called, run_any, run_review, run_typed};
use super::failure::{agent_wait, review_failure, vcs_wait};
use super::session::RunSession;
use super::{DriveError, Driver, Stood, Stop};
use crate::flow::{
    AgentSettings, Event, ImplementCommand, PlanCommand, ReviewCommand, ReviewFailure,
    ReviewFailureKind, StepLimits,
};
use crate::model::{BranchName, ImplementReport, LocalReview, Plan, StepId, TreeId};
use crate::policy::extract;
use crate::port::{
    AgentError, AgentErrorKind, AgentRequest, AgentRole, Cancel, RefGuard, Session, StepContext,
    TreeDiff, Vcs, VcsError, VcsErrorKind,
};
use crate::prompt::{self, DiffView, PromptContext};

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
        match reviewed(step, command, called, tampered) {
            Ok(event) => session.record(event).await?,
            Err(stood) => return Ok(Some(*stood)),
        }
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

    /// Why the run stands after a step's own error.
    fn stood_by(&self, step: &StepId, error: AgentError) -> Stood {
        let wait = agent_wait(step, &error, self.ports.clock.now());
        Stood {
            wait,
            usage: error.usage,
            session: error.session,
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

/// The event that a review step ends with, unless the run has to stand.
fn reviewed(
    step: StepId,
    command: &ReviewCommand,
    called: Called<LocalReview>,
    tampered: Option<String>,
) -> Result<Event, Box<Stood>> {
    let pass = command.pass;
    let (review, usage) = match called {
        Called::Stood(stood) => return Err(Box::new(stood)),
        Called::Failed(error) => {
            let kind = review_failure(&error.kind);
            let message = error.message;
            (Err(ReviewFailure { kind, message }), error.usage)
        }
        Called::Answered(review, reply) => (Ok(review), reply.usage),
    };
    let review = match tampered {
        Some(message) => Err(ReviewFailure {
            kind: ReviewFailureKind::Tampered,
            message,
        }),
        None => review,
    };
    Ok(match review {
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
}

/// The work tree and the refs at one moment.
pub(super) struct Observed {
    pub(super) tree: TreeId,
    pub(super) refs: RefGuard,
}

/// Looks at the work tree and the refs. The work tree has to be on the run's
/// branch: while the run stood still, somebody may have switched it.
pub(super) async fn observe(
    vcs: &dyn Vcs,
    branch: &BranchName,
    cx: &StepContext,
) -> Result<Observed, VcsError> {
    let refs = vcs.guard(branch, cx.clone()).await?;
    if refs.head.branch.as_ref() != Some(branch) {
        let head = refs
            .head
            .branch
            .as_ref()
            .map_or("no branch".to_owned(), ToString::to_string);
        let message = format!("the work tree is on {head}, not on the run's branch {branch}");
        return Err(VcsError::new(VcsErrorKind::Refused, message)
            .with_hint(format!(
                "commit or stash what is yours, then: git switch {branch}"
            ))
            .with_hint("then go on with: xiv run resume"));
    }
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
