//! `XIV_LOG`: what the library crates trace, on standard error.

use tracing_subscriber::EnvFilter;

/// Turns tracing on when `XIV_LOG` says what to trace, in the form of
/// `tracing_subscriber`: `debug`, `xiv_vcs=trace`.
pub(crate) fn init() {
    let Ok(filter) = std::env::var("XIV_LOG") else {
        return;
    };
    // only a second initialisation fails, and there is none
    let _first = tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::new(filter))
        .with_writer(std::io::stderr)
        .try_init();
}
