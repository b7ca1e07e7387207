//! What every adapter of a port must do, as suites that its tests run.
//!
//! An adapter's test names its constructor and what it can do; the suite does
//! the rest. The fakes pass the same suites.

mod agent;
mod clock;
mod issues;
mod journal;
mod validator;
mod vcs;

pub use agent::{AgentBench, AgentScript, agent};
pub use clock::clock;
pub use issues::issues;
pub use journal::journal;
pub use validator::{CommandScript, ValidatorBench, validator};
pub use vcs::{TestRepository, vcs};

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::Path;

/// A mark that no other bench has: suites run side by side, and a sweep ends
/// every process with the mark.
fn mark_in(cwd: &Path) -> String {
    let mut hasher = DefaultHasher::new();
    cwd.hash(&mut hasher);
    format!("conformance-{:016x}", hasher.finish())
}
