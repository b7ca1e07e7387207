//! Rust: clippy, check, test.

use super::{Ecosystem, Kind, Project};

/// Clippy runs without `-D warnings`: a repository that wants that says so in
/// its lint tables, and old warnings of another day must not block a run.
pub(super) fn detect(project: &Project) -> Option<Ecosystem> {
    if !project.has("Cargo.toml") {
        return None;
    }
    let mut found = Ecosystem::new("cargo");
    if !project.can_run("cargo") {
        found.skip("Cargo project", "cargo");
        return Some(found);
    }
    let is_workspace = project
        .text("Cargo.toml")
        .lines()
        .any(|line| matches!(line.trim().split(['.', ']']).next(), Some("[workspace")));
    let scope = if is_workspace { " --workspace" } else { "" };
    if project.can_run("cargo-clippy") {
        found.add(Kind::Lint, format!("cargo clippy{scope} --all-targets"));
    }
    found.add(Kind::Typecheck, format!("cargo check{scope} --all-targets"));
    found.add(Kind::Test, format!("cargo test{scope}"));
    Some(found)
}
