//! What every adapter of a port must do, as suites that its tests run.
//!
//! An adapter's test names its constructor and what it can do; the suite does
//! the rest. The fakes pass the same suites.

mod journal;

pub use journal::journal;
