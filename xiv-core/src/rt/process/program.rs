//! Finding a program once, as an absolute path, past any guard folder.
//!
//! A guard folder holds links to xiv itself under the names `git`, `gh` and
//! `jj`. Whatever xiv starts for its own needs must be the real program, also
//! when xiv runs inside the step of another xiv.

use std::ffi::{OsStr, OsString};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// An executable file, by absolute path.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Program {
    path: PathBuf,
}

/// No executable file of that name exists where it was looked for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("program `{name}` not found")]
pub struct ProgramNotFound {
    /// The name or path that was looked for.
    pub name: String,
}

impl Program {
    /// Finds `name` on this process's `PATH`, skipping every link to the
    /// running executable.
    ///
    /// # Errors
    /// [`ProgramNotFound`] when no folder on `PATH` has such an executable.
    pub fn find(name: impl AsRef<OsStr>) -> Result<Self, ProgramNotFound> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        Self::find_on(name, &path, Path::new("/"))
    }

    /// Finds `name` on the search path `path`; a name with a slash is a file
    /// relative to `cwd`.
    ///
    /// # Errors
    /// [`ProgramNotFound`] when there is no such executable.
    pub fn find_on(
        name: impl AsRef<OsStr>,
        path: &OsStr,
        cwd: &Path,
    ) -> Result<Self, ProgramNotFound> {
        let name = name.as_ref();
        let missing = || ProgramNotFound {
            name: name.to_string_lossy().into_owned(),
        };
        if name.is_empty() {
            return Err(missing());
        }
        if name.as_encoded_bytes().contains(&b'/') {
            let path = cwd.join(name);
            return if is_executable(&path) {
                Ok(Self { path })
            } else {
                Err(missing())
            };
        }
        let own = std::env::current_exe()
            .and_then(|exe| exe.canonicalize())
            .ok();
        std::env::split_paths(path)
            .filter(|folder| folder.is_absolute())
            .map(|folder| folder.join(name))
            .filter(|candidate| is_executable(candidate))
            .find(|candidate| own.is_none() || candidate.canonicalize().ok() != own)
            .map(|path| Self { path })
            .ok_or_else(missing)
    }

    /// The absolute path of the executable.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl From<Program> for OsString {
    fn from(program: Program) -> Self {
        program.path.into_os_string()
    }
}

/// Whether `path` is a regular file that somebody may execute.
fn is_executable(path: &Path) -> bool {
    path.metadata()
        .is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}
