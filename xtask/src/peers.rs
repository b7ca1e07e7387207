//! The real agent programs that the tests talk to ("peers"): which, in which
//! version, and where they end up. They are kept outside the clone because they
//! are large, one folder per version, and linked from the build folder.

mod install;
mod store;

use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::failure::Failure;
use crate::workspace::{Workspace, in_ci};

use self::store::Store;

/// One agent program, pinned.
#[derive(Debug)]
pub(crate) struct Peer {
    /// What the program is called; also the name of its link.
    name: &'static str,
    /// The npm package that brings it.
    package: &'static str,
    /// The exact version that the adapters were written against.
    version: &'static str,
    /// The variable that tells the tests where it is.
    variable: &'static str,
    /// The native program below `node_modules`, per operating system and
    /// processor. The package's own launcher would put a Node process between.
    native: &'static [(&'static str, &'static str, &'static str)],
}

/// All peers.
static PEERS: [Peer; 2] = [
    Peer {
        name: "codex",
        package: "@openai/codex",
        version: "0.171.0",
        variable: "XIV_PEER_CODEX",
        native: &[
            (
                "linux",
                "x86_64",
                "@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex",
            ),
            (
                "linux",
                "aarch64",
                "@openai/codex-linux-arm64/vendor/aarch64-unknown-linux-musl/bin/codex",
            ),
        ],
    },
    Peer {
        name: "claude",
        package: "@anthropic-ai/claude-code",
        version: "2.1.332",
        variable: "XIV_PEER_CLAUDE",
        native: &[
            (
                "linux",
                "x86_64",
                "@anthropic-ai/claude-code-linux-x64/claude",
            ),
            (
                "linux",
                "aarch64",
                "@anthropic-ai/claude-code-linux-arm64/claude",
            ),
        ],
    },
];

impl Peer {
    /// `name-version`, the folder that holds it.
    fn folder(&self) -> String {
        format!("{}-{}", self.name, self.version)
    }

    /// Where the native program lies inside that folder on this machine, if the
    /// package has one for it.
    fn program(&self) -> Option<PathBuf> {
        self.native
            .iter()
            .find(|(os, arch, _)| *os == env::consts::OS && *arch == env::consts::ARCH)
            .map(|(_, _, path)| Path::new("node_modules").join(path))
    }
}

/// What became of a peer.
#[derive(Debug)]
enum Presence {
    /// It is there and says its version.
    Here(PathBuf),
    /// It is not, and why.
    Absent(String),
}

/// Installs what is missing and gives the variables that lead tests to it.
///
/// A peer that cannot be had is said to be skipped; in CI it is an error.
pub(crate) fn environment(workspace: &Workspace) -> Result<Vec<(String, String)>, Failure> {
    let mut variables = Vec::new();
    for (peer, presence) in ensure_all(workspace)? {
        match presence {
            Presence::Here(program) => {
                variables.push((peer.variable.to_owned(), program.display().to_string()));
            }
            Presence::Absent(reason) if in_ci() => {
                return Err(Failure::step(format!("peer {}", peer.folder()), reason));
            }
            Presence::Absent(reason) => eprintln!("peer {}: skipped: {reason}", peer.folder()),
        }
    }
    Ok(variables)
}

/// Installs what is missing and prints where each peer is.
pub(crate) fn show(workspace: &Workspace) -> Result<(), Failure> {
    for (name, path) in environment(workspace)? {
        println!("{name}={path}");
    }
    Ok(())
}

/// Removes the links, so that tests find no peer.
pub(crate) fn unlink(workspace: &Workspace) -> Result<(), Failure> {
    for peer in &PEERS {
        remove(&links(workspace).join(peer.name))?;
        remove(&links(workspace).join("bin").join(peer.name))?;
    }
    Ok(())
}

fn ensure_all(workspace: &Workspace) -> Result<Vec<(&'static Peer, Presence)>, Failure> {
    let store = Store::open()?;
    let mut all = Vec::new();
    for peer in &PEERS {
        let presence = store.ensure(peer)?;
        if let Presence::Here(program) = &presence {
            link(&links(workspace).join(peer.name), &store.folder(peer))?;
            link(&links(workspace).join("bin").join(peer.name), program)?;
        }
        all.push((peer, presence));
    }
    Ok(all)
}

fn links(workspace: &Workspace) -> PathBuf {
    workspace.target().join("peers")
}

/// Makes `at` a link to `target`. It is put in place by renaming, so a test that
/// runs meanwhile never finds it missing.
fn link(at: &Path, target: &Path) -> Result<(), Failure> {
    if fs::read_link(at).is_ok_and(|current| current == target) {
        return Ok(());
    }
    let fresh = at.with_extension(std::process::id().to_string());
    let place = || -> io::Result<()> {
        if let Some(folder) = at.parent() {
            fs::create_dir_all(folder)?;
        }
        std::os::unix::fs::symlink(target, &fresh)?;
        fs::rename(&fresh, at)
    };
    place().map_err(|error| Failure::step(at.display(), error))
}

fn remove(link: &Path) -> Result<(), Failure> {
    match fs::remove_file(link) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(Failure::step(link.display(), error))
        }
        _ => Ok(()),
    }
}
