//! The store with a shell script in place of an agent program.

use std::env::consts::{ARCH, OS};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::super::{Peer, Presence};
use super::Store;

static FAKE: Peer = Peer {
    name: "fake",
    package: "@nobody/fake",
    version: "1.2.3",
    variable: "XIV_PEER_FAKE",
    native: &[(OS, ARCH, "fake/bin/fake")],
};

/// A store in a folder of its own that goes away with the value.
struct Scratch(Store);

impl Scratch {
    fn new(name: &str) -> Self {
        let root = std::env::temp_dir().join(format!("xiv-xtask-{name}-{}", std::process::id()));
        Self(Store::at(root).expect("the temporary folder takes a store"))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0.root);
    }
}

fn install(into: &Path, version: &str) -> Result<(), String> {
    let program = into.join("node_modules/fake/bin/fake");
    let folder = program.parent().expect("the program lies in a folder");
    fs::create_dir_all(folder).expect("a folder can be made");
    fs::write(&program, format!("#!/bin/sh\necho fake {version}\n")).expect("a script is written");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("it becomes a program");
    Ok(())
}

fn here(presence: Presence) -> bool {
    matches!(presence, Presence::Here(program) if program.is_file())
}

#[test]
fn what_is_there_is_not_installed_again() {
    let scratch = Scratch::new("again");
    let first = scratch.0.ensure_with(&FAKE, |into| install(into, "1.2.3"));
    assert!(here(first.expect("the first install works")));
    let second = scratch
        .0
        .ensure_with(&FAKE, |_| panic!("it is there already"));
    assert!(here(second.expect("nothing to do")));
}

#[test]
fn a_failed_install_leaves_nothing_and_says_why() {
    let scratch = Scratch::new("failed");
    let failed = scratch.0.ensure_with(&FAKE, |into| {
        install(into, "1.2.3")?;
        Err("the line went dead".to_owned())
    });
    let Presence::Absent(reason) = failed.expect("a failed download is no error") else {
        panic!("it cannot be there");
    };
    assert_eq!(reason, "the line went dead");
    assert!(!scratch.0.folder(&FAKE).exists());
    assert!(!scratch.0.root.join(".new-fake-1.2.3").exists());
}

#[test]
fn another_version_does_not_count() {
    let scratch = Scratch::new("version");
    let other = scratch.0.ensure_with(&FAKE, |into| install(into, "1.2.30"));
    assert!(!here(other.expect("a wrong version is no error")));
}

#[test]
fn a_broken_folder_is_replaced() {
    let scratch = Scratch::new("broken");
    fs::create_dir_all(scratch.0.folder(&FAKE).join("node_modules")).expect("half a folder");
    let mended = scratch.0.ensure_with(&FAKE, |into| install(into, "1.2.3"));
    assert!(here(mended.expect("it is replaced")));
}

#[test]
fn runs_at_the_same_time_install_once() {
    let scratch = Scratch::new("race");
    let installs = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let presence = scratch.0.ensure_with(&FAKE, |into| {
                    installs.fetch_add(1, Ordering::SeqCst);
                    install(into, "1.2.3")
                });
                assert!(here(presence.expect("each of them gets it")));
            });
        }
    });
    assert_eq!(installs.load(Ordering::SeqCst), 1);
}
