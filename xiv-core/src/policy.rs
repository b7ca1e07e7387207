//! The rules, one per module: plain functions over values.

pub mod extract;
