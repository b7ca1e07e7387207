//! The steps that need no agent, and what is looked at around every step.

use std::path::Path;
use std::sync::Arc;

use super::agents::{Observed, observe};
use super::failure::vcs_wait;
use super::session::RunSession;
use super::supervise::Bounds;
use super::{DriveError, Driver, Stood, Stop, chain, step_failed};
use crate::flow::{Command, Event, FetchOutcome, PrepareCommand, ValidateCommand, Wait};
use crate::model::{
    CommandExit, CommandResult, FailureCause, RepoPath, StepId, TreeId, Validation,
};
use crate::port::{
    BranchRequest, Cancel, CancelReason, CommandsRun, RefGuard, StepContext, ValidateRequest,
    ValidatorError, Vcs, VcsError,
};

impl Driver {
    /// Carries one command out and records what came of it. `Some` means that
    /// the run has to stand still.
    pub(super) async fn step(
        &self,
        session: &mut RunSession<'_>,
        command: &Command,
        stop: &Stop,
    ) -> Result<Option<Stood>, DriveError> {
        if stop.user.reason().is_some() {
            return Ok(Some(Wait::Interrupted.into()));
        }
        let step = command.step();
        match command {
            Command::Plan(c) => self.plan_step(session, step, c, stop).await,
            Command::Implement(c) => self.implement_step(session, step, c, stop).await,
            Command::Review(c) => self.review_step(session, step, c, stop).await,
            Command::Fetch { issue_id } => {
                self.begin(session, &step).await?;
                self.fetch_step(session, step, issue_id, stop).await
            }
            Command::Prepare(c) => {
                self.begin(session, &step).await?;
                self.prepare_step(session, step, c, stop).await
            }
            Command::Validate(c) => {
                self.sweep_earlier_attempts(session).await;
                self.begin(session, &step).await?;
                self.validate_step(session, step, c, stop).await
            }
            Command::Finalize(c) => {
                self.begin(session, &step).await?;
                self.finalize_step(session, step, c).await
            }
        }
    }

    async fn begin(&self, session: &mut RunSession<'_>, step: &StepId) -> Result<(), DriveError> {
        let attempt = session.machine.attempts(step) + 1;
        let step = step.clone();
        session
            .record(Event::StepStarted {
                step,
                attempt,
                prompt_sha256: None,
                tree: None,
            })
            .await
    }

    fn step_context(&self, session: &RunSession<'_>, step: &StepId, cancel: Cancel) -> StepContext {
        let attempt = session.machine.attempts(step);
        self.context(&session.mark(step, attempt), cancel)
    }

    async fn fetch_step(
        &self,
        session: &mut RunSession<'_>,
        step: StepId,
        issue_id: &str,
        stop: &Stop,
    ) -> Result<Option<Stood>, DriveError> {
        let cx = self.step_context(session, &step, stop.user.clone());
        let issues = &self.ports.issues;
        let fetched = match issues.normalise(issue_id) {
            Ok(key) => issues.fetch(&key, cx).await,
            Err(error) => Err(error),
        };
        let outcome = match fetched {
            Ok(issue) => FetchOutcome::Fetched {
                issue,
                verbatim: issues.is_verbatim(),
            },
            Err(error) => FetchOutcome::NotFetched {
                error: chain(&error),
                hints: error.hints,
            },
        };
        session
            .record(Event::IssueFetched { step, outcome })
            .await?;
        Ok(None)
    }

    async fn prepare_step(
        &self,
        session: &mut RunSession<'_>,
        step: StepId,
        command: &PrepareCommand,
        stop: &Stop,
    ) -> Result<Option<Stood>, DriveError> {
        let cx = self.step_context(session, &step, stop.user.clone());
        let request = BranchRequest {
            branch: command.branch.clone(),
            base: command.base.clone(),
            isolate: command.worktree.as_ref().map(Into::into),
        };
        let prepared = match self.ports.vcs.prepare(request, cx).await {
            Ok(prepared) => prepared,
            Err(error) => return Ok(Some(vcs_wait(&step, &error).into())),
        };
        session
            .record(Event::BranchPrepared {
                step,
                branch: command.branch.clone(),
                base: prepared.base,
                start: prepared.start,
                start_tree: prepared.start_tree,
                reused: prepared.reused,
                behind: prepared.behind,
                root: prepared.root.to_string_lossy().into_owned(),
            })
            .await?;
        Ok(None)
    }

