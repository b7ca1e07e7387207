//! One source of settings: a file, the environment or the command line, read
//! into a table with the place that each key comes from.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Serialize;
use toml::de::{DeTable, DeValue};
use toml::{Spanned, Table, Value};

use super::keys::Config;
use super::schema::{Shape, closest};
use crate::error::CliError;

/// Where a setting comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "source", rename_all = "camelCase")]
pub(crate) enum Origin {
    /// Built in.
    Default,
    /// The table of agents.
    Tier {
        /// The tier's name.
        tier: String,
    },
    /// A configuration file.
    File {
        /// Its path.
        path: PathBuf,
        /// The line.
        line: usize,
    },
    /// An environment variable.
    Env {
        /// Its name.
        name: String,
    },
    /// A flag.
    Flag {
        /// Its name with its dashes.
        name: String,
    },
}

impl std::fmt::Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::Tier { tier } => write!(f, "tier {tier}"),
            Self::File { path, line } => write!(f, "{}:{line}", path.display()),
            Self::Env { name } => f.write_str(name),
            Self::Flag { name } => f.write_str(name),
        }
    }
}

/// The settings of one source.
#[derive(Debug, Clone, Default)]
pub(crate) struct Layer {
    /// The settings.
    pub(crate) table: Table,
    /// The place of each leaf, by its dotted path.
    pub(crate) origins: BTreeMap<String, Origin>,
}

impl Layer {
    /// Reads a configuration file.
    ///
    /// # Errors
    /// [`CliError::configuration`] with every unknown key, or the first value
    /// of a wrong type.
    pub(crate) fn from_file(path: &Path, text: &str) -> Result<Self, CliError> {
        let broken = |error: &toml::de::Error| {
            let place = error.span().map_or(String::new(), |span| {
                format!(":{}", line_of(text, span.start))
            });
            CliError::configuration(format!("{}{place} is not valid", path.display()))
                .with_cause(error.message().trim().to_owned())
        };
        let document = DeTable::parse(text).map_err(|e| broken(&e))?;
        let mut unknown = Vec::new();
        let mut spans = BTreeMap::new();
        walk(
            document.get_ref(),
            &mut Vec::new(),
            Shape::root(),
            &mut unknown,
            &mut spans,
        );
        if !unknown.is_empty() {
            return Err(report_unknown(path, text, &unknown));
        }
        if let Err(error) = toml::from_str::<Config>(text) {
            return Err(report_type(path, text, &spans, &error));
        }
        let table = toml::from_str::<Table>(text).map_err(|e| broken(&e))?;
        let origins = leaves(&table)
            .into_iter()
            .map(|key| {
                let start = spans
                    .get(&key)
                    .map_or(0, |place: &Range<usize>| place.start);
                let origin = Origin::File {
                    path: path.to_owned(),
                    line: line_of(text, start),
                };
                (key, origin)
            })
            .collect();
        Ok(Self { table, origins })
    }

    /// Sets one key by its path.
    pub(crate) fn set(&mut self, path: &[&str], value: impl Into<Value>, origin: Origin) {
        let Some((last, parents)) = path.split_last() else {
            return;
        };
        let mut table = &mut self.table;
        for name in parents {
            let entry = table
                .entry((*name).to_owned())
                .or_insert_with(|| Value::Table(Table::new()));
            if !entry.is_table() {
                *entry = Value::Table(Table::new());
            }
            let Value::Table(inner) = entry else { return };
            table = inner;
        }
        table.insert((*last).to_owned(), value.into());
        self.origins.insert(path.join("."), origin);
    }

    /// Lays another source over this one. Tables are merged, everything else is
    /// replaced. A step that gets another engine loses the model and effort
    /// that were chosen for the old one.
    pub(crate) fn overlay(&mut self, over: Self) {
        for (step, settings) in tables(&over.table, "steps") {
            let engine = settings.get("engine");
            let old = self
                .table
                .get_mut("steps")
                .and_then(|steps| steps.get_mut(step))
                .and_then(Value::as_table_mut);
            if let (Some(engine), Some(old)) = (engine, old)
                && old.get("engine") != Some(engine)
            {
                for key in ["model", "effort"] {
                    old.remove(key);
                    self.origins.remove(&format!("steps.{step}.{key}"));
                }
            }
        }
        merge(&mut self.table, over.table);
        self.origins.extend(over.origins);
    }
}

fn tables<'t>(table: &'t Table, key: &str) -> impl Iterator<Item = (&'t String, &'t Table)> {
    table
        .get(key)
        .and_then(Value::as_table)
        .into_iter()
        .flatten()
        .filter_map(|(name, value)| Some((name, value.as_table()?)))
}

