//! The one integration-test program of the crate: a module per subject.

mod create;
mod files;
mod single;
mod support;
