//! Which process drives a run, so that another one can ask it to stop.

use std::path::{Path, PathBuf};

use xiv_core::port::ProcessId;

use crate::paths::Paths;

fn path(paths: &Paths, run: &str) -> PathBuf {
    paths.run(run).join("driver.json")
}

/// Notes that this process drives the run. A note that cannot be written costs
/// only the comfort of `xiv run cancel` from elsewhere.
///
/// # Errors
/// When the file cannot be written.
pub(crate) fn write(paths: &Paths, run: &str, process: &ProcessId) -> std::io::Result<()> {
    let path = path(paths, run);
    if let Some(folder) = path.parent() {
        make_private(folder)?;
    }
    std::fs::write(path, serde_json::to_vec(process)?)
}

/// The process that drives the run, by its own word.
pub(crate) fn read(paths: &Paths, run: &str) -> Option<ProcessId> {
    serde_json::from_slice(&std::fs::read(path(paths, run)).ok()?).ok()
}

/// Makes a folder and those above it, for this user alone.
///
/// # Errors
/// When it cannot be made.
pub(crate) fn make_private(folder: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
}
