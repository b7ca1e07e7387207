//! `xiv run log`.

use xiv_core::flow::Recorded;
use xiv_core::model::ExitCode;
use xiv_core::port::Journal;

use super::RunArg;
use crate::error::CliError;
use crate::records::Records;
use crate::runtime::block_on;
use crate::story::{Mark, Teller};
use crate::ui::{Ui, Verbosity, style};

pub(super) fn run(arg: &RunArg, records: &Records, ui: Ui) -> Result<ExitCode, CliError> {
    let history = block_on(async {
        let run = records.find_id(arg.run.as_deref()).await?;
        Ok(records.store.load(&run).await?)
    })?;
    if ui.is_json() {
        ui.document(&history)?;
    } else {
        ui.result(text(&history, ui.verbosity() == Verbosity::Verbose))?;
    }
    Ok(ExitCode::Done)
}

/// The told events; with `every`, also those that have no line of their own.
fn text(history: &[Recorded], every: bool) -> String {
    let mut teller = Teller::default();
    let mut text = String::new();
    for recorded in history {
        let at = recorded.at.strftime("%H:%M:%S");
        let lines = teller.tell(recorded);
        if lines.is_empty() && every {
            let event = style::paint(style::DIM, recorded.event.kind());
            text.push_str(&format!("{:>4} {at}   {event}\n", recorded.seq));
        }
        for line in lines {
            let gap = if line.mark == Mark::Head { "" } else { "  " };
            text.push_str(&format!("{:>4} {at} {gap}{}\n", recorded.seq, line.shown()));
        }
    }
    text
}
