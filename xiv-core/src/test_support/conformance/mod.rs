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
