//! The configuration's JSON Schema: printed by `xiv config schema`, and used to
//! tell known keys from unknown ones.

use std::sync::OnceLock;

use serde_json::Value;

use super::keys::Config;

/// The schema of the configuration, with every subschema in place.
pub(crate) fn schema() -> &'static Value {
    static SCHEMA: OnceLock<Value> = OnceLock::new();
    SCHEMA.get_or_init(|| {
        let mut settings = schemars::generate::SchemaSettings::draft2020_12();
        settings.inline_subschemas = true;
        settings
            .into_generator()
            .into_root_schema_for::<Config>()
            .to_value()
    })
}

/// A place in the schema.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape<'s>(&'s Value);

impl Shape<'static> {
    /// The whole document.
    pub(crate) fn root() -> Self {
        Self(schema())
    }
}

impl<'s> Shape<'s> {
    /// What a key of this table holds; `None` when there is no such key.
    pub(crate) fn child(self, key: &str) -> Option<Self> {
        let known = self.0.get("properties").and_then(|keys| keys.get(key));
        let free = || self.0.get("additionalProperties").filter(|v| v.is_object());
        known.or_else(free).map(Self)
    }

    /// What an array holds.
    pub(crate) fn items(self) -> Option<Self> {
        self.0.get("items").map(Self)
    }

    /// The keys of this table.
    pub(crate) fn names(self) -> impl Iterator<Item = &'s str> {
        self.0
            .get("properties")
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
            .map(|(name, _)| name.as_str())
    }

    /// Whether this is a table.
    pub(crate) fn is_table(self) -> bool {
        self.has_type("object")
    }

    /// Whether a value of this JSON type may stand here.
    pub(crate) fn has_type(self, wanted: &str) -> bool {
        match self.0.get("type") {
            Some(Value::String(one)) => one == wanted,
            Some(Value::Array(many)) => many.iter().any(|one| one == wanted),
            _ => false,
        }
    }
}

/// The word that was probably meant.
pub(crate) fn closest<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> Option<String> {
    let score = |candidate: &str| {
        let (word, candidate) = (word.replace('-', "_"), candidate.to_owned());
        if candidate.starts_with(&word) || word.starts_with(&candidate) {
            0.9
        } else {
            strsim::jaro_winkler(&word, &candidate)
        }
    };
    known
        .map(|candidate| (candidate, score(candidate)))
        .filter(|(_, score)| *score > 0.75)
        .max_by(|a, b| a.1.total_cmp(&b.1))
        .map(|(candidate, _)| candidate.to_owned())
}
