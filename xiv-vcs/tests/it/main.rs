//! The git engine against the real git, in folders of its own.

mod world;

mod open;
mod snapshot;
