//! The `git` program: found once, always started with the same settings.
//!
//! Reading calls take no optional locks and run no hooks, so looking at a
//! repository never disturbs the people who work in it. Writing calls behave
//! like the user's own git.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use xiv_core::port::{VcsError, VcsErrorKind};
use xiv_core::rt::process::{Captured, Environment, Limits, ProcessSpec, Program, output};
use xiv_core::rt::sweep::MarkKey;

use super::failure;
use super::options::GitOptions;

/// Oldest git that has everything needed here (`git hook run`).
const OLDEST: (u32, u32) = (2, 36);

/// Settings of every call: names as they are, no housekeeping, and no daemon
/// that would outlive the call.
const SETTINGS: [&str; 4] = [
    "core.quotePath=false",
    "core.fsmonitor=false",
    "gc.auto=0",
    "maintenance.auto=false",
];

/// Settings of calls that leave the user's index alone: no hooks, and a
/// private index in one piece.
const QUIET: [&str; 2] = ["core.hooksPath=/dev/null", "core.splitIndex=false"];

/// The git program, ready to be started in one folder.
#[derive(Debug, Clone)]
pub(super) struct Git {
    program: PathBuf,
    environment: Environment,
    hook_environment: Environment,
    cwd: PathBuf,
}

impl Git {
    /// Finds the program and starts from `cwd`.
    pub(super) fn find(options: &GitOptions, cwd: &Path) -> Result<Self, VcsError> {
        let program = match &options.program {
            Some(path) => path.clone(),
            None => {
                let path = options.environment.get("PATH").unwrap_or_default();
                Program::find_on("git", path, cwd)
                    .map_err(|cause| {
                        VcsError::new(VcsErrorKind::Program, "git is not installed")
                            .with_hint("install git 2.36 or newer")
                            .with_source(cause)
                    })?
                    .path()
                    .to_path_buf()
            }
        };
        Ok(Self {
            program,
            environment: options.environment.clone(),
            hook_environment: options
                .hook_environment
                .as_ref()
                .unwrap_or(&options.environment)
                .clone(),
            cwd: cwd.to_path_buf(),
        })
    }

    /// The same program, started in another folder.
    pub(super) fn in_folder(&self, cwd: &Path) -> Self {
        Self {
            cwd: cwd.to_path_buf(),
            ..self.clone()
        }
    }

    /// The same program for calls whose hooks an agent may have written.
    pub(super) fn for_hooks(&self) -> Self {
        Self {
            environment: self.hook_environment.clone(),
            ..self.clone()
        }
    }

    /// Refuses a git that is too old.
    pub(super) async fn check_version(&self) -> Result<(), VcsError> {
        let printed = self.read(["version"]).ok().await?;
        let printed = String::from_utf8_lossy(&printed);
        let version = printed.split_whitespace().nth(2).unwrap_or_default();
        let mut numbers = version.split('.').map_while(|part| part.parse().ok());
        let (Some(major), Some(minor)) = (numbers.next(), numbers.next()) else {
            return Err(failure::unreadable("version"));
        };
        if (major, minor) < OLDEST {
            return Err(VcsError::new(
                VcsErrorKind::Unsupported,
                format!("git {version} is too old"),
            )
            .with_hint("install git 2.36 or newer"));
        }
        Ok(())
    }

    /// A call that only looks.
    pub(super) fn read<A: Into<OsString>>(&self, args: impl IntoIterator<Item = A>) -> Call {
        self.quiet(args).env("GIT_OPTIONAL_LOCKS", "0")
    }

    /// A call that writes what is xiv's own, such as a private index: without
    /// the user's hooks.
    pub(super) fn quiet<A: Into<OsString>>(&self, args: impl IntoIterator<Item = A>) -> Call {
        self.call(&QUIET, args)
    }

    /// A call that acts as the user's own git would, hooks included.
    pub(super) fn write<A: Into<OsString>>(&self, args: impl IntoIterator<Item = A>) -> Call {
        self.call(&[], args)
    }

    fn call<A: Into<OsString>>(
        &self,
        settings: &[&str],
        args: impl IntoIterator<Item = A>,
    ) -> Call {
        let args: Vec<OsString> = args.into_iter().map(Into::into).collect();
        let name = command_name(&args);
        let mut spec = ProcessSpec::new(&self.program, self.environment.clone(), &self.cwd)
            .with_env("LANGUAGE", "en")
            .with_env("GIT_TERMINAL_PROMPT", "0")
            .with_env("GIT_EDITOR", ":")
            .with_env("GIT_PAGER", "cat")
            .with_limits(Limits {
                stream: u64::MAX,
                ..Limits::default()
            });
        for setting in SETTINGS.iter().chain(settings) {
            spec = spec.with_arg("-c").with_arg(*setting);
        }
        Call {
            name,
            spec: spec.with_args(args),
        }
    }
}

/// The git command among the arguments, past any `-c setting`.
fn command_name(args: &[OsString]) -> String {
    let mut rest = args;
    while let [flag, _, tail @ ..] = rest
        && flag == "-c"
    {
        rest = tail;
    }
    rest.first()
        .map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

/// One call of git.
#[derive(Debug)]
#[must_use = "a call does nothing until it is run"]
pub(super) struct Call {
    name: String,
    spec: ProcessSpec,
}

impl Call {
    /// Adds an argument.
    pub(super) fn arg(mut self, arg: impl Into<OsString>) -> Self {
        self.spec = self.spec.with_arg(arg);
        self
    }

    /// Adds arguments.
    pub(super) fn args<A: Into<OsString>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.spec = self.spec.with_args(args);
        self
    }

    /// Sets a variable.
    pub(super) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.spec = self.spec.with_env(name, value.as_ref());
        self
    }

    /// Works on another index than the work tree's own.
    pub(super) fn index(self, path: &Path) -> Self {
        self.env("GIT_INDEX_FILE", path)
    }

    /// Feeds standard input.
    pub(super) fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.spec = self.spec.with_stdin(bytes);
        self
    }

    /// Ends everything that the call leaves behind.
    pub(super) fn swept(mut self, mark: &str) -> Self {
        if let Ok(key) = MarkKey::new(mark) {
            self.spec = self.spec.with_mark(key);
        }
        self
    }

    /// Runs it, whatever its exit code.
    pub(super) async fn run(self) -> Result<Captured, VcsError> {
        output(self.spec).await.map_err(|cause| {
            VcsError::new(VcsErrorKind::Program, "cannot run git").with_source(cause)
        })
    }

    /// Runs it and returns what it printed; any other exit code than 0 is an
    /// error.
    pub(super) async fn ok(self) -> Result<Vec<u8>, VcsError> {
        let name = self.name.clone();
        let captured = self.run().await?;
        if captured.is_success() {
            Ok(captured.stdout)
        } else {
            Err(failure::failed(&name, &captured))
        }
    }

    /// Like [`Call::ok`], for a single line of text.
    pub(super) async fn line(self) -> Result<String, VcsError> {
        let name = self.name.clone();
        let printed = String::from_utf8(self.ok().await?);
        printed
            .map(|text| text.trim_end_matches('\n').to_owned())
            .map_err(|_| failure::unreadable(&name))
    }
}
