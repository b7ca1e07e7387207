//! Files beside the record of a run: review diffs, transcripts, what was handed
//! in. Readable for this user alone.

use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use async_trait::async_trait;
use xiv_core::model::RunId;
use xiv_core::port::RunFiles;

use crate::files::make_private;
use crate::paths::Paths;

/// The folder of each run below the state folder.
#[derive(Debug, Clone)]
pub(crate) struct SideFiles {
    paths: Paths,
}

impl SideFiles {
    /// The files below these folders.
    pub(crate) const fn new(paths: Paths) -> Self {
        Self { paths }
    }

    /// Writes a file as a whole or not at all.
    ///
    /// # Errors
    /// Any I/O fault.
    pub(crate) fn put(&self, run: &RunId, name: &str, content: &[u8]) -> io::Result<PathBuf> {
        let path = self.paths.run(run.as_str()).join(name);
        let folder = path.parent().unwrap_or_else(|| Path::new("."));
        make_private(folder)?;
        let mut file = tempfile::Builder::new()
            .permissions(std::fs::Permissions::from_mode(0o600))
            .tempfile_in(folder)?;
        file.write_all(content)?;
        file.persist(&path).map_err(|e| e.error)?;
        Ok(path)
    }
}

#[async_trait]
impl RunFiles for SideFiles {
    fn folder(&self, run: &RunId) -> PathBuf {
        self.paths.run(run.as_str())
    }

    async fn write(&self, run: &RunId, name: &str, content: &[u8]) -> Result<PathBuf, io::Error> {
        self.put(run, name, content)
    }
}
