//! The guarded environment, as a pure function of an environment.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use super::folder::RemoteUrls;
use super::pairs::{append, guard_pairs};
use super::secrets::{is_outer_agent, is_secret};
use crate::rt::process::Environment;

/// What the environment is guarded with.
pub(super) struct Surroundings<'a> {
    /// The folder of the shims; none when the host cannot act as one.
    pub(super) shims: Option<&'a Path>,
    /// An empty folder for programs that keep a login in their own files.
    pub(super) empty: &'a Path,
    pub(super) remotes: &'a [RemoteUrls],
    /// Further variables that hold tokens, by configuration.
    pub(super) token_names: &'a [String],
    /// Variables that stay although the rules take them away.
    pub(super) allowed: &'a [String],
}

/// Takes the means to push and to merge out of `env`.
pub(super) fn guarded(mut env: Environment, around: &Surroundings<'_>) -> Environment {
    let allowed = |name: &OsStr| {
        around
            .allowed
            .iter()
            .any(|allowed| name == OsStr::new(allowed))
    };
    let doomed: Vec<OsString> = env
        .iter()
        .filter(|(name, value)| {
            let configured = around
                .token_names
                .iter()
                .any(|token| *name == OsStr::new(token));
            !allowed(name) && (configured || is_secret(name, value) || is_outer_agent(name))
        })
        .map(|(name, _)| name.to_owned())
        .collect();
    for name in &doomed {
        if is_config_pair(name) {
            // the pairs are numbered: one that holds a token is emptied in place
            env.set(name, "");
        } else {
            env.remove(name);
        }
    }
    for name in ["GH_CONFIG_DIR", "GLAB_CONFIG_DIR"] {
        if !allowed(OsStr::new(name)) {
            env.set(name, around.empty);
        }
    }
    env.set("GIT_TERMINAL_PROMPT", "0");
    append(&mut env, &guard_pairs(around.remotes));
    if let Some(shims) = around.shims {
        let path = match env.get("PATH").filter(|path| !path.is_empty()) {
            Some(path) => {
                let mut first = shims.as_os_str().to_owned();
                first.push(":");
                first.push(path);
                first
            }
            None => shims.as_os_str().to_owned(),
        };
        env.set("PATH", path);
    }
    env
}

/// Whether the variable is one of git's numbered settings.
fn is_config_pair(name: &OsStr) -> bool {
    name.to_str()
        .is_some_and(|name| name.starts_with("GIT_CONFIG_VALUE_"))
}
