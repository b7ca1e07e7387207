//! One event as text, and what can be wrong with such a text.

use std::collections::HashSet;

use jiff::Timestamp;
use serde::Deserialize;

use crate::flow::{Event, Recorded};
use crate::port::{BlobId, JournalError, JournalErrorKind};

/// The version of this written form. Raised only when older versions of xiv
/// could misread what newer ones write.
pub const FORMAT: u32 = 1;

/// The version of xiv that writes, recorded with each run.
pub const WRITER: &str = env!("CARGO_PKG_VERSION");

/// Every event type of this version.
const KINDS: [&str; 25] = [
    "runStarted",
    "stepStarted",
    "intended",
    "effectDone",
    "issueFetched",
    "branchPrepared",
    "planMade",
    "implemented",
    "agentCommitted",
    "gateRaised",
    "gateAnswered",
    "validated",
    "reviewed",
    "reviewFailed",
    "reviewSkipped",
    "passJudged",
    "committed",
    "nothingToCommit",
    "childFinished",
    "denied",
    "violated",
    "retried",
    "suspended",
    "resumed",
    "runFinished",
];

/// An event as it was written, fields of other versions included.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawEvent {
    /// Its number in the run; the first is 1.
    pub seq: u64,
    /// When it was recorded.
    pub at: Timestamp,
    /// One JSON object on one line, with the field `type`.
    pub body: String,
}

/// A recorded event that cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FormatError {
    /// Its type, or a word in it, belongs to a newer version.
    #[error(
        "event {seq} (`{kind}`) was written by xiv {writer} and cannot be read by xiv {WRITER}"
    )]
    Newer {
        /// Its number.
        seq: u64,
        /// Its type.
        kind: String,
        /// The version that wrote it.
        writer: String,
    },
    /// It is damaged.
    #[error("event {seq} is damaged")]
    Damaged {
        /// Its number.
        seq: u64,
        /// What is wrong with it.
        #[source]
        source: serde_json::Error,
    },
}

impl From<FormatError> for JournalError {
    fn from(error: FormatError) -> Self {
        match &error {
            FormatError::Newer { writer, .. } => {
                let hint = format!("finish or remove this run with xiv {writer} or newer");
                Self::new(JournalErrorKind::NewerFormat, error.to_string()).with_hint(hint)
            }
            FormatError::Damaged { .. } => {
                let message = error.to_string();
                let FormatError::Damaged { source, .. } = error else {
                    return Self::new(JournalErrorKind::Corrupt, message);
                };
                Self::new(JournalErrorKind::Corrupt, message).with_source(source)
            }
        }
    }
}

/// Writes an event as one line of JSON.
///
/// # Errors
/// [`FormatError::Damaged`] when it holds what JSON cannot express.
pub fn encode(seq: u64, event: &Event) -> Result<String, FormatError> {
    serde_json::to_string(event).map_err(|source| FormatError::Damaged { seq, source })
}

/// Reads an event that `writer`, a version of xiv, has written.
///
/// # Errors
/// [`FormatError::Newer`] for a type that this version does not know, or for
/// anything unreadable that a newer version wrote; else [`FormatError::Damaged`].
pub fn decode(raw: &RawEvent, writer: &str) -> Result<Recorded, FormatError> {
    let source = match serde_json::from_str::<Event>(&raw.body) {
        Ok(event) => {
            return Ok(Recorded {
                seq: raw.seq,
                at: raw.at,
                event,
            });
        }
        Err(source) => source,
    };
    let seq = raw.seq;
    match serde_json::from_str::<Kind>(&raw.body) {
        Ok(Kind { kind }) if !KINDS.contains(&kind.as_str()) || is_newer(writer) => {
            Err(FormatError::Newer {
                seq,
                kind,
                writer: writer.to_owned(),
            })
        }
        _ => Err(FormatError::Damaged { seq, source }),
    }
}

#[derive(Deserialize)]
struct Kind {
    #[serde(rename = "type")]
    kind: String,
}

/// Whether this version of xiv comes after the one that is running.
fn is_newer(version: &str) -> bool {
    let parts = |v: &str| -> Option<Vec<u64>> {
        let release = v.split(['-', '+']).next()?;
        release.split('.').map(|n| n.parse().ok()).collect()
    };
    match (parts(version), parts(WRITER)) {
        (Some(other), Some(own)) => other > own,
        _ => false,
    }
}

/// Every blob that an event's text may refer to: each run of exactly 64
/// hexadecimal digits. Rather one too many than one too few, and independent of
/// the fields that a newer version may add.
#[must_use]
pub fn blob_references(body: &str) -> HashSet<BlobId> {
    body.split(|c: char| !c.is_ascii_alphanumeric())
        .filter_map(|word| BlobId::parse(word).ok())
        .collect()
}

#[cfg(test)]
mod tests;
