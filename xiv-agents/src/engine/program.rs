//! Finds an engine's program, and behind an npm shim the native one.
//!
//! A shim is one more process and does not pass signals on reliably; what it would start lies in a
//! platform package beside it.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use xiv_core::port::{AgentError, AgentErrorKind};
use xiv_core::rt::process::{Environment, Program};

/// Where an npm package keeps the native program of a platform package.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shim {
    /// The scope folder under `node_modules`: `@openai`.
    pub(crate) scope: &'static str,
    /// What the names of the platform packages begin with: `codex-`.
    pub(crate) prefix: &'static str,
    /// The native program's name.
    pub(crate) program: &'static str,
}

/// The program of an engine: the configured one, else the name on `PATH`, past a shim where there is one.
///
/// # Errors
/// [`AgentErrorKind::Crashed`] when there is none, with the hint.
pub(crate) fn locate(
    configured: Option<&Path>,
    name: &str,
    shim: Shim,
    environment: &Environment,
    hint: &str,
) -> Result<PathBuf, AgentError> {
    let wanted = configured.map_or(OsStr::new(name), Path::as_os_str);
    let path = environment.get("PATH").unwrap_or_default();
    let found = Program::find_on(wanted, path, Path::new("/")).map_err(|error| {
        AgentError::new(AgentErrorKind::Crashed, error.to_string()).with_hint(hint)
    })?;
    Ok(native(found.path(), shim).unwrap_or_else(|| found.path().to_owned()))
}

/// The native program behind a script of an npm package.
fn native(program: &Path, shim: Shim) -> Option<PathBuf> {
    let real = program.canonicalize().ok()?;
    if real.extension().is_none_or(|extension| extension != "js") {
        return None;
    }
    let packages = real
        .ancestors()
        .find(|folder| folder.ends_with(shim.scope))?;
    // npm hoists the platform package beside the main one, or keeps it inside.
    let nested = real
        .ancestors()
        .nth(2)?
        .join("node_modules")
        .join(shim.scope);
    [packages, &nested].into_iter().find_map(|folder| {
        entries(folder)
            .filter(|package| name_of(package).starts_with(shim.prefix))
            .find_map(|package| search(&package, shim.program, 4))
    })
}

fn search(folder: &Path, program: &str, depth: usize) -> Option<PathBuf> {
    let candidate = folder.join(program);
    if candidate.is_file() {
        return Some(candidate);
    }
    if depth == 0 {
        return None;
    }
    entries(folder)
        .filter(|entry| entry.is_dir())
        .find_map(|entry| search(&entry, program, depth - 1))
}

fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let mut all: Vec<PathBuf> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .collect();
    all.sort();
    all.into_iter()
}

fn name_of(path: &Path) -> String {
    path.file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    const SHIM: Shim = Shim {
        scope: "@openai",
        prefix: "codex-",
        program: "codex",
    };

    fn executable(path: &Path) {
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("folders");
        std::fs::write(path, "#!/bin/sh\n").expect("a file");
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).expect("a mode");
    }

    #[test]
    fn the_native_program_is_found_behind_the_shim() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().canonicalize().expect("a real path");
        let modules = root.join("lib/node_modules/@openai");
        let native = modules.join("codex-linux-x64/vendor/x86_64/bin/codex");
        executable(&native);
        executable(&modules.join("codex/bin/codex.js"));
        std::fs::create_dir(root.join("bin")).expect("a folder");
        symlink(modules.join("codex/bin/codex.js"), root.join("bin/codex")).expect("a link");
        let environment = Environment::empty().with("PATH", root.join("bin"));
        assert_eq!(
            locate(None, "codex", SHIM, &environment, "install it"),
            Ok(native)
        );
    }

    #[test]
    fn a_native_program_is_taken_as_it_is_and_a_missing_one_has_a_hint() {
        let folder = tempfile::tempdir().expect("a folder");
        executable(&folder.path().join("codex"));
        let environment = Environment::empty().with("PATH", folder.path());
        assert_eq!(
            locate(None, "codex", SHIM, &environment, ""),
            Ok(folder.path().join("codex"))
        );
        let missing =
            locate(None, "claude", SHIM, &environment, "install it").expect_err("it is missing");
        assert_eq!(
            (missing.kind, missing.hints),
            (AgentErrorKind::Crashed, vec!["install it".to_owned()])
        );
    }
}
