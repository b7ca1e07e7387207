//! Finds the real agent programs ("peers") that tests run against the fake models.
//!
//! They are installed by the workspace's test command, never by a test. Where they are missing a test says
//! that it was skipped and passes.

use std::path::{Path, PathBuf};

/// The native program of a peer (`claude`, `codex`): the one named by `XIV_PEER_<NAME>`, else the one
/// linked under `target/peers`. `None`, with a line that says "skipped", when there is none or
/// `XIV_PEERS=none` says that none is wanted.
#[must_use]
pub fn peer(name: &str) -> Option<PathBuf> {
    if std::env::var_os("XIV_PEERS").is_some_and(|peers| peers == "none") {
        skip("XIV_PEERS=none");
        return None;
    }
    let variable = format!("XIV_PEER_{}", name.to_uppercase());
    let links = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/peers");
    let named = std::env::var_os(&variable).map(PathBuf::from);
    let found = named
        .into_iter()
        .chain([links.join("bin").join(name)])
        .find(|path| path.is_file());
    if found.is_none() {
        skip(&format!(
            "no {name}: {variable} is unset and target/peers has none"
        ));
    }
    found
}

#[expect(
    clippy::print_stderr,
    reason = "why a test did nothing belongs in its output"
)]
fn skip(why: &str) {
    eprintln!("skipped: {why}");
}