    /// Runs the repository's own commands and takes the tree that they leave.
    async fn validate_step(
        &self,
        session: &mut RunSession<'_>,
        step: StepId,
        command: &ValidateCommand,
        stop: &Stop,
    ) -> Result<Option<Stood>, DriveError> {
        let vcs = match self.work_tree(session) {
            Ok(vcs) => vcs,
            Err(error) => return Ok(Some(vcs_wait(&step, &error).into())),
        };
        let cx = self.step_context(session, &step, Cancel::never());
        let before = match self.observe_run(session, &*vcs, &cx).await {
            Ok(before) => before,
            Err(error) => return Ok(Some(vcs_wait(&step, &error).into())),
        };
        let run = match self
            .run_commands(session, &step, command, vcs.root(), stop)
            .await?
        {
            Ok(run) => run,
            Err(stood) => return Ok(Some(stood)),
        };
        let moved = self.restore_refs(&*vcs, &before.refs, &cx).await;
        if let Some(what) = moved {
            session
                .record(Event::Violated {
                    step: step.clone(),
                    what,
                })
                .await?;
        }
        let validation = match gate(&*vcs, command, &before.tree, run, &cx).await {
            Ok(validation) => validation,
            Err(error) => return Ok(Some(vcs_wait(&step, &error).into())),
        };
        self.pin(&*vcs, session, "gated", &validation.tree_after, &cx)
            .await;
        session
            .record(Event::Validated {
                step,
                pass: command.pass,
                validation,
            })
            .await?;
        Ok(None)
    }

    async fn run_commands(
        &self,
        session: &mut RunSession<'_>,
        step: &StepId,
        command: &ValidateCommand,
        root: &Path,
        stop: &Stop,
    ) -> Result<Result<CommandsRun, Stood>, DriveError> {
        let request = ValidateRequest {
            commands: command.commands.clone(),
            cwd: root.to_path_buf(),
            run: Some(session.fence.run.clone()),
            env_allow: command.env_allow.clone(),
        };
        let limits = session.machine.config().validate_limits;
        let mark = session.mark(step, session.machine.attempts(step));
        let run = session.fence.run.clone();
        let validator = Arc::clone(&self.ports.validator);
        let mut supervised = self
            .supervise(
                &run,
                step,
                &mark,
                Bounds::time(limits),
                stop,
                |cx| async move { validator.validate(request, cx).await },
            )
            .await;
        stop.check_lease()?;
        let refusals = std::mem::take(&mut supervised.refusals);
        record_refusals(session, step, refusals).await?;
        Ok(match (supervised.result, supervised.stopped) {
            (Some(Ok(run)), _) => Ok(run),
            // out of time: every command that is not known to have passed did not
            (_, Some(CancelReason::TimedOutTotal)) => Ok(all_timed_out(command, limits.total_ms)),
            (Some(Err(error @ ValidatorError::Setup(_))), _) => {
                Err(step_failed(step, FailureCause::Adapter, &error, Vec::new()).into())
            }
            (_, _) => Err(Wait::Interrupted.into()),
        })
    }

    /// The repository seen from the run's own work tree.
    pub(super) fn work_tree(&self, session: &RunSession<'_>) -> Result<Arc<dyn Vcs>, VcsError> {
        match session.machine.work_root() {
            Some(root) if Path::new(root) != self.ports.vcs.root() => {
                self.ports.vcs.at(Path::new(root))
            }
            _ => Ok(Arc::clone(&self.ports.vcs)),
        }
    }

    async fn observe_run(
        &self,
        session: &RunSession<'_>,
        vcs: &dyn Vcs,
        cx: &StepContext,
    ) -> Result<Observed, VcsError> {
        match session.machine.branch() {
            Some(branch) => observe(vcs, branch, cx).await,
            None => Err(VcsError::new(
                crate::port::VcsErrorKind::Refused,
                "the run's branch has not been prepared",
            )),
        }
    }

    /// After an agent that may write: its commits on the run's branch are
    /// allowed and noted; a HEAD that left the branch is brought back.
    pub(super) async fn after_writing(
        &self,
        session: &mut RunSession<'_>,
        step: &StepId,
        vcs: &dyn Vcs,
        before: &RefGuard,
        cx: &StepContext,
    ) -> Result<Result<TreeId, VcsError>, DriveError> {
        let now = match vcs.guard(&before.branch, cx.clone()).await {
            Ok(now) => now,
            Err(error) => return Ok(Err(error)),
        };
        if now.commit != before.commit {
            match vcs
                .commits_between(&before.commit, &now.commit, cx.clone())
                .await
            {
                Ok(commits) => {
                    let step = step.clone();
                    session
                        .record(Event::AgentCommitted { step, commits })
                        .await?;
                }
                Err(error) => return Ok(Err(error)),
            }
        }
        let wanted = RefGuard {
            commit: now.commit.clone(),
            ..before.clone()
        };
        if now.head.branch != before.head.branch
            && let Some(what) = self.restore_refs(vcs, &wanted, cx).await
        {
            session
                .record(Event::Violated {
                    step: step.clone(),
                    what,
                })
                .await?;
        }
        Ok(vcs.snapshot(cx.clone()).await.map(|s| s.tree))
    }

