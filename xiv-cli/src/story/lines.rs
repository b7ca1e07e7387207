//! One line per event, for standard error and for `xiv run log`.

use jiff::Timestamp;
use xiv_core::flow::{Event, FetchOutcome, JudgeReason, Recorded, RunSpec, Wait};
use xiv_core::model::{MaxPasses, Validation, Verdict};
use xiv_core::policy::fetch_gate::fetch_gate;

use super::{count, first_line, severities, short};
use crate::ui::style::{BAD, DIM, GOOD, HEAD, WARN, paint};

const WIDTH: usize = 100;

/// What kind of line it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    /// It went well.
    Good,
    /// It did not.
    Bad,
    /// Somebody should look.
    Look,
    /// Neither.
    Plain,
    /// A new part begins.
    Head,
}

/// One permanent line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    /// Its kind.
    pub(crate) mark: Mark,
    /// The step's name.
    pub(crate) step: &'static str,
    /// What happened.
    pub(crate) text: String,
}

impl Line {
    fn new(mark: Mark, step: &'static str, text: impl Into<String>) -> Self {
        Self {
            mark,
            step,
            text: text.into(),
        }
    }

    /// The line as it is shown, with styles.
    pub(crate) fn shown(&self) -> String {
        let (style, sign) = match self.mark {
            Mark::Good => (GOOD, "✓"),
            Mark::Bad => (BAD, "✗"),
            Mark::Look => (WARN, "!"),
            Mark::Plain => (DIM, "·"),
            Mark::Head => return paint(HEAD, &self.text),
        };
        format!("{} {:<10} {}", paint(style, sign), self.step, self.text)
            .trim_end()
            .to_owned()
    }
}

/// Tells a run's events in order.
#[derive(Debug, Clone, Default)]
pub(crate) struct Teller {
    issue_id: String,
    max: MaxPasses,
    began: Option<Timestamp>,
}

impl Teller {
    /// The lines that an event gives; most give one, some give none.
    pub(crate) fn tell(&mut self, recorded: &Recorded) -> Vec<Line> {
        let took = self.took(recorded.at);
        match &recorded.event {
            Event::RunStarted { spec, .. } => {
                let RunSpec::Implement { input } = spec;
                self.issue_id.clone_from(&input.issue_id);
                self.max = input.max_iterations;
                Vec::new()
            }
            Event::StepStarted { step, attempt, .. } => {
                self.began = Some(recorded.at);
                let mut lines = Vec::new();
                if let (Some(pass), "implement", 1) = (step.pass(), step.name(), *attempt) {
                    let text = format!("pass {pass} of {}", self.max);
                    lines.push(Line::new(Mark::Head, "pass", text));
                }
                if *attempt > 1 {
                    let text = format!("{step} begins again (attempt {attempt})");
                    lines.push(Line::new(Mark::Plain, "again", text));
                }
                lines
            }
            event => self.happened(event, &took),
        }
    }

    /// The most passes of the run.
    pub(crate) const fn max(&self) -> MaxPasses {
        self.max
    }

    fn took(&self, at: Timestamp) -> String {
        self.began.map_or(String::new(), |began| {
            let ms = at.as_millisecond() - began.as_millisecond();
            format!("  {}", seconds(u64::try_from(ms).unwrap_or(0)))
        })
    }

    fn happened(&self, event: &Event, took: &str) -> Vec<Line> {
        match event {
            Event::IssueFetched { outcome, .. } => vec![self.fetched(outcome)],
            Event::BranchPrepared {
                branch,
                base,
                start,
                reused,
                behind,
                ..
            } => {
                let how = if *reused { "re-used" } else { "new" };
                let text = format!("{branch}  {how}, from {base} at {}", short(start.as_str()));
                let mut lines = vec![Line::new(Mark::Good, "branch", text)];
                if *behind > 0 {
                    let text = format!("it lacks {} of {base}", count(*behind as usize, "commit"));
                    lines.push(Line::new(Mark::Look, "branch", text));
                }
                lines
            }
            Event::PlanMade { plan, .. } => {
                let text = format!(
                    "{}: {}{took}",
                    count(plan.steps.len(), "step"),
                    first_line(&plan.summary, WIDTH)
                );
                vec![Line::new(Mark::Good, "plan", text)]
            }
            Event::Implemented {
                report,
                tree_before,
                tree_after,
                ..
            } => {
                let said = report.as_ref().map_or_else(
                    || "no report".to_owned(),
                    |report| first_line(&report.summary, WIDTH),
                );
                vec![if tree_before == tree_after {
                    Line::new(
                        Mark::Look,
                        "implement",
                        format!("changed nothing: {said}{took}"),
                    )
                } else {
                    Line::new(Mark::Good, "implement", format!("{said}{took}"))
                }]
            }
            Event::Validated { validation, .. } => validated(validation),
            Event::Reviewed { review, .. } => {
                let mark = match review.verdict {
                    Verdict::Approve => Mark::Good,
                    Verdict::RequestChanges => Mark::Bad,
                    Verdict::Comment => Mark::Look,
                };
                let found = severities(review.findings.iter().map(|f| f.severity));
                let found = if found.is_empty() {
                    found
                } else {
                    format!("  {found}")
                };
                let text = format!("{}{found}{took}", review.verdict);
                vec![Line::new(mark, "review", text)]
            }
            other => vec![self.rest(other)].into_iter().flatten().collect(),
        }
    }

