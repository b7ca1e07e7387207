//! The git engine against the real git, in folders of its own.

mod world;

mod commit;
mod diff;
mod gate;
mod open;
mod prepare;
mod refs;
mod snapshot;
