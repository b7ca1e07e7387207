//! Which files nobody writes by hand, when the repository does not say so
//! itself: lock files, source maps and minified code.

use xiv_core::model::RepoPath;

use super::sections::Section;

/// Files that package managers write.
const LOCK_FILES: [&str; 27] = [
    ".terraform.lock.hcl",
    "Cargo.lock",
    "Gemfile.lock",
    "Package.resolved",
    "Pipfile.lock",
    "Podfile.lock",
    "bun.lock",
    "bun.lockb",
    "cabal.project.freeze",
    "composer.lock",
    "conan.lock",
    "deno.lock",
    "flake.lock",
    "go.sum",
    "gradle.lockfile",
    "mix.lock",
    "npm-shrinkwrap.json",
    "package-lock.json",
    "packages.lock.json",
    "pdm.lock",
    "pixi.lock",
    "pnpm-lock.yaml",
    "poetry.lock",
    "pubspec.lock",
    "stack.yaml.lock",
    "uv.lock",
    "yarn.lock",
];

/// Endings of files that bundlers write.
const BUNDLED: [&str; 6] = [
    ".min.js", ".min.mjs", ".min.css", ".js.map", ".mjs.map", ".css.map",
];

/// Endings of files that may be minified without saying so.
const MINIFIABLE: [&str; 4] = [".js", ".mjs", ".cjs", ".css"];

/// Mean length of a line, in bytes, above which no person wrote it.
const LONG_LINES: usize = 500;

/// Whether the name alone says so.
pub(super) fn by_name(path: &RepoPath) -> bool {
    let name = file_name(path);
    LOCK_FILES.iter().any(|lock| lock.as_bytes() == name) || ends_in(name, &BUNDLED)
}

/// Whether the added lines of a script or style sheet are too long for people.
pub(super) fn is_minified(path: &RepoPath, section: &Section<'_>) -> bool {
    if !ends_in(file_name(path), &MINIFIABLE) {
        return false;
    }
    let (lines, bytes) = section
        .added()
        .filter(|line| !line.trim_ascii().is_empty())
        .fold((0, 0), |(lines, bytes), line| {
            (lines + 1, bytes + line.len())
        });
    lines > 0 && bytes / lines > LONG_LINES
}

fn file_name(path: &RepoPath) -> &[u8] {
    let bytes = path.as_bytes();
    bytes.rsplit(|&byte| byte == b'/').next().unwrap_or(bytes)
}

fn ends_in(name: &[u8], endings: &[&str]) -> bool {
    endings
        .iter()
        .any(|ending| name.ends_with(ending.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::by_name;

    #[test]
    fn lock_files_count_in_any_folder_and_by_their_whole_name() {
        for generated in ["Cargo.lock", "web/yarn.lock", "a/b.min.css", "x.js.map"] {
            assert!(by_name(&generated.into()), "{generated}");
        }
        for written in [
            "my-Cargo.lock",
            "Cargo.lock/x.rs",
            "admin.js",
            "lock.rs",
            "map",
        ] {
            assert!(!by_name(&written.into()), "{written}");
        }
    }
}
