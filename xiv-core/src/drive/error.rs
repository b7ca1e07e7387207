//! Why a run cannot be driven at all, and the exit code that it stands for.

use crate::flow::Divergence;
use crate::model::{ExitCode, RunId};
use crate::port::{AgentRole, JournalError, JournalErrorKind, VcsError, VcsErrorKind};
use crate::prompt::TemplateError;

/// A run that could not be driven at all. Steps that fail are no errors: they
/// suspend the run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DriveError {
    /// The journal failed; nothing was done after that.
    #[error("the run could not be recorded")]
    Journal(#[from] JournalError),
    /// The work tree or the branch belongs to another run.
    #[error("{resource} is in use by run {holder}")]
    Locked {
        /// What is in use, for people.
        resource: String,
        /// The run that holds it.
        holder: RunId,
    },
    /// The history does not fit these rules.
    #[error("the run's history does not fit this version of xiv")]
    Diverged(#[from] Divergence),
    /// The repository is not fit for a run.
    #[error("the repository is not ready for a run")]
    Vcs(#[from] VcsError),
    /// There is nothing to validate with.
    #[error("no validation command is known")]
    NoValidation,
    /// A role has no agent.
    #[error("no agent is set for the {role} step")]
    NoAgent {
        /// The role.
        role: AgentRole,
    },
    /// A prompt template is broken.
    #[error("the prompt could not be written")]
    Prompt(#[from] TemplateError),
}

impl DriveError {
    /// The exit code that it stands for.
    #[must_use]
    pub fn exit(&self) -> ExitCode {
        match self {
            Self::Journal(e) if e.kind == JournalErrorKind::Fenced => ExitCode::Refused,
            Self::Journal(_) => ExitCode::Adapter,
            Self::Locked { .. } => ExitCode::Refused,
            Self::Diverged(_) | Self::Prompt(_) => ExitCode::Bug,
            Self::Vcs(e) => match e.kind {
                VcsErrorKind::Program | VcsErrorKind::Locked => ExitCode::Adapter,
                _ => ExitCode::Refused,
            },
            Self::NoValidation | Self::NoAgent { .. } => ExitCode::Configuration,
        }
    }
}

/// The error of a resource that could not be reserved.
pub(super) fn locked(error: JournalError, resource: &str) -> DriveError {
    match (error.kind, error.holder.clone()) {
        (JournalErrorKind::Fenced, Some(holder)) => {
            let (kind, what) = resource.split_once(':').unwrap_or(("", resource));
            let what = what.rsplit(':').next().unwrap_or(what);
            let resource = match kind {
                "tree" => format!("the work tree {what}"),
                _ => format!("the branch {what}"),
            };
            DriveError::Locked { resource, holder }
        }
        _ => DriveError::Journal(error),
    }
}
