//! `xiv run explain`.

use xiv_core::flow::PassValidation;
use xiv_core::model::ExitCode;
use xiv_core::port::Journal;

use super::RunArg;
use crate::error::CliError;
use crate::records::Records;
use crate::runtime::block_on;
use crate::story::{Explanation, PassExplanation, explain};
use crate::ui::{
    Ui,
    style::{BAD, GOOD, HEAD, paint},
};

/// Say why each pass was judged as it was.
#[derive(Debug, clap::Args)]
pub(crate) struct ExplainArgs {
    #[command(flatten)]
    run: RunArg,
    /// Decide again from the recorded inputs; exit 1 when a decision differs.
    #[arg(long)]
    verify: bool,
}

pub(super) fn run(args: &ExplainArgs, records: &Records, ui: Ui) -> Result<ExitCode, CliError> {
    let explanation = block_on(async {
        let run = records.find_id(args.run.run.as_deref()).await?;
        let history = records.store.load(&run).await?;
        Ok(explain(&run, &history))
    })?;
    if ui.is_json() {
        ui.document(&explanation)?;
    } else {
        ui.result(text(&explanation, args.verify))?;
    }
    Ok(if args.verify && !explanation.verified {
        ExitCode::NotDone
    } else {
        ExitCode::Done
    })
}

fn text(explanation: &Explanation, verify: bool) -> String {
    let mut text = String::new();
    for pass in &explanation.passes {
        text.push_str(&of_pass(pass));
    }
    if explanation.passes.is_empty() {
        text.push_str("no pass was judged\n");
    }
    if let Some(outcome) = explanation.outcome {
        text.push_str(&format!("{}\n", paint(HEAD, outcome)));
    }
    if verify {
        text.push_str(&match &explanation.divergence {
            _ if explanation.verified => paint(
                GOOD,
                "verified: the recorded inputs give the recorded decisions",
            ),
            Some(divergence) => paint(BAD, format!("not verified: {divergence}")),
            None => paint(BAD, "not verified: a decision differs"),
        });
        text.push('\n');
    }
    text
}

fn of_pass(pass: &PassExplanation) -> String {
    let mut text = paint(HEAD, format!("pass {}", pass.pass)) + "\n";
    let validation = match pass.validation {
        PassValidation::Passed => "passed".to_owned(),
        PassValidation::Failed => format!("failed: {}", pass.failing.replace('\n', "; ")),
        PassValidation::None => "did not run".to_owned(),
    };
    let review = match (pass.verdict, &pass.review_failure) {
        (Some(verdict), _) => verdict.to_string(),
        (None, Some(reason)) => format!("none ({reason}), so validation alone decides"),
        (None, None) => "none, so validation alone decides".to_owned(),
    };
    text.push_str(&format!("  {:<10} {validation}\n", "validation"));
    text.push_str(&format!("  {:<10} {review}\n", "review"));
    if pass.incoherent {
        text.push_str(&paint(BAD, "  the review approved and named a blocker"));
        text.push('\n');
    }
    text.push_str(&format!("  {:<10} {}\n", "therefore", pass.because));
    text
}
