//! Python: ruff or flake8, mypy or pyright, pytest or unittest, each only when
//! the repository configures it or depends on it.

use super::{Ecosystem, Kind, Project};

/// Files of which one makes a repository a Python project.
const MARKERS: &[&str] = &[
    "pyproject.toml",
    "setup.py",
    "setup.cfg",
    "requirements.txt",
    "Pipfile",
    "pytest.ini",
    "tox.ini",
    "uv.lock",
    "poetry.lock",
];

/// Files that list dependencies.
const DEPENDENCIES: &[&str] = &[
    "pyproject.toml",
    "setup.cfg",
    "requirements.txt",
    "requirements-dev.txt",
    "requirements_dev.txt",
    "dev-requirements.txt",
    "Pipfile",
];

/// Lock files, the program that each belongs to, and how that runs a tool.
const RUNNERS: [(&str, &str, &str); 4] = [
    ("uv.lock", "uv", "uv run "),
    ("poetry.lock", "poetry", "poetry run "),
    ("pdm.lock", "pdm", "pdm run "),
    ("Pipfile.lock", "pipenv", "pipenv run "),
];

pub(super) fn detect(project: &Project) -> Option<Ecosystem> {
    let has_tests = project.any_file(is_test_file);
    if !project.has_any(MARKERS) && !has_tests {
        return None;
    }
    let mut found = Ecosystem::new("python");
    if is_configured(
        project,
        "ruff",
        &["ruff.toml", ".ruff.toml"],
        &["[tool.ruff"],
    ) {
        add(&mut found, project, Kind::Lint, "ruff", "check .");
    } else if is_configured(project, "flake8", &[".flake8"], &["[flake8"]) {
        add(&mut found, project, Kind::Lint, "flake8", "");
    }
    if is_configured(
        project,
        "mypy",
        &["mypy.ini", ".mypy.ini"],
        &["[tool.mypy", "[mypy"],
    ) {
        let arguments = if names_its_files(project) { "" } else { "." };
        add(&mut found, project, Kind::Typecheck, "mypy", arguments);
    } else if is_configured(
        project,
        "pyright",
        &["pyrightconfig.json"],
        &["[tool.pyright"],
    ) {
        add(&mut found, project, Kind::Typecheck, "pyright", "");
    }
    let pytest_tables = ["[tool.pytest", "[tool:pytest", "[pytest"];
    let pytest_files = [
        "pytest.ini",
        ".pytest.ini",
        "conftest.py",
        "tests/conftest.py",
    ];
    if is_configured(project, "pytest", &pytest_files, &pytest_tables) {
        add(&mut found, project, Kind::Test, "pytest", "");
    } else if has_tests {
        if project.can_run("pytest") {
            add(&mut found, project, Kind::Test, "pytest", "");
        } else {
            add(
                &mut found,
                project,
                Kind::Test,
                "python3",
                "-m unittest discover",
            );
        }
    }
    Some(found)
}

/// Adds `tool arguments`, run the way the repository runs its tools.
fn add(found: &mut Ecosystem, project: &Project, kind: Kind, tool: &str, arguments: &str) {
    let runner = RUNNERS
        .iter()
        .find(|(lock, program, _)| project.has(lock) && project.can_run(program))
        .map(|(_, _, prefix)| (*prefix).to_owned());
    let own = [".venv/bin/", "venv/bin/"];
    let own = own
        .into_iter()
        .find(|folder| project.has(&format!("{folder}{tool}")));
    let prefix = match (runner, own) {
        (Some(runner), _) => runner,
        (None, Some(folder)) => folder.to_owned(),
        (None, None) if project.can_run(tool) => String::new(),
        (None, None) => return found.skip(&format!("Python {}", kind.name()), tool),
    };
    found.add(
        kind,
        format!("{prefix}{tool} {arguments}").trim_end().to_owned(),
    );
}

/// Whether the repository has the tool's own file, its table in a shared file,
/// or the tool among its dependencies.
fn is_configured(project: &Project, tool: &str, files: &[&str], tables: &[&str]) -> bool {
    let has_table = ["pyproject.toml", "setup.cfg", "tox.ini"]
        .iter()
        .any(|file| {
            let mut lines = project.text(file).lines().map(str::trim_start);
            let ends = |rest: &str| rest.starts_with([']', '.']);
            lines.any(|line| {
                tables
                    .iter()
                    .any(|table| line.strip_prefix(table).is_some_and(ends))
            })
        });
    project.has_any(files)
        || has_table
        || DEPENDENCIES
            .iter()
            .any(|file| depends_on(project.text(file), tool))
}

/// Whether a list of requirements, in any of the usual formats, names the tool
/// as a word of its own: `pytest>=8`, `"pytest"`, `pytest = "^8"`, but neither
/// `pytest-cov` nor `[tool.pytest]`.
fn depends_on(text: &str, tool: &str) -> bool {
    let is_word = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
    text.lines()
        .map(|line| line.split('#').next().unwrap_or_default())
        .any(|line| line.split(|c| !is_word(c)).any(|word| word == tool))
}

/// Whether mypy's configuration says what to check.
fn names_its_files(project: &Project) -> bool {
    ["pyproject.toml", "setup.cfg"].iter().any(|file| {
        let text = project.text(file);
        let after = text
            .split("[tool.mypy]")
            .nth(1)
            .or_else(|| text.split("[mypy]").nth(1));
        let table = after
            .unwrap_or_default()
            .lines()
            .take_while(|line| !line.starts_with('['));
        table.into_iter().any(|line| {
            let key = line.split('=').next().unwrap_or_default().trim();
            matches!(key, "files" | "packages" | "modules")
        })
    })
}

/// `test_*.py` or `*_test.py`, in the root or in a folder for tests.
fn is_test_file(path: &str) -> bool {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    matches!(folder, "" | "test" | "tests")
        && name
            .strip_suffix(".py")
            .is_some_and(|stem| stem.starts_with("test_") || stem.ends_with("_test"))
}
