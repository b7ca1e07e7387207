//! Keeps the workspace in its shape: who may depend on whom, how a module
//! looks, and what must not be left lying about. These are the rules of
//! ARCHITECTURE.md that a reviewer would otherwise have to remember.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use cargo_metadata::{DependencyKind, Metadata, MetadataCommand, Package};

/// What xiv-core may depend on when no feature is asked for.
const CORE_BUDGET: [&str; 8] = [
    "async-trait",
    "futures",
    "jiff",
    "schemars",
    "serde",
    "serde_json",
    "thiserror",
    "uuid",
];

/// Crates that would bring a clock, a runtime, processes or storage into the core.
const NOT_IN_THE_CORE: [&str; 9] = [
    "gix", "mockall", "proptest", "reqwest", "rusqlite", "rustix", "tempfile", "tokio", "tracing",
];

/// Which members each member may name, whatever the kind of dependency.
const EDGES: [(&str, &[&str]); 8] = [
    ("xiv-core", &[]),
    ("xiv-agents", &["xiv-core"]),
    ("xiv-forge", &["xiv-core"]),
    ("xiv-vcs", &["xiv-core"]),
    (
        "xiv-cli",
        &["xiv-agents", "xiv-core", "xiv-forge", "xiv-vcs"],
    ),
    (
        "xiv-examples",
        &["xiv-agents", "xiv-core", "xiv-forge", "xiv-vcs"],
    ),
    (
        "xiv-benches",
        &["xiv-agents", "xiv-core", "xiv-forge", "xiv-vcs"],
    ),
    ("xtask", &[]),
];

/// The longest a module may be, in lines.
const MAX_LINES: usize = 800;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the crate lies in the workspace folder")
        .to_path_buf()
}

fn metadata() -> Metadata {
    MetadataCommand::new()
        .manifest_path(root().join("Cargo.toml"))
        .no_deps()
        .other_options(vec!["--offline".to_owned()])
        .exec()
        .expect("cargo describes the workspace")
}

fn member<'a>(metadata: &'a Metadata, name: &str) -> &'a Package {
    metadata
        .packages
        .iter()
        .find(|package| package.name.as_str() == name)
        .unwrap_or_else(|| panic!("the workspace has no member {name}"))
}

/// Every Rust source of the members, relative to the root, in a stable order.
fn sources() -> Vec<PathBuf> {
    let root = root();
    let mut found = Vec::new();
    for package in metadata().packages {
        let folder = package
            .manifest_path
            .parent()
            .expect("a manifest lies in a folder");
        for part in ["src", "tests", "examples", "benches", "build.rs"] {
            collect(&folder.as_std_path().join(part), "rs", &mut found);
        }
    }
    let mut relative: Vec<_> = found
        .into_iter()
        .map(|path| {
            path.strip_prefix(&root)
                .expect("members lie under the root")
                .to_path_buf()
        })
        .collect();
    relative.sort();
    relative.dedup();
    let known = Path::new("xiv-core/src/lib.rs");
    assert!(
        relative.iter().any(|path| path == known),
        "the walk found the sources"
    );
    relative
}

fn collect(path: &Path, extension: &str, into: &mut Vec<PathBuf>) {
    if path.is_dir() {
        for entry in fs::read_dir(path).expect("a source folder can be listed") {
            collect(
                &entry.expect("a folder entry can be read").path(),
                extension,
                into,
            );
        }
    } else if path.extension().is_some_and(|found| found == extension) && path.is_file() {
        into.push(path.to_path_buf());
    }
}

fn read(relative: &Path) -> String {
    fs::read_to_string(root().join(relative))
        .unwrap_or_else(|error| panic!("{}: {error}", relative.display()))
}

/// Names of the sources for which `breaks` says what is wrong with them.
fn offenders(breaks: impl Fn(&Path, &str) -> Option<String>) -> Vec<String> {
    sources()
        .iter()
        .filter_map(|path| {
            breaks(path, &read(path)).map(|why| format!("{}: {why}", path.display()))
        })
        .collect()
}

fn assert_none(what: &str, found: &[String]) {
    assert!(found.is_empty(), "{what}:\n  {}", found.join("\n  "));
}

#[test]
fn the_core_has_exactly_its_budget() {
    let metadata = metadata();
    let core = member(&metadata, "xiv-core");
    let direct: BTreeSet<&str> = core
        .dependencies
        .iter()
        .filter(|dependency| dependency.kind != DependencyKind::Development && !dependency.optional)
        .map(|dependency| dependency.name.as_str())
        .collect();
    assert_eq!(direct, BTreeSet::from(CORE_BUDGET));
    let default = core
        .features
        .get("default")
        .map(Vec::as_slice)
        .unwrap_or_default();
    assert!(
        default.is_empty(),
        "default features stay empty, found {default:?}"
    );
}

#[test]
fn the_core_pulls_in_no_runtime() {
    let output = Command::new(env!("CARGO"))
        .current_dir(root())
        .args([
            "tree",
            "--offline",
            "--package",
            "xiv-core",
            "--edges",
            "normal",
        ])
        .args(["--prefix", "none", "--format", "{lib}"])
        .output()
        .expect("cargo tree runs");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let tree = String::from_utf8_lossy(&output.stdout);
    let crates: BTreeSet<&str> = tree.lines().map(str::trim).collect();
    assert!(crates.contains("serde_json"), "the tree was read:\n{tree}");
    let intruders: Vec<_> = NOT_IN_THE_CORE
        .iter()
        .filter(|name| crates.contains(*name))
        .collect();
    assert!(
        intruders.is_empty(),
        "xiv-core without features needs {intruders:?}"
    );
}

