//! `place-findings`: on which line of a diff each finding can stand.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;
use xiv_core::model::{Diff, Finding, LocalReview, Verdict};
use xiv_core::policy::place::{Placement, place};

use super::input;
use crate::error::CliError;

/// Arguments of `place-findings`.
#[derive(Debug, clap::Args)]
pub(crate) struct PlaceFindingsArgs {
    /// The unified git diff that the review is about.
    #[arg(long, value_name = "FILE")]
    diff: PathBuf,
}

/// The input: a review with nothing beside its fields.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct PlaceFindingsInput {
    /// The judgement.
    verdict: Verdict,
    /// Markdown.
    summary: String,
    /// Remarks.
    #[serde(default)]
    findings: Vec<Finding>,
    /// Paths that were looked at.
    #[serde(default)]
    reviewed: Vec<String>,
}

pub(super) fn answer(
    given: &PlaceFindingsInput,
    args: &PlaceFindingsArgs,
) -> Result<Placement, CliError> {
    let name = args.diff.display();
    let diff = std::fs::read(&args.diff).map_err(|error| {
        CliError::usage(format!("the diff {name} cannot be read")).with_cause(error.to_string())
    })?;
    let diff = Diff::parse(&diff).map_err(|error| input::bad(error.to_string()))?;
    let review = LocalReview {
        reviewed: given.reviewed.clone(),
        ..LocalReview::new(given.verdict, given.summary.clone())
    };
    Ok(place(&review.with_findings(given.findings.clone()), &diff))
}
