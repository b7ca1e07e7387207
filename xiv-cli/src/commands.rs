//! The commands, one per file: its arguments, and what it does with them.

pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod demo;
pub(crate) mod doctor;
pub(crate) mod implement;
pub(crate) mod init;
pub(crate) mod issue;
pub(crate) mod man;
pub(crate) mod run;
pub(crate) mod runs;