    fn fetched(&self, outcome: &FetchOutcome) -> Line {
        match (outcome, fetch_gate(&self.issue_id, outcome)) {
            (FetchOutcome::Fetched { issue, .. }, Ok(())) => {
                let criteria = count(issue.acceptance_criteria.len(), "criterion")
                    .replace("criterions", "criteria");
                let text = format!(
                    "{}  {}  ({criteria})",
                    issue.key,
                    first_line(&issue.title, WIDTH)
                );
                Line::new(Mark::Good, "fetch", text)
            }
            (_, Err(reason)) => Line::new(Mark::Bad, "fetch", reason),
            (FetchOutcome::NotFetched { error, .. }, Ok(())) => {
                Line::new(Mark::Bad, "fetch", error)
            }
        }
    }

    fn rest(&self, event: &Event) -> Option<Line> {
        let line = |mark, step, text: String| Some(Line::new(mark, step, text));
        match event {
            Event::AgentCommitted { commits, .. } => {
                let text = format!("the agent made {}", count(commits.len(), "commit"));
                line(Mark::Plain, "implement", text)
            }
            Event::GateRaised { gate, .. } => {
                line(Mark::Look, "gate", format!("{gate} waits for a person"))
            }
            Event::GateAnswered { answer, .. } => line(
                Mark::Plain,
                "gate",
                format!("answered with {}", count(answer.notes.len(), "note")),
            ),
            Event::ReviewFailed { reason, .. } => {
                let text = format!("no review: {}", first_line(&reason.message, WIDTH));
                line(Mark::Look, "review", text)
            }
            Event::ReviewSkipped { .. } => line(Mark::Plain, "review", "skipped".to_owned()),
            Event::PassJudged {
                incoherent,
                done,
                reason,
                ..
            } => {
                let mark = if *done { Mark::Good } else { Mark::Bad };
                let loud = if *incoherent {
                    "; the review APPROVED AND NAMED A BLOCKER"
                } else {
                    ""
                };
                line(mark, "gate", format!("{}{loud}", words(*reason)))
            }
            Event::Committed { commit, .. } => {
                line(Mark::Good, "commit", short(commit.as_str()).to_owned())
            }
            Event::NothingToCommit { .. } => line(
                Mark::Look,
                "commit",
                "the work tree is as it was at the start".to_owned(),
            ),
            Event::Denied { rule, argv, .. } => line(
                Mark::Look,
                "guard",
                format!("refused ({rule}): {}", argv.join(" ")),
            ),
            Event::Violated { what, .. } => line(Mark::Bad, "guard", what.clone()),
            Event::Retried {
                step,
                reason,
                delay_ms,
                ..
            } => {
                let text = format!(
                    "{step} in {}: {}",
                    seconds(*delay_ms),
                    first_line(reason, WIDTH)
                );
                line(Mark::Look, "retry", text)
            }
            Event::Suspended { wait, .. } => line(Mark::Look, "stands", waits(wait)),
            Event::Resumed { .. } => line(Mark::Plain, "resumed", String::new()),
            Event::ChildFinished { run, outcome, .. } => {
                line(Mark::Plain, "child", format!("{run}: {outcome}"))
            }
            // the result says it, or another line does
            _ => None,
        }
    }
}

fn validated(validation: &Validation) -> Vec<Line> {
    let mut lines: Vec<Line> = validation
        .commands
        .iter()
        .map(|command| {
            let took = seconds(command.duration_ms);
            if command.exit.passed() {
                Line::new(Mark::Good, "validate", format!("{}  {took}", command.run))
            } else {
                let text = format!("{}  {}  {took}", command.run, command.exit);
                Line::new(Mark::Bad, "validate", text)
            }
        })
        .collect();
    if let Some(first) = validation.created.first() {
        let text = format!(
            "left {} out that only validation made ({first}); add them to .gitignore",
            count(validation.created.len(), "file"),
        );
        lines.push(Line::new(Mark::Look, "validate", text));
    }
    lines
}

/// Why a pass was judged as it was.
pub(crate) const fn words(reason: JudgeReason) -> &'static str {
    match reason {
        JudgeReason::Passed => "done: validation passed and no review withheld it",
        JudgeReason::ValidationFailed => "not done: validation did not pass",
        JudgeReason::ChangesRequested => "not done: the review asked for changes",
        JudgeReason::BlockerWithheld => {
            "not done: the review approved but named a blocker, and blockers withhold"
        }
        JudgeReason::HumanNotes => "not done: a person left notes",
        JudgeReason::NoProgress => {
            "stopped: the agent changed nothing and the pass before failed in the same way"
        }
    }
}

/// What a suspended run waits for.
pub(crate) fn waits(wait: &Wait) -> String {
    match wait {
        Wait::Human { gate } => format!("waits for a decision on {gate}"),
        Wait::Until { at, step, message } => {
            let until = at.map_or(String::new(), |at| format!(" until {at}"));
            format!(
                "{step} met a usage limit{until}: {}",
                first_line(message, WIDTH)
            )
        }
        Wait::Budget { which, step } => format!("the {which} budget is spent in {step}"),
        Wait::Interrupted => "interrupted".to_owned(),
        Wait::StepFailed { step, error, .. } => {
            format!("{step} failed: {}", first_line(error, WIDTH))
        }
    }
}

/// `0.3s`, `12.3s`, `4m05s`.
pub(crate) fn seconds(ms: u64) -> String {
    let tenths = (ms + 50) / 100;
    if tenths < 600 {
        format!("{}.{}s", tenths / 10, tenths % 10)
    } else {
        let seconds = ms / 1000;
        format!("{}m{:02}s", seconds / 60, seconds % 60)
    }
}

#[cfg(test)]
mod tests {
    use super::seconds;

    #[test]
    fn times_are_short() {
        for (ms, text) in [
            (0, "0.0s"),
            (260, "0.3s"),
            (12_340, "12.3s"),
            (59_940, "59.9s"),
            (59_960, "0m59s"),
            (245_000, "4m05s"),
        ] {
            assert_eq!(seconds(ms), text, "{ms}");
        }
    }
}
