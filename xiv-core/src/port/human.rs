//! Asking a person.

use std::fmt::Debug;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::StepContext;
use crate::model::{Finding, Pass, TreeId};

/// What a person is asked to look at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GateRequest {
    /// The gate's id within its run.
    pub gate: String,
    /// The pass.
    pub pass: Pass,
    /// The work tree as the agent left it.
    pub tree: TreeId,
}

/// What the person decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GateAnswer {
    /// Remarks for the agent. With any, the pass ends and the next one starts
    /// with them.
    pub notes: Vec<Finding>,
    /// The work tree as the person left it.
    pub tree: TreeId,
    /// The person's own edits, as a patch; empty when there are none.
    #[serde(default)]
    pub patch: String,
}

/// A person could not be asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HumanError {
    /// There is no terminal; the gate stays open.
    #[error("there is no terminal to ask at")]
    NoTerminal,
    /// The person broke off.
    #[error("the question was not answered")]
    Aborted,
}

/// A person at the keyboard, or none.
#[async_trait]
pub trait Human: Debug + Send + Sync + 'static {
    /// Asks for a decision on a gate now; `None` leaves it open, so that the
    /// run waits.
    ///
    /// # Errors
    /// [`HumanError`].
    ///
    /// # Cancellation
    /// Safe to drop; the gate stays open.
    async fn gate(
        &self,
        request: GateRequest,
        cx: StepContext,
    ) -> Result<Option<GateAnswer>, HumanError>;
}

const _: Option<&dyn Human> = None;
