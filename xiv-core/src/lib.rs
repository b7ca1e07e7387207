//! placeholder
#[cfg(feature = "tokio")]
pub mod rt;
