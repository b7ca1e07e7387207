//! Where pull requests live.
//!
//! **There is no merge method, here or anywhere.** xiv brings a pull request
//! to the point where a person can merge it, and stops.

use std::fmt::Debug;

use async_trait::async_trait;

use super::StepContext;
use crate::model::{BranchName, PrNumber, PrSignals};

/// What callers branch on when the forge did not do as asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ForgeErrorKind {
    /// No login, or it was refused.
    Unauthenticated,
    /// The login may not do this.
    Forbidden,
    /// There is no such thing.
    NotFound,
    /// Too many requests.
    RateLimited,
    /// The state is not what was expected.
    Conflict,
    /// The forge refused the content.
    Rejected,
    /// The forge could not be reached.
    Transport,
    /// The forge answered something that cannot be understood.
    Protocol,
}

/// Why the forge did not do as asked.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct ForgeError {
    /// What callers branch on.
    pub kind: ForgeErrorKind,
    /// What happened, for people.
    pub message: String,
    /// How to mend it.
    pub hints: Vec<String>,
    /// What caused it.
    #[source]
    pub source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl ForgeError {
    /// An error without hints and without a cause.
    pub fn new(kind: ForgeErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            hints: Vec::new(),
            source: None,
        }
    }

    /// Whether trying again may help.
    #[must_use]
    pub const fn is_temporary(&self) -> bool {
        matches!(
            self.kind,
            ForgeErrorKind::RateLimited | ForgeErrorKind::Transport
        )
    }
}

/// A forge, as far as reading a pull request's signals goes. The writing
/// methods come with the flows that need them; none of them will merge.
#[async_trait]
pub trait Forge: Debug + Send + Sync + 'static {
    /// A short name: `github`.
    fn id(&self) -> String;

    /// The open pull request of a branch, if there is exactly one.
    ///
    /// # Errors
    /// Any [`ForgeErrorKind`]; [`ForgeErrorKind::Conflict`] for several.
    ///
    /// # Cancellation
    /// Reads only; safe to drop.
    async fn pull_request_of(
        &self,
        branch: &BranchName,
        cx: StepContext,
    ) -> Result<Option<PrNumber>, ForgeError>;

    /// One read-only snapshot of CI state and human comments. Never polls.
    ///
    /// # Errors
    /// Any [`ForgeErrorKind`].
    ///
    /// # Cancellation
    /// Reads only; safe to drop.
    async fn signals(&self, pr: PrNumber, cx: StepContext) -> Result<PrSignals, ForgeError>;
}

const _: Option<&dyn Forge> = None;
