//! How an engine reaches git: a value, so that a test can hand in a world of
//! its own without touching the process's environment.

use std::path::PathBuf;
use std::time::Duration;

use xiv_core::rt::process::Environment;

/// Settings of a [`GitEngine`](super::GitEngine).
#[derive(Debug, Clone)]
pub struct GitOptions {
    /// What git, its hooks and its filters see. Default: this process's
    /// environment without the `GIT_*` variables that select a repository.
    pub environment: Environment,
    /// What hooks see once agents may have written them: the hooks of a commit
    /// and of ref updates. Default: the same as `environment`. A host that
    /// guards its agents hands in the guarded one.
    pub hook_environment: Option<Environment>,
    /// The git program. Default: the first `git` on the environment's `PATH`
    /// that is not xiv itself.
    pub program: Option<PathBuf>,
    /// How long to wait for a lock that somebody else holds. Default 10 s.
    pub lock_wait: Duration,
}

impl Default for GitOptions {
    fn default() -> Self {
        Self {
            environment: Environment::inherited().without_git(),
            hook_environment: None,
            program: None,
            lock_wait: Duration::from_secs(10),
        }
    }
}

impl GitOptions {
    /// Settings with this environment, taken as it is.
    #[must_use]
    pub fn with_environment(mut self, environment: Environment) -> Self {
        self.environment = environment;
        self
    }

    /// Settings whose commit and ref hooks see this environment.
    #[must_use]
    pub fn with_hook_environment(mut self, environment: Environment) -> Self {
        self.hook_environment = Some(environment);
        self
    }

    /// Settings with this git program.
    #[must_use]
    pub fn with_program(mut self, program: impl Into<PathBuf>) -> Self {
        self.program = Some(program.into());
        self
    }

    /// Settings with this patience for foreign locks.
    #[must_use]
    pub fn with_lock_wait(mut self, wait: Duration) -> Self {
        self.lock_wait = wait;
        self
    }
}
