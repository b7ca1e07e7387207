//! The rules, one per module: plain functions over values.

pub mod budget;
pub mod coherence;
pub mod done;
pub mod extract;
pub mod feedback;
pub mod fetch_gate;
pub mod gaps;
pub mod guard;
pub mod message;
pub mod order;
pub mod place;
pub mod progress;
pub mod redact;
pub mod retry;
pub mod script;
