//! Where the work tree stands: HEAD, an operation under way, and what is dirty.

use xiv_core::model::RepoPath;
use xiv_core::port::{VcsError, WorkTreeState};

use super::failure;
use super::index::{PrivateIndex, fields};
use super::own::is_own;
use super::program::Git;
use super::repo::Repo;

/// Reads the state of the work tree.
pub(super) async fn state(repo: &Repo, git: &Git) -> Result<WorkTreeState, VcsError> {
    Ok(WorkTreeState {
        head: repo.head()?,
        operation: repo.operation(),
        dirty: dirty(repo, git).await?,
    })
}

async fn dirty(repo: &Repo, git: &Git) -> Result<Vec<RepoPath>, VcsError> {
    let hidden = repo.hidden_entries()?;
    let status = git.read([
        "status",
        "--porcelain=v1",
        "-z",
        "--no-renames",
        "--untracked-files=all",
    ]);
    let printed = if hidden.assumed.is_empty() && hidden.skipped.is_empty() {
        status.ok().await?
    } else {
        let revealing = PrivateIndex::revealing(repo, git, &hidden).await?;
        status.index(revealing.path()).ok().await?
    };
    parse(&printed)
}

/// Reads `XY path` records.
fn parse(printed: &[u8]) -> Result<Vec<RepoPath>, VcsError> {
    let mut dirty = Vec::new();
    for record in fields(printed) {
        let (Some(status), Some(path)) = (record.get(..2), record.get(3..)) else {
            return Err(failure::unreadable("status"));
        };
        if status != b"??" || !is_own(path) {
            dirty.push(RepoPath::new(path.to_vec()));
        }
    }
    Ok(dirty)
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn own_files_count_only_when_tracked() {
        let dirty = parse(b" M xiv.toml\0?? .xiv/a\0?? b\nc\0D  d\0").expect("parses");
        let names: Vec<_> = dirty
            .iter()
            .map(|path| path.display().into_owned())
            .collect();
        assert_eq!(names, ["xiv.toml", "b\nc", "d"]);
    }

    #[test]
    fn nothing_printed_is_clean_and_rubbish_is_an_error() {
        assert!(parse(b"").expect("parses").is_empty());
        assert!(parse(b"x\0").is_err());
    }
}
