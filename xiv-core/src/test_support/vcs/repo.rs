//! The repository's state and the pure operations on it.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use sha2::{Digest, Sha256};

use super::FakeCommit;
use super::fault::Faults;
use crate::model::{BranchName, CommitId, RepoPath, TreeId};
use crate::port::{HeadState, VcsError, VcsErrorKind};

pub(super) type Files = BTreeMap<RepoPath, Vec<u8>>;
type CommitMsgHook = Arc<dyn Fn(&str) -> Result<String, String> + Send + Sync>;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Head {
    Branch(BranchName),
    Detached(CommitId),
}

pub(super) struct WorkTree {
    pub(super) files: Files,
    pub(super) head: Head,
    pub(super) operation: Option<String>,
}

pub(super) struct Repo {
    pub(super) trees: HashMap<TreeId, Files>,
    pub(super) commits: HashMap<CommitId, FakeCommit>,
    pub(super) branches: BTreeMap<BranchName, CommitId>,
    pub(super) refs: BTreeMap<String, String>,
    pub(super) ignored: Vec<Vec<u8>>,
    pub(super) commit_msg: Option<CommitMsgHook>,
    pub(super) commits_made: usize,
    pub(super) faults: Faults,
    work_trees: BTreeMap<PathBuf, WorkTree>,
    own_commits: i64,
}

/// The first 40 hex digits of a hash over length-prefixed parts.
fn object_id<'a>(kind: &str, parts: impl IntoIterator<Item = &'a [u8]>) -> String {
    let mut hash = Sha256::new();
    hash.update(kind.as_bytes());
    for part in parts {
        hash.update(u64::try_from(part.len()).unwrap_or(u64::MAX).to_be_bytes());
        hash.update(part);
    }
    let digest = hash.finalize();
    digest[..20].iter().map(|b| format!("{b:02x}")).collect()
}

/// Untracked files of xiv itself never count.
fn is_own(path: &RepoPath) -> bool {
    let path = path.as_bytes();
    path == b"xiv.toml" || path.starts_with(b".xiv/")
}

impl Repo {
    pub(super) fn new(root: &Path, files: Files) -> Self {
        let main = BranchName::parse("main").expect("`main` is a branch name");
        let mut repo = Self {
            trees: HashMap::new(),
            commits: HashMap::new(),
            branches: BTreeMap::new(),
            refs: BTreeMap::new(),
            ignored: Vec::new(),
            commit_msg: None,
            commits_made: 0,
            faults: Faults::default(),
            work_trees: BTreeMap::new(),
            own_commits: 0,
        };
        let tree = repo.store_tree(files.clone());
        let first = repo.store_commit(FakeCommit {
            parent: None,
            tree,
            message: "first".to_owned(),
            date: Timestamp::UNIX_EPOCH,
        });
        repo.branches.insert(main.clone(), first);
        let work_tree = WorkTree {
            files,
            head: Head::Branch(main),
            operation: None,
        };
        repo.work_trees.insert(root.to_path_buf(), work_tree);
        repo
    }

    pub(super) fn has_work_tree(&self, root: &Path) -> bool {
        self.work_trees.contains_key(root)
    }

    /// The work tree at a path that a handle was made for.
    pub(super) fn work_tree(&mut self, root: &Path) -> &mut WorkTree {
        self.work_trees
            .get_mut(root)
            .expect("handles are made only for work trees, and none is ever removed")
    }

    fn work_tree_ref(&self, root: &Path) -> &WorkTree {
        self.work_trees
            .get(root)
            .expect("handles are made only for work trees, and none is ever removed")
    }

    pub(super) fn store_tree(&mut self, files: Files) -> TreeId {
        let parts = files
            .iter()
            .flat_map(|(path, content)| [path.as_bytes(), content.as_slice()]);
        let id = TreeId::parse(object_id("tree", parts)).expect("40 hex digits");
        self.trees.insert(id.clone(), files);
        id
    }

    pub(super) fn store_commit(&mut self, commit: FakeCommit) -> CommitId {
        let parent = commit.parent.as_ref().map_or("", CommitId::as_str);
        let date = commit.date.as_second().to_be_bytes();
        let parts = [
            parent.as_bytes(),
            commit.tree.as_str().as_bytes(),
            commit.message.as_bytes(),
            &date,
        ];
        let id = CommitId::parse(object_id("commit", parts)).expect("40 hex digits");
        self.commits.insert(id.clone(), commit);
        id
    }

    pub(super) fn files_of(&self, tree: &TreeId) -> Result<&Files, VcsError> {
        self.trees
            .get(tree)
            .ok_or_else(|| VcsError::new(VcsErrorKind::Program, format!("there is no tree {tree}")))
    }

    pub(super) fn files_at(&self, commit: &CommitId) -> Result<&Files, VcsError> {
        let found = self.commits.get(commit).ok_or_else(|| {
            VcsError::new(
                VcsErrorKind::Program,
                format!("there is no commit {commit}"),
            )
        })?;
        self.files_of(&found.tree)
    }

    pub(super) fn head(&self, root: &Path) -> HeadState {
        match &self.work_tree_ref(root).head {
            Head::Branch(branch) => HeadState {
                branch: Some(branch.clone()),
                commit: self.branches.get(branch).cloned(),
            },
            Head::Detached(commit) => HeadState {
                branch: None,
                commit: Some(commit.clone()),
            },
        }
    }

    /// The files that HEAD has; tracked ones, so to say.
    fn tracked(&self, root: &Path) -> Files {
        let head = self.head(root).commit;
        head.and_then(|commit| self.files_at(&commit).ok().cloned())
            .unwrap_or_default()
    }

