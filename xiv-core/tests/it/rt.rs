//! The real clock and the real validator keep the rules of their ports.

use std::sync::Arc;

use xiv_core::rt::SystemClock;
use xiv_core::rt::guard::{Guard, GuardPlan};
use xiv_core::rt::process::Environment;
use xiv_core::rt::validate::ShellValidator;
use xiv_core::test_support::conformance::{self, ValidatorBench};

#[tokio::test]
async fn the_system_clock_conforms() {
    conformance::clock(|| SystemClock).await;
}

#[tokio::test]
async fn the_shell_validator_conforms() {
    let folder = tempfile::tempdir().expect("a folder");
    let guard = Guard::install(folder.path().join("guard"), GuardPlan::default());
    let validator = ShellValidator::new(
        Arc::new(guard.expect("installed")),
        Environment::inherited(),
    );
    conformance::validator(|_| ValidatorBench {
        validator: Arc::new(validator.clone()),
        clock: Arc::new(SystemClock),
        cwd: folder.path().to_path_buf(),
    })
    .await;
}
