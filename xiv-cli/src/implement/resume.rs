//! Going on with a run where it stands.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use xiv_core::drive::RunReport;
use xiv_core::flow::{BudgetLimits, Machine, Next, Recorded, RunConfig, Wait};
use xiv_core::model::{ExitCode, Finding, FindingId, RunId, Severity};
use xiv_core::port::{
    Cancel, GateAnswer, GateRequest, Human, HumanError, IssueSource, Journal, RunSummary,
    StepContext, Vcs, VcsError,
};
use xiv_forge::IssueFile;

use super::reporter::Reporter;
use super::start::HANDED_IN;
use super::world::World;
use super::{drive, issues_of};
use crate::config::Layer;
use crate::driver_file;
use crate::error::CliError;
use crate::records::Records;
use crate::ui::Ui;

/// Go on with a run that stands, at the step where it stands.
///
/// The settings are those that the run was started with. The result of a run
/// that is over is printed again.
#[derive(Debug, clap::Args)]
pub(crate) struct ResumeArgs {
    /// The run.
    #[arg(value_name = "RUN")]
    run: Option<String>,
    /// A new budget, such as `usd=10`; the one setting that may be changed.
    #[arg(long, value_name = "WHAT=AMOUNT", value_parser = amount)]
    budget: Vec<Amount>,
    /// An answer to an open gate: a remark for the agent; may be given more
    /// than once. Without one the work goes on as it is.
    #[arg(long = "note", value_name = "TEXT")]
    notes: Vec<String>,
    /// Wait until a usage limit is lifted.
    #[arg(long)]
    wait: bool,
}

/// One amount of a budget.
#[derive(Debug, Clone)]
struct Amount {
    what: String,
    number: f64,
}

fn amount(text: &str) -> Result<Amount, String> {
    let (what, number) = text.split_once('=').ok_or("expected WHAT=AMOUNT")?;
    if !["usd", "tokens", "minutes", "calls"].contains(&what) {
        return Err(format!("{what:?} is none of usd, tokens, minutes, calls"));
    }
    let number: f64 = number
        .parse()
        .map_err(|_| format!("{number:?} is no number"))?;
    if !number.is_finite() || number < 0.0 || (what != "usd" && number.fract() != 0.0) {
        return Err(format!("{text:?} is no amount"));
    }
    Ok(Amount {
        what: what.to_owned(),
        number,
    })
}

/// Goes on with a run, or gives the result of one that is over.
///
/// # Errors
/// When it cannot be found, or another process drives it.
pub(crate) async fn resume(
    args: &ResumeArgs,
    records: &Records,
    ui: Ui,
) -> Result<RunReport, CliError> {
    let summary = records.find(args.run.as_deref()).await?;
    let run = summary.run_id.clone();
    let history = records.store.load(&run).await?;
    let machine = replay(&run, &history)?;
    if machine.finished().is_some() {
        return Ok(RunReport {
            output: machine.output(),
            waiting: None,
            hints: machine.hints(),
        });
    }
    if args.wait {
        wait(&machine, records, ui).await?;
    }
    go_on(args, &summary, &history, &machine, ui).await
}

async fn go_on(
    args: &ResumeArgs,
    summary: &RunSummary,
    history: &[Recorded],
    machine: &Machine,
    ui: Ui,
) -> Result<RunReport, CliError> {
    let run = &summary.run_id;
    let world = World::open(Path::new(&summary.repo), Layer::default(), None, ui)
        .await
        .map_err(|e| e.context(format!("run {run} works in {}", summary.repo)))?;
    let config: RunConfig = machine.config().clone();
    let skips = skips_review(machine);
    world.agents_are_ready(&config, skips, ui).await?;
    let issues = issues(&world, run)?;
    let paths = world.records.paths.clone();
    let process = world.records.processes.current();
    let noted = AtomicBool::new(false);
    let reporter = Arc::new(Reporter::new(
        ui,
        Box::new(move |run, _| {
            if !noted.swap(true, Ordering::Relaxed) {
                // only a comfort of `run cancel`
                let _unwritable = driver_file::write(&paths, run, &process);
            }
        }),
    ));
    reporter.catch_up(history);
    let human = answer(args, machine, &world)?;
    let driver = world
        .driver(run, &config, issues, Arc::clone(&reporter) as _, human)
        .await?;
    let (canceller, cancel) = Cancel::new();
    let budget = budget(args, machine);
    let report = drive(&world, driver.resume(run, budget, cancel), canceller, ui).await;
    reporter.finish();
    report
}

