//! Starting a run: everything that can refuse it comes before anything is
//! written.

use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use xiv_core::drive::{NewRunRequest, RunReport, work_tree_is_fit};
use xiv_core::flow::{CORE_VERSION, Event, FetchOutcome, GuardStatus, Machine, RunConfig, RunSpec};
use xiv_core::model::{
    BranchName, ImplementInput, IssueKey, MaxPasses, RunId, StepId, ValidationCommand,
};
use xiv_core::policy::fetch_gate::fetch_gate;
use xiv_core::port::{Cancel, IssueError, IssueSource, StepContext};
use xiv_forge::IssueFile;

use super::flags::ImplementArgs;
use super::reporter::{Hook, Reporter};
use super::world::{Surroundings, World, no_validation};
use super::{drive, issues_of};
use crate::config::{configured_commands, run_config};
use crate::driver_file;
use crate::error::CliError;
use crate::side_files::SideFiles;
use crate::survey;
use crate::ui::{Ui, style};

/// The name of the copy of an issue that was handed in.
pub(super) const HANDED_IN: &str = "issue-as-handed-in";

/// An issue that was handed in instead of a key's file.
struct HandedIn {
    text: String,
    origin: String,
}

/// Starts a run in the repository around `cwd` and drives it until it ends or
/// stands.
///
/// # Errors
/// When something refuses the run, or it cannot be recorded.
pub(crate) async fn start(
    args: &ImplementArgs,
    cwd: &Path,
    own: Option<Surroundings>,
    ui: Ui,
) -> Result<RunReport, CliError> {
    let world = World::open(cwd, args.layer(cwd)?, own, ui).await?;
    let handed_in = args
        .issue_file
        .as_deref()
        .map(|file| read(cwd, file))
        .transpose()?;
    let issues: Arc<dyn IssueSource> = match &handed_in {
        Some(issue) => Arc::new(IssueFile::parse(&issue.text, &issue.origin)?),
        None => Arc::new(issues_of(&world.loaded.config, &world.place)?),
    };
    let input = input(args, &world, issues.as_ref(), ui);
    let config = config(args, &world, &input)?;
    work_tree_is_fit(&world.state().await?, config.worktree.is_some())?;
    if let Some(refused) = refused(&input, &config, issues.as_ref(), &world).await? {
        return Ok(refused);
    }
    world
        .agents_are_ready(&config, input.skip_acceptance_review, ui)
        .await?;
    announce(&config, &world, ui);

    let run = match &args.detached_as {
        Some(id) => RunId::parse(id.as_str()).map_err(|e| CliError::usage(e.to_string()))?,
        None => xiv_core::rt::new_run_id(),
    };
    let reporter = Arc::new(Reporter::new(ui, at_the_start(&world, handed_in)));
    let driver = world
        .driver(&run, &config, issues, Arc::clone(&reporter) as _, None)
        .await?;
    let request = NewRunRequest {
        id: run,
        spec: RunSpec::Implement { input },
        config,
        seed: xiv_core::rt::new_seed(),
    };
    let (canceller, cancel) = Cancel::new();
    let report = drive(&world, driver.start(request, cancel), canceller, ui).await;
    reporter.finish();
    report
}

fn read(cwd: &Path, file: &Path) -> Result<HandedIn, CliError> {
    let (text, origin) = if file == Path::new("-") {
        let mut text = String::new();
        let read = std::io::stdin().read_to_string(&mut text).map(|_| text);
        (read, "standard input".to_owned())
    } else {
        let path = cwd.join(file);
        (std::fs::read_to_string(&path), file.display().to_string())
    };
    let text = text.map_err(|e| {
        CliError::refused("issue", format!("the issue in {origin} could not be read"))
            .with_cause(e.to_string())
    })?;
    Ok(HandedIn { text, origin })
}

fn input(args: &ImplementArgs, world: &World, issues: &dyn IssueSource, ui: Ui) -> ImplementInput {
    let settings = &world.loaded.config.r#loop;
    let max = MaxPasses::clamped(settings.max_iterations);
    if i64::from(max) != settings.max_iterations {
        ui.warn(format!(
            "{} passes asked for; {max} will be used (1 to 10 are possible)",
            settings.max_iterations
        ));
    }
    // the tracker's own normal form, so that `12`, `#12` and `gh-12` are one run
    let key = issues.normalise(&args.key);
    ImplementInput {
        issue_id: key.map_or_else(|_| args.key.clone(), |key| key.to_string()),
        tdd: args.tdd,
        skip_acceptance_review: settings.skip_acceptance_review,
        max_iterations: max,
        base: world.loaded.config.base.clone(),
    }
}

