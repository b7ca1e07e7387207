//! The git engine against the real git, in folders of its own.

mod world;

mod commit;
mod conformance;
mod diff;
mod gate;
mod open;
mod prepare;
mod random;
mod refs;
mod snapshot;