fn replay(run: &RunId, history: &[Recorded]) -> Result<Machine, CliError> {
    Machine::replay(history).map_err(|e| {
        CliError::refused(
            "divergence",
            format!("run {run} was recorded by other rules than these"),
        )
        .with_cause(e.to_string())
        .with_hint("go on with it in the version of xiv that began it")
    })
}

fn skips_review(machine: &Machine) -> bool {
    let xiv_core::flow::RunSpec::Implement { input } = machine.spec();
    input.skip_acceptance_review
}

/// The issue as it was handed in, else the tracker.
fn issues(world: &World, run: &RunId) -> Result<Arc<dyn IssueSource>, CliError> {
    let copy = world.records.paths.run(run.as_str()).join(HANDED_IN);
    Ok(match std::fs::read_to_string(copy) {
        Ok(text) => Arc::new(IssueFile::parse(&text, "the issue as it was handed in")?),
        Err(_) => Arc::new(issues_of(&world.loaded.config, &world.place)?),
    })
}

fn budget(args: &ResumeArgs, machine: &Machine) -> Option<BudgetLimits> {
    if args.budget.is_empty() {
        return None;
    }
    let mut budget = *machine.budget();
    for Amount { what, number } in &args.budget {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "checked to be a whole number of at least 0"
        )]
        let whole = *number as u64;
        match what.as_str() {
            "usd" => budget.usd = Some(*number),
            "tokens" => budget.tokens = Some(whole),
            "minutes" => budget.minutes = Some(whole),
            _ => budget.calls = Some(whole),
        }
    }
    Some(budget)
}

/// Sleeps until the usage limit that the run met is lifted.
async fn wait(machine: &Machine, records: &Records, ui: Ui) -> Result<(), CliError> {
    let Next::Wait(Wait::Until { at: Some(at), .. }) = machine.next() else {
        return Ok(());
    };
    ui.note(format!("waiting until {at} …"));
    loop {
        let left = at.as_millisecond() - Timestamp::now().as_millisecond();
        let Ok(left @ 1..) = u64::try_from(left) else {
            return Ok(());
        };
        // in small parts, so that a machine that slept wakes up in time
        let part = Duration::from_millis(left.min(30_000));
        records.clock.sleep(part).await;
    }
}

/// The person at the keyboard answers the gate that is open by resuming.
fn answer(
    args: &ResumeArgs,
    machine: &Machine,
    world: &World,
) -> Result<Option<Arc<dyn Human>>, CliError> {
    if !matches!(machine.next(), Next::Wait(Wait::Human { .. })) {
        if args.notes.is_empty() {
            return Ok(None);
        }
        return Err(CliError::new(
            ExitCode::Usage,
            "usage",
            "there is no open gate that a note could answer",
        ));
    }
    let root = machine.work_root().map(Path::new);
    let vcs = match root {
        Some(root) => world.vcs.at(root)?,
        None => Arc::clone(&world.vcs),
    };
    Ok(Some(Arc::new(ByResuming {
        vcs,
        notes: args.notes.clone(),
        answered: AtomicBool::new(false),
    })))
}

/// Answers one gate: with the notes of the command line and the edits that were
/// made meanwhile. Later gates stay open.
#[derive(Debug)]
struct ByResuming {
    vcs: Arc<dyn Vcs>,
    notes: Vec<String>,
    answered: AtomicBool,
}

#[async_trait]
impl Human for ByResuming {
    async fn gate(
        &self,
        request: GateRequest,
        cx: StepContext,
    ) -> Result<Option<GateAnswer>, HumanError> {
        if self.answered.swap(true, Ordering::Relaxed) {
            return Ok(None);
        }
        let notes = self
            .notes
            .iter()
            .enumerate()
            .map(|(index, text)| note(index, text))
            .collect();
        let edits = async {
            let now = self.vcs.snapshot(cx.clone()).await?;
            let diff = self.vcs.diff(&request.tree, &now.tree, cx).await?;
            let patch = String::from_utf8_lossy(&diff.patch).into_owned();
            Ok::<_, VcsError>((now.tree, patch))
        };
        let (tree, patch) = edits.await.map_err(|_| HumanError::Aborted)?;
        Ok(Some(GateAnswer { notes, patch, tree }))
    }
}

fn note(index: usize, text: &str) -> Finding {
    let title = text.lines().next().unwrap_or_default().to_owned();
    Finding {
        id: FindingId::new(format!("n{}", index + 1)),
        severity: Severity::Medium,
        title,
        body: text.to_owned(),
        path: None,
        start_line: None,
        line: None,
        inlineable: false,
    }
}
