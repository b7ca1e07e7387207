//! Integration tests of the agent adapters.

mod fakes;
mod peers;
