//! `xiv run export`.

use xiv_core::model::ExitCode;

use super::RunArg;
use crate::error::CliError;
use crate::records::Records;
use crate::runtime::block_on;
use crate::ui::Ui;

pub(super) fn run(arg: &RunArg, records: &Records, ui: Ui) -> Result<ExitCode, CliError> {
    let text = block_on(async {
        let run = records.find_id(arg.run.as_deref()).await?;
        Ok(records.store.export(&run).await?)
    })?;
    ui.raw(text.as_bytes())?;
    Ok(ExitCode::Done)
}