#[test]
fn members_depend_only_along_the_drawn_edges() {
    let metadata = metadata();
    let members: BTreeSet<&str> = metadata
        .packages
        .iter()
        .map(|package| package.name.as_str())
        .collect();
    let drawn: BTreeSet<&str> = EDGES.iter().map(|(name, _)| *name).collect();
    assert_eq!(members, drawn, "a new member needs a place in the picture");
    for (name, allowed) in EDGES {
        for dependency in &member(&metadata, name).dependencies {
            let target = dependency.name.as_str();
            let itself = target == name && dependency.kind == DependencyKind::Development;
            assert!(
                !members.contains(target) || allowed.contains(&target) || itself,
                "{name} must not depend on {target}"
            );
        }
    }
}

#[test]
fn every_member_follows_the_workspace_lints() {
    for package in metadata().packages {
        let manifest = fs::read_to_string(&package.manifest_path).expect("a manifest can be read");
        let document: String = manifest.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            document.contains("[lints] workspace = true"),
            "{} does not inherit the lints",
            package.name
        );
    }
}

#[test]
fn modules_say_what_they_are() {
    let silent = offenders(|_, text| {
        let first = text
            .lines()
            .find(|line| !line.trim().is_empty())
            .unwrap_or_default();
        (!first.starts_with("//! ")).then(|| format!("starts with {first:?}"))
    });
    assert_none(
        "a module starts with `//!`: what it is and why it exists",
        &silent,
    );
}

#[test]
fn modules_stay_short() {
    let long = offenders(|_, text| {
        let lines = text.lines().count();
        (lines > MAX_LINES).then(|| format!("{lines} lines"))
    });
    assert_none("split the module", &long);
}

#[test]
fn nothing_is_left_unfinished() {
    // Put together here, so that this file does not find itself.
    let marks = [
        concat!("to", "do!("),
        concat!("unimple", "mented!("),
        concat!("FIX", "ME"),
        concat!("TO", "DO"),
        concat!("#[ign", "ore]"),
    ];
    let unfinished = offenders(|_, text| {
        marks
            .iter()
            .find(|mark| text.contains(**mark))
            .map(|mark| format!("contains {mark}"))
    });
    assert_none("finish it or leave it out", &unfinished);
}

#[test]
fn exports_are_spelled_out() {
    let globs = offenders(|_, text| {
        text.lines()
            .map(str::trim)
            .find(|line| line.starts_with("pub use ") && line.ends_with("::*;"))
            .map(str::to_owned)
    });
    assert_none("name what is exported", &globs);
}

#[test]
fn only_the_edge_of_the_core_may_do_io() {
    let core = Path::new("xiv-core/src");
    let edge = [
        "rt",
        "rt.rs",
        "store",
        "store.rs",
        "test_support",
        "test_support.rs",
    ];
    let waived = offenders(|path, text| {
        let inside = path.strip_prefix(core).ok()?;
        let first = inside.iter().next()?.to_str()?;
        (!edge.contains(&first) && text.contains("clippy::disallowed_methods"))
            .then(|| "waives the purity rules".to_owned())
    });
    assert_none("I/O belongs to `rt` and `store`", &waived);
}

#[test]
fn the_code_map_is_complete() {
    let map = read(Path::new("ARCHITECTURE.md"));
    let mut rooms: BTreeSet<String> = metadata()
        .packages
        .iter()
        .filter_map(|package| {
            package
                .manifest_path
                .parent()?
                .file_name()
                .map(str::to_owned)
        })
        .collect();
    for entry in fs::read_dir(root().join("xiv-core/src")).expect("the core has sources") {
        let path = entry.expect("a folder entry can be read").path();
        let name = path
            .file_stem()
            .and_then(|stem| stem.to_str())
            .unwrap_or_default();
        rooms.insert(name.to_owned());
    }
    rooms.remove("lib");
    let missing: Vec<_> = rooms
        .into_iter()
        .filter(|room| !map.contains(&format!("`{room}`")))
        .collect();
    assert_none("ARCHITECTURE.md does not say what these are", &missing);
}

#[test]
fn links_between_documents_lead_somewhere() {
    let root = root();
    let mut documents = Vec::new();
    collect(&root.join("docs"), "md", &mut documents);
    for entry in fs::read_dir(&root).expect("the root can be listed") {
        let path = entry.expect("a folder entry can be read").path();
        if path.extension().is_some_and(|extension| extension == "md") {
            documents.push(path);
        }
    }
    let mut broken = Vec::new();
    for document in &documents {
        let text = fs::read_to_string(document).expect("a document can be read");
        let folder = document.parent().expect("a document lies in a folder");
        for target in text
            .split("](")
            .skip(1)
            .filter_map(|rest| rest.split(')').next())
        {
            let file = target.split('#').next().unwrap_or_default();
            let local = !file.is_empty() && !file.contains("://") && !file.starts_with("mailto:");
            if local && !folder.join(file).exists() {
                broken.push(format!("{}: {target}", document.display()));
            }
        }
    }
    assert_none("links that lead nowhere", &broken);
}
