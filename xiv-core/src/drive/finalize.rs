//! The run's one commit: announced, looked for, made, recorded.

use super::failure::vcs_wait;
use super::session::RunSession;
use super::{DriveError, Driver, Stood, step_failed, whole_seconds};
use crate::flow::{EffectResult, Event, FinalizeCommand, Intent};
use crate::model::{CommitId, FailureCause, StepId};
use crate::port::{Cancel, CommitPlan, CommitProbe, StepContext, Vcs, VcsError, VcsErrorKind};

impl Driver {
    /// Commits exactly the gated tree. Safe to repeat: an announced commit is
    /// looked for before it is made.
    pub(super) async fn finalize_step(
        &self,
        session: &mut RunSession<'_>,
        step: StepId,
        command: &FinalizeCommand,
    ) -> Result<Option<Stood>, DriveError> {
        let vcs = match self.work_tree(session) {
            Ok(vcs) => vcs,
            Err(error) => return Ok(Some(vcs_wait(&step, &error).into())),
        };
        let mark = session.mark(&step, session.machine.attempts(&step));
        let cx = self.context(&mark, Cancel::never());
        let marker = format!("{}/{step}", session.fence.run);
        let announced = session
            .machine
            .effect(&marker)
            .map(|(i, r)| (i.clone(), r.cloned()));
        let commit = match announced {
            Some((_, Some(EffectResult::Commit { commit }))) => Ok(commit),
            Some((Intent::Commit { plan }, None)) => {
                self.redo(session, &step, &marker, &*vcs, &plan, &cx)
                    .await?
            }
            None if command.tree == command.start_tree => {
                session.record(Event::NothingToCommit { step }).await?;
                return Ok(None);
            }
            None => {
                let plan = match self.plan_commit(session, &*vcs, command, &cx).await {
                    Ok(plan) => plan,
                    Err(error) => return Ok(Some(vcs_wait(&step, &error).into())),
                };
                let intent = Intent::Commit { plan: plan.clone() };
                let announce = Event::Intended {
                    step: step.clone(),
                    marker: marker.clone(),
                    intent,
                };
                session.record(announce).await?;
                self.make(session, &step, &marker, &*vcs, &plan, &cx)
                    .await?
            }
        };
        match commit {
            Ok(commit) => {
                let tree = command.tree.clone();
                session
                    .record(Event::Committed { step, commit, tree })
                    .await?;
                Ok(None)
            }
            Err(stood) => Ok(Some(stood)),
        }
    }

    /// Everything that the commit's id will depend on.
    async fn plan_commit(
        &self,
        session: &RunSession<'_>,
        vcs: &dyn Vcs,
        command: &FinalizeCommand,
        cx: &StepContext,
    ) -> Result<CommitPlan, VcsError> {
        let message = vcs.final_message(&command.message, cx.clone()).await?;
        let expected = vcs.guard(&command.branch, cx.clone()).await?.commit;
        let backup = format!("refs/xiv/backup/{}", session.fence.run);
        Ok(CommitPlan {
            branch: command.branch.clone(),
            parent: command.start.clone(),
            tree: command.tree.clone(),
            message,
            date: whole_seconds(self.ports.clock.now()),
            backup_ref: (expected != command.start).then_some(backup),
            expected,
        })
    }

    /// Looks for an announced commit before making or completing it.
    async fn redo(
        &self,
        session: &mut RunSession<'_>,
        step: &StepId,
        marker: &str,
        vcs: &dyn Vcs,
        plan: &CommitPlan,
        cx: &StepContext,
    ) -> Result<Result<CommitId, Stood>, DriveError> {
        match vcs.probe_commit(plan, cx.clone()).await {
            // also when it exists: its index may not have followed yet
            Ok(CommitProbe::Found(_) | CommitProbe::Absent) => {
                self.make(session, step, marker, vcs, plan, cx).await
            }
            Ok(CommitProbe::Moved(at)) => {
                let message = format!(
                    "the branch {} is at {at}, not where the run left it ({})",
                    plan.branch, plan.expected
                );
                let error = VcsError::new(VcsErrorKind::RefMoved, message);
                let hints = vec![
                    format!("look at it with: git log {}", plan.branch),
                    "move the branch back and resume, or cancel the run".to_owned(),
                ];
                Ok(Err(
                    step_failed(step, FailureCause::Refused, &error, hints).into()
                ))
            }
            Err(error) => Ok(Err(vcs_wait(step, &error).into())),
        }
    }

    async fn make(
        &self,
        session: &mut RunSession<'_>,
        step: &StepId,
        marker: &str,
        vcs: &dyn Vcs,
        plan: &CommitPlan,
        cx: &StepContext,
    ) -> Result<Result<CommitId, Stood>, DriveError> {
        match vcs.commit(plan, cx.clone()).await {
            Ok(committed) => {
                for warning in committed.warnings {
                    cx.events.warn(warning);
                }
                self.note(session, step, marker, &committed.commit).await?;
                Ok(Ok(committed.commit))
            }
            Err(error) => Ok(Err(vcs_wait(step, &error).into())),
        }
    }

    async fn note(
        &self,
        session: &mut RunSession<'_>,
        step: &StepId,
        marker: &str,
        commit: &CommitId,
    ) -> Result<(), DriveError> {
        let result = EffectResult::Commit {
            commit: commit.clone(),
        };
        let (step, marker) = (step.clone(), marker.to_owned());
        session
            .record(Event::EffectDone {
                step,
                marker,
                result,
            })
            .await
    }
}