    /// The work tree's files that version control looks at.
    fn seen(&self, root: &Path) -> Files {
        let tracked = self.tracked(root);
        let files = self.work_tree_ref(root).files.iter();
        let seen = files.filter(|(path, _)| tracked.contains_key(path) || !self.is_hidden(path));
        seen.map(|(path, content)| (path.clone(), content.clone()))
            .collect()
    }

    fn is_hidden(&self, path: &RepoPath) -> bool {
        let mut ignored = self.ignored.iter();
        is_own(path) || ignored.any(|prefix| path.as_bytes().starts_with(prefix))
    }

    pub(super) fn dirty(&self, root: &Path) -> Vec<RepoPath> {
        let (tracked, seen) = (self.tracked(root), self.seen(root));
        let changed = seen
            .iter()
            .filter(|(path, content)| tracked.get(path) != Some(content));
        let deleted = tracked.keys().filter(|path| !seen.contains_key(path));
        let mut dirty: Vec<RepoPath> = changed.map(|(p, _)| p).chain(deleted).cloned().collect();
        dirty.sort();
        dirty
    }

    pub(super) fn operation(&self, root: &Path) -> Option<String> {
        self.work_tree_ref(root).operation.clone()
    }

    pub(super) fn snapshot(&mut self, root: &Path) -> TreeId {
        let files = self.seen(root);
        self.store_tree(files)
    }

    pub(super) fn commit_all(&mut self, root: &Path, message: &str) -> CommitId {
        self.own_commits += 1;
        let commit = FakeCommit {
            parent: self.head(root).commit,
            tree: self.snapshot(root),
            message: message.to_owned(),
            date: Timestamp::from_second(self.own_commits).unwrap_or_default(),
        };
        let id = self.store_commit(commit);
        match self.work_tree(root).head.clone() {
            Head::Branch(branch) => {
                self.branches.insert(branch, id.clone());
            }
            Head::Detached(_) => self.work_tree(root).head = Head::Detached(id.clone()),
        }
        id
    }

    /// A commit and its ancestors, newest first.
    pub(super) fn ancestry(&self, from: &CommitId) -> Vec<CommitId> {
        let mut chain = Vec::new();
        let mut next = Some(from.clone());
        while let Some(id) = next {
            next = self.commits.get(&id).and_then(|c| c.parent.clone());
            chain.push(id);
        }
        chain
    }

    /// The commits that `to` has and `from` lacks, oldest first.
    pub(super) fn between(&self, from: &CommitId, to: &CommitId) -> Vec<CommitId> {
        let known: HashSet<CommitId> = self.ancestry(from).into_iter().collect();
        let mut new = self.ancestry(to);
        new.retain(|commit| !known.contains(commit));
        new.reverse();
        new
    }

    /// Finds a commit by a branch's name or by its id.
    pub(super) fn resolve(&self, name: &str) -> Option<CommitId> {
        let branch = BranchName::parse(name).ok();
        let of_branch = branch.and_then(|branch| self.branches.get(&branch));
        let id = || CommitId::parse(name).ok();
        of_branch
            .cloned()
            .or_else(|| id().filter(|commit| self.commits.contains_key(commit)))
    }

    /// The work tree, other than this one, that has a branch checked out.
    pub(super) fn checked_out_elsewhere(
        &self,
        branch: &BranchName,
        root: &Path,
    ) -> Option<&PathBuf> {
        let mut others = self.work_trees.iter().filter(|(path, _)| *path != root);
        others
            .find(|(_, tree)| matches!(&tree.head, Head::Branch(name) if name == branch))
            .map(|(path, _)| path)
    }

    /// A branch whose name cannot stand beside this one: `feat` and `feat/x`.
    pub(super) fn name_in_the_way(&self, branch: &BranchName) -> Option<&BranchName> {
        let below = |long: &BranchName, short: &BranchName| {
            let rest = long.as_str().strip_prefix(short.as_str());
            rest.is_some_and(|rest| rest.starts_with('/'))
        };
        let mut names = self.branches.keys();
        names.find(|other| below(branch, other) || below(other, branch))
    }

    /// Checks a branch out. Files that the commit left behind does not have
    /// stay.
    pub(super) fn check_out(&mut self, root: &Path, branch: &BranchName) -> Result<(), VcsError> {
        let Some(commit) = self.branches.get(branch) else {
            return Err(VcsError::new(
                VcsErrorKind::RefMoved,
                format!("the branch {branch} is gone"),
            ));
        };
        let new = self.files_at(commit)?.clone();
        if let Some(work_tree) = self.work_trees.get(root) {
            if work_tree.head == Head::Branch(branch.clone()) {
                return Ok(());
            }
            let old = self.tracked(root);
            let untracked = |path: &&RepoPath| !old.contains_key(*path) && new.contains_key(*path);
            if let Some(path) = work_tree.files.keys().find(untracked) {
                return Err(VcsError::new(
                    VcsErrorKind::Refused,
                    format!("checking {branch} out would overwrite the untracked file {path}"),
                ));
            }
            let work_tree = self.work_tree(root);
            work_tree.files.retain(|path, _| !old.contains_key(path));
            work_tree.files.extend(new);
            work_tree.head = Head::Branch(branch.clone());
        } else {
            let work_tree = WorkTree {
                files: new,
                head: Head::Branch(branch.clone()),
                operation: None,
            };
            self.work_trees.insert(root.to_path_buf(), work_tree);
        }
        Ok(())
    }
}
