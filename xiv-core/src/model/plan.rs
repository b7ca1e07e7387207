//! What the planning and the implementing agent hand back.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How an issue will be implemented.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Plan {
    /// Markdown.
    pub summary: String,
    /// At least one, in order.
    #[schemars(length(min = 1))]
    #[serde(deserialize_with = "at_least_one")]
    pub steps: Vec<String>,
}

fn at_least_one<'de, D: serde::Deserializer<'de>>(d: D) -> Result<Vec<String>, D::Error> {
    let steps = Vec::<String>::deserialize(d)?;
    if steps.is_empty() {
        return Err(serde::de::Error::invalid_length(0, &"at least one step"));
    }
    Ok(steps)
}

/// What the implementing agent says it did. The work tree is the result; this
/// is only its account of it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImplementReport {
    /// Markdown.
    pub summary: String,
    /// Repository-relative paths.
    #[serde(default)]
    pub files_changed: Vec<String>,
    /// One entry per acceptance criterion that the agent claims to meet.
    #[serde(default)]
    pub evidence: Vec<Evidence>,
}

/// Why an acceptance criterion should count as met.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Evidence {
    /// The criterion, as the issue words it.
    pub criterion: String,
    /// What shows that it is met.
    pub text: String,
    /// Files where that can be seen.
    #[serde(default)]
    pub paths: Vec<String>,
}
