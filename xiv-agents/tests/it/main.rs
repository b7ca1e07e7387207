//! Integration tests of the agent adapters.

mod command;
mod conformance;
mod engines;
mod fakes;
mod peers;
mod scripted;
mod standins;
mod support;
