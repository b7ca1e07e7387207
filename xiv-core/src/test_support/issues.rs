//! A tracker in memory.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;

use super::lock;
use crate::model::{Issue, IssueKey};
use crate::port::{IssueError, IssueErrorKind, IssueSource, IssueSummary, StepContext};

/// Serves the issues that it was made with. Clones share them.
#[derive(Debug, Clone)]
pub struct FakeIssues {
    verbatim: bool,
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    issues: Vec<Issue>,
    faults: VecDeque<IssueError>,
    fetched: Vec<IssueKey>,
}

impl FakeIssues {
    /// A tracker with these issues.
    #[must_use]
    pub fn new(issues: impl IntoIterator<Item = Issue>) -> Self {
        Self {
            verbatim: false,
            state: Arc::new(Mutex::new(State {
                issues: issues.into_iter().collect(),
                ..State::default()
            })),
        }
    }

    /// The same issues, handed in as they are (a file, standard input).
    #[must_use]
    pub const fn verbatim(mut self) -> Self {
        self.verbatim = true;
        self
    }

    /// The next fetch fails.
    #[must_use]
    pub fn failing(self, kind: IssueErrorKind, message: &str) -> Self {
        let error = IssueError::new(kind, message);
        lock(&self.state).faults.push_back(error);
        self
    }

    /// The keys asked for so far.
    #[must_use]
    pub fn fetched(&self) -> Vec<IssueKey> {
        lock(&self.state).fetched.clone()
    }
}

#[async_trait]
impl IssueSource for FakeIssues {
    fn id(&self) -> String {
        "fake".to_owned()
    }

    fn is_verbatim(&self) -> bool {
        self.verbatim
    }

    fn normalise(&self, raw: &str) -> Result<IssueKey, IssueError> {
        IssueKey::normalise(raw).map_err(|error| {
            IssueError::new(IssueErrorKind::Invalid, "this names no issue").with_source(error)
        })
    }

    async fn fetch(&self, key: &IssueKey, _cx: StepContext) -> Result<Issue, IssueError> {
        let mut state = lock(&self.state);
        state.fetched.push(key.clone());
        if let Some(error) = state.faults.pop_front() {
            return Err(error);
        }
        let wanted = key.as_str();
        let found = state
            .issues
            .iter()
            .find(|issue| issue.key.as_str().eq_ignore_ascii_case(wanted));
        found.cloned().ok_or_else(|| {
            IssueError::new(IssueErrorKind::NotFound, format!("there is no issue {key}"))
        })
    }

    async fn list(&self, _cx: StepContext) -> Result<Vec<IssueSummary>, IssueError> {
        let state = lock(&self.state);
        let summaries = state.issues.iter().map(|issue| IssueSummary {
            key: issue.key.clone(),
            title: issue.title.clone(),
            status: None,
            labels: issue.labels.clone(),
        });
        Ok(summaries.collect())
    }
}
