//! Go: vet or golangci-lint, build, test.

use super::{Ecosystem, Kind, Project};

pub(super) fn detect(project: &Project) -> Option<Ecosystem> {
    if !project.has("go.mod") {
        return None;
    }
    let mut found = Ecosystem::new("go");
    if !project.can_run("go") {
        found.skip("Go module", "go");
        return Some(found);
    }
    let linter = [
        ".golangci.yml",
        ".golangci.yaml",
        ".golangci.toml",
        ".golangci.json",
    ];
    if project.has_any(&linter) && project.can_run("golangci-lint") {
        found.add(Kind::Lint, "golangci-lint run ./...");
    } else {
        found.add(Kind::Lint, "go vet ./...");
    }
    found.add(Kind::Typecheck, "go build ./...");
    found.add(Kind::Test, "go test ./...");
    Some(found)
}
