//! `xiv config` and `xiv init` as a whole.

use crate::environment::{THREE_PASSES, TestEnvironment, scripted};

#[test]
fn every_setting_is_shown_with_its_origin() {
    let world = scripted(THREE_PASSES);
    world.write("repo/xiv.toml", "[loop]\nmax_iterations = 5\n");
    world.write("xiv/config.toml", "[commit]\ntrailers = true\n");
    let ran = world
        .command(&["config", "show", "--origin"])
        .env("XIV_REVIEW_MODEL", "m")
        .env("XIV_NONSENSE", "1")
        .output();
    let ran = crate::environment::Ran::of(ran.expect("the binary starts")).exits(0);
    insta::assert_snapshot!(world.shown(&ran));
}

#[test]
fn the_settings_are_one_json_document() {
    let world = TestEnvironment::with_repo(&[]);
    world.write("repo/xiv.toml", "base = \"main\"\n");
    let shown = world.xiv(&["config", "show", "--json"]).exits(0).document();
    assert_eq!(shown["config"]["base"], "main");
    assert_eq!(shown["origins"]["base"]["source"], "file");
    assert_eq!(shown["origins"]["base"]["line"], 1);
    assert_eq!(shown["origins"]["steps.plan.engine"]["source"], "tier");
    assert_eq!(shown["origins"]["tracker"]["source"], "default");
}

#[test]
fn the_reference_is_a_valid_configuration() {
    let world = TestEnvironment::with_repo(&[]);
    let reference = world.xiv(&["config", "reference"]).exits(0).stdout;
    world.write("repo/xiv.toml", &reference);
    world.xiv(&["config", "show"]).exits(0);
}

#[test]
fn init_looks_and_writes_what_it_found() {
    let world = TestEnvironment::with_repo(&[("Makefile", "test:\n\ttrue\n")]);
    // a search path with make on it, whatever the machine has
    world.write("bin/make", "#!/bin/sh\n");
    let make = world.path("bin/make");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(make, mode).expect("an executable file");
    insta::assert_snapshot!("init_without_terminal", world.whole(&["init"]));
    assert!(!world.path("repo/xiv.toml").exists());
    insta::assert_snapshot!("init_yes", world.whole(&["init", "--yes"]));
    insta::assert_snapshot!("init_file", world.read("repo/xiv.toml"));
    insta::assert_snapshot!("init_again", world.whole(&["init", "--yes"]));
    world.xiv(&["config", "show"]).exits(0);
}

#[test]
fn doctor_says_how_to_mend_what_is_wrong() {
    let world = scripted(THREE_PASSES);
    let ran = world.xiv(&["doctor"]).exits(0);
    assert!(ran.stdout.contains("✓ validation"), "{ran:?}");
    world.write("repo/xiv.toml", "[steps.plan]\nengine = \"claude\"\n");
    let ran = world.xiv(&["doctor"]).exits(4);
    assert!(
        ran.stdout
            .contains("npm install -g @anthropic-ai/claude-code"),
        "{ran:?}"
    );
    world.write("repo/xiv.toml", "nonsense = 1\n");
    let ran = world.xiv(&["doctor", "--json"]).exits(3);
    let checks = ran.document();
    let failed: Vec<_> = checks
        .as_array()
        .expect("a list")
        .iter()
        .filter(|check| check["state"] == "fail")
        .map(|check| check["name"].as_str().expect("a name"))
        .collect();
    assert_eq!(failed, ["configuration"]);
}
