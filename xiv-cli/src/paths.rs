//! Where xiv keeps its things, and where it looks for a repository. Nothing in
//! here makes a folder before something is written into it.

use std::path::{Path, PathBuf};

use crate::error::CliError;

/// The folders of this user.
#[derive(Debug, Clone)]
pub(crate) struct Paths {
    /// `$XIV_HOME`, else `$XDG_STATE_HOME/xiv`.
    pub(crate) state: PathBuf,
    /// `$XIV_HOME/config.toml`, else `$XDG_CONFIG_HOME/xiv/config.toml`.
    pub(crate) user_config: PathBuf,
}

impl Paths {
    /// Everything in one folder.
    pub(crate) fn below(home: PathBuf) -> Self {
        Self {
            user_config: home.join("config.toml"),
            state: home,
        }
    }

    /// Reads the environment.
    ///
    /// # Errors
    /// [`CliError::configuration`] when not even a home folder is known.
    pub(crate) fn from_env() -> Result<Self, CliError> {
        if let Some(home) = var("XIV_HOME") {
            return Ok(Self::below(home));
        }
        let below = |name: &str, default: &str| {
            var(name)
                .filter(|dir| dir.is_absolute())
                .or_else(|| Some(var("HOME")?.join(default)))
                .ok_or_else(|| {
                    CliError::configuration("there is no home folder: HOME is not set")
                        .with_hint("set HOME or XIV_HOME")
                })
        };
        Ok(Self {
            state: below("XDG_STATE_HOME", ".local/state")?.join("xiv"),
            user_config: below("XDG_CONFIG_HOME", ".config")?.join("xiv/config.toml"),
        })
    }

    /// The files of one run.
    pub(crate) fn run(&self, run: &str) -> PathBuf {
        self.state.join("runs").join(run)
    }

    /// Where work trees of `--worktree` are made unless configured.
    pub(crate) fn worktrees(&self) -> PathBuf {
        self.state.join("worktrees")
    }

    /// Where the guards' folders are made.
    pub(crate) fn guard(&self) -> PathBuf {
        self.state.join("guard")
    }

    /// A path for people: the home folder is written `~`.
    pub(crate) fn shown(path: &Path) -> String {
        let shorter = var("HOME").and_then(|home| {
            let rest = path.strip_prefix(&home).ok()?;
            Some(Path::new("~").join(rest).display().to_string())
        });
        shorter.unwrap_or_else(|| path.display().to_string())
    }
}

fn var(name: &str) -> Option<PathBuf> {
    std::env::var_os(name)
        .filter(|value| !value.is_empty())
        .map(PathBuf::from)
}

/// The repository around a folder, as far as finding its configuration needs
/// it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    /// Root of the work tree.
    pub(crate) root: PathBuf,
    /// Root of the main work tree, where configuration and issues lie.
    pub(crate) main: PathBuf,
}

impl Place {
    /// The repository around the current folder.
    ///
    /// # Errors
    /// When there is none.
    pub(crate) fn here() -> Result<Self, CliError> {
        let here = std::env::current_dir()
            .map_err(|e| CliError::io("the current folder cannot be used", &e))?;
        Self::find(&here).ok_or_else(|| {
            CliError::refused("notARepository", "there is no repository here")
                .with_hint("change into one, or make one with `git init`")
        })
    }

    /// Looks for a repository in a folder and those above it.
    pub(crate) fn find(from: &Path) -> Option<Self> {
        let from = from.canonicalize().ok()?;
        let root = from.ancestors().find(|dir| {
            let dot_git = dir.join(".git");
            dot_git.is_file() || dot_git.join("HEAD").exists()
        })?;
        let main = main_of(&root.join(".git")).unwrap_or_else(|| root.to_owned());
        Some(Self {
            root: root.to_owned(),
            main,
        })
    }
}

/// The main work tree of a linked one, whose `.git` is a file.
fn main_of(dot_git: &Path) -> Option<PathBuf> {
    let text = std::fs::read_to_string(dot_git).ok()?;
    let git_dir = dot_git.parent()?.join(text.strip_prefix("gitdir:")?.trim());
    let common = std::fs::read_to_string(git_dir.join("commondir")).ok()?;
    let common = git_dir.join(common.trim()).canonicalize().ok()?;
    (common.file_name()? == ".git").then(|| common.parent().map(Path::to_owned))?
}
