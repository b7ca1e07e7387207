//! Version control for xiv: where a work tree stands, what is in it, and the
//! one commit of a run.
//!
//! [`GitEngine`] implements the core's [`Vcs`](xiv_core::port::Vcs) port. It
//! reads repositories in process where that pays and leaves the rest (filters,
//! hooks, signing, checkouts) to the `git` program, so that a repository's own
//! settings mean here what they mean everywhere.
//!
//! Nothing in this crate resets, cleans, stashes or pushes.

mod git;

pub use git::{GitEngine, GitOptions};
