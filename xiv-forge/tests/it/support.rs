//! A repository folder of its own for every test.

use std::fs;
use std::path::Path;

use futures::executor::block_on;
use tempfile::TempDir;
use xiv_core::model::{Issue, IssueKey};
use xiv_core::port::{IssueError, IssueSource, IssueSummary};
use xiv_core::test_support::{ManualClock, context};
use xiv_forge::MarkdownIssues;

pub(crate) struct Repository(pub(crate) TempDir);

impl Repository {
    pub(crate) fn new<const N: usize>(files: [(&str, &str); N]) -> Self {
        let repository = Self(TempDir::new().expect("a temporary folder"));
        for (path, text) in files {
            repository.write(path, text);
        }
        repository
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.path().join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("folders can be made");
        fs::write(path, text).expect("the file can be written");
    }

    pub(crate) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path().join(path)).expect("the file can be read")
    }

    pub(crate) fn issues(&self) -> MarkdownIssues {
        MarkdownIssues::in_repository(self.path())
    }
}

pub(crate) fn key(text: &str) -> IssueKey {
    IssueKey::parse(text).expect("a key")
}

pub(crate) fn fetch(source: &dyn IssueSource, wanted: &str) -> Result<Issue, IssueError> {
    let cx = context(&ManualClock::new());
    block_on(source.fetch(&source.normalise(wanted)?, cx))
}

pub(crate) fn list(source: &dyn IssueSource) -> Vec<IssueSummary> {
    let cx = context(&ManualClock::new());
    block_on(source.list(cx)).expect("the list is read")
}
