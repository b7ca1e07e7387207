//! Everything that starts, watches and ends programs, plus the few facts about
//! this machine that the pure core must be told: time, ids, process identity.
//!
//! The rest of xiv-core decides; this module acts. It sits behind the feature
//! `tokio` so that a user of the pure core pays for none of it. Two rules hold
//! for every program started here: it has its own process group, and nothing
//! that carries its mark outlives the step it was started for.
//!
//! Linux is supported and tested. Other Unix systems compile, with the weaker
//! sweep that [`sweep`] describes. Windows is refused.

#![expect(
    clippy::disallowed_methods,
    reason = "this module is the core's one door to processes, files and clocks"
)]

#[cfg(windows)]
compile_error!(
    "xiv does not run on Windows: it needs process groups and signals. Use WSL instead."
);

mod clock;
pub mod detect;
pub mod guard;
pub mod process;
mod processes;
pub mod sweep;
pub mod validate;

pub use clock::{SystemClock, new_run_id, new_seed};
pub use processes::SystemProcesses;
