//! The machine alone, fed with a script: what each pass's validation and
//! review said. Planted bugs change what it is fed, or what is heard of it.

use std::sync::LazyLock;

use xiv_core::flow::{
    CORE_VERSION, Command, Event, FetchOutcome, GuardStatus, Machine, Next, ReviewFailure,
    ReviewFailureKind, RunConfig, RunSpec,
};
use xiv_core::model::{
    CommandExit, CommandResult, CommitId, Finding, ImplementInput, ImplementOutput, Issue,
    IssueKey, LocalReview, MaxPasses, Plan, Severity, TreeId, Usage, Validation, ValidationCommand,
    Verdict,
};

use crate::world::run_id;

/// What validation says in a pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Validates {
    Pass,
    Fail,
    /// No command ran.
    Empty,
}

/// What the review step of a pass comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reviews {
    Approve,
    ApproveWithBlocker,
    Comment,
    RequestChanges,
    Failed,
    Skipped,
}

pub(crate) const VALIDATIONS: [Validates; 3] = [Validates::Pass, Validates::Fail, Validates::Empty];
pub(crate) const REVIEWS: [Reviews; 6] = [
    Reviews::Approve,
    Reviews::ApproveWithBlocker,
    Reviews::Comment,
    Reviews::RequestChanges,
    Reviews::Failed,
    Reviews::Skipped,
];

pub(crate) type PassScript = (Validates, Reviews);

/// A bug that is planted to see whether the tests find it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Planted {
    /// Without a review, the one of the pass before is read.
    StaleVerdict,
    /// A missing review blocks.
    ApprovalDemanded,
    /// What a pass says does not reach the next one.
    FeedbackDropped,
    /// One pass more than allowed.
    CapOffByOne,
}

/// What came of a script.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Played {
    /// None when the script ran out before the run ended.
    pub(crate) output: Option<ImplementOutput>,
    pub(crate) passes: usize,
    /// Whether each implement step after the first was told of: failing
    /// commands, a review.
    pub(crate) told: Vec<(bool, bool)>,
    pub(crate) commands: usize,
}

/// A review by its kind; its finding names the pass.
pub(crate) fn review_of(kind: Reviews, pass: usize) -> Option<LocalReview> {
    let (verdict, severity) = match kind {
        Reviews::Approve => (Verdict::Approve, Severity::Low),
        Reviews::ApproveWithBlocker => (Verdict::Approve, Severity::Blocker),
        Reviews::Comment => (Verdict::Comment, Severity::Medium),
        Reviews::RequestChanges => (Verdict::RequestChanges, Severity::High),
        Reviews::Failed | Reviews::Skipped => return None,
    };
    let finding = Finding::new("a", severity, format!("of pass {pass}"), "b");
    Some(LocalReview::new(verdict, "s").with_findings([finding]))
}

/// The tree of a pass.
pub(crate) fn tree(n: usize) -> TreeId {
    TreeId::parse(format!("{n:040x}")).expect("a valid id")
}

/// The commit that every run makes.
pub(crate) fn commit() -> CommitId {
    CommitId::parse("c".repeat(40)).expect("a valid id")
}

#[expect(
    clippy::fn_params_excessive_bools,
    reason = "two independent settings of a script"
)]
pub(crate) fn started(cap: i64, blocker_withholds: bool, skip: bool) -> Event {
    let command = ValidationCommand {
        name: "test".into(),
        run: "make test".into(),
        timeout_ms: None,
    };
    let mut config = RunConfig::new(vec![command]);
    config.blocker_withholds = blocker_withholds;
    let mut input = ImplementInput::new("AB-1").with_max_iterations(MaxPasses::clamped(cap));
    input.skip_acceptance_review = skip;
    Event::RunStarted {
        run: run_id(),
        spec: RunSpec::Implement { input },
        config,
        core_version: CORE_VERSION,
        seed: 1,
        guard: GuardStatus::EnvironmentOnly,
    }
}

static FETCHED: LazyLock<FetchOutcome> = LazyLock::new(|| {
    let key = IssueKey::parse("AB-1").expect("a valid key");
    FetchOutcome::Fetched {
        issue: Issue::new(key, "Title"),
        verbatim: false,
    }
});

