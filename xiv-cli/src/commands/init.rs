//! `xiv init`: look around, propose, write `xiv.toml`.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;
use xiv_core::model::{ExitCode, ValidationCommand};
use xiv_core::rt::detect::Detected;

use crate::config::{Config, REPO_FILE};
use crate::error::CliError;
use crate::files::write_whole;
use crate::paths::Place;
use crate::runtime::block_on;
use crate::survey::{self, FoundAgent};
use crate::ui::{
    Ui,
    style::{BAD, GOOD, HEAD, WARN, paint},
};

/// Look around and write `xiv.toml`.
///
/// Finds validation commands, agents and their logins, the tracker, the forge
/// and jj, shows them, and asks before it writes.
#[derive(Debug, clap::Args)]
pub(crate) struct InitArgs {
    /// Write without asking.
    #[arg(short, long)]
    yes: bool,
    /// Replace a file that is there.
    #[arg(long)]
    force: bool,
}

/// What was found and written.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct InitReport {
    path: PathBuf,
    written: bool,
    base: Option<String>,
    validate: Vec<ValidationCommand>,
    skipped: Vec<String>,
    agents: Vec<FoundAgent>,
    tracker: &'static str,
    forge: Option<String>,
    jj: Option<String>,
    #[serde(skip)]
    text: String,
}

/// Looks, shows, asks and writes.
///
/// # Errors
/// Outside a repository, without a terminal to ask at, or when there is a file
/// already.
pub(crate) fn run(args: &InitArgs, ui: Ui) -> Result<ExitCode, CliError> {
    let here = std::env::current_dir()
        .map_err(|e| CliError::io("the current folder cannot be used", &e))?;
    let Some(place) = Place::find(&here) else {
        return Err(
            CliError::refused("notARepository", "there is no repository here")
                .with_hint("make one with `git init`, or change into one"),
        );
    };
    let path = place.main.join(REPO_FILE);
    let exists = path.exists();
    if exists && !args.force && !ui.is_interactive() {
        return Err(
            CliError::refused("exists", format!("{} is there already", path.display()))
                .with_hint("replace it: xiv init --force"),
        );
    }
    let mut report = block_on(async { Ok(look(&place, path).await) })?;
    if !ui.is_json() {
        show(&report, ui);
    }
    if !agreed(args, exists, ui)? {
        ui.note("nothing was written");
        return Ok(ExitCode::NotDone);
    }
    write_whole(&report.path, &report.text).map_err(|e| {
        CliError::io(
            format!("{} could not be written", report.path.display()),
            &e,
        )
    })?;
    report.written = true;
    if ui.is_json() {
        ui.document(&report)?;
    } else {
        ui.result(format!("wrote {}", report.path.display()))?;
        ui.note("next: xiv doctor, xiv issue new KEY, xiv implement KEY");
    }
    Ok(ExitCode::Done)
}

/// Whether to write. A file that is there is never replaced unasked.
fn agreed(args: &InitArgs, exists: bool, ui: Ui) -> Result<bool, CliError> {
    if args.force || args.yes && !exists {
        Ok(true)
    } else if !ui.is_interactive() {
        Err(CliError::usage("there is no terminal to ask at")
            .with_hint("write without asking: xiv init --yes"))
    } else if exists {
        ui.confirm("Replace the file that is there?", false)
    } else {
        ui.confirm("Write it?", true)
    }
}

async fn look(place: &Place, path: PathBuf) -> InitReport {
    let config = Config::default();
    let mut agents = Vec::new();
    for engine in ["codex", "claude"] {
        agents.push(survey::look_at(engine, &config, &place.main).await);
    }
    let Detected {
        commands, skipped, ..
    } = survey::validation(&place.main);
    let base = survey::default_branch(place).await;
    let text = file(base.as_deref(), &commands, &agents);
    InitReport {
        path,
        written: false,
        tracker: tracker(),
        forge: survey::forge(place).await,
        jj: survey::says("jj", &["--version"], &place.main).await,
        base,
        validate: commands,
        skipped,
        agents,
        text,
    }
}

fn tracker() -> &'static str {
    if std::env::var_os("LINEAR_API_KEY").is_some() {
        "linear"
    } else {
        "files"
    }
}

fn show(report: &InitReport, ui: Ui) {
    let list = |name: &str, value: &str| ui.note(format!("  {name:<12} {value}"));
    ui.note(paint(HEAD, "Found"));
    list("base", report.base.as_deref().unwrap_or("none"));
    for command in &report.validate {
        list("validate", &format!("{}: {}", command.name, command.run));
    }
    if report.validate.is_empty() {
        let none = paint(WARN, "no validation command; add one to the file");
        list("validate", &none);
    }
    for skipped in &report.skipped {
        list("left out", skipped);
    }
    for agent in &report.agents {
        list("agent", &in_words(agent));
    }
    list("tracker", report.tracker);
    list("forge", report.forge.as_deref().unwrap_or("none"));
    list("jj", report.jj.as_deref().unwrap_or("not on PATH"));
    ui.note(format!(
        "{}\n{}",
        paint(HEAD, report.path.display()),
        report.text
    ));
}

/// An agent in one line.
pub(crate) fn in_words(agent: &FoundAgent) -> String {
    let version = agent
        .version
        .as_deref()
        .map_or(String::new(), |v| format!(" {v}"));
    let state = match (agent.installed, agent.logged_in) {
        (true, Some(true)) => paint(GOOD, "logged in"),
        (true, None) => "ready".to_owned(),
        (true, Some(false)) => paint(BAD, "not logged in"),
        (false, _) => paint(BAD, agent.problem.as_deref().unwrap_or("cannot be used")),
    };
    let fix = agent
        .fix
        .as_deref()
        .map_or(String::new(), |fix| format!(" ({fix})"));
    format!("{}{version}: {state}{fix}", agent.engine)
}

/// The file's text: what was found, and nothing that is a default anyway.
fn file(base: Option<&str>, commands: &[ValidationCommand], agents: &[FoundAgent]) -> String {
    let mut text = String::from(
        "# Settings of xiv for this repository. `xiv config show` prints every key with\n\
         # its value, `xiv config schema` says what each one means.\n\n",
    );
    if let Some(base) = base {
        text.push_str(&format!("base = {}\n\n", quoted(base)));
    }
    text.push_str("[validate]\ncommands = [\n");
    for command in commands {
        let (name, run) = (quoted(&command.name), quoted(&command.run));
        text.push_str(&format!("  {{ name = {name}, run = {run} }},\n"));
    }
    if commands.is_empty() {
        text.push_str("  # { name = \"test\", run = \"./test.sh\", timeout = \"10m\" },\n");
    }
    text.push_str("]\n");
    let usable = |engine: &str| {
        agents.iter().any(|agent| {
            agent.engine == engine && agent.installed && agent.logged_in != Some(false)
        })
    };
    // one agent alone does every step; with both, or with none, the table decides
    let only = match (usable("codex"), usable("claude")) {
        (true, false) => Some(("codex", &["implement", "fix", "describe"][..])),
        (false, true) => Some(("claude", &["plan", "review"][..])),
        _ => None,
    };
    if let Some((engine, steps)) = only {
        for step in steps {
            text.push_str(&format!("\n[steps.{step}]\nengine = {}\n", quoted(engine)));
        }
    }
    text
}

fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}
