//! `xiv plumbing`: the pure rules, for scripts and other programs.
//!
//! Each rule is a few lines over the library function that the flows use. It
//! reads standard input, writes one JSON document (`redact`: text) and touches
//! nothing: no repository, no configuration, no network, no runtime. The words
//! for people may change; these may not.

mod criteria;
mod diff_files;
mod done_gate;
mod guard;
mod input;
mod order_issues;
mod parse_review;
mod place_findings;
mod redact;

#[cfg(test)]
pub(crate) use {
    guard::GuardAnswer, order_issues::OrderIssuesInput, parse_review::ParsedReview,
    place_findings::PlaceFindingsInput,
};

use std::io::{Read, Write};

use clap::Subcommand;
use serde::Serialize;
use xiv_core::model::ExitCode;

use crate::error::CliError;

/// Answer one of xiv's rules: standard input to one JSON document.
///
/// Exit code 0 means answered, also when the answer is "refused" or "no
/// review"; 2 means that the input is not of the documented form. The forms of
/// input and output are in schemas/plumbing.
#[derive(Debug, Subcommand)]
pub(crate) enum PlumbingCommand {
    /// Find the review in an agent's final text.
    ParseReview,
    /// Play a scripted run through the done gate.
    DoneGate,
    /// List the files and commentable lines of a unified git diff.
    DiffFiles,
    /// Say where each finding of a review goes: on a line or in the body.
    PlaceFindings(place_findings::PlaceFindingsArgs),
    /// Find the acceptance criteria in a Markdown text.
    Criteria,
    /// Order issues that block each other.
    OrderIssues,
    /// Mask the secrets in a text.
    Redact,
    /// Judge a command line that an agent tries to run.
    Guard(guard::GuardArgs),
}

/// Answers the rule.
///
/// # Errors
/// When the input is not of the documented form, or a stream breaks.
pub(crate) fn run(
    command: &PlumbingCommand,
    stdin: &mut dyn Read,
    stdout: &mut dyn Write,
) -> Result<ExitCode, CliError> {
    let answer = match command {
        PlumbingCommand::ParseReview => json(&parse_review::answer(&input::text(stdin)?))?,
        PlumbingCommand::DoneGate => json(&done_gate::answer(&input::json(stdin)?)?)?,
        PlumbingCommand::DiffFiles => json(&diff_files::answer(&input::bytes(stdin)?)?)?,
        PlumbingCommand::PlaceFindings(args) => {
            json(&place_findings::answer(&input::json(stdin)?, args)?)?
        }
        PlumbingCommand::Criteria => json(&criteria::answer(&input::text(stdin)?))?,
        PlumbingCommand::OrderIssues => json(&order_issues::answer(&input::json(stdin)?)?)?,
        PlumbingCommand::Redact => redact::answer(&input::bytes(stdin)?),
        PlumbingCommand::Guard(args) => json(&guard::answer(args))?,
    };
    match stdout.write_all(&answer).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(CliError::io("standard output cannot be written", &error))
        }
        _ => Ok(ExitCode::Done),
    }
}

/// One line of JSON.
fn json(answer: &impl Serialize) -> Result<Vec<u8>, CliError> {
    let mut line = serde_json::to_vec(answer).map_err(|error| {
        CliError::new(ExitCode::Bug, "bug", "the answer is not JSON").with_cause(error.to_string())
    })?;
    line.push(b'\n');
    Ok(line)
}
