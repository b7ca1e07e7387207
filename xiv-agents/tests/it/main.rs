//! Integration tests of the agent adapters.

mod command;
mod fakes;
mod peers;
mod scripted;
mod support;
