//! The implement flow: fetch → gate → prepare → plan → (implement → [human
//! gate] → validate → review)* → finalize.
//!
//! The whole state is a fold over the run's events, and every decision is a
//! function of it. At most `4 + 4 · passes` commands.

use super::event::{Event, FetchOutcome, JudgeReason};
use super::pass::{HumanGate, Implemented, Judgement, PassState, ReviewState};
use super::{
    Command, Divergence, Feedback, FinalizeCommand, ImplementCommand, Next, PlanCommand,
    PrepareCommand, ReviewCommand, RunConfig, ValidateCommand, Wait,
};
use crate::model::{
    BranchName, CommitId, ImplementInput, Issue, IssueKey, Outcome, Pass, Plan, RepoPath, RunId,
    TreeId,
};
use crate::policy::fetch_gate::fetch_gate;
use crate::policy::message::commit_message;
use crate::policy::progress::stands_still;

/// The branch as it was prepared.
#[derive(Debug, Clone)]
pub(super) struct Prepared {
    pub(super) branch: BranchName,
    pub(super) start: CommitId,
    pub(super) start_tree: TreeId,
    pub(super) root: String,
}

/// What finalize came to.
#[derive(Debug, Clone)]
pub(super) enum Finalized {
    Committed(CommitId),
    NothingToCommit,
}

/// State of an implement run.
#[derive(Debug, Clone)]
pub(super) struct ImplementFlow {
    pub(super) run: RunId,
    pub(super) input: ImplementInput,
    pub(super) config: RunConfig,
    pub(super) issue: Option<Issue>,
    pub(super) refused: Option<String>,
    pub(super) refused_hints: Vec<String>,
    pub(super) prepared: Option<Prepared>,
    pub(super) plan: Option<Plan>,
    pub(super) passes: Vec<PassState>,
    pub(super) finalized: Option<Finalized>,
}

impl ImplementFlow {
    pub(super) const fn new(run: RunId, input: ImplementInput, config: RunConfig) -> Self {
        Self {
            run,
            input,
            config,
            issue: None,
            refused: None,
            refused_hints: Vec::new(),
            prepared: None,
            plan: None,
            passes: Vec::new(),
            finalized: None,
        }
    }

    /// The key that the user asked for; branch names come from it alone.
    pub(super) fn key(&self) -> Option<IssueKey> {
        IssueKey::normalise(&self.input.issue_id).ok()
    }

    /// What to do now.
    pub(super) fn next(&self) -> Next {
        if self.refused.is_some() {
            return Next::Finish(Outcome::Refused);
        }
        let (Some(issue), Some(key)) = (&self.issue, self.key()) else {
            return Next::Do(Command::Fetch {
                issue_id: self.input.issue_id.clone(),
            });
        };
        let Some(prepared) = &self.prepared else {
            return Next::Do(Command::Prepare(PrepareCommand {
                branch: BranchName::for_issue(&key),
                base: self.input.base.clone().or_else(|| self.config.base.clone()),
                worktree: self.config.worktree.clone(),
            }));
        };
        let Some(plan) = &self.plan else {
            let command = PlanCommand {
                issue: issue.clone(),
                tdd: self.input.tdd,
            };
            return Next::Do(Command::Plan(command));
        };
        let Some(pass) = self.passes.last() else {
            return self.implement(Pass::FIRST, Feedback::default(), issue, plan, prepared);
        };
        match pass.judge(&self.config) {
            Some(judged) if self.is_final(pass, &judged) => self.finish(&judged, prepared, issue),
            Some(_) => {
                let feedback = pass.feedback(&self.config);
                self.implement(pass.pass.next(), feedback, issue, plan, prepared)
            }
            None => self.within(pass, issue, plan, prepared),
        }
    }

    /// The next thing inside a pass that has begun and is not judged.
    fn within(&self, pass: &PassState, issue: &Issue, plan: &Plan, prepared: &Prepared) -> Next {
        let Some(implemented) = &pass.implemented else {
            let feedback = self.feedback_before(pass.pass);
            return self.implement(pass.pass, feedback, issue, plan, prepared);
        };
        if self.config.gate_implement && !matches!(pass.gate, HumanGate::Answered(_)) {
            return Next::Wait(Wait::Human {
                gate: gate_of(pass),
            });
        }
        let Some(validation) = &pass.validation else {
            return Next::Do(Command::Validate(ValidateCommand {
                pass: pass.pass,
                commands: self.config.validate.clone(),
                env_allow: self.config.env_allow.clone(),
                worked: (
                    implemented.tree_before.clone(),
                    implemented.tree_after.clone(),
                ),
                leftovers: self.leftovers(),
            }));
        };
        Next::Do(Command::Review(ReviewCommand {
            pass: pass.pass,
            issue: issue.clone(),
            plan: plan.clone(),
            report: implemented.report.clone(),
            start_tree: prepared.start_tree.clone(),
            tree: validation.tree_after.clone(),
            validation: validation.commands.clone(),
            branch: prepared.branch.clone(),
        }))
    }

