//! Finds a repository's own lint, typecheck and test commands.
//!
//! Used only when the configuration names none. The rules are pure: they see a
//! [`Project`], which says what files the root holds and what programs are on
//! `PATH`, and answer with shell lines. A command whose program is missing is
//! not proposed, since it could never pass; the reason is told instead.
//!
//! Language tools come first. Targets of `make` and `just` stand in for the
//! kinds (lint, typecheck, test) that no language tool covers, because they
//! usually wrap the same tools and would run them twice.

mod cargo;
mod go;
mod node;
mod project;
mod python;
mod targets;

#[cfg(test)]
mod tests;

pub use project::Project;

use crate::model::ValidationCommand;

/// What a command finds out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Kind {
    Lint,
    Typecheck,
    Test,
}

impl Kind {
    const ALL: [Self; 3] = [Self::Lint, Self::Typecheck, Self::Test];

    const fn name(self) -> &'static str {
        match self {
            Self::Lint => "lint",
            Self::Typecheck => "typecheck",
            Self::Test => "test",
        }
    }
}

/// What detection found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Detected {
    /// The commands, each ecosystem's lint before its typecheck before its test.
    pub commands: Vec<ValidationCommand>,
    /// What was recognised but cannot be run here, one sentence each.
    pub skipped: Vec<String>,
}

/// The commands of one ecosystem.
#[derive(Debug)]
pub(crate) struct Ecosystem {
    /// For names, when there is more than one ecosystem.
    label: &'static str,
    found: Vec<(Kind, String)>,
    skipped: Vec<String>,
}

impl Ecosystem {
    fn new(label: &'static str) -> Self {
        Self {
            label,
            found: Vec::new(),
            skipped: Vec::new(),
        }
    }

    fn add(&mut self, kind: Kind, run: impl Into<String>) {
        self.found.push((kind, run.into()));
    }

    fn skip(&mut self, what: &str, program: &str) {
        self.skipped
            .push(format!("{what}: `{program}` is not on PATH"));
    }

    fn has(&self, kind: Kind) -> bool {
        self.found.iter().any(|(found, _)| *found == kind)
    }
}

/// Applies every rule to the project.
#[must_use]
pub fn detect(project: &Project) -> Detected {
    let mut ecosystems: Vec<Ecosystem> = [cargo::detect, node::detect, python::detect, go::detect]
        .into_iter()
        .filter_map(|rule| rule(project))
        .collect();
    let open: Vec<Kind> = Kind::ALL
        .into_iter()
        .filter(|kind| !ecosystems.iter().any(|ecosystem| ecosystem.has(*kind)))
        .collect();
    ecosystems.extend(targets::detect(project, &open));

    let several = ecosystems
        .iter()
        .filter(|ecosystem| !ecosystem.found.is_empty())
        .count()
        > 1;
    let mut detected = Detected::default();
    for Ecosystem {
        label,
        mut found,
        skipped,
    } in ecosystems
    {
        found.sort_by_key(|(kind, _)| *kind);
        for (kind, run) in found {
            let name = kind.name();
            let name = if several {
                format!("{label} {name}")
            } else {
                name.to_owned()
            };
            detected.commands.push(ValidationCommand {
                name,
                run,
                timeout_ms: None,
            });
        }
        detected.skipped.extend(skipped);
    }
    detected
}
