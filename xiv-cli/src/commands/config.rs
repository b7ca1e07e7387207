//! `xiv config`: what is set, and where; what can be set.

use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use xiv_core::model::ExitCode;

use crate::config::{Config, Layer, Loaded, Origin, Sources, leaves, load, schema};
use crate::error::CliError;
use crate::paths::{Paths, Place};
use crate::ui::Ui;

/// Show the configuration, or what can be configured.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum ConfigCommand {
    /// Show every setting as it is in force here.
    Show {
        /// Say where each setting comes from.
        #[arg(long)]
        origin: bool,
    },
    /// Write a commented `xiv.toml` with every key and its default.
    Reference,
    /// Write the JSON Schema of `xiv.toml`.
    Schema,
}

/// The settings in force and where each comes from.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ShownConfig {
    /// The settings, as a file would hold them.
    #[schemars(with = "Config")]
    config: toml::Table,
    /// The place of each setting, by its dotted path.
    origins: BTreeMap<String, Origin>,
}

/// Shows it.
///
/// # Errors
/// When the configuration is wrong.
pub(crate) fn run(command: &ConfigCommand, ui: Ui) -> Result<ExitCode, CliError> {
    match command {
        ConfigCommand::Reference if ui.is_json() => {
            ui.document(&crate::config::Config::default())?;
        }
        ConfigCommand::Reference => ui.raw(crate::config::REFERENCE.as_bytes())?,
        ConfigCommand::Schema => ui.document(schema())?,
        ConfigCommand::Show { origin } => {
            let loaded = load_here(Layer::default())?;
            for warning in &loaded.warnings {
                ui.warn(warning);
            }
            if ui.is_json() {
                ui.document(&shown(&loaded))?;
            } else if *origin {
                ui.result(with_origins(&loaded))?;
            } else {
                ui.result(toml::to_string(&loaded.table).map_err(|e| {
                    CliError::new(
                        ExitCode::Bug,
                        "bug",
                        "the settings cannot be written as TOML",
                    )
                    .with_cause(e.to_string())
                })?)?;
            }
        }
    }
    Ok(ExitCode::Done)
}

/// The configuration that is in force in the current folder.
///
/// # Errors
/// When it is wrong.
pub(crate) fn load_here(flags: Layer) -> Result<Loaded, CliError> {
    let place = std::env::current_dir()
        .ok()
        .and_then(|dir| Place::find(&dir));
    load(
        &Sources::of_process(&Paths::from_env()?, place.as_ref()),
        flags,
    )
}

fn shown(loaded: &Loaded) -> ShownConfig {
    ShownConfig {
        config: loaded.table.clone(),
        origins: leaves(&loaded.table)
            .into_iter()
            .map(|key| {
                let origin = loaded.origin(&key);
                (key, origin)
            })
            .collect(),
    }
}

fn with_origins(loaded: &Loaded) -> String {
    let lines: Vec<(String, Origin)> = leaves(&loaded.table)
        .into_iter()
        .filter_map(|key| {
            let value = key
                .split('.')
                .try_fold(None, |at: Option<&toml::Value>, part| {
                    let next = at.map_or_else(|| loaded.table.get(part), |value| value.get(part));
                    next.map(Some)
                })??;
            Some((format!("{key} = {value}"), loaded.origin(&key)))
        })
        .collect();
    let width = lines
        .iter()
        .map(|(line, _)| line.len())
        .max()
        .unwrap_or(0)
        .min(60);
    lines
        .into_iter()
        .map(|(line, origin)| format!("{line:width$}  # {origin}\n"))
        .collect()
}
