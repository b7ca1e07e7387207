//! JavaScript and TypeScript: the scripts of `package.json`, run by the package
//! manager that the repository uses.

use serde_json::Value;

use super::{Ecosystem, Kind, Project};

/// Script names per kind, the first that exists counts.
const SCRIPTS: [(Kind, &[&str]); 3] = [
    (Kind::Lint, &["lint", "lint:check", "eslint"]),
    (
        Kind::Typecheck,
        &[
            "typecheck",
            "type-check",
            "check-types",
            "check:types",
            "types",
            "tsc",
        ],
    ),
    (Kind::Test, &["test", "tests", "test:unit"]),
];

/// Lock files and the manager each belongs to.
const LOCKS: [(&str, Manager); 7] = [
    ("pnpm-lock.yaml", Manager::Pnpm),
    ("yarn.lock", Manager::Yarn),
    ("bun.lock", Manager::Bun),
    ("bun.lockb", Manager::Bun),
    ("package-lock.json", Manager::Npm),
    ("npm-shrinkwrap.json", Manager::Npm),
    ("node_modules/.package-lock.json", Manager::Npm),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Manager {
    Npm,
    Pnpm,
    Yarn,
    Bun,
}

impl Manager {
    const fn program(self) -> &'static str {
        match self {
            Self::Npm => "npm",
            Self::Pnpm => "pnpm",
            Self::Yarn => "yarn",
            Self::Bun => "bun",
        }
    }

    /// Runs a script of `package.json`.
    fn script(self, name: &str) -> String {
        match (self, name) {
            (Self::Npm | Self::Pnpm | Self::Yarn, "test") => format!("{} test", self.program()),
            _ => format!("{} run {name}", self.program()),
        }
    }

    /// Runs a program that the repository installed.
    fn installed(self, command: &str) -> String {
        match self {
            Self::Npm => format!("npx --no-install {command}"),
            Self::Pnpm => format!("pnpm exec {command}"),
            Self::Yarn => format!("yarn run {command}"),
            Self::Bun => format!("bunx --no-install {command}"),
        }
    }
}

pub(super) fn detect(project: &Project) -> Option<Ecosystem> {
    if !project.has("package.json") {
        return None;
    }
    let package: Value = serde_json::from_str(project.text("package.json")).unwrap_or_default();
    let mut found = Ecosystem::new("node");
    let wanted = wanted_manager(project, &package);
    // scripts run under npm as well, whoever installed the packages
    let manager = [wanted, Manager::Npm]
        .into_iter()
        .find(|m| project.can_run(m.program()));
    let Some(manager) = manager else {
        found.skip("package.json", wanted.program());
        return Some(found);
    };
    for (kind, names) in SCRIPTS {
        let scripts = names
            .iter()
            .filter(|name| is_real(&package["scripts"][**name]));
        let command = match scripts.into_iter().next() {
            Some(name) => Some(manager.script(name)),
            None => tool(kind, project, &package).map(|tool| manager.installed(tool)),
        };
        if let Some(command) = command {
            found.add(kind, command);
        }
    }
    Some(found)
}

/// The manager that `packageManager` names, else the lock file's.
fn wanted_manager(project: &Project, package: &Value) -> Manager {
    let named = package["packageManager"].as_str().unwrap_or_default();
    let named = named.split('@').next().unwrap_or_default();
    let all = [Manager::Npm, Manager::Pnpm, Manager::Yarn, Manager::Bun];
    all.into_iter()
        .find(|manager| manager.program() == named)
        .or_else(|| {
            LOCKS
                .iter()
                .find(|(lock, _)| project.has(lock))
                .map(|(_, manager)| *manager)
        })
        .unwrap_or(Manager::Npm)
}

/// Whether this is a script other than the one `npm init` writes.
fn is_real(script: &Value) -> bool {
    script.as_str().is_some_and(|script| {
        !script.trim().is_empty() && !script.contains("Error: no test specified")
    })
}

/// What to run for a kind without a script: an installed tool that has its
/// configuration.
fn tool(kind: Kind, project: &Project, package: &Value) -> Option<&'static str> {
    let depends = |name: &str| {
        ["dependencies", "devDependencies"]
            .iter()
            .any(|list| !package[*list][name].is_null())
    };
    match kind {
        Kind::Lint => {
            let configured = project.any_file(|name| {
                name.starts_with("eslint.config.") || name.starts_with(".eslintrc")
            });
            if depends("eslint") && (configured || !package["eslintConfig"].is_null()) {
                return Some("eslint .");
            }
            let biome = project.has_any(&["biome.json", "biome.jsonc"]);
            (depends("@biomejs/biome") && biome).then_some("biome check .")
        }
        Kind::Typecheck => {
            (project.has("tsconfig.json") && depends("typescript")).then_some("tsc --noEmit")
        }
        Kind::Test if depends("vitest") => Some("vitest run"),
        Kind::Test if depends("jest") => Some("jest"),
        Kind::Test => None,
    }
}
