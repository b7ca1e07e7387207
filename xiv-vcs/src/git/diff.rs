//! The difference of two trees for a reviewer, with fixed settings: the same
//! trees give the same bytes whatever the user's configuration says.
//!
//! Binary and generated files are there by name only: their content tells a
//! reviewer nothing and would crowd out what does.

mod generated;
mod listing;
mod sections;

use std::collections::HashSet;

use xiv_core::model::{RepoPath, TreeId};
use xiv_core::port::{TreeDiff, TreeDiffFile, VcsError};

use super::failure::unreadable;
use super::index::{fields, null_separated};
use super::program::{Call, Git};
use listing::Changed;

/// How a difference is always made.
const FIXED: [&str; 14] = [
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "-M",
    "-l1000",
    "--src-prefix=a/",
    "--dst-prefix=b/",
    "--inter-hunk-context=0",
    "--diff-algorithm=myers",
    "--indent-heuristic",
    "--submodule=short",
    "--ignore-submodules=none",
    "--abbrev=12",
    "--no-relative",
];

/// The same, for what has no flag.
const SETTINGS: [&str; 6] = [
    "-c",
    "core.attributesFile=/dev/null",
    "-c",
    "core.bigFileThreshold=512m",
    "-c",
    "diff.suppressBlankEmpty=false",
];

/// Compares two trees.
pub(super) async fn diff(git: &Git, from: &TreeId, to: &TreeId) -> Result<TreeDiff, VcsError> {
    let (listed, patch) = futures::try_join!(
        compare(git, from, to, &["--raw", "--numstat", "-z"]).ok(),
        compare(git, from, to, &["--patch", "-U3"]).ok(),
    )?;
    let changed = listing::parse(&listed).ok_or_else(|| unreadable("diff-tree"))?;
    let declared = declared(git, to, &changed).await?;
    let sections = sections::split(&patch, &changed).ok_or_else(|| unreadable("diff-tree"))?;
    let mut shown = Vec::with_capacity(patch.len());
    let mut files = Vec::with_capacity(changed.len());
    for (file, section) in changed.into_iter().zip(sections) {
        let generated = match declared.as_generated(&file.path) {
            Some(said) => said,
            None => generated::by_name(&file.path) || generated::is_minified(&file.path, &section),
        };
        let by_name_only = generated || file.lines.is_none();
        shown.extend_from_slice(if by_name_only {
            section.headers()
        } else {
            section.whole()
        });
        let (added, deleted) = file.lines.unwrap_or_default();
        files.push(TreeDiffFile {
            path: file.path,
            added,
            deleted,
            by_name_only,
        });
    }
    Ok(TreeDiff {
        patch: shown,
        files,
    })
}

fn compare(git: &Git, from: &TreeId, to: &TreeId, output: &[&str]) -> Call {
    let call = git
        .read(SETTINGS)
        .args(["diff-tree", "-r"])
        .args(FIXED.iter().chain(output).copied())
        .arg(from.as_str())
        .arg(to.as_str())
        .arg("--");
    with_attributes_of(call, to)
}

/// Takes attributes from the tree itself rather than from what happens to be
/// checked out. A git too old to know the variable reads the work tree's.
fn with_attributes_of(call: Call, tree: &TreeId) -> Call {
    call.env("GIT_ATTR_SOURCE", tree.as_str())
        .env("GIT_ATTR_NOSYSTEM", "1")
}

/// What the repository's attributes say about being generated.
#[derive(Default)]
struct Declared {
    generated: HashSet<RepoPath>,
    written: HashSet<RepoPath>,
}

impl Declared {
    fn as_generated(&self, path: &RepoPath) -> Option<bool> {
        if self.generated.contains(path) {
            Some(true)
        } else if self.written.contains(path) {
            Some(false)
        } else {
            None
        }
    }
}

async fn declared(git: &Git, tree: &TreeId, changed: &[Changed]) -> Result<Declared, VcsError> {
    let mut declared = Declared::default();
    if changed.is_empty() {
        return Ok(declared);
    }
    let paths: Vec<RepoPath> = changed.iter().map(|file| file.path.clone()).collect();
    let call = git
        .read(SETTINGS)
        .args(["check-attr", "-z", "--stdin", "linguist-generated"])
        .stdin(null_separated(&paths));
    let printed = with_attributes_of(call, tree).ok().await?;
    let answers: Vec<&[u8]> = fields(&printed).collect();
    for answer in answers.chunks_exact(3) {
        let path = RepoPath::new(answer[0].to_vec());
        match answer[2] {
            b"unspecified" => {}
            b"unset" | b"false" => {
                declared.written.insert(path);
            }
            _ => {
                declared.generated.insert(path);
            }
        }
    }
    Ok(declared)
}
