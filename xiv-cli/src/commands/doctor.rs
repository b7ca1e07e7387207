//! `xiv doctor`: is everything there, and if not, what to do.

use std::collections::BTreeMap;
use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;
use xiv_core::model::ExitCode;
use xiv_core::port::{AgentRole, Journal};

use crate::config::{Layer, Loaded, REPO_FILE, Sources, load};
use crate::error::CliError;
use crate::paths::{Paths, Place};
use crate::records::Records;
use crate::runtime::block_on;
use crate::survey;
use crate::ui::{
    Ui,
    style::{BAD, DIM, GOOD, HINT, WARN, paint},
};

/// Check that everything xiv needs is there, and say how to mend what is not.
#[derive(Debug, clap::Args)]
pub(crate) struct DoctorArgs {}

/// How a check went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
enum State {
    /// Fine.
    Ok,
    /// Worth a look; runs work all the same.
    Warn,
    /// Runs will not work.
    Fail,
    /// Just so that it is known.
    Info,
}

/// One check.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Check {
    name: String,
    state: State,
    what: String,
    fix: Option<String>,
}

impl Check {
    fn new(name: impl Into<String>, state: State, what: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            state,
            what: what.into(),
            fix: None,
        }
    }

    fn fix(mut self, fix: impl Into<String>) -> Self {
        self.fix = Some(fix.into());
        self
    }
}

/// Checks everything.
///
/// # Errors
/// When standard output cannot be written.
pub(crate) fn run(_: &DoctorArgs, ui: Ui) -> Result<ExitCode, CliError> {
    let place = std::env::current_dir()
        .ok()
        .and_then(|dir| Place::find(&dir));
    let (checks, exit) = block_on(async { Ok(every(place.as_ref()).await) })?;
    if ui.is_json() {
        ui.document(&checks)?;
    } else {
        let text: String = checks.iter().map(in_words).collect();
        ui.result(text)?;
    }
    Ok(exit)
}

async fn every(place: Option<&Place>) -> (Vec<Check>, ExitCode) {
    let mut checks = vec![git().await, repository(place).await];
    let loaded = Paths::from_env()
        .and_then(|paths| load(&Sources::of_process(&paths, place), Layer::default()));
    let configured = match loaded {
        Ok(loaded) => {
            checks.push(configuration(&loaded, place));
            checks.extend(validation(&loaded, place));
            checks.extend(agents(&loaded, place).await);
            true
        }
        Err(error) => {
            let what = std::iter::once(error.message)
                .chain(error.causes)
                .collect::<Vec<_>>();
            let check = Check::new("configuration", State::Fail, what.join(": "));
            checks.push(match error.hints.first() {
                Some(hint) => check.fix(hint),
                None => check,
            });
            false
        }
    };
    checks.push(record().await);
    checks.extend(surroundings(place).await);
    let failed = checks.iter().any(|check| check.state == State::Fail);
    let exit = match (configured, failed) {
        (false, _) => ExitCode::Configuration,
        (true, true) => ExitCode::Refused,
        (true, false) => ExitCode::Done,
    };
    (checks, exit)
}

async fn git() -> Check {
    match survey::says("git", &["--version"], Path::new("/")).await {
        None => Check::new("git", State::Fail, "not on PATH").fix("install git 2.36 or newer"),
        Some(text) => {
            let version = text.trim_start_matches("git version ").to_owned();
            let mut numbers = version
                .split('.')
                .map_while(|part| part.parse::<u32>().ok());
            let known = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
            if known < (2, 36) {
                Check::new("git", State::Fail, format!("{version} is too old"))
                    .fix("install git 2.36 or newer")
            } else {
                Check::new("git", State::Ok, version)
            }
        }
    }
}

async fn repository(place: Option<&Place>) -> Check {
    let Some(place) = place else {
        return Check::new(
            "repository",
            State::Warn,
            "there is none around this folder",
        )
        .fix("change into a repository, or make one with `git init`");
    };
    match survey::says("git", &["status", "--porcelain"], &place.root).await {
        None => Check::new(
            "repository",
            State::Fail,
            format!("git cannot read {}", Paths::shown(&place.root)),
        )
        .fix("run `git status` there"),
        Some(_)
            if survey::says(
                "git",
                &["rev-parse", "--verify", "--quiet", "HEAD"],
                &place.root,
            )
            .await
            .is_none() =>
        {
            Check::new("repository", State::Fail, "it has no commit yet").fix("make a first commit")
        }
        Some(status) => {
            let dirty = status
                .lines()
                .any(|line| !line.ends_with(" xiv.toml") && !line.ends_with(" .xiv/"));
            let root = Paths::shown(&place.root);
            if dirty {
                Check::new(
                    "repository",
                    State::Warn,
                    format!("{root} has uncommitted changes"),
                )
                .fix("commit or stash them, or use `xiv implement KEY --worktree`")
            } else {
                Check::new("repository", State::Ok, root)
            }
        }
    }
}

