//! Reading a repository in process.
//!
//! This module and its children are the only ones that know `gix`, whose
//! interface still moves. They read the repository's own configuration only:
//! what the user's says is asked of the `git` program.

mod commit;
mod trees;

use std::path::{Path, PathBuf};

use gix::bstr::ByteSlice as _;
use gix::index::entry::{Flags, Mode};
use gix::sec::trust::Mapping;
use xiv_core::model::{BranchName, CommitId, RepoPath, TreeId};
use xiv_core::port::{HeadState, VcsError, VcsErrorKind};

use super::failure::{io, refused};

pub(super) use commit::CommitFacts;

/// A repository, seen from one of its work trees.
pub(super) struct Repo {
    inner: gix::ThreadSafeRepository,
    root: PathBuf,
    git_dir: PathBuf,
    common_dir: PathBuf,
    object_format: String,
}

impl std::fmt::Debug for Repo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Repo")
            .field("root", &self.root)
            .field("git_dir", &self.git_dir)
            .finish_non_exhaustive()
    }
}

impl Repo {
    /// Finds the repository that `start` lies in.
    pub(super) fn discover(start: &Path) -> Result<Self, VcsError> {
        let inner = gix::ThreadSafeRepository::discover_opts(start, Default::default(), trust())
            .map_err(|cause| no_repository(start).with_source(cause))?;
        Self::of(inner, start)
    }

    /// Opens the work tree whose root is `root`.
    pub(super) fn open(root: &Path) -> Result<Self, VcsError> {
        let inner = gix::open::Options::isolated()
            .open(root)
            .map_err(|cause| no_repository(root).with_source(cause))?;
        let repo = Self::of(inner, root)?;
        let wanted = canonical(root)?;
        if repo.root == wanted {
            Ok(repo)
        } else {
            Err(no_repository(root))
        }
    }

    fn of(inner: gix::ThreadSafeRepository, place: &Path) -> Result<Self, VcsError> {
        let local = inner.to_thread_local();
        let Some(root) = local.workdir() else {
            return Err(refused("the repository is bare: it has no work tree")
                .with_hint("run xiv in a clone or in one of its work trees"));
        };
        if local
            .config_snapshot()
            .string("extensions.refStorage")
            .is_some_and(|kind| kind.as_bstr() != "files")
        {
            return Err(VcsError::new(
                VcsErrorKind::Unsupported,
                format!(
                    "the repository at `{}` keeps its refs in another format than files",
                    place.display()
                ),
            ));
        }
        Ok(Self {
            root: canonical(root)?,
            git_dir: canonical(local.git_dir())?,
            common_dir: canonical(local.common_dir())?,
            object_format: local.object_hash().to_string(),
            inner,
        })
    }

    /// Canonical root of the work tree.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// What all work trees share.
    pub(super) fn common_dir(&self) -> &Path {
        &self.common_dir
    }

    /// `sha1` or `sha256`.
    pub(super) fn object_format(&self) -> &str {
        &self.object_format
    }

    /// The id that means "no object" to git.
    pub(super) fn null_id(&self) -> String {
        self.local().object_hash().null().to_string()
    }

    /// Where the index is kept.
    pub(super) fn index_path(&self) -> PathBuf {
        self.git_dir.join("index")
    }

    fn local(&self) -> gix::Repository {
        self.inner.to_thread_local()
    }

    /// What HEAD is.
    pub(super) fn head(&self) -> Result<HeadState, VcsError> {
        let repo = self.local();
        let mut head = repo.head().map_err(|cause| unreadable("HEAD", cause))?;
        let branch = match head.referent_name() {
            None => None,
            Some(name) => Some(branch_name(name.as_bstr())?),
        };
        let commit = head
            .try_peel_to_id()
            .map_err(|cause| unreadable("HEAD", cause))?;
        Ok(HeadState {
            branch,
            commit: commit.map(|id| commit_id(id.detach())).transpose()?,
        })
    }

    /// The commit of a branch, if it exists.
    pub(super) fn branch(&self, branch: &BranchName) -> Result<Option<CommitId>, VcsError> {
        self.reference(&format!("refs/heads/{branch}"))
    }

    /// The commit that a ref, by its full name, leads to.
    pub(super) fn reference(&self, name: &str) -> Result<Option<CommitId>, VcsError> {
        let repo = self.local();
        let found = repo
            .try_find_reference(name)
            .map_err(|cause| unreadable(name, cause))?;
        let Some(mut reference) = found else {
            return Ok(None);
        };
        let id = reference
            .peel_to_id()
            .map_err(|cause| unreadable(name, cause))?;
        commit_id(id.detach()).map(Some)
    }

