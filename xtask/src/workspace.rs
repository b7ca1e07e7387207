//! Where things lie (the root, the build folder, the cache) and how a program
//! is started from there.

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::failure::Failure;

/// The folders that the tasks work with.
#[derive(Debug)]
pub(crate) struct Workspace {
    root: PathBuf,
    target: PathBuf,
}

impl Workspace {
    /// The workspace that this program was built from.
    pub(crate) fn here() -> Self {
        let package = Path::new(env!("CARGO_MANIFEST_DIR"));
        let root = package.parent().unwrap_or(package).to_path_buf();
        let target = env::var_os("CARGO_TARGET_DIR")
            .filter(|folder| !folder.is_empty())
            .map_or_else(|| root.join("target"), |folder| root.join(folder));
        Self { root, target }
    }

    /// The folder that holds the members.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// The build folder; `$CARGO_TARGET_DIR` or `target`.
    pub(crate) fn target(&self) -> &Path {
        &self.target
    }

    /// A call of cargo with standard input closed.
    pub(crate) fn cargo<I, S>(&self, arguments: I) -> Command
    where
        I: IntoIterator<Item = S>,
        S: AsRef<OsStr>,
    {
        let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut command = Command::new(cargo);
        command
            .current_dir(&self.root)
            .args(arguments)
            .stdin(std::process::Stdio::null());
        command
    }
}

/// The folder for things worth keeping between clones: `$XDG_CACHE_HOME/xiv`
/// or `~/.cache/xiv`.
pub(crate) fn cache() -> Result<PathBuf, Failure> {
    let set = |name| {
        env::var_os(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    set("XDG_CACHE_HOME")
        .or_else(|| set("HOME").map(|home| home.join(".cache")))
        .map(|cache| cache.join("xiv"))
        .ok_or_else(|| Failure::step("no cache folder", "neither XDG_CACHE_HOME nor HOME is set"))
}

/// Whether this is a CI run, where a missing tool is an error and not a skip.
pub(crate) fn in_ci() -> bool {
    env::var("CI").is_ok_and(|value| value == "true")
}

/// Runs a command to its end, output shown as it comes.
pub(crate) fn show(command: &mut Command, what: &str) -> Result<(), Failure> {
    let status = command
        .status()
        .map_err(|error| Failure::step(what, error))?;
    if status.success() {
        Ok(())
    } else {
        Err(Failure::step(what, status))
    }
}
