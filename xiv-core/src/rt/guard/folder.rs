//! The guard folder: the shims, an empty login folder, what the shims must
//! know, and the log of what they refused.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use serde::{Deserialize, Serialize};

use super::environment::{Surroundings, guarded};
use super::tries::{Try, read};
use crate::flow::GuardStatus;
use crate::policy::guard::Rule;
use crate::rt::process::Environment;

/// The shims' own folder inside the guard folder.
pub(super) const BIN: &str = "bin";
/// What the shims read.
pub(super) const PLAN: &str = "guard.json";
/// Where the shims write.
pub(super) const TRIES: &str = "tries.jsonl";
/// The empty folder.
const EMPTY: &str = "no-login";
/// The names of the shims.
pub(super) const SHIMS: [&str; 3] = ["gh", "git", "jj"];

/// Whether this process called [`intercept`](super::intercept) and so can act
/// as a shim.
pub(super) static HOST_INTERCEPTS: AtomicBool = AtomicBool::new(false);

/// The addresses of one remote, as configured.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RemoteUrls {
    /// Where it is fetched from (`url`).
    #[serde(default)]
    pub fetch: Vec<String>,
    /// Where it is pushed to, when that is said explicitly (`pushurl`).
    #[serde(default)]
    pub push: Vec<String>,
}

/// What is guarded.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GuardPlan {
    /// Canonical path of what all work trees of the run's repository share.
    /// The git and jj shims refuse nothing in other repositories. Without it
    /// they refuse everywhere.
    #[serde(default)]
    pub common_dir: Option<PathBuf>,
    /// The repository's remotes.
    #[serde(default)]
    pub remotes: Vec<RemoteUrls>,
    /// Further variables that hold tokens.
    #[serde(default)]
    pub token_names: Vec<String>,
    /// Rules that this run was explicitly freed from. Merging cannot be among
    /// them: [`Rule::Merge`] and [`Rule::AutoMerge`] are ignored here.
    #[serde(default)]
    pub freed: Vec<Rule>,
}

impl GuardPlan {
    /// A guard for the repository with this common directory and remotes.
    #[must_use]
    pub fn new(common_dir: impl Into<PathBuf>, remotes: Vec<RemoteUrls>) -> Self {
        Self {
            common_dir: Some(common_dir.into()),
            remotes,
            ..Self::default()
        }
    }

    /// Adds variables that hold tokens.
    #[must_use]
    pub fn with_token_names(mut self, names: impl IntoIterator<Item = String>) -> Self {
        self.token_names.extend(names);
        self
    }

    /// Whether the run is freed from the rule.
    pub(super) fn is_freed(&self, rule: Rule) -> bool {
        !matches!(rule, Rule::Merge | Rule::AutoMerge) && self.freed.contains(&rule)
    }
}

/// The guard folder could not be made.
#[derive(Debug, thiserror::Error)]
#[error("cannot set the guard folder `{}` up", folder.display())]
pub struct GuardError {
    /// The folder.
    pub folder: PathBuf,
    /// What the system said.
    pub source: io::Error,
}

/// A guard that is in place. Dropping it removes its folder.
#[derive(Debug)]
pub struct Guard {
    folder: PathBuf,
    plan: GuardPlan,
    status: GuardStatus,
}

impl Guard {
    /// Makes `folder` anew and fills it. It gets shims when this process
    /// called [`intercept`](super::intercept) at its start.
    ///
    /// # Errors
    /// [`GuardError`] when the folder cannot be written.
    pub fn install(folder: impl Into<PathBuf>, plan: GuardPlan) -> Result<Self, GuardError> {
        let folder = folder.into();
        let host = HOST_INTERCEPTS
            .load(Ordering::Relaxed)
            .then(std::env::current_exe);
        match fill(&folder, &plan, host) {
            Ok(status) => Ok(Self {
                folder,
                plan,
                status,
            }),
            Err(source) => Err(GuardError { folder, source }),
        }
    }

    /// Whether there are shims, or only a guarded environment.
    #[must_use]
    pub fn status(&self) -> GuardStatus {
        self.status
    }

    /// The environment for the programs of a run, made from `base`.
    #[must_use]
    pub fn environment(&self, base: Environment) -> Environment {
        self.environment_allowing(base, &[])
    }

    /// [`environment`](Self::environment), but the variables `allowed` stay.
    /// For validation commands, never for agents.
    #[must_use]
    pub fn environment_allowing(&self, base: Environment, allowed: &[String]) -> Environment {
        let bin = self.folder.join(BIN);
        guarded(
            base,
            &Surroundings {
                shims: matches!(self.status, GuardStatus::Shims).then_some(bin.as_path()),
                empty: &self.folder.join(EMPTY),
                remotes: &self.plan.remotes,
                token_names: &self.plan.token_names,
                allowed,
            },
        )
    }

    /// Everything that the shims refused so far.
    #[must_use]
    pub fn tries(&self) -> Vec<Try> {
        read(&self.folder)
    }

    /// The guard's folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn fill(
    folder: &Path,
    plan: &GuardPlan,
    host: Option<io::Result<PathBuf>>,
) -> io::Result<GuardStatus> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut private = DirBuilder::new();
    private.recursive(true).mode(0o700);
    private.create(folder.join(BIN))?;
    private.create(folder.join(EMPTY))?;
    fs::write(folder.join(PLAN), serde_json::to_vec(plan)?)?;
    let Some(host) = host.transpose()? else {
        return Ok(GuardStatus::EnvironmentOnly);
    };
    for name in SHIMS {
        symlink(&host, folder.join(BIN).join(name))?;
    }
    Ok(GuardStatus::Shims)
}
