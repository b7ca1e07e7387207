//! Finds and ends what a step left running.
//!
//! Killing a process group is not enough: every agent runs its tools in
//! sessions of their own. But children inherit the environment, so each step
//! gets a key in `XIV_MARK`, and afterwards every process that still carries
//! the key is ended. The variable is a `:`-joined path to which xiv only ever
//! appends, so the sweep of an outer run also finds what a nested xiv started.
//!
//! Never ended: this process, its ancestors, and the executables in [`Keep`]
//! with their children. A nested xiv is asked first and has five seconds to
//! end its own children.
//!
//! A process that overwrites its environment is found by parentage, and only
//! while its parent lives. Outside Linux there is no `/proc`: there parentage
//! is all there is, which misses whatever was reparented before the sweep.

#[cfg(target_os = "linux")]
mod linux;
mod mark;
#[cfg(any(test, not(target_os = "linux")))]
mod portable;
mod select;
mod sweeper;

#[cfg(test)]
mod tests;

pub use mark::{InvalidMark, MARK_VARIABLE, MarkKey};
pub use select::Keep;
pub use sweeper::{Sweeper, Swept};

#[cfg(target_os = "linux")]
use linux as system;
#[cfg(not(target_os = "linux"))]
use portable as system;

/// The start time of the process `pid` in the unit of this system, or `None`
/// when it does not run. Together with the id it names one process for ever.
#[must_use]
pub fn start_time(pid: u32) -> Option<u64> {
    system::start_time(pid)
}
