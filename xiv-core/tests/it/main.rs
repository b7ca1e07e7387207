//! The one integration-test program of the core: a module per subject.
#![allow(
    clippy::disallowed_methods,
    reason = "tests read files and start programs; the purity rules are for the core itself"
)]

#[cfg(feature = "test-support")]
mod conformance;
mod diff;
mod tidy;
