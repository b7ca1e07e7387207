//! Runs one program in its own process group and makes sure it ends.
//!
//! Agents hang after their last message, leave children behind, hold pipes
//! open and print lines of a megabyte. [`run`] copes with all of that in one
//! future that owns the child: dropping the future ends the whole group and
//! sweeps what escaped from it, synchronously.
//!
//! [`output`] is the short form for helper programs such as git whose whole
//! output is wanted.

mod environment;
mod group;
mod launch;
mod lines;
mod live;
mod output;
mod program;
mod report;
mod spec;
mod tail;
mod transcript;

#[cfg(test)]
mod tests;

pub use environment::Environment;
pub use lines::{Line, Stream};
pub use live::{run, run_until};
pub use output::{Captured, output};
pub use program::{Program, ProgramNotFound};
pub use report::{Ended, Exit, Finished, Flow, StartError};
pub use spec::{Limits, ProcessSpec, StderrMode, Stop, StopSignal};
pub(crate) use tail::Tail;
pub use transcript::{Redactor, Transcript};
