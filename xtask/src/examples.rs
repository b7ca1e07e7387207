//! Builds the examples with the features that the tests use, so that nothing is
//! compiled twice, and runs each: an example that does not run teaches nothing.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::failure::Failure;
use crate::workspace::Workspace;

/// A built example.
#[derive(Debug, PartialEq, Eq)]
struct Program {
    name: String,
    path: String,
}

/// Builds and runs every program of the examples package.
pub(crate) fn run(workspace: &Workspace) -> Result<(), Failure> {
    let programs = build(workspace)?;
    let mut broken = Vec::new();
    for Program { name, path } in &programs {
        let output = Command::new(path)
            .current_dir(workspace.root())
            .stdin(Stdio::null())
            .output()
            .map_err(|error| Failure::step(name, error))?;
        if output.status.success() {
            println!("example {name}: ok");
        } else {
            println!("example {name}: {}", output.status);
            println!("{}", String::from_utf8_lossy(&output.stdout));
            println!("{}", String::from_utf8_lossy(&output.stderr));
            broken.push(name.as_str());
        }
    }
    if broken.is_empty() {
        Ok(())
    } else {
        Err(Failure::step("examples failed", broken.join(", ")))
    }
}

fn build(workspace: &Workspace) -> Result<Vec<Program>, Failure> {
    let output = workspace
        .cargo([
            "build",
            "--quiet",
            "--workspace",
            "--all-features",
            "--bins",
            "--examples",
        ])
        .args(["--locked", "--message-format", "json-render-diagnostics"])
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| Failure::step("cargo build", error))?;
    if !output.status.success() {
        return Err(Failure::step("cargo build", output.status));
    }
    let manifest = workspace.root().join("examples").join("Cargo.toml");
    let messages = String::from_utf8_lossy(&output.stdout);
    Ok(messages
        .lines()
        .filter_map(|line| program(line, &manifest))
        .collect())
}

/// The program that a build message announces, if it is one of the package's.
fn program(message: &str, manifest: &Path) -> Option<Program> {
    let message: Value = serde_json::from_str(message).ok()?;
    if Path::new(message["manifest_path"].as_str()?) != manifest {
        return None;
    }
    Some(Program {
        name: message["target"]["name"].as_str()?.to_owned(),
        path: message["executable"].as_str()?.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::{Path, Program, program};

    const BUILT: &str = r#"{"reason":"compiler-artifact","manifest_path":"/w/examples/Cargo.toml","target":{"name":"pure_loop","kind":["example"]},"executable":"/w/target/debug/examples/pure_loop"}"#;

    #[test]
    fn programs_of_the_examples_package_are_picked() {
        let expected = Program {
            name: "pure_loop".to_owned(),
            path: "/w/target/debug/examples/pure_loop".to_owned(),
        };
        assert_eq!(
            program(BUILT, Path::new("/w/examples/Cargo.toml")),
            Some(expected)
        );
    }

    #[test]
    fn other_messages_are_passed_over() {
        assert_eq!(program(BUILT, Path::new("/w/xiv-cli/Cargo.toml")), None);
        let library = BUILT.replace(r#""/w/target/debug/examples/pure_loop""#, "null");
        assert_eq!(program(&library, Path::new("/w/examples/Cargo.toml")), None);
        assert_eq!(
            program("not json", Path::new("/w/examples/Cargo.toml")),
            None
        );
    }
}
