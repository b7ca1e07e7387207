//! The folder of installed peers. Installing is guarded by a lock per peer and
//! ends with a rename: a folder that exists is whole, however many clones run
//! their tests at once and whenever one of them is killed.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::failure::Failure;
use crate::workspace::cache;

use super::install::npm;
use super::{Peer, Presence};

/// The folder of installed peers, shared by every clone of this user.
#[derive(Debug)]
pub(super) struct Store {
    root: PathBuf,
}

impl Store {
    /// Opens the store in the user's cache and creates it when it is new.
    pub(super) fn open() -> Result<Self, Failure> {
        Self::at(cache()?.join("peers"))
    }

    fn at(root: PathBuf) -> Result<Self, Failure> {
        fs::create_dir_all(&root).map_err(|error| Failure::step(root.display(), error))?;
        Ok(Self { root })
    }

    /// The folder of one peer, present or not.
    pub(super) fn folder(&self, peer: &Peer) -> PathBuf {
        self.root.join(peer.folder())
    }

    /// Makes sure that the peer is there, installing it when it is not.
    pub(super) fn ensure(&self, peer: &Peer) -> Result<Presence, Failure> {
        self.ensure_with(peer, |into| npm(peer, into))
    }

    fn ensure_with(
        &self,
        peer: &Peer,
        install: impl FnOnce(&Path) -> Result<(), String>,
    ) -> Result<Presence, Failure> {
        let Some(inside) = peer.program() else {
            return Ok(Presence::Absent(
                "it has no native program for this machine".to_owned(),
            ));
        };
        let program = self.folder(peer).join(&inside);
        if version_matches(&program, peer.version).is_ok() {
            return Ok(Presence::Here(program));
        }
        let _lock = self.lock(peer)?;
        if version_matches(&program, peer.version).is_ok() {
            return Ok(Presence::Here(program));
        }
        let draft = self.root.join(format!(".new-{}", peer.folder()));
        let done = clear(&draft)
            .and_then(|()| install(&draft))
            .and_then(|()| version_matches(&draft.join(&inside), peer.version))
            .and_then(|()| clear(&self.folder(peer)))
            .and_then(|()| fs::rename(&draft, self.folder(peer)).map_err(text));
        match done {
            Ok(()) => Ok(Presence::Here(program)),
            Err(reason) => {
                clear(&draft).map_err(|error| Failure::step(draft.display(), error))?;
                Ok(Presence::Absent(reason))
            }
        }
    }

    /// Waits for other runs that install the same peer. The lock ends with the
    /// process that holds it.
    fn lock(&self, peer: &Peer) -> Result<File, Failure> {
        let path = self.root.join(format!(".lock-{}", peer.folder()));
        let locked = || -> std::io::Result<File> {
            let file = File::create(&path)?;
            file.lock()?;
            Ok(file)
        };
        locked().map_err(|error| Failure::step(path.display(), error))
    }
}

/// Empties the way for a folder.
fn clear(folder: &Path) -> Result<(), String> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(text(error)),
        _ => Ok(()),
    }
}

/// Starts the program: only one that runs and is of the pinned version counts.
fn version_matches(program: &Path, version: &str) -> Result<(), String> {
    let output = Command::new(program)
        .arg("--version")
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("{} does not start: {error}", program.display()))?;
    let said = String::from_utf8_lossy(&output.stdout);
    if output.status.success() && said.split_whitespace().any(|word| word == version) {
        Ok(())
    } else {
        Err(format!(
            "{} --version said {:?}, not {version}",
            program.display(),
            said.trim()
        ))
    }
}

fn text(error: std::io::Error) -> String {
    error.to_string()
}

#[cfg(test)]
mod tests;