fn configuration(loaded: &Loaded, place: Option<&Place>) -> Check {
    let file = place.map(|place| place.main.join(REPO_FILE));
    match (&loaded.warnings[..], file) {
        ([first, ..], _) => Check::new("configuration", State::Warn, first),
        ([], Some(file)) if file.exists() => {
            Check::new("configuration", State::Ok, Paths::shown(&file))
        }
        ([], Some(_)) => Check::new(
            "configuration",
            State::Warn,
            format!("there is no {REPO_FILE}"),
        )
        .fix("write one: xiv init"),
        ([], None) => Check::new("configuration", State::Ok, "valid"),
    }
}

fn validation(loaded: &Loaded, place: Option<&Place>) -> Vec<Check> {
    let configured = &loaded.config.validate.commands;
    let Some(place) = place else {
        return Vec::new();
    };
    if !configured.is_empty() {
        let names: Vec<&str> = configured
            .iter()
            .map(|command| command.run.as_str())
            .collect();
        return vec![Check::new("validation", State::Ok, names.join("; "))];
    }
    let detected = survey::validation(&place.main);
    let lines: Vec<&str> = detected
        .commands
        .iter()
        .map(|command| command.run.as_str())
        .collect();
    let mut checks = vec![if lines.is_empty() {
        Check::new(
            "validation",
            State::Fail,
            "no command is configured and none was detected",
        )
        .fix("add one: [validate] commands = [ { name = \"test\", run = \"…\" } ]")
    } else {
        Check::new(
            "validation",
            State::Ok,
            format!("detected: {}", lines.join("; ")),
        )
    }];
    checks.extend(
        detected
            .skipped
            .into_iter()
            .map(|skipped| Check::new("validation", State::Warn, skipped)),
    );
    checks
}

async fn agents(loaded: &Loaded, place: Option<&Place>) -> Vec<Check> {
    let mut engines: BTreeMap<&str, Vec<AgentRole>> = BTreeMap::new();
    for role in [AgentRole::Plan, AgentRole::Implement, AgentRole::Review] {
        let engine = loaded.config.steps.of(role).engine.as_str();
        engines.entry(engine).or_default().push(role);
    }
    let root = place.map_or(Path::new("/"), |place| &place.main);
    let mut checks = Vec::new();
    for (engine, roles) in engines {
        let found = survey::look_at(engine, &loaded.config, root).await;
        let names: Vec<&str> = roles.iter().map(|role| role.as_str()).collect();
        let usable = found.installed && found.logged_in != Some(false);
        let needed = roles.iter().any(|role| *role != AgentRole::Review);
        let state = match (usable, needed) {
            (true, _) => State::Ok,
            (false, true) => State::Fail,
            // a missing review leaves the decision to validation
            (false, false) => State::Warn,
        };
        let version = found
            .version
            .as_deref()
            .map_or(String::new(), |v| format!("{v}, "));
        let what = match (&found.problem, found.logged_in) {
            (Some(problem), _) => problem.clone(),
            (None, Some(_)) => "logged in".to_owned(),
            (None, None) => "ready".to_owned(),
        };
        let check = Check::new(
            engine,
            state,
            format!("{version}{what} ({})", names.join(", ")),
        );
        checks.push(match found.fix {
            Some(fix) => check.fix(fix),
            None => check,
        });
    }
    checks
}

async fn record() -> Check {
    let look = async {
        let records = Records::of_user()?;
        let runs = records.store.list().await?;
        Ok::<_, CliError>((records.paths.state.clone(), runs.len()))
    };
    match look.await {
        Ok((state, runs)) => Check::new(
            "record",
            State::Ok,
            format!(
                "{}, {}",
                Paths::shown(&state),
                crate::story::count(runs, "run")
            ),
        ),
        Err(error) => {
            let check = Check::new("record", State::Fail, error.message);
            match error.hints.first() {
                Some(hint) => check.fix(hint),
                None => check,
            }
        }
    }
}

async fn surroundings(place: Option<&Place>) -> Vec<Check> {
    let root = place.map_or(Path::new("/"), |place| &place.root);
    let jj = survey::says("jj", &["--version"], root).await;
    let mut checks = vec![Check::new(
        "jj",
        State::Info,
        jj.unwrap_or_else(|| "not on PATH".to_owned()),
    )];
    if let Some(place) = place {
        let forge = survey::forge(place).await;
        checks.push(Check::new(
            "forge",
            State::Info,
            forge.unwrap_or_else(|| "no remote".to_owned()),
        ));
    }
    checks
}

fn in_words(check: &Check) -> String {
    let sign = match check.state {
        State::Ok => paint(GOOD, "✓"),
        State::Warn => paint(WARN, "!"),
        State::Fail => paint(BAD, "✗"),
        State::Info => paint(DIM, "·"),
    };
    let mut text = format!("{sign} {:<14} {}\n", check.name, check.what);
    if let Some(fix) = &check.fix {
        text.push_str(&format!(
            "  {:<14} {}\n",
            "",
            paint(HINT, format!("fix: {fix}"))
        ));
    }
    text
}
