//! Agent adapters for xiv.

#[cfg(feature = "test-fakes")]
pub mod fakes;
