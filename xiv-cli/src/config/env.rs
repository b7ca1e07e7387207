//! Settings from the environment: `XIV_` and the path in upper case with `__`
//! between the levels, and a few short names.

use toml::Value;
use xiv_agents::tiers::Tier;
use xiv_core::port::AgentRole;

use super::keys::Config;
use super::layer::{Layer, Origin};
use super::schema::Shape;
use crate::error::CliError;

/// Variables that xiv sets or reads itself and that are no settings.
pub(crate) const RESERVED: [&str; 10] = [
    "XIV_RUN_ID",
    "XIV_MARK",
    "XIV_ROLE",
    "XIV_PASS",
    "XIV_RESULT_FILE",
    "XIV_SCHEMA_FILE",
    "XIV_HOME",
    "XIV_LOG",
    "XIV_TIER",
    "XIV_PEERS",
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
        .filter(|(name, _)| name.starts_with("XIV_") && !RESERVED.contains(&name.as_str()))
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
