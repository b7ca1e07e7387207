//! The detection rules as a table: files in, shell lines out.

use std::fs;

use super::{Detected, Project, detect};

/// `name: run` per command.
fn lines(detected: &Detected) -> Vec<String> {
    detected
        .commands
        .iter()
        .map(|c| format!("{}: {}", c.name, c.run))
        .collect()
}

fn found(project: Project) -> Vec<String> {
    lines(&detect(&project))
}

#[test]
fn an_empty_folder_has_no_commands() {
    assert_eq!(detect(&Project::new()), Detected::default());
    let all = Project::new().with_programs(&["cargo", "npm", "go", "make", "pytest"]);
    assert_eq!(detect(&all), Detected::default());
}

#[test]
fn cargo() {
    let package = Project::new()
        .with_file("Cargo.toml", "[package]\nname = \"a\"\n")
        .with_programs(&["cargo", "cargo-clippy"]);
    assert_eq!(
        found(package),
        [
            "lint: cargo clippy --all-targets",
            "typecheck: cargo check --all-targets",
            "test: cargo test",
        ]
    );
    let workspace = Project::new()
        .with_file("Cargo.toml", "[workspace.package]\nversion = \"1\"\n")
        .with_programs(&["cargo"]);
    assert_eq!(
        found(workspace),
        [
            "typecheck: cargo check --workspace --all-targets",
            "test: cargo test --workspace"
        ]
    );
    let detected = detect(&Project::new().with_file("Cargo.toml", ""));
    assert!(detected.commands.is_empty());
    assert_eq!(detected.skipped, ["Cargo project: `cargo` is not on PATH"]);
}

#[test]
fn the_lock_file_chooses_the_package_manager() {
    let scripts = r#"{"scripts": {"lint": "eslint .", "typecheck": "tsc", "test": "vitest"}}"#;
    let with = |lock: &str| {
        found(
            Project::new()
                .with_file("package.json", scripts)
                .with_file(lock, "")
                .with_programs(&["npm", "pnpm", "yarn", "bun"]),
        )
    };
    let npm = [
        "lint: npm run lint",
        "typecheck: npm run typecheck",
        "test: npm test",
    ];
    assert_eq!(with("package-lock.json"), npm);
    assert_eq!(with("README"), npm);
    assert_eq!(
        with("pnpm-lock.yaml"),
        [
            "lint: pnpm run lint",
            "typecheck: pnpm run typecheck",
            "test: pnpm test"
        ]
    );
    assert_eq!(
        with("yarn.lock"),
        [
            "lint: yarn run lint",
            "typecheck: yarn run typecheck",
            "test: yarn test"
        ]
    );
    assert_eq!(
        with("bun.lock"),
        [
            "lint: bun run lint",
            "typecheck: bun run typecheck",
            "test: bun run test"
        ]
    );
}

#[test]
fn the_package_manager_field_beats_the_lock_file_and_npm_stands_in() {
    let package = r#"{"packageManager": "pnpm@9.1.0", "scripts": {"test": "x"}}"#;
    let project = Project::new()
        .with_file("package.json", package)
        .with_file("yarn.lock", "");
    let everything = project.clone().with_programs(&["npm", "pnpm", "yarn"]);
    assert_eq!(found(everything), ["test: pnpm test"]);
    assert_eq!(
        found(project.clone().with_programs(&["npm"])),
        ["test: npm test"]
    );
    assert_eq!(
        detect(&project).skipped,
        ["package.json: `pnpm` is not on PATH"]
    );
}

#[test]
fn tools_stand_in_for_missing_scripts() {
    let package = r#"{
        "scripts": {"test": "echo \"Error: no test specified\" && exit 1"},
        "devDependencies": {"typescript": "5", "eslint": "9", "vitest": "2"}
    }"#;
    let project = Project::new()
        .with_file("package.json", package)
        .with_file("tsconfig.json", "{}")
        .with_file("eslint.config.mjs", "")
        .with_programs(&["npm"]);
    assert_eq!(
        found(project),
        [
            "lint: npx --no-install eslint .",
            "typecheck: npx --no-install tsc --noEmit",
            "test: npx --no-install vitest run",
        ]
    );
    // a tool without its configuration, and one that is not installed
    let package = r#"{"devDependencies": {"eslint": "9"}}"#;
    let project = Project::new()
        .with_file("package.json", package)
        .with_file("tsconfig.json", "{}")
        .with_programs(&["npm"]);
    assert_eq!(found(project), Vec::<String>::new());
}

#[test]
fn a_broken_package_json_is_no_panic() {
    let project = Project::new()
        .with_file("package.json", "{")
        .with_programs(&["npm"]);
    assert_eq!(detect(&project), Detected::default());
}

#[test]
fn python_tools_only_when_configured() {
    let all = ["pytest", "ruff", "mypy", "flake8", "pyright", "python3"];
    let project = |pyproject: &str| {
        Project::new()
            .with_file("pyproject.toml", pyproject)
            .with_programs(&all)
    };
    assert_eq!(
        found(project("[project]\nname = \"a\"\n")),
        Vec::<String>::new()
    );
    assert_eq!(
        found(project(
            "[tool.ruff.lint]\n[tool.mypy]\nstrict = true\n[tool.pytest.ini_options]\n"
        )),
        ["lint: ruff check .", "typecheck: mypy .", "test: pytest"]
    );
    assert_eq!(
        found(project("[tool.mypy]\nfiles = [\"src\"]\n")),
        ["typecheck: mypy"]
    );
    assert_eq!(
        found(project(
            "[dependency-groups]\ndev = [\"pytest>=8\", \"ruff\"]\n"
        )),
        ["lint: ruff check .", "test: pytest"]
    );
    assert_eq!(
        found(project(
            "[tool.poetry.group.dev.dependencies]\npytest = \"^8\"\n"
        )),
        ["test: pytest"]
    );
    assert_eq!(
        found(project(
            "dev = [\"pytest-cov\"] # not pytest\n[tool.ruffian]\n"
        )),
        Vec::<String>::new()
    );
}

