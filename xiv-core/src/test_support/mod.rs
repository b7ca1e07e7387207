//! Fakes, mocks, conformance suites and strategies, for the tests of xiv and
//! of whatever is built on it. Feature `test-support`.
//!
//! Everything here is in memory, deterministic and bound to no async runtime:
//! `futures::executor::block_on` is enough. The fakes keep the rules that the
//! ports document, and pass the same conformance suites as real adapters.
//!
//! They are test tools: where a script is wrong (an agent is called more often
//! than replies were queued) they panic, as a mock does.

mod agent;
mod clock;
pub mod conformance;
mod crash;
mod files;
mod human;
mod issues;
mod journal;
pub mod mocks;
mod observer;
mod processes;
pub mod strategies;
mod validator;
mod vcs;

pub use agent::{FakeAgent, ScriptedReply};
pub use clock::ManualClock;
pub use crash::CrashSwitch;
pub use files::MemoryRunFiles;
pub use human::FakeHuman;
pub use issues::FakeIssues;
pub use journal::MemoryJournal;
pub use observer::RecordingObserver;
pub use processes::FakeProcesses;
pub use validator::{FakeValidator, ScriptedValidation};
pub use vcs::{FakeCommit, FakeVcs, Fault, VcsOp, When};

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::port::StepContext;

/// A step context on this clock: silent, never cancelled, mark `test`.
#[must_use]
pub fn context(clock: &ManualClock) -> StepContext {
    StepContext::new(Arc::new(clock.clone()), "test")
}

/// Locks a fake's state. A panic elsewhere in a test does not matter here.
fn lock<T>(state: &Mutex<T>) -> MutexGuard<'_, T> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}
