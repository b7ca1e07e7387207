//! The written form of runs: how events are encoded, read back and summed up.
//!
//! Pure, so that every journal (SQLite, in memory, a text file) writes the same
//! and shows the same. Reading is tolerant: fields that this version does not
//! know are ignored, and kept, because stored text is never re-encoded. An
//! event type that it does not know is an error that names the version which
//! wrote it: guessing what a run did would be worse than not resuming it.

#[cfg(any(feature = "sqlite", feature = "test-support"))]
mod blob;
mod facts;
mod format;
mod jsonl;
#[cfg(any(feature = "sqlite", feature = "test-support"))]
mod lease;

#[cfg(any(feature = "sqlite", feature = "test-support"))]
pub(crate) use blob::blob_id;
pub use facts::RunFacts;
pub use format::{FORMAT, FormatError, RawEvent, WRITER, blob_references, decode, encode};
pub use jsonl::{JsonlError, RunExport, from_jsonl, to_jsonl};
#[cfg(any(feature = "sqlite", feature = "test-support"))]
pub(crate) use lease::Lease;
