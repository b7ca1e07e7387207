//! The one integration-test program of the core: a module per subject.
#![allow(
    clippy::disallowed_methods,
    reason = "tests read files and start programs; the purity rules are for the core itself"
)]

mod asking;
mod conformance;
mod crash;
mod diff;
mod event_orders;
mod fakes;
mod gate_space;
mod loop_table;
mod mocks;
mod model;
mod newtypes;
mod prompts;
#[cfg(all(feature = "tokio", feature = "test-support"))]
mod rt;
mod script;
#[cfg(all(feature = "sqlite", feature = "tokio"))]
mod store;
mod strategies;
mod tidy;
mod world;
