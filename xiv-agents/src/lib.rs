//! Agent adapters for xiv: any command, a script file, Claude Code and Codex.
//!
//! Each adapter implements [`xiv_core::port::Agent`]. The adapters of real engines are three pure parts
//! (plan, feed, classify) around one runner, so that what an engine's words mean can be tested over
//! recorded transcripts without starting anything.

mod claude;
mod codex;
mod command;
mod engine;
#[cfg(feature = "test-fakes")]
pub mod fakes;
mod host;
mod schema;
mod scripted;
pub mod tiers;

pub use claude::{Claude, ClaudeOptions};
pub use codex::{Codex, CodexOptions};
pub use command::{CommandAgent, EmptyCommand};
pub use host::Host;
pub use scripted::{ScriptError, ScriptedAgent};