fn merge(under: &mut Table, over: Table) {
    for (key, value) in over {
        match (under.get_mut(&key), value) {
            (Some(Value::Table(under)), Value::Table(over)) => merge(under, over),
            (_, value) => {
                under.insert(key, value);
            }
        }
    }
}

/// The dotted paths of everything that is not a table.
pub(crate) fn leaves(table: &Table) -> Vec<String> {
    fn collect(table: &Table, prefix: &str, out: &mut Vec<String>) {
        for (key, value) in table {
            let path = if prefix.is_empty() {
                key.clone()
            } else {
                format!("{prefix}.{key}")
            };
            match value {
                Value::Table(inner) => collect(inner, &path, out),
                _ => out.push(path),
            }
        }
    }
    let mut out = Vec::new();
    collect(table, "", &mut out);
    out
}

struct UnknownKey {
    path: String,
    at: usize,
    suggestion: Option<String>,
}

fn walk(
    table: &DeTable<'_>,
    prefix: &mut Vec<String>,
    shape: Shape<'_>,
    unknown: &mut Vec<UnknownKey>,
    spans: &mut BTreeMap<String, Range<usize>>,
) {
    for (key, value) in table {
        let name = key.get_ref().to_string();
        prefix.push(name.clone());
        let path = prefix.join(".");
        match shape.child(&name) {
            None => unknown.push(UnknownKey {
                path,
                at: key.span().start,
                suggestion: closest(&name, shape.names()),
            }),
            Some(inner) => {
                spans.insert(path, key.span().start..value.span().end);
                walk_value(value, prefix, inner, unknown, spans);
            }
        }
        prefix.pop();
    }
}

fn walk_value(
    value: &Spanned<DeValue<'_>>,
    prefix: &mut Vec<String>,
    shape: Shape<'_>,
    unknown: &mut Vec<UnknownKey>,
    spans: &mut BTreeMap<String, Range<usize>>,
) {
    match value.get_ref() {
        // where the schema wants no table, the type check says so
        DeValue::Table(inner) if shape.is_table() => walk(inner, prefix, shape, unknown, spans),
        DeValue::Array(items) => {
            if let Some(item_shape) = shape.items() {
                for (index, item) in items.iter().enumerate() {
                    prefix.push(index.to_string());
                    walk_value(item, prefix, item_shape, unknown, spans);
                    prefix.pop();
                }
            }
        }
        _ => {}
    }
}

fn report_unknown(path: &Path, text: &str, unknown: &[UnknownKey]) -> CliError {
    let place = |key: &UnknownKey| format!("{}:{}", path.display(), line_of(text, key.at));
    let mut error = match unknown {
        [only] => CliError::configuration(format!("{}: unknown key `{}`", place(only), only.path)),
        many => many.iter().fold(
            CliError::configuration(format!("{} has unknown keys", path.display())),
            |error, key| error.with_cause(format!("{}: `{}`", place(key), key.path)),
        ),
    };
    for key in unknown {
        if let Some(word) = &key.suggestion {
            error = error.with_hint(format!(
                "did you mean `{word}` instead of `{}`?",
                last(&key.path)
            ));
        }
    }
    error.with_hint("`xiv config schema` lists every key")
}

fn last(path: &str) -> &str {
    path.rsplit('.').next().unwrap_or(path)
}

fn report_type(
    path: &Path,
    text: &str,
    spans: &BTreeMap<String, Range<usize>>,
    error: &toml::de::Error,
) -> CliError {
    let at = error.span().unwrap_or(0..0).start;
    // the innermost key whose text covers the fault, else the last one of its line
    let covering = spans
        .iter()
        .filter(|(_, span)| span.contains(&at))
        .min_by_key(|(_, span)| span.len());
    let on_line = || {
        spans
            .iter()
            .filter(|(_, span)| line_of(text, span.start) == line_of(text, at))
            .max_by_key(|(key, _)| key.len())
    };
    let key = covering
        .or_else(on_line)
        .map_or(String::new(), |(key, _)| format!(": key `{key}`"));
    CliError::configuration(format!(
        "{}:{}{key} has a wrong value",
        path.display(),
        line_of(text, at)
    ))
    .with_cause(error.message().trim().to_owned())
}

fn line_of(text: &str, offset: usize) -> usize {
    text.as_bytes()
        .iter()
        .take(offset)
        .filter(|byte| **byte == b'\n')
        .count()
        + 1
}
