//! `order-issues`: the order in which issues that block each other can be done.

use schemars::JsonSchema;
use serde::Deserialize;
use xiv_core::policy::order::{Order, OrderIssue, order};

use super::input;
use crate::error::CliError;

/// The input.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct OrderIssuesInput {
    /// The issues, in any order.
    issues: Vec<OrderIssue>,
}

pub(super) fn answer(given: &OrderIssuesInput) -> Result<Order, CliError> {
    let nameless = |key: &String| key.trim().is_empty();
    if given.issues.iter().any(|issue| nameless(&issue.key)) {
        return Err(input::bad("an issue has an empty key"));
    }
    Ok(order(&given.issues))
}
