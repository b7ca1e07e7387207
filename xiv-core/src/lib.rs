//! The types, the gating rules and the loops of xiv: local-first code review
//! for agent-written changes.
//!
//! This crate decides; it does not do. With default features it has no clock,
//! no environment, no files, no processes and no async runtime:
//!
//! * [`model`] — the values and their wire form,
//! * [`policy`] — one rule per module, plain functions over values,
//! * [`flow`] — the loops as pure machines: events in, commands out,
//! * [`prompt`] — from values to the text that an agent reads,
//! * [`port`] — the traits through which the world is reached,
//! * [`drive`] — the runtime-free executor of every flow,
//! * [`journal`] — the written form of a run.
//!
//! Feature `sqlite` adds `store` (the durable journal), feature `test-support`
//! adds `test_support` (fakes and conformance suites).
//! Feature `tokio` adds `rt` (everything that starts programs).

pub mod drive;
pub mod flow;
pub mod journal;
pub mod model;
pub mod policy;
pub mod port;
pub mod prompt;
#[cfg(feature = "tokio")]
pub mod rt;
#[cfg(feature = "sqlite")]
pub mod store;
#[cfg(feature = "test-support")]
pub mod test_support;
