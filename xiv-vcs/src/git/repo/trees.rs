//! Takes files out of a tree that another tree lacks.
//!
//! Works on tree objects alone: neither the index nor the work tree has a say,
//! and every directory in which nothing changed is kept by its id.

use std::collections::BTreeSet;

use gix::bstr::{BStr, BString};
use gix::objs::tree::Entry;
use gix::objs::{Tree, TreeRef};
use xiv_core::model::{RepoPath, TreeId};
use xiv_core::port::VcsError;

use super::{Repo, object_id, tree_id, unreadable};

/// Keeps of `after` what `before` has too.
struct Pruner<'a> {
    repo: &'a gix::Repository,
    /// Paths that count as missing in `before`.
    leftovers: BTreeSet<&'a [u8]>,
    created: Vec<RepoPath>,
}

impl Repo {
    /// The tree `after` without the files that `before` lacks, and those
    /// files. The `leftovers` count as if `before` lacked them.
    pub(in crate::git) fn without_created(
        &self,
        before: &TreeId,
        after: &TreeId,
        leftovers: &[RepoPath],
    ) -> Result<(TreeId, Vec<RepoPath>), VcsError> {
        let repo = self.local();
        let mut pruner = Pruner {
            repo: &repo,
            leftovers: leftovers.iter().map(RepoPath::as_bytes).collect(),
            created: Vec::new(),
        };
        let kept = pruner.prune(
            Some(object_id(before.as_str())?),
            object_id(after.as_str())?,
            &BString::default(),
        )?;
        let kept = match kept {
            Some(id) => id,
            None => pruner.write(&Tree::empty())?,
        };
        let mut created = pruner.created;
        created.sort();
        Ok((tree_id(kept)?, created))
    }
}

impl Pruner<'_> {
    /// What is left of the directory `path`; `None` when nothing is.
    fn prune(
        &mut self,
        before: Option<gix::ObjectId>,
        after: gix::ObjectId,
        path: &BString,
    ) -> Result<Option<gix::ObjectId>, VcsError> {
        if before == Some(after) && !self.has_leftover_below(path) {
            return Ok(Some(after));
        }
        let old = before.map(|id| self.read(id)).transpose()?;
        let new = self.read(after)?;
        let mut kept = Vec::with_capacity(new.entries.len());
        for entry in &new.entries {
            let twin = old.as_ref().and_then(|tree| find(tree, &entry.filename));
            let path = join(path, entry.filename.as_ref());
            if entry.mode.is_tree() {
                let twin = twin.filter(|twin| twin.mode.is_tree()).map(|twin| twin.oid);
                if let Some(oid) = self.prune(twin, entry.oid, &path)? {
                    kept.push(Entry {
                        oid,
                        ..entry.clone()
                    });
                }
            } else if twin.is_some_and(|twin| !twin.mode.is_tree())
                && !self.leftovers.contains(path.as_slice())
            {
                kept.push(entry.clone());
            } else {
                self.created.push(RepoPath::new(path.to_vec()));
            }
        }
        if kept.is_empty() {
            return Ok(None);
        }
        if kept == new.entries {
            return Ok(Some(after));
        }
        self.write(&Tree { entries: kept }).map(Some)
    }

    fn has_leftover_below(&self, path: &BString) -> bool {
        let below = join(path, BStr::new(b""));
        self.leftovers
            .range(below.as_slice()..)
            .next()
            .is_some_and(|leftover| leftover.starts_with(&below))
    }

    fn read(&self, id: gix::ObjectId) -> Result<Tree, VcsError> {
        let cannot = |cause: gix::Error| unreadable(&format!("tree {id}"), cause);
        let tree = self.repo.find_tree(id).map_err(cannot)?;
        let decoded: TreeRef<'_> = tree.decode().map_err(cannot)?;
        Ok(decoded.into())
    }

    fn write(&self, tree: &Tree) -> Result<gix::ObjectId, VcsError> {
        self.repo
            .write_object(tree)
            .map(gix::Id::detach)
            .map_err(|cause| unreadable("the tree just made", cause))
    }
}

/// The entry of that name, whatever its kind.
fn find<'a>(tree: &'a Tree, name: &BString) -> Option<&'a Entry> {
    tree.entries.iter().find(|entry| entry.filename == *name)
}

fn join(folder: &BString, name: &BStr) -> BString {
    let mut path = folder.clone();
    if !path.is_empty() {
        path.push(b'/');
    }
    path.extend_from_slice(name);
    path
}