#[test]
fn python_runs_tools_as_the_repository_does() {
    let base = Project::new()
        .with_file("pytest.ini", "")
        .with_file("mypy.ini", "");
    let locked = base.clone().with_file("uv.lock", "");
    assert_eq!(
        found(locked.clone().with_programs(&["uv"])),
        ["typecheck: uv run mypy .", "test: uv run pytest"]
    );
    let detected = detect(&locked);
    assert_eq!(
        detected.skipped,
        [
            "Python typecheck: `mypy` is not on PATH",
            "Python test: `pytest` is not on PATH"
        ]
    );
    let poetry = base
        .clone()
        .with_file("poetry.lock", "")
        .with_programs(&["poetry", "pytest"]);
    assert_eq!(
        found(poetry),
        ["typecheck: poetry run mypy .", "test: poetry run pytest"]
    );
    let venv = base
        .with_file(".venv/bin/pytest", "")
        .with_programs(&["mypy"]);
    assert_eq!(found(venv), ["typecheck: mypy .", "test: .venv/bin/pytest"]);
}

#[test]
fn python_tests_without_a_runner_are_unit_tests() {
    let project = Project::new()
        .with_file("tests/test_sum.py", "")
        .with_file("setup.py", "");
    let with = |programs: &[&str]| found(project.clone().with_programs(programs));
    assert_eq!(with(&["python3"]), ["test: python3 -m unittest discover"]);
    assert_eq!(with(&["python3", "pytest"]), ["test: pytest"]);
    assert_eq!(with(&[]), Vec::<String>::new());
}

#[test]
fn go() {
    let module = Project::new().with_file("go.mod", "module a\n");
    assert_eq!(
        found(module.clone().with_programs(&["go", "golangci-lint"])),
        [
            "lint: go vet ./...",
            "typecheck: go build ./...",
            "test: go test ./..."
        ]
    );
    let linted = module.with_file(".golangci.yml", "");
    assert_eq!(
        found(linted.with_programs(&["go", "golangci-lint"]))[0],
        "lint: golangci-lint run ./..."
    );
}

#[test]
fn make_and_just_targets() {
    let makefile =
        "CC := gcc\n.PHONY: test lint\nall: test\ntest: build\n\techo lint:\nlint:\n\ttrue\n";
    let make = Project::new()
        .with_file("Makefile", makefile)
        .with_programs(&["make", "just"]);
    assert_eq!(found(make.clone()), ["lint: make lint", "test: make test"]);
    let justfile = "set shell := [\"sh\"]\nalias t := test\n\ntest *args: build\n  cargo test\n\n\
                    lint:\n  x\n\ntypecheck target:\n  y\n";
    let just = make.with_file("justfile", justfile);
    assert_eq!(found(just), ["lint: just lint", "test: just test"]);
    let missing = Project::new().with_file("Makefile", "test:\n");
    assert_eq!(
        detect(&missing).skipped,
        ["target `test`: `make` is not on PATH"]
    );
}

#[test]
fn check_is_the_test_where_there_is_no_other() {
    let make = |text: &str| {
        found(
            Project::new()
                .with_file("Makefile", text)
                .with_programs(&["make"]),
        )
    };
    assert_eq!(make("check:\n\ttrue\n"), ["test: make check"]);
    assert_eq!(
        make("check:\ntest:\n"),
        ["lint: make check", "test: make test"]
    );
    assert_eq!(
        make("check:\ntest:\nlint:\n"),
        ["lint: make lint", "test: make test"]
    );
    assert_eq!(make("test := 1\nbuild:\n"), Vec::<String>::new());
}

#[test]
fn targets_only_fill_what_language_tools_leave_open() {
    let project = Project::new()
        .with_file("go.mod", "")
        .with_file("Makefile", "test:\nlint:\ntypecheck:\n")
        .with_programs(&["go", "make"]);
    assert_eq!(found(project).len(), 3);
    let project = Project::new()
        .with_file("Cargo.toml", "")
        .with_file("Makefile", "test:\nlint:\n")
        .with_programs(&["cargo", "make"]);
    assert_eq!(
        found(project),
        [
            "cargo typecheck: cargo check --all-targets",
            "cargo test: cargo test",
            "make lint: make lint",
        ]
    );
}

#[test]
fn a_real_folder_is_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let bin = folder.path().join("bin");
    fs::create_dir_all(folder.path().join("tests")).expect("made");
    fs::create_dir_all(&bin).expect("made");
    fs::write(folder.path().join("Makefile"), "test:\n\ttrue\n").expect("written");
    fs::write(folder.path().join("tests/test_a.py"), "").expect("written");
    fs::write(bin.join("make"), "#!/bin/sh\n").expect("written");
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(bin.join("make"), executable).expect("executable");
    let project = Project::look(folder.path(), bin.as_os_str());
    let detected = detect(&project);
    assert_eq!(lines(&detected), ["test: make test"]);
    assert_eq!(detected.skipped, ["Python test: `python3` is not on PATH"]);
}
