//! Which process drives a run, so that another one can ask it to stop.

use xiv_core::port::ProcessId;

use xiv_core::model::RunId;

use crate::paths::Paths;
use crate::side_files::SideFiles;

const NAME: &str = "driver.json";

/// Notes that this process drives the run. A note that cannot be written costs
/// only the comfort of `xiv run cancel` from elsewhere.
///
/// # Errors
/// When the file cannot be written.
pub(crate) fn write(paths: &Paths, run: &RunId, process: &ProcessId) -> std::io::Result<()> {
    let note = serde_json::to_vec(process)?;
    SideFiles::new(paths.clone()).put(run, NAME, &note)?;
    Ok(())
}

/// The process that drives the run, by its own word.
pub(crate) fn read(paths: &Paths, run: &str) -> Option<ProcessId> {
    serde_json::from_slice(&std::fs::read(paths.run(run).join(NAME)).ok()?).ok()
}
