//! `parse-review`: the review in an agent's final text, or why there is none.

use schemars::JsonSchema;
use serde::Serialize;
use xiv_core::model::LocalReview;
use xiv_core::policy::extract::{ExtractError, from_reply};

/// The answer: a review or an error.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) enum ParsedReview {
    /// The review.
    Review(LocalReview),
    /// There is none.
    Error(ParseError),
}

/// Why there is no review.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ParseError {
    /// What to branch on.
    #[schemars(with = "ParseErrorKind")]
    kind: &'static str,
    /// For people.
    message: String,
}

/// The kinds of errors.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "the words of the schema")]
enum ParseErrorKind {
    /// There is text, but no JSON object in it.
    NoJson,
    /// What looks like the review is broken or cut.
    InvalidJson,
    /// It is not of the form of a review.
    Schema,
    /// It has no verdict.
    NoVerdict,
    /// There is no text.
    Empty,
}

pub(super) fn answer(text: &str) -> ParsedReview {
    match from_reply::<LocalReview>(None, text) {
        Ok(review) => ParsedReview::Review(review),
        Err(error) => ParsedReview::Error(described(&error)),
    }
}

fn described(error: &ExtractError) -> ParseError {
    ParseError {
        kind: error.kind(),
        message: error.to_string(),
    }
}