    /// After an agent that may not write: what it changed is reported, refs are
    /// put back, files stay.
    pub(super) async fn put_back(
        &self,
        session: &mut RunSession<'_>,
        step: &StepId,
        vcs: &dyn Vcs,
        before: &Observed,
        cx: &StepContext,
    ) -> Result<Option<String>, DriveError> {
        let mut changes = Vec::new();
        changes.extend(self.restore_refs(vcs, &before.refs, cx).await);
        match vcs.snapshot(cx.clone()).await {
            Ok(after) if after.tree == before.tree => {}
            Ok(after) => changes.push(changed_files(vcs, &before.tree, &after.tree, cx).await),
            Err(error) => changes.push(format!("the work tree cannot be read: {error}")),
        }
        if changes.is_empty() {
            return Ok(None);
        }
        let what = changes.join("; ");
        session
            .record(Event::Violated {
                step: step.clone(),
                what: what.clone(),
            })
            .await?;
        Ok(Some(what))
    }

    /// Puts HEAD and the branch back; says what had moved.
    async fn restore_refs(
        &self,
        vcs: &dyn Vcs,
        guard: &RefGuard,
        cx: &StepContext,
    ) -> Option<String> {
        match vcs.restore(guard, cx.clone()).await {
            Ok(moves) if moves.is_empty() => None,
            Ok(moves) => {
                let moves: Vec<String> = moves
                    .iter()
                    .map(|m| {
                        format!(
                            "{} was moved from {} to {} and put back",
                            m.name, m.from, m.to
                        )
                    })
                    .collect();
                Some(moves.join("; "))
            }
            Err(error) => Some(format!(
                "HEAD or the branch could not be put back: {}",
                chain(&error)
            )),
        }
    }

    /// Keeps a tree from being collected. Best effort: the run goes on without.
    pub(super) async fn pin(
        &self,
        vcs: &dyn Vcs,
        session: &RunSession<'_>,
        name: &str,
        tree: &TreeId,
        cx: &StepContext,
    ) {
        let name = format!("refs/xiv/runs/{}/{name}", session.fence.run);
        if let Err(error) = vcs.pin(tree, &name, cx.clone()).await {
            cx.events
                .warn(format!("the work tree could not be pinned: {error}"));
        }
    }
}

/// Makes a validation of what the commands did and left.
async fn gate(
    vcs: &dyn Vcs,
    command: &ValidateCommand,
    before: &TreeId,
    run: CommandsRun,
    cx: &StepContext,
) -> Result<Validation, VcsError> {
    let after = vcs.snapshot(cx.clone()).await?.tree;
    let mut leftovers = command.leftovers.clone();
    if !leftovers.is_empty() {
        let (from, to) = &command.worked;
        let touched = vcs.diff(from, to, cx.clone()).await?.files;
        leftovers.retain(|path: &RepoPath| touched.iter().all(|file| file.path != *path));
    }
    let gated = vcs
        .gate_tree(before, &after, &leftovers, cx.clone())
        .await?;
    Ok(Validation {
        commands: run.commands,
        tree_before: before.clone(),
        tree_after: gated.tree,
        created: gated.created,
    })
}

fn all_timed_out(command: &ValidateCommand, total_ms: u64) -> CommandsRun {
    let commands = command.commands.iter().map(|c| CommandResult {
        name: c.name.clone(),
        run: c.run.clone(),
        exit: CommandExit::TimedOut,
        duration_ms: total_ms,
        output_tail: "the validate step's whole time was spent".to_owned(),
    });
    CommandsRun {
        commands: commands.collect(),
    }
}

/// The files in which two trees differ, for people.
async fn changed_files(vcs: &dyn Vcs, from: &TreeId, to: &TreeId, cx: &StepContext) -> String {
    match vcs.diff(from, to, cx.clone()).await {
        Ok(diff) => {
            let mut names: Vec<String> = diff
                .files
                .iter()
                .take(10)
                .map(|f| f.path.to_string())
                .collect();
            if diff.files.len() > names.len() {
                names.push(format!("{} more", diff.files.len() - names.len()));
            }
            format!("files changed: {}", names.join(", "))
        }
        Err(_) => "files changed".to_owned(),
    }
}

/// Records what a step's programs tried and were refused.
pub(super) async fn record_refusals(
    session: &mut RunSession<'_>,
    step: &StepId,
    refusals: Vec<(String, Vec<String>)>,
) -> Result<(), DriveError> {
    for (rule, argv) in refusals {
        let step = step.clone();
        session.record(Event::Denied { step, rule, argv }).await?;
    }
    Ok(())
}