fn config(
    args: &ImplementArgs,
    world: &World,
    input: &ImplementInput,
) -> Result<RunConfig, CliError> {
    let mut commands = configured_commands(&world.loaded.config);
    if commands.is_empty() {
        commands = survey::validation(world.vcs.root()).commands;
    }
    if commands.is_empty() {
        return Err(no_validation());
    }
    let mut config = run_config(&world.loaded.config, commands);
    if args.worktree {
        let branch = IssueKey::normalise(&input.issue_id)
            .map(|key| BranchName::for_issue(&key))
            .map_err(|e| CliError::refused("issue", e.to_string()))?;
        let path = world.worktree_for(branch.as_str());
        config.worktree = Some(path.display().to_string());
    }
    Ok(config)
}

/// The result when the fetch gate refuses the issue: asked before anything is
/// written, by the same rules that the run itself would use.
async fn refused(
    input: &ImplementInput,
    config: &RunConfig,
    issues: &dyn IssueSource,
    world: &World,
) -> Result<Option<RunReport>, CliError> {
    let outcome = fetch(input, issues, world).await;
    if fetch_gate(&input.issue_id, &outcome).is_ok() {
        return Ok(None);
    }
    let bug = |e: &dyn std::error::Error| {
        CliError::new(
            xiv_core::model::ExitCode::Bug,
            "bug",
            "the refusal cannot be told",
        )
        .with_cause(e.to_string())
    };
    let mut machine = Machine::start(&Event::RunStarted {
        run: xiv_core::rt::new_run_id(),
        spec: RunSpec::Implement {
            input: input.clone(),
        },
        config: config.clone(),
        core_version: CORE_VERSION,
        seed: 0,
        guard: GuardStatus::EnvironmentOnly,
    })
    .map_err(|e| bug(&e))?;
    let step = StepId::parse("fetch").map_err(|e| bug(&e))?;
    machine
        .apply(&Event::IssueFetched { step, outcome })
        .map_err(|e| bug(&e))?;
    Ok(Some(RunReport {
        output: machine.output(),
        waiting: None,
        hints: machine.hints(),
    }))
}

async fn fetch(input: &ImplementInput, issues: &dyn IssueSource, world: &World) -> FetchOutcome {
    let failed = |error: &IssueError| {
        let mut text = error.to_string();
        let mut source = std::error::Error::source(error);
        while let Some(cause) = source {
            text.push_str(&format!(": {cause}"));
            source = cause.source();
        }
        FetchOutcome::NotFetched {
            error: text,
            hints: error.hints.clone(),
        }
    };
    let key = match issues.normalise(&input.issue_id) {
        Ok(key) => key,
        Err(error) => return failed(&error),
    };
    let cx = StepContext::new(Arc::clone(&world.records.clock), "preflight");
    match issues.fetch(&key, cx).await {
        Err(error) => failed(&error),
        Ok(issue) => FetchOutcome::Fetched {
            issue,
            verbatim: issues.is_verbatim(),
        },
    }
}

/// Says what will judge the work, before the first pass.
fn announce(config: &RunConfig, world: &World, ui: Ui) {
    if ui.is_json() {
        return;
    }
    let configured = !world.loaded.config.validate.commands.is_empty();
    let how = if configured { "configured" } else { "detected" };
    let lines: Vec<String> = config.validate.iter().map(in_words).collect();
    ui.note(style::paint(
        style::DIM,
        format!("validation ({how}): {}", lines.join("; ")),
    ));
}

fn in_words(command: &ValidationCommand) -> String {
    command.run.clone()
}

/// What is written when the run has begun: who drives it, and the issue that
/// was handed in.
fn at_the_start(world: &World, handed_in: Option<HandedIn>) -> Hook {
    let paths = world.records.paths.clone();
    let process = world.records.processes.current();
    Box::new(move |run, recorded| {
        if recorded.seq != 1 {
            return;
        }
        // both files are comforts: a run goes on without them
        let _unwritable = driver_file::write(&paths, run, &process);
        if let Some(issue) = &handed_in {
            let files = SideFiles::new(paths.clone());
            let _unwritable = files.put(run, HANDED_IN, issue.text.as_bytes());
        }
    })
}