    /// Whether any branch lies below this name.
    pub(super) fn first_branch_below(
        &self,
        branch: &BranchName,
    ) -> Result<Option<String>, VcsError> {
        let repo = self.local();
        let prefix = format!("refs/heads/{branch}/");
        let platform = repo
            .references()
            .map_err(|cause| unreadable("refs", cause))?;
        let mut below = platform
            .prefixed(prefix.as_str())
            .map_err(|cause| unreadable("refs", cause))?;
        Ok(below
            .find_map(Result::ok)
            .map(|reference| reference.name().shorten().to_string()))
    }

    /// The operation that is under way, by the name of git's command for it.
    pub(super) fn operation(&self) -> Option<String> {
        use gix::state::InProgress;
        let name = match self.local().state()? {
            InProgress::ApplyMailbox => "am",
            InProgress::ApplyMailboxRebase | InProgress::Rebase | InProgress::RebaseInteractive => {
                "rebase"
            }
            InProgress::Bisect => "bisect",
            InProgress::CherryPick | InProgress::CherryPickSequence => "cherry-pick",
            InProgress::Merge => "merge",
            InProgress::Revert | InProgress::RevertSequence => "revert",
        };
        Some(name.to_owned())
    }

    /// Index entries that git has been told not to look at although there may
    /// be something to see: assume-unchanged ones, and skip-worktree ones that
    /// exist on disk. A skip-worktree entry without a file is as it should be.
    pub(super) fn hidden_entries(&self) -> Result<Hidden, VcsError> {
        let repo = self.local();
        let index = repo
            .index_or_empty()
            .map_err(|cause| unreadable("the index", cause))?;
        let mut hidden = Hidden::default();
        for entry in index.entries() {
            let path = || RepoPath::new(entry.path(&index).to_vec());
            if entry.flags.contains(Flags::ASSUME_VALID) {
                hidden.assumed.push(path());
            }
            if entry.flags.contains(Flags::SKIP_WORKTREE)
                && entry.mode != Mode::DIR
                && exists(&self.root, entry.path(&index))
            {
                hidden.skipped.push(path());
            }
        }
        Ok(hidden)
    }
}

/// Index entries with a bit that hides edits.
#[derive(Debug, Default)]
pub(super) struct Hidden {
    pub(super) assumed: Vec<RepoPath>,
    pub(super) skipped: Vec<RepoPath>,
}

fn exists(root: &Path, path: &gix::bstr::BStr) -> bool {
    path.to_path()
        .is_ok_and(|path| root.join(path).symlink_metadata().is_ok())
}

/// Reads nothing but the repository itself, whoever owns it; whether to trust
/// the owner is for the git program to say.
fn trust() -> Mapping<gix::open::Options> {
    Mapping {
        full: gix::open::Options::isolated(),
        reduced: gix::open::Options::isolated(),
    }
}

fn canonical(path: &Path) -> Result<PathBuf, VcsError> {
    path.canonicalize().map_err(|cause| io("find", path, cause))
}

fn no_repository(place: &Path) -> VcsError {
    VcsError::new(
        VcsErrorKind::NotARepository,
        format!("`{}` is not in a git work tree", place.display()),
    )
    .with_hint("run `git init` there, or change to a repository")
}

fn unreadable(what: &str, cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> VcsError {
    VcsError::new(VcsErrorKind::Program, format!("cannot read {what}")).with_source(cause)
}

fn branch_name(full: &gix::bstr::BStr) -> Result<BranchName, VcsError> {
    let odd = || {
        VcsError::new(
            VcsErrorKind::Unsupported,
            format!("HEAD is on `{full}`, which is no branch that xiv can name"),
        )
    };
    let short = full.strip_prefix(b"refs/heads/").ok_or_else(odd)?;
    let short = std::str::from_utf8(short).map_err(|_| odd())?;
    BranchName::parse(short).map_err(|cause| odd().with_source(cause))
}

fn commit_id(id: gix::ObjectId) -> Result<CommitId, VcsError> {
    CommitId::parse(id.to_string()).map_err(|cause| unreadable("a commit id", cause))
}

fn tree_id(id: gix::ObjectId) -> Result<TreeId, VcsError> {
    TreeId::parse(id.to_string()).map_err(|cause| unreadable("a tree id", cause))
}

fn object_id(hex: &str) -> Result<gix::ObjectId, VcsError> {
    gix::ObjectId::from_hex(hex.as_bytes()).map_err(|cause| unreadable("an object id", cause))
}
