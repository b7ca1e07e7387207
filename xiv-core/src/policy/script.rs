//! The done gate over a scripted run, for people and programs that want to
//! know how a loop would go.
//!
//! The script is played through the same [`Machine`] that drives real runs, so
//! that this answer and the loop's cannot differ. Only what the world would
//! have said comes from the script: how validation went, and what the review
//! said.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::flow::{
    CORE_VERSION, Command, Divergence, Event, FetchOutcome, GuardStatus, Machine, Next,
    ReviewFailure, ReviewFailureKind, RunConfig, RunSpec,
};
use crate::model::{
    BranchName, CommandExit, CommandResult, CommitId, ImplementInput, InvalidId, Issue, IssueKey,
    KnownGap, LocalReview, MaxPasses, Outcome, Plan, RunId, StepId, TreeId, Usage, Validation,
    ValidationCommand, Verdict,
};
use crate::prompt::feedback_text;

/// A run to be played.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct GateScript {
    /// The most passes. Default: 3.
    #[serde(default)]
    pub cap: MaxPasses,
    /// Leave the review step out. Default: false.
    #[serde(default)]
    pub skip_review: bool,
    /// An approval with a blocker is gated as `request_changes`. Default: false.
    #[serde(default)]
    pub blocker_withholds: bool,
    /// What happens in each pass. More than are needed are left over.
    pub passes: Vec<ScriptPass>,
}

/// What happens in a pass.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ScriptPass {
    /// How validation goes.
    pub validation: ScriptValidation,
    /// What the review says.
    pub review: ScriptReview,
}

/// How validation goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::exhaustive_enums, reason = "these are the words of the script")]
pub enum ScriptValidation {
    /// Every command exits 0.
    Pass,
    /// One command exits 1.
    Fail,
    /// No command runs.
    None,
}

/// What the review of a pass says.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema)]
#[schemars(untagged)]
#[expect(clippy::exhaustive_enums, reason = "these are the words of the script")]
pub enum ScriptReview {
    /// A verdict without anything else, or that there is none.
    Word(ReviewWord),
    /// A whole review.
    Review(LocalReview),
}

/// A review in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[expect(clippy::exhaustive_enums, reason = "these are the words of the script")]
pub enum ReviewWord {
    /// A review that approves.
    Approve,
    /// A review that remarks.
    Comment,
    /// A review that requests changes.
    RequestChanges,
    /// The reviewer failed.
    Crashed,
    /// There was no reviewer.
    Skipped,
}

impl<'de> Deserialize<'de> for ScriptReview {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // by hand, because an untagged enum cannot say what was wrong
        let value = Value::deserialize(deserializer)?;
        let parsed = match &value {
            Value::Object(_) => LocalReview::deserialize(value).map(Self::Review),
            _ => ReviewWord::deserialize(value).map(Self::Word),
        };
        parsed.map_err(serde::de::Error::custom)
    }
}

impl ScriptReview {
    /// The review, when there is one.
    fn review(&self) -> Option<LocalReview> {
        let bare = |verdict| Some(LocalReview::new(verdict, ""));
        match self {
            Self::Review(review) => Some(review.clone()),
            Self::Word(ReviewWord::Approve) => bare(Verdict::Approve),
            Self::Word(ReviewWord::Comment) => bare(Verdict::Comment),
            Self::Word(ReviewWord::RequestChanges) => bare(Verdict::RequestChanges),
            Self::Word(ReviewWord::Crashed | ReviewWord::Skipped) => None,
        }
    }
}

/// How the scripted run goes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GateReport {
    /// How it ends.
    pub outcome: GateOutcome,
    /// Passes that ran.
    pub passes: u32,
    /// The verdict of the last pass that ran; null when it had no review.
    pub review_verdict: Option<Verdict>,
    /// What that pass's review leaves as known gaps.
    pub known_gaps: Vec<KnownGap>,
    /// The text given to pass 2, to pass 3, …; of an unfinished run the last
    /// one is what the next pass would be given.
    pub feedback: Vec<String>,
}

/// How a scripted run ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::exhaustive_enums, reason = "there are three")]
pub enum GateOutcome {
    /// The gate opened.
    Done,
    /// The cap was reached.
    Capped,
    /// The script ended first.
    Unfinished,
}

