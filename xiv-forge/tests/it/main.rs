//! The one integration-test program of the crate: a module per subject.

mod conformance;
mod create;
mod documented;
mod files;
mod single;
mod support;