    fn implement(
        &self,
        pass: Pass,
        feedback: Feedback,
        issue: &Issue,
        plan: &Plan,
        prepared: &Prepared,
    ) -> Next {
        Next::Do(Command::Implement(ImplementCommand {
            pass,
            max: self.input.max_iterations,
            issue: issue.clone(),
            plan: plan.clone(),
            tdd: self.input.tdd,
            feedback,
            branch: prepared.branch.clone(),
        }))
    }

    /// Commits the gated tree, or ends the run when that is done.
    fn finish(&self, judged: &Judgement, prepared: &Prepared, issue: &Issue) -> Next {
        if self.finalized.is_some() {
            return Next::Finish(match (judged.done, judged.reason) {
                (true, _) => Outcome::Done,
                (false, JudgeReason::NoProgress) => Outcome::NoProgress,
                (false, _) => Outcome::Capped,
            });
        }
        let (Some(tree), Some(key)) = (self.gated_tree(), self.key()) else {
            // judged passes always have a tree, and fetched issues a key
            return Next::Wait(Wait::Interrupted);
        };
        let trailers = self.config.commit_trailers.then_some(&self.run);
        Next::Do(Command::Finalize(FinalizeCommand {
            branch: prepared.branch.clone(),
            start: prepared.start.clone(),
            start_tree: prepared.start_tree.clone(),
            tree: tree.clone(),
            message: commit_message(&key, &issue.title, &self.summary(), trailers),
        }))
    }

    /// Whether no pass follows this one.
    fn is_final(&self, pass: &PassState, judged: &Judgement) -> bool {
        let no_progress = judged.reason == JudgeReason::NoProgress;
        judged.done || no_progress || self.input.max_iterations.is_last(pass.pass)
    }

    /// The pass whose tree and review count: the last one, or the one before
    /// it when the last one only showed that the run stands still.
    pub(super) fn final_pass(&self) -> Option<&PassState> {
        let (last, before) = self.passes.split_last()?;
        let still = last
            .judge(&self.config)
            .is_some_and(|j| j.reason == JudgeReason::NoProgress);
        if still { before.last() } else { Some(last) }
    }

    fn gated_tree(&self) -> Option<&TreeId> {
        self.final_pass()?.gated_tree()
    }

    /// What the pass before this one left to do.
    fn feedback_before(&self, pass: Pass) -> Feedback {
        let before = self.passes.iter().rev().find(|p| p.pass < pass);
        before.map(|p| p.feedback(&self.config)).unwrap_or_default()
    }

    /// Files that validations of this run have made so far.
    fn leftovers(&self) -> Vec<RepoPath> {
        let latest = self.passes.iter().rev().find_map(|p| p.validation.as_ref());
        latest.map(|v| v.created.clone()).unwrap_or_default()
    }

    /// The last pass's report, else the plan's summary.
    pub(super) fn summary(&self) -> String {
        let last = self
            .final_pass()
            .and_then(|p| p.implemented.as_ref()?.report.as_ref());
        let reported = last
            .map(|r| r.summary.clone())
            .filter(|s| !s.trim().is_empty());
        reported
            .or_else(|| self.plan.as_ref().map(|p| p.summary.clone()))
            .unwrap_or_default()
    }

    /// The decision that has to be recorded before anything else is done.
    pub(super) fn decision(&self) -> Option<Event> {
        let pass = self.passes.last()?;
        if let Some(judged) = pass.judge(&self.config) {
            return (!pass.judged).then_some(Event::PassJudged {
                pass: pass.pass,
                validation: judged.validation,
                verdict: judged.verdict,
                incoherent: judged.incoherent,
                done: judged.done,
                reason: judged.reason,
            });
        }
        let implemented = pass.implemented.as_ref()?;
        if self.config.gate_implement && matches!(pass.gate, HumanGate::NotRaised) {
            return Some(Event::GateRaised {
                gate: gate_of(pass),
                pass: pass.pass,
                tree: implemented.tree_after.clone(),
            });
        }
        let unreviewed = matches!(pass.review, ReviewState::Open);
        (pass.validation.is_some() && unreviewed && self.input.skip_acceptance_review)
            .then_some(Event::ReviewSkipped { pass: pass.pass })
    }

