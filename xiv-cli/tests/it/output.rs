//! The terminal contract: what goes where, colours, verbosity, and readers
//! that go away.

use std::process::Stdio;

use crate::environment::{Ran, THREE_PASSES, TestEnvironment, scripted};

#[test]
fn the_result_is_on_standard_output_and_the_rest_is_not() {
    let world = scripted(THREE_PASSES);
    let ran = world.xiv(&["implement", "T-1", "--quiet"]).exits(0);
    assert_eq!(ran.stderr, "");
    assert!(ran.stdout.starts_with("done T-1"), "{ran:?}");
}

#[test]
fn colours_come_when_they_are_wanted() {
    let world = TestEnvironment::with_repo(&[]);
    let plain = world.xiv(&["run", "show"]);
    assert!(!plain.stderr.contains('\u{1b}'), "{plain:?}");
    let always = world.xiv(&["run", "show", "--color", "always"]);
    assert!(always.stderr.contains('\u{1b}'), "{always:?}");
    let never = world
        .command(&["run", "show", "--color", "never"])
        .env("CLICOLOR_FORCE", "1")
        .output();
    let never = Ran::of(never.expect("the binary starts"));
    assert!(!never.stderr.contains('\u{1b}'), "{never:?}");
    let asked = world
        .command(&["run", "show"])
        .env("NO_COLOR", "1")
        .env("CLICOLOR_FORCE", "0")
        .output();
    let asked = Ran::of(asked.expect("the binary starts"));
    assert!(!asked.stderr.contains('\u{1b}'), "{asked:?}");
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let world = TestEnvironment::with_repo(&[]);
    for args in [
        &["config", "schema"][..],
        &["completions", "bash"],
        &["--help"],
    ] {
        let mut child = world
            .command(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        drop(child.stdout.take());
        let ran = Ran::of(child.wait_with_output().expect("it ends"));
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{args:?}");
    }
}

#[test]
fn a_run_goes_on_without_a_reader() {
    let world = scripted(THREE_PASSES);
    let mut child = world
        .command(&["implement", "T-1", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    drop(child.stdout.take());
    let ran = Ran::of(child.wait_with_output().expect("it ends"));
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    assert_eq!(world.git(&["show", "feat/t-1:hello.txt"]), "hello world");
}

#[test]
fn every_command_has_help() {
    let world = TestEnvironment::with_repo(&[]);
    insta::assert_snapshot!("help", world.whole(&["--help"]));
    for args in [
        &["implement", "--help"][..],
        &["run", "resume", "--help"],
        &["issue", "new", "--help"],
        &["help", "config"],
    ] {
        world.xiv(args).exits(0);
    }
    assert_eq!(
        world.xiv(&["--version"]).exits(0).stdout.split(' ').next(),
        Some("xiv")
    );
}
