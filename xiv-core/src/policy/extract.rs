//! Finding an agent's answer in what it returned.

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::model::{ImplementReport, LocalReview, Plan};

/// A type that can be looked for in an agent's text.
pub trait Extract {
    /// The field that tells such an object from any other JSON.
    const KEY: &'static str;
}

impl Extract for LocalReview {
    const KEY: &'static str = "verdict";
}

impl Extract for Plan {
    const KEY: &'static str = "steps";
}

impl Extract for ImplementReport {
    const KEY: &'static str = "summary";
}

/// Why there is no answer in a text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ExtractError {
    /// The answer is not of the wanted form.
    #[error("the answer does not fit: {0}")]
    Schema(String),
}

/// Takes the structured answer, else looks in the text.
///
/// # Errors
/// [`ExtractError`] when neither holds such a value.
pub fn from_reply<T: Extract + DeserializeOwned>(
    json: Option<&Value>,
    text: &str,
) -> Result<T, ExtractError> {
    match json {
        Some(value) => T::deserialize(value),
        None => serde_json::from_str(text),
    }
    .map_err(|e| ExtractError::Schema(e.to_string()))
}
