//! Who a commit is by. Asked before any work is done, so that a run does not
//! find out at its end that it cannot commit.

use xiv_core::port::VcsError;

use super::failure::{failed, refused};
use super::program::Git;

/// Settings under which git never guesses a name from the machine.
pub(super) const NO_GUESSING: [&str; 2] = ["-c", "user.useConfigOnly=true"];

/// Refuses when git does not know the user's name and address.
pub(super) async fn check(git: &Git) -> Result<(), VcsError> {
    for who in ["GIT_AUTHOR_IDENT", "GIT_COMMITTER_IDENT"] {
        let captured = git
            .read(NO_GUESSING.into_iter().chain(["var", who]))
            .run()
            .await?;
        if !captured.is_success() {
            let mut error = refused("git does not know who you are, so it cannot commit")
                .with_hint("git config --global user.name \"Your Name\"")
                .with_hint("git config --global user.email you@example.com");
            error.source = failed("var", &captured).source;
            return Err(error);
        }
    }
    Ok(())
}
