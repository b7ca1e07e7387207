//! Settings from the environment: `XIV_` and the path in upper case with `__`
//! between the levels, and a few short names.

use toml::Value;
use xiv_agents::tiers::Tier;
use xiv_core::port::AgentRole;

use super::keys::Config;
use super::layer::{Layer, Origin};
use super::schema::Shape;
use crate::error::CliError;

/// Variables that xiv sets or reads itself and that are no settings, and what
/// they mean.
pub(crate) const RESERVED: [(&str, &str); 10] = [
    (
        "XIV_HOME",
        "one folder for state and the user's configuration",
    ),
    (
        "XIV_TIER",
        "which models the steps use unless configured: `cheap` or `quality`",
    ),
    (
        "XIV_LOG",
        "what to trace on standard error, such as `debug`",
    ),
    ("XIV_RUN_ID", "set for agents and validation: the run"),
    ("XIV_ROLE", "set for agents: the step"),
    (
        "XIV_PASS",
        "set for agents: the pass, from 1; unset outside passes",
    ),
    (
        "XIV_RESULT_FILE",
        "set for agents: where a `command` agent may write its result",
    ),
    (
        "XIV_SCHEMA_FILE",
        "set for agents: the JSON Schema of that result",
    ),
    (
        "XIV_MARK",
        "set for all programs of a run, so that what they leave running is found",
    ),
    (
        "XIV_PEERS",
        "for xiv's own tests: which real programs they use",
    ),
];

/// The keys of a step that have a short name, such as `XIV_REVIEW_MODEL`.
pub(crate) const SHORT: [&str; 3] = ["engine", "model", "effort"];

/// The settings of the environment, and the names that nobody knows.
///
/// # Errors
/// [`CliError::configuration`] when a known variable has a wrong value.
pub(crate) fn read(
    vars: impl IntoIterator<Item = (String, String)>,
) -> Result<(Layer, Vec<String>), CliError> {
    let mut layer = Layer::default();
    let mut unknown = Vec::new();
    let mut vars: Vec<_> = vars
        .into_iter()
        .filter(|(name, _)| name.starts_with("XIV_") && !is_reserved(name))
        .collect();
    vars.sort();
    for (name, text) in vars {
        match path_of(&name) {
            None => unknown.push(name),
            Some((path, shape)) => set(&mut layer, name, &path, shape, &text)?,
        }
    }
    Ok((layer, unknown))
}

fn is_reserved(name: &str) -> bool {
    RESERVED.iter().any(|(reserved, _)| *reserved == name)
}

/// Every variable that is a setting, with the setting's key, in the order of
/// the schema. Tables with free names are left out.
#[cfg(test)]
pub(crate) fn environment_keys() -> Vec<(String, String)> {
    fn collect(shape: Shape<'_>, prefix: &[&str], out: &mut Vec<(String, String)>) {
        for name in shape.names() {
            let path = [prefix, &[name]].concat();
            match shape.child(name) {
                Some(inner) if inner.is_table() => collect(inner, &path, out),
                _ => out.push((
                    format!("XIV_{}", path.join("__").to_uppercase()),
                    path.join("."),
                )),
            }
        }
    }
    let mut out = Vec::new();
    collect(Shape::root(), &[], &mut out);
    out
}

/// The tier of `XIV_TIER`.
///
/// # Errors
/// [`CliError::configuration`] for a word that is no tier.
pub(crate) fn tier(value: Option<&str>) -> Result<Tier, CliError> {
    value.map_or(Ok(Tier::default()), |word| {
        word.parse().map_err(|e: xiv_agents::tiers::UnknownTier| {
            CliError::configuration("XIV_TIER has a wrong value").with_cause(e.to_string())
        })
    })
}

fn path_of(name: &str) -> Option<(Vec<String>, Shape<'static>)> {
    let rest = name.strip_prefix("XIV_")?.to_ascii_lowercase();
    let long: Vec<String> = rest.split("__").map(str::to_owned).collect();
    let short = || {
        let (step, key) = rest.split_once('_')?;
        let known = AgentRole::ALL.iter().any(|role| role.as_str() == step);
        (known && SHORT.contains(&key))
            .then(|| vec!["steps".to_owned(), step.to_owned(), key.to_owned()])
    };
    let find = |path: Vec<String>| {
        let mut shape = Shape::root();
        for key in &path {
            shape = shape.child(key)?;
        }
        (!shape.is_table()).then_some((path, shape))
    };
    find(long).or_else(|| find(short()?))
}

fn set(
    layer: &mut Layer,
    name: String,
    path: &[String],
    shape: Shape<'_>,
    text: &str,
) -> Result<(), CliError> {
    let wrong = |cause: String| {
        CliError::configuration(format!("{name} has a wrong value {text:?}")).with_cause(cause)
    };
    let value = if shape.has_type("array") {
        #[derive(serde::Deserialize)]
        struct Holder {
            value: Value,
        }
        toml::from_str::<Holder>(&format!("value = {text}"))
            .map_err(|e| wrong(format!("expected a TOML array: {}", e.message().trim())))?
            .value
    } else if shape.has_type("boolean") {
        text.parse()
            .map(Value::Boolean)
            .map_err(|_| wrong("expected `true` or `false`".to_owned()))?
    } else if shape.has_type("integer") {
        text.parse()
            .map(Value::Integer)
            .map_err(|_| wrong("expected a whole number".to_owned()))?
    } else if shape.has_type("number") {
        text.parse()
            .map(Value::Float)
            .map_err(|_| wrong("expected a number".to_owned()))?
    } else {
        Value::String(text.to_owned())
    };
    let keys: Vec<&str> = path.iter().map(String::as_str).collect();
    // the value alone must make a valid configuration, so that a fault is
    // reported with the variable's name
    let mut alone = Layer::default();
    alone.set(&keys, value.clone(), Origin::Default);
    alone
        .table
        .try_into::<Config>()
        .map_err(|e| wrong(e.message().trim().to_owned()))?;
    layer.set(&keys, value, Origin::Env { name });
    Ok(())
}
