//! What the detection rules may know about a repository.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::Path;

use crate::rt::process::Program;

/// Files whose text decides something. Anything larger than
/// [`TEXT_LIMIT`] counts as present but empty.
const READ: &[&str] = &[
    ".justfile",
    "Cargo.toml",
    "GNUmakefile",
    "Justfile",
    "Makefile",
    "Pipfile",
    "justfile",
    "makefile",
    "package.json",
    "pyproject.toml",
    "requirements-dev.txt",
    "requirements.txt",
    "requirements_dev.txt",
    "dev-requirements.txt",
    "setup.cfg",
    "tox.ini",
];

/// Largest file that is read.
const TEXT_LIMIT: u64 = 1 << 20;

/// Programs that rules ask for.
const PROGRAMS: &[&str] = &[
    "bun",
    "cargo",
    "cargo-clippy",
    "flake8",
    "go",
    "golangci-lint",
    "just",
    "make",
    "mypy",
    "npm",
    "npx",
    "pdm",
    "pipenv",
    "pnpm",
    "poetry",
    "pyright",
    "pytest",
    "python3",
    "ruff",
    "uv",
    "yarn",
];

/// Folders whose entries are looked at too, as `folder/entry`.
const FOLDERS: &[&str] = &[
    ".venv/bin",
    "node_modules/.bin",
    "test",
    "tests",
    "venv/bin",
];

/// A repository's root as the rules see it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Project {
    files: BTreeMap<String, String>,
    programs: BTreeSet<String>,
}

impl Project {
    /// Nothing at all.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Looks at the folder `root`, and for programs on the search path `path`.
    #[must_use]
    pub fn look(root: &Path, path: &OsStr) -> Self {
        let mut project = Self::new();
        for folder in std::iter::once("").chain(FOLDERS.iter().copied()) {
            let Ok(entries) = root.join(folder).read_dir() else {
                continue;
            };
            for name in entries
                .flatten()
                .filter_map(|entry| entry.file_name().into_string().ok())
            {
                let relative = if folder.is_empty() {
                    name
                } else {
                    format!("{folder}/{name}")
                };
                let text = if READ.contains(&relative.as_str()) {
                    read(&root.join(&relative))
                } else {
                    String::new()
                };
                project.files.insert(relative, text);
            }
        }
        let is_there = |name: &&&str| Program::find_on(name, path, root).is_ok();
        project.programs = PROGRAMS
            .iter()
            .filter(is_there)
            .map(|&name| name.to_owned())
            .collect();
        project
    }

    /// Adds a file.
    #[must_use]
    pub fn with_file(mut self, name: &str, text: &str) -> Self {
        self.files.insert(name.to_owned(), text.to_owned());
        self
    }

    /// Adds programs to the search path.
    #[must_use]
    pub fn with_programs(mut self, names: &[&str]) -> Self {
        self.programs
            .extend(names.iter().map(|&name| name.to_owned()));
        self
    }

    /// Whether the root holds `name`.
    pub(super) fn has(&self, name: &str) -> bool {
        self.files.contains_key(name)
    }

    /// Whether the root holds one of `names`.
    pub(super) fn has_any(&self, names: &[&str]) -> bool {
        names.iter().any(|name| self.has(name))
    }

    /// The text of `name`; empty when it is not there.
    pub(super) fn text(&self, name: &str) -> &str {
        self.files.get(name).map_or("", String::as_str)
    }

    /// The first of `names` that is there, with its text.
    pub(super) fn first_text(&self, names: &[&str]) -> Option<&str> {
        names
            .iter()
            .find_map(|name| self.files.get(*name))
            .map(String::as_str)
    }

    /// Whether some file's name satisfies `is_wanted`.
    pub(super) fn any_file(&self, is_wanted: impl Fn(&str) -> bool) -> bool {
        self.files.keys().any(|name| is_wanted(name))
    }

    /// Whether the program is on the search path.
    pub(super) fn can_run(&self, program: &str) -> bool {
        self.programs.contains(program)
    }
}

fn read(path: &Path) -> String {
    match path.metadata() {
        Ok(meta) if meta.is_file() && meta.len() <= TEXT_LIMIT => {
            String::from_utf8_lossy(&std::fs::read(path).unwrap_or_default()).into_owned()
        }
        _ => String::new(),
    }
}
