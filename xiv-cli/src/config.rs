//! The configuration: `xiv.toml` over the user's file over the defaults, the
//! environment over the files, flags over all. Each setting remembers where it
//! comes from, and a key that nobody knows is an error.

mod duration;
mod env;
mod keys;
mod layer;
mod schema;
mod snapshot;

use std::collections::BTreeMap;
use std::path::Path;

use toml::Table;
use xiv_agents::tiers::{Engine, Tier};
use xiv_core::port::AgentRole;

pub(crate) use env::SHORT;
#[cfg(test)]
pub(crate) use env::{RESERVED, environment_keys};
pub(crate) use keys::{Config, Tracker};
pub(crate) use layer::{Layer, Origin, leaves};
pub(crate) use schema::schema;
pub(crate) use snapshot::{configured_commands, run_config};

use crate::error::CliError;
use crate::paths::{Paths, Place};

/// The file in a repository's root.
pub(crate) const REPO_FILE: &str = "xiv.toml";

/// The commented reference of every key with its default.
pub(crate) const REFERENCE: &str = include_str!("../assets/xiv.toml");

/// What the configuration is read from.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sources {
    tier: Option<String>,
    files: Vec<std::path::PathBuf>,
    vars: Vec<(String, String)>,
}

impl Sources {
    /// A repository's file alone.
    pub(crate) fn of_repository(root: &Path) -> Self {
        Self {
            files: vec![root.join(REPO_FILE)],
            ..Self::default()
        }
    }

    /// The user's file, the repository's and this process's environment.
    pub(crate) fn of_process(paths: &Paths, place: Option<&Place>) -> Self {
        let vars: Vec<(String, String)> = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect();
        let repo = place.map(|place| place.main.join(REPO_FILE));
        Self {
            tier: vars
                .iter()
                .find(|(name, _)| name == "XIV_TIER")
                .map(|(_, value)| value.clone()),
            files: [Some(paths.user_config.clone()), repo]
                .into_iter()
                .flatten()
                .collect(),
            vars,
        }
    }
}

/// The configuration with its origins.
#[derive(Debug, Clone)]
pub(crate) struct Loaded {
    /// The settings.
    pub(crate) config: Config,
    /// The same as a table, with the same keys as in a file.
    pub(crate) table: Table,
    /// What is odd, for standard error.
    pub(crate) warnings: Vec<String>,
    origins: BTreeMap<String, Origin>,
}

impl Loaded {
    /// Where a key comes from.
    pub(crate) fn origin(&self, key: &str) -> Origin {
        self.origins.get(key).cloned().unwrap_or(Origin::Default)
    }
}

/// Reads every source and lays them over each other, `flags` last.
///
/// # Errors
/// [`CliError::configuration`] naming the key and its place.
pub(crate) fn load(sources: &Sources, flags: Layer) -> Result<Loaded, CliError> {
    let tier = env::tier(sources.tier.as_deref())?;
    let mut layer = defaults(tier)?;
    let mut skips = Vec::new();
    let mut add = |layer: &mut Layer, over: Layer| {
        skips.extend(skip_of(&over));
        layer.overlay(over);
    };
    for path in &sources.files {
        if let Some(file) = read_file(path)? {
            add(&mut layer, file);
        }
    }
    let (vars, unknown) = env::read(sources.vars.iter().cloned())?;
    add(&mut layer, vars);
    add(&mut layer, flags);
    // this one switch is OR-ed: no source can take another one's wish back
    if let Some(origin) = skips.into_iter().next() {
        layer.set(&["loop", "skip_acceptance_review"], true, origin);
    }
    let config: Config = layer
        .table
        .clone()
        .try_into()
        .map_err(|e: toml::de::Error| {
            CliError::configuration("the configuration does not fit together")
                .with_cause(e.message().trim().to_owned())
        })?;
    let loaded = Loaded {
        config,
        table: layer.table,
        warnings: unknown
            .into_iter()
            .map(|name| format!("the environment variable {name} is not known to xiv"))
            .collect(),
        origins: layer.origins,
    };
    check(&loaded)?;
    Ok(loaded)
}

fn skip_of(layer: &Layer) -> Option<Origin> {
    let wished = layer
        .table
        .get("loop")?
        .get("skip_acceptance_review")?
        .as_bool()?;
    wished.then(|| layer.origins.get("loop.skip_acceptance_review").cloned())?
}

fn defaults(tier: Tier) -> Result<Layer, CliError> {
    let table = Table::try_from(Config::of_tier(tier)).map_err(|e| {
        CliError::new(
            xiv_core::model::ExitCode::Bug,
            "bug",
            "the default configuration cannot be written down",
        )
        .with_cause(e.to_string())
    })?;
    let mut origins = BTreeMap::new();
    for role in AgentRole::ALL {
        for key in SHORT {
            origins.insert(
                format!("steps.{role}.{key}"),
                Origin::Tier {
                    tier: tier.to_string(),
                },
            );
        }
    }
    Ok(Layer { table, origins })
}

fn read_file(path: &Path) -> Result<Option<Layer>, CliError> {
    match std::fs::read_to_string(path) {
        Ok(text) => Layer::from_file(path, &text).map(Some),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(e) if e.kind() == std::io::ErrorKind::NotADirectory => Ok(None),
        Err(e) => Err(
            CliError::configuration(format!("{} could not be read", path.display()))
                .with_cause(e.to_string()),
        ),
    }
}

/// What types cannot say.
fn check(loaded: &Loaded) -> Result<(), CliError> {
    let wrong = |key: &str, cause: String| {
        let place = match loaded.origin(key) {
            Origin::Default => String::new(),
            origin => format!(" (from {origin})"),
        };
        CliError::configuration(format!("key `{key}`{place} has a wrong value")).with_cause(cause)
    };
    let config = &loaded.config;
    for role in AgentRole::ALL {
        let key = format!("steps.{role}.engine");
        match config.steps.of(role).engine.parse::<Engine>() {
            Err(error) => return Err(wrong(&key, error.to_string())),
            Ok(Engine::Command(name)) if !config.agents.contains_key(&name) => {
                let cause = format!("there is no `[agents.{name}]`");
                let error = wrong(&key, cause);
                return Err(
                    match schema::closest(&name, config.agents.keys().map(String::as_str)) {
                        Some(word) => error.with_hint(format!("did you mean `command:{word}`?")),
                        None => error.with_hint(format!(
                            "add `[agents.{name}]` with `command = [\"program\", \"argument\"]`"
                        )),
                    },
                );
            }
            Ok(_) => {}
        }
    }
    for (name, agent) in &config.agents {
        if agent
            .command
            .first()
            .is_none_or(|program| program.trim().is_empty())
        {
            return Err(wrong(
                &format!("agents.{name}.command"),
                "it names no program".to_owned(),
            ));
        }
    }
    for command in &config.validate.commands {
        if command.name.trim().is_empty() || command.run.trim().is_empty() {
            return Err(wrong(
                "validate.commands",
                "a command needs a `name` and a `run` line".to_owned(),
            ));
        }
    }
    if config
        .base
        .as_deref()
        .is_some_and(|base| base.trim().is_empty())
    {
        return Err(wrong("base", "it is empty".to_owned()));
    }
    let money = [config.budget]
        .into_iter()
        .chain(AgentRole::ALL.map(|role| config.steps.of(role).budget))
        .filter_map(|budget| budget.usd);
    if let Some(bad) = money.into_iter().find(|usd| !usd.is_finite() || *usd < 0.0) {
        return Err(wrong("budget.usd", format!("{bad} is no amount of money")));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