/// The result of carrying out a command, by the script.
#[expect(clippy::too_many_lines, reason = "one arm per command")]
pub(crate) fn result_of(
    command: &Command,
    script: &[PassScript],
    bug: Option<Planted>,
) -> Option<Event> {
    let step = command.step();
    let index = step.pass().map_or(0, |p| p.get() as usize - 1);
    Some(match command {
        Command::Fetch { .. } => Event::IssueFetched {
            step,
            outcome: FETCHED.clone(),
        },
        Command::Prepare(c) => Event::BranchPrepared {
            step,
            branch: c.branch.clone(),
            base: "main".into(),
            start: CommitId::parse("a".repeat(40)).expect("a valid id"),
            start_tree: tree(0),
            reused: false,
            behind: 0,
            root: "/repo".into(),
        },
        Command::Plan(_) => {
            let plan = Plan {
                summary: "p".into(),
                steps: vec!["s".into()],
            };
            Event::PlanMade {
                step,
                plan,
                usage: Usage::default(),
            }
        }
        Command::Implement(c) => {
            script.get(index)?;
            Event::Implemented {
                step,
                pass: c.pass,
                report: None,
                tree_before: tree(index),
                tree_after: tree(index + 1),
                session: None,
                usage: Usage::default(),
            }
        }
        Command::Validate(c) => {
            let validation = validation_of(script.get(index)?.0, index);
            Event::Validated {
                step,
                pass: c.pass,
                validation,
            }
        }
        Command::Review(c) => {
            let mut review = review_of(script.get(index)?.1, index + 1);
            match bug {
                Some(Planted::StaleVerdict) if review.is_none() && index > 0 => {
                    review = review_of(script[index - 1].1, index);
                }
                Some(Planted::ApprovalDemanded) if review.is_none() => {
                    review = Some(LocalReview::new(Verdict::RequestChanges, "no review"));
                }
                _ => {}
            }
            let (pass, usage) = (c.pass, Usage::default());
            match review {
                Some(review) => Event::Reviewed {
                    step,
                    pass,
                    review,
                    usage,
                },
                None => {
                    let message = "crashed".to_owned();
                    let reason = ReviewFailure {
                        kind: ReviewFailureKind::Crashed,
                        message,
                    };
                    Event::ReviewFailed {
                        step,
                        pass,
                        reason,
                        usage,
                    }
                }
            }
        }
        Command::Finalize(c) => Event::Committed {
            step,
            commit: commit(),
            tree: c.tree.clone(),
        },
    })
}

fn validation_of(kind: Validates, index: usize) -> Validation {
    let code = match kind {
        Validates::Pass => Some(0),
        Validates::Fail => Some(1),
        Validates::Empty => None,
    };
    let commands = code.into_iter().map(|code| CommandResult {
        name: "test".into(),
        run: "make test".into(),
        exit: CommandExit::Code(code),
        duration_ms: 1,
        output_tail: String::new(),
    });
    Validation {
        commands: commands.collect(),
        tree_before: tree(index + 1),
        tree_after: tree(index + 1),
        created: Vec::new(),
    }
}

/// Plays a script to its end. With [`Reviews::Skipped`] in a pass the review
/// step fails there: the machine has no per-pass skip.
pub(crate) fn play(
    script: &[PassScript],
    cap: i64,
    blocker_withholds: bool,
    bug: Option<Planted>,
) -> Played {
    let cap = if bug == Some(Planted::CapOffByOne) {
        cap + 1
    } else {
        cap
    };
    let all_skipped = !script.is_empty() && script.iter().all(|(_, r)| *r == Reviews::Skipped);
    let mut machine =
        Machine::start(&started(cap, blocker_withholds, all_skipped)).expect("starts");
    let mut played = Played {
        output: None,
        passes: 0,
        told: Vec::new(),
        commands: 0,
    };
    let feed = |machine: &mut Machine, event: Event| {
        machine
            .apply(&event)
            .unwrap_or_else(|e| panic!("{}: {e}", event.kind()));
    };
    loop {
        while let Some(decision) = machine.decision() {
            feed(&mut machine, decision);
        }
        match machine.next() {
            Next::Do(command) => {
                let Some(result) = result_of(&command, script, bug) else {
                    return played;
                };
                played.commands += 1;
                if let Command::Implement(c) = &command {
                    played.passes += 1;
                    if c.pass.get() > 1 {
                        let dropped = bug == Some(Planted::FeedbackDropped);
                        let failing = c.feedback.nothing_ran || !c.feedback.failures.is_empty();
                        let review = c.feedback.verdict.is_some();
                        played.told.push((failing && !dropped, review && !dropped));
                    }
                }
                feed(&mut machine, result);
            }
            Next::Wait(wait) => panic!("the machine waits: {wait:?}"),
            Next::Finish(_) => {
                played.output = Some(machine.output());
                return played;
            }
        }
    }
}
