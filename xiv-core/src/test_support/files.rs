//! Side files in memory.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;

use super::lock;
use crate::model::RunId;
use crate::port::RunFiles;

/// Keeps side files in memory. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct MemoryRunFiles(Arc<Mutex<BTreeMap<PathBuf, Vec<u8>>>>);

impl MemoryRunFiles {
    /// A keeper of no files yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A file's content.
    #[must_use]
    pub fn read(&self, run: &RunId, name: &str) -> Option<Vec<u8>> {
        lock(&self.0).get(&self.folder(run).join(name)).cloned()
    }
}

#[async_trait]
impl RunFiles for MemoryRunFiles {
    fn folder(&self, run: &RunId) -> PathBuf {
        PathBuf::from("/memory/runs").join(run.as_str())
    }

    async fn write(
        &self,
        run: &RunId,
        name: &str,
        content: &[u8],
    ) -> Result<PathBuf, std::io::Error> {
        let path = self.folder(run).join(name);
        lock(&self.0).insert(path.clone(), content.to_vec());
        Ok(path)
    }
}
