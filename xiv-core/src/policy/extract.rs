//! Finding an agent's answer in what it returned.
//!
//! Engines with a structured channel hand over JSON; from the others there is
//! a text with an object somewhere in it. The rule is strict because a wrong
//! verdict ends the loop: only the **last** complete top-level object that has
//! the type's key field counts. If that one does not fit there is no answer;
//! an earlier draft is never used, nothing is repaired, and prose is never an
//! answer.

mod checked;
mod scan;
mod unknown;

#[cfg(test)]
mod tests;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::model::{ImplementReport, LocalReview, Plan};
use scan::{Found, scan};

/// A type that can be looked for in an agent's text.
pub trait Extract {
    /// The field that tells such an object from any other JSON.
    const KEY: &'static str;

    /// Whether the key field's value says nothing, so that the object counts
    /// as one without it. Default: null does.
    #[must_use]
    fn is_blank(value: &Value) -> bool {
        value.is_null()
    }
}

impl Extract for LocalReview {
    const KEY: &'static str = "verdict";

    fn is_blank(value: &Value) -> bool {
        value.is_null() || value.as_str().is_some_and(|word| word.trim().is_empty())
    }
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
    /// There is no text.
    #[error("the answer is empty")]
    Empty,
    /// There is text, but no JSON object in it.
    #[error("the answer holds no JSON object")]
    NoJson,
    /// What looks like the answer is broken or cut.
    #[error("the answer's JSON is broken: {0}")]
    InvalidJson(String),
    /// No top-level object has the key field, or it says nothing.
    #[error("no JSON object of the answer has a `{0}`")]
    NoKey(&'static str),
    /// The answer is not of the wanted form.
    #[error("the answer does not fit: {0}")]
    Schema(String),
}

impl ExtractError {
    /// The error's kind in the vocabulary of reviews: `noJson`, `invalidJson`,
    /// `schema`, `noVerdict` or `empty`.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::NoJson => "noJson",
            Self::InvalidJson(_) => "invalidJson",
            Self::NoKey(_) => "noVerdict",
            Self::Schema(_) => "schema",
        }
    }
}

/// An answer and what was ignored in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extracted<T> {
    /// The answer.
    pub value: T,
    /// Fields that the type does not know, by their path: `findings[0].score`.
    pub unknown: Vec<String>,
}

/// Takes the structured answer, else looks in the text.
///
/// # Errors
/// [`ExtractError`] when there is no such value. A structured answer that does
/// not fit is not made up for by the text.
pub fn from_reply<T: Extract + DeserializeOwned>(
    json: Option<&Value>,
    text: &str,
) -> Result<T, ExtractError> {
    parse(answer::<T>(json, text)?.as_ref())
}

/// As [`from_reply`], and names the fields that were ignored.
///
/// # Errors
/// As [`from_reply`].
pub fn from_reply_noting<T: Extract + DeserializeOwned + Serialize>(
    json: Option<&Value>,
    text: &str,
) -> Result<Extracted<T>, ExtractError> {
    let answer = answer::<T>(json, text)?;
    let value = parse::<T>(answer.as_ref())?;
    let unknown = unknown::fields(answer.as_ref(), &value);
    Ok(Extracted { value, unknown })
}

/// The one object that has to be the answer.
fn answer<'a, T: Extract>(
    json: Option<&'a Value>,
    text: &str,
) -> Result<std::borrow::Cow<'a, Value>, ExtractError> {
    use std::borrow::Cow::{Borrowed, Owned};

    let answer = match json {
        Some(value) if !value.is_null() => {
            if value.get(T::KEY).is_none() {
                return Err(ExtractError::NoKey(T::KEY));
            }
            Borrowed(value)
        }
        _ => Owned(last_in_text(text, T::KEY)?),
    };
    if answer.get(T::KEY).is_none_or(T::is_blank) {
        return Err(ExtractError::NoKey(T::KEY));
    }
    Ok(answer)
}

fn parse<T: DeserializeOwned>(answer: &Value) -> Result<T, ExtractError> {
    T::deserialize(answer).map_err(|e| ExtractError::Schema(e.to_string()))
}

/// The last complete top-level object with the key, unless something broken
/// that names the key stands after it.
fn last_in_text(text: &str, key: &'static str) -> Result<Value, ExtractError> {
    if text.trim().is_empty() {
        return Err(ExtractError::Empty);
    }
    let mut last = None;
    let mut broken = None;
    let mut other = false;
    for found in scan(text, key) {
        match found {
            Found::Complete(json) if json.value.get(key).is_some() => {
                (last, broken) = (Some(json), None);
            }
            Found::Complete(_) => other = true,
            Found::Broken { names_key, error } => {
                if names_key || (last.is_none() && broken.is_none()) {
                    (last, broken) = (None, Some((names_key, error)));
                }
            }
        }
    }
    match (last, broken) {
        (Some(json), _) => match json.doubled {
            Some(name) => Err(ExtractError::Schema(format!("`{name}` is given twice"))),
            None => Ok(json.value),
        },
        (None, Some((names_key, error))) if names_key || !other => {
            Err(ExtractError::InvalidJson(error))
        }
        (None, _) if other => Err(ExtractError::NoKey(key)),
        (None, _) => Err(ExtractError::NoJson),
    }
}
