//! The complete environment of a child: a plain map, never "inherit plus a few".
//!
//! Holding the whole map as a value is what lets the guard take tokens out and
//! lets a test look at exactly what a program will see.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;

/// `GIT_*` variables that carry the user's settings and select no repository.
const GIT_SETTINGS: &[&str] = &[
    "GIT_ASKPASS",
    "GIT_AUTHOR_EMAIL",
    "GIT_AUTHOR_NAME",
    "GIT_COMMITTER_EMAIL",
    "GIT_COMMITTER_NAME",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_CONFIG_SYSTEM",
    "GIT_EXEC_PATH",
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "GIT_SSL_CAINFO",
];

/// Every variable a child process will see.
///
/// `Debug` shows names only: values are where secrets live.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Environment {
    vars: BTreeMap<OsString, OsString>,
}

impl Environment {
    /// Nothing at all, not even `PATH`.
    #[must_use]
    pub fn empty() -> Self {
        Self::default()
    }

    /// The environment of this process.
    #[must_use]
    pub fn inherited() -> Self {
        std::env::vars_os().collect()
    }

    /// Returns the environment with `name` set to `value`.
    #[must_use]
    pub fn with(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.set(name, value);
        self
    }

    /// Returns the environment without `name`.
    #[must_use]
    pub fn without(mut self, name: impl AsRef<OsStr>) -> Self {
        self.remove(name);
        self
    }

    /// Returns the environment without inherited `GIT_*` variables, so that a
    /// git started in some folder works on that folder's repository.
    ///
    /// What only carries the user's settings stays: identity, configuration
    /// files and pairs, ssh and askpass programs.
    #[must_use]
    pub fn without_git(mut self) -> Self {
        self.vars.retain(|name, _| {
            let Some(name) = name.to_str() else {
                return true;
            };
            let is_pair = ["GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_"]
                .iter()
                .any(|start| name.starts_with(start));
            !name.starts_with("GIT_") || is_pair || GIT_SETTINGS.contains(&name)
        });
        self
    }

    /// Sets `name` to `value`.
    pub fn set(&mut self, name: impl Into<OsString>, value: impl Into<OsString>) {
        self.vars.insert(name.into(), value.into());
    }

    /// Removes `name` and returns its value.
    pub fn remove(&mut self, name: impl AsRef<OsStr>) -> Option<OsString> {
        self.vars.remove(name.as_ref())
    }

    /// The value of `name`.
    #[must_use]
    pub fn get(&self, name: impl AsRef<OsStr>) -> Option<&OsStr> {
        self.vars.get(name.as_ref()).map(OsString::as_os_str)
    }

    /// Keeps only the variables whose name satisfies `keep`.
    pub fn retain(&mut self, mut keep: impl FnMut(&OsStr) -> bool) {
        self.vars.retain(|name, _| keep(name));
    }

    /// All variables in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.vars
            .iter()
            .map(|(name, value)| (name.as_os_str(), value.as_os_str()))
    }
}

impl<N: Into<OsString>, V: Into<OsString>> FromIterator<(N, V)> for Environment {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(pairs: I) -> Self {
        Self {
            vars: pairs
                .into_iter()
                .map(|(name, value)| (name.into(), value.into()))
                .collect(),
        }
    }
}

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.vars.keys()).finish()
    }
}
