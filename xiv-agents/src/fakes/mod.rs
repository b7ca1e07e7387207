//! Loopback model servers for tests: they let the *real* agent programs run offline.
//!
//! Claude Code and Codex are only worth testing with their own binaries, whose flags, event streams and
//! failure habits are the hard part. What those binaries need from the outside is a model API. Two small
//! servers on `127.0.0.1` give them one: [`Anthropic`] speaks the Messages API and [`OpenAi`] the
//! Responses API. Both play the same [`Script`]: a list of turns, or a closure that looks at each request
//! and decides what the "model" says.
//!
//! ```no_run
//! use xiv_agents::fakes::{Anthropic, Script, Turn};
//!
//! let model = Anthropic::start(Script::turns([
//!     Turn::write("hello.txt", "hello\n"),
//!     Turn::structured(serde_json::json!({"summary": "wrote hello.txt"})),
//! ]));
//! let environment = model.claude_env(); // hand these pairs to the process
//! # drop(environment);
//! assert_eq!(model.requests().len(), 0);
//! ```
//!
//! The servers own their thread and runtime, so blocking tests can use them too; dropping one stops it.

mod anthropic;
mod openai;
mod peer;
mod request;
mod script;
mod server;
mod sse;

pub use anthropic::Anthropic;
pub use openai::OpenAi;
pub use peer::peer;
pub use request::ModelRequest;
pub use script::{Failure, Part, Script, Turn};