    /// Takes an event whose step has been checked.
    pub(super) fn apply(&mut self, event: &Event) -> Result<(), Divergence> {
        match event {
            Event::IssueFetched { outcome, .. } => self.fetched(outcome),
            Event::BranchPrepared {
                branch,
                start,
                start_tree,
                root,
                ..
            } => {
                self.prepared = Some(Prepared {
                    branch: branch.clone(),
                    start: start.clone(),
                    start_tree: start_tree.clone(),
                    root: root.clone(),
                });
            }
            Event::PlanMade { plan, .. } => self.plan = Some(plan.clone()),
            Event::StepStarted { step, .. } if step.name() == "implement" => {
                if let Some(pass) = step.pass() {
                    self.begin_pass(pass);
                }
            }
            Event::Implemented {
                pass,
                report,
                tree_before,
                tree_after,
                ..
            } => {
                self.begin_pass(*pass);
                self.open_pass(event)?.implemented = Some(Implemented {
                    report: report.clone(),
                    tree_before: tree_before.clone(),
                    tree_after: tree_after.clone(),
                });
            }
            Event::GateRaised { .. } => self.open_pass(event)?.gate = HumanGate::Raised,
            Event::GateAnswered { gate, answer } => self.answer_gate(gate, answer, event)?,
            Event::Validated { validation, .. } => {
                self.open_pass(event)?.validation = Some(validation.clone());
            }
            Event::Reviewed { review, .. } => {
                self.open_pass(event)?.review = ReviewState::Present(review.clone());
            }
            Event::ReviewFailed { reason, .. } => {
                self.open_pass(event)?.review = ReviewState::Failed(reason.clone());
            }
            Event::ReviewSkipped { .. } => self.open_pass(event)?.review = ReviewState::Skipped,
            Event::PassJudged { .. } => self.open_pass(event)?.judged = true,
            Event::Committed { commit, .. } => {
                self.finalized = Some(Finalized::Committed(commit.clone()));
            }
            Event::NothingToCommit { .. } => self.finalized = Some(Finalized::NothingToCommit),
            _ => {}
        }
        Ok(())
    }

    fn fetched(&mut self, outcome: &FetchOutcome) {
        if let FetchOutcome::NotFetched { hints, .. } = outcome {
            self.refused_hints.clone_from(hints);
        }
        match (
            fetch_gate(&self.input.issue_id, outcome),
            outcome,
            self.key(),
        ) {
            (Ok(()), FetchOutcome::Fetched { issue, .. }, Some(_)) => {
                self.issue = Some(issue.clone());
            }
            (Ok(()), ..) => {
                let id = &self.input.issue_id;
                self.refused = Some(format!("{id:?} cannot be made into an issue key"));
            }
            (Err(reason), ..) => self.refused = Some(reason),
        }
    }

    fn begin_pass(&mut self, pass: Pass) {
        if self.passes.last().is_none_or(|last| last.pass < pass) {
            let repeats = self.config.stop_on_no_progress
                && !self.input.max_iterations.is_last(pass)
                && match self.passes.as_slice() {
                    [.., before_last, last] => {
                        stands_still(false, before_last.result().as_ref(), last.result().as_ref())
                    }
                    _ => false,
                };
            self.passes.push(PassState::new(pass, repeats));
        }
    }

    fn answer_gate(
        &mut self,
        gate: &str,
        answer: &crate::port::GateAnswer,
        event: &Event,
    ) -> Result<(), Divergence> {
        let pass = self.open_pass(event)?;
        if gate != gate_of(pass) || !matches!(pass.gate, HumanGate::Raised) {
            return Err(Divergence::unexpected(event, "no such gate is open"));
        }
        pass.gate = HumanGate::Answered(answer.clone());
        Ok(())
    }

    /// The pass and the tree that an open gate is about.
    pub(super) fn open_gate(&self, gate: &str) -> Option<(Pass, TreeId)> {
        let pass = self.passes.last()?;
        let tree = &pass.implemented.as_ref()?.tree_after;
        let open = matches!(pass.gate, HumanGate::Raised) && gate == gate_of(pass);
        open.then(|| (pass.pass, tree.clone()))
    }

    fn open_pass(&mut self, event: &Event) -> Result<&mut PassState, Divergence> {
        self.passes
            .last_mut()
            .ok_or_else(|| Divergence::unexpected(event, "no pass has begun"))
    }
}

fn gate_of(pass: &PassState) -> String {
    format!("{}#{}", pass.gate_id(), pass.pass)
}