/// Why a script could not be played. It is a bug of these rules, whatever the
/// script says.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ScriptError {
    /// A made-up id has not the form of one.
    #[error("a scripted id is not valid")]
    Id(#[from] InvalidId),
    /// The machine does not take a scripted event.
    #[error("the scripted run diverged")]
    Divergence(#[from] Divergence),
}

/// Plays the script.
///
/// # Errors
/// [`ScriptError`], which no script can cause.
pub fn play(script: &GateScript) -> Result<GateReport, ScriptError> {
    let mut machine = Machine::start(&start(script)?)?;
    let mut feedback = Vec::new();
    let mut ran = 0;
    let outcome = loop {
        while let Some(decision) = machine.decision() {
            machine.apply(&decision)?;
        }
        let command = match machine.next() {
            Next::Do(command) => command,
            Next::Finish(Outcome::Done) => break GateOutcome::Done,
            Next::Finish(_) => break GateOutcome::Capped,
            Next::Wait(_) => break GateOutcome::Unfinished,
        };
        if let Command::Implement(implement) = &command {
            if ran > 0 {
                feedback.push(feedback_text(&implement.feedback));
            }
            ran = implement.pass.get();
        }
        match answer(script, &command)? {
            Some(event) => machine.apply(&event)?,
            None => break GateOutcome::Unfinished,
        }
    };
    let output = machine.output();
    Ok(GateReport {
        outcome,
        passes: output.passes,
        review_verdict: output.review_verdict,
        known_gaps: output.known_gaps,
        feedback,
    })
}

fn start(script: &GateScript) -> Result<Event, InvalidId> {
    let mut input = ImplementInput::new("SCRIPT-1").with_max_iterations(script.cap);
    input.skip_acceptance_review = script.skip_review;
    let mut config = RunConfig::new(vec![ValidationCommand {
        name: "test".to_owned(),
        run: "test".to_owned(),
        timeout_ms: None,
    }]);
    config.blocker_withholds = script.blocker_withholds;
    // a script says nothing about the work tree
    config.stop_on_no_progress = false;
    Ok(Event::RunStarted {
        run: RunId::parse("00000000-0000-7000-8000-000000000000")?,
        spec: RunSpec::Implement { input },
        config,
        core_version: CORE_VERSION,
        seed: 0,
        guard: GuardStatus::EnvironmentOnly,
    })
}

/// What the world answers to a command; nothing when the script has ended.
fn answer(script: &GateScript, command: &Command) -> Result<Option<Event>, InvalidId> {
    let step = command.step();
    let usage = Usage::default();
    let scripted = step
        .pass()
        .and_then(|pass| script.passes.get(pass.get() as usize - 1));
    Ok(Some(match command {
        Command::Fetch { issue_id } => Event::IssueFetched {
            step,
            outcome: FetchOutcome::Fetched {
                issue: Issue::new(IssueKey::parse(issue_id)?, "a scripted run"),
                verbatim: false,
            },
        },
        Command::Prepare(prepare) => prepared(step, &prepare.branch)?,
        Command::Plan(_) => Event::PlanMade {
            step,
            plan: Plan {
                summary: String::new(),
                steps: vec!["follow the script".to_owned()],
            },
            usage,
        },
        Command::Finalize(_) => Event::NothingToCommit { step },
        Command::Implement(implement) => {
            if scripted.is_none() {
                return Ok(None);
            }
            Event::Implemented {
                step,
                pass: implement.pass,
                report: None,
                tree_before: tree(implement.pass.get() - 1)?,
                tree_after: tree(implement.pass.get())?,
                session: None,
                usage,
            }
        }
        Command::Validate(validate) => {
            let Some(scripted) = scripted else {
                return Ok(None);
            };
            Event::Validated {
                step,
                pass: validate.pass,
                validation: validation(scripted.validation, tree(validate.pass.get())?),
            }
        }
        Command::Review(review) => {
            let pass = review.pass;
            match scripted.and_then(|scripted| scripted.review.review()) {
                Some(review) => Event::Reviewed {
                    step,
                    pass,
                    review,
                    usage,
                },
                None => Event::ReviewFailed {
                    step,
                    pass,
                    reason: ReviewFailure {
                        kind: ReviewFailureKind::Crashed,
                        message: "the script has no review here".to_owned(),
                    },
                    usage,
                },
            }
        }
    }))
}

fn prepared(step: StepId, branch: &BranchName) -> Result<Event, InvalidId> {
    Ok(Event::BranchPrepared {
        step,
        branch: branch.clone(),
        base: String::new(),
        start: CommitId::parse("0".repeat(40))?,
        start_tree: tree(0)?,
        reused: false,
        behind: 0,
        root: String::new(),
    })
}

/// A tree of its own for every pass.
fn tree(n: u32) -> Result<TreeId, InvalidId> {
    TreeId::parse(format!("{n:040x}"))
}

fn validation(scripted: ScriptValidation, tree: TreeId) -> Validation {
    let command = |code| CommandResult {
        name: "test".to_owned(),
        run: "test".to_owned(),
        exit: CommandExit::Code(code),
        duration_ms: 0,
        output_tail: String::new(),
    };
    Validation {
        commands: match scripted {
            ScriptValidation::Pass => vec![command(0)],
            ScriptValidation::Fail => vec![command(1)],
            ScriptValidation::None => Vec::new(),
        },
        tree_before: tree.clone(),
        tree_after: tree,
        created: Vec::new(),
    }
}

#[cfg(test)]
mod tests;
