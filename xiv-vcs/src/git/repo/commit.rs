//! What a commit says, as far as a planned commit must be recognised by it.

use xiv_core::model::{CommitId, TreeId};
use xiv_core::port::VcsError;

use super::{Repo, commit_id, object_id, tree_id, unreadable};

/// A commit's content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::git) struct CommitFacts {
    pub(in crate::git) tree: TreeId,
    pub(in crate::git) parents: Vec<CommitId>,
    pub(in crate::git) message: Vec<u8>,
    /// In seconds since 1970.
    pub(in crate::git) authored: i64,
    /// In seconds since 1970.
    pub(in crate::git) committed: i64,
}

impl Repo {
    /// Reads a commit.
    pub(in crate::git) fn commit(&self, id: &CommitId) -> Result<CommitFacts, VcsError> {
        let cannot = |cause: gix::Error| unreadable(&format!("commit {id}"), cause);
        let repo = self.local();
        let commit = repo.find_commit(object_id(id.as_str())?).map_err(cannot)?;
        let seconds = |signature: gix::actor::SignatureRef<'_>| {
            signature
                .time()
                .map(|time| time.seconds)
                .map_err(|cause| unreadable(&format!("the dates of commit {id}"), cause))
        };
        Ok(CommitFacts {
            tree: tree_id(commit.tree_id().map_err(cannot)?.detach())?,
            parents: commit
                .parent_ids()
                .map(|parent| commit_id(parent.detach()))
                .collect::<Result<_, _>>()?,
            message: commit.message_raw_sloppy().to_vec(),
            authored: seconds(commit.author().map_err(cannot)?)?,
            committed: seconds(commit.committer().map_err(cannot)?)?,
        })
    }
}
