//! A person whose answers are known beforehand.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;

use super::lock;
use crate::port::{GateAnswer, GateRequest, Human, HumanError, StepContext};

/// Answers gates from a queue; when it is empty, every gate stays open.
/// Clones share the queue.
#[derive(Debug, Clone, Default)]
pub struct FakeHuman(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    answers: VecDeque<Result<Option<GateAnswer>, HumanError>>,
    requests: Vec<GateRequest>,
}

impl FakeHuman {
    /// A person who leaves every gate open.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The next gate is answered like this.
    #[must_use]
    pub fn answering(self, answer: GateAnswer) -> Self {
        lock(&self.0).answers.push_back(Ok(Some(answer)));
        self
    }

    /// The next gate is left open.
    #[must_use]
    pub fn leaving_open(self) -> Self {
        lock(&self.0).answers.push_back(Ok(None));
        self
    }

    /// The next question fails.
    #[must_use]
    pub fn failing(self, error: HumanError) -> Self {
        lock(&self.0).answers.push_back(Err(error));
        self
    }

    /// What was asked so far.
    #[must_use]
    pub fn requests(&self) -> Vec<GateRequest> {
        lock(&self.0).requests.clone()
    }
}

#[async_trait]
impl Human for FakeHuman {
    async fn gate(
        &self,
        request: GateRequest,
        _cx: StepContext,
    ) -> Result<Option<GateAnswer>, HumanError> {
        let mut state = lock(&self.0);
        state.requests.push(request);
        state.answers.pop_front().unwrap_or(Ok(None))
    }
}
