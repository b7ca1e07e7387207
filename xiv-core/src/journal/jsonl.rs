//! A whole run as text, one JSON object per line: for people, for `jq`, and to
//! carry a run to another journal.
//!
//! The first line describes the run; each further one is an event in the form
//! that `--json` output has. Blobs are not part of it.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::format::{FORMAT, RawEvent, WRITER};
use crate::model::RunId;
use crate::port::{JournalError, JournalErrorKind, NewRun};

/// A run outside of a journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunExport {
    /// The run.
    pub run: NewRun,
    /// When it was started.
    pub started_at: Timestamp,
    /// The version of xiv that wrote its latest events.
    pub writer: String,
    /// Every event, in order, as it was written.
    pub events: Vec<RawEvent>,
}

/// A text that is not an exported run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JsonlError {
    /// The first line is not an exported run's.
    #[error("the first line does not describe a run")]
    NoHeader(#[source] Option<serde_json::Error>),
    /// A newer xiv exported it.
    #[error("xiv {writer} exported this in format {format}; xiv {WRITER} reads up to {FORMAT}")]
    Newer {
        /// The version that wrote it.
        writer: String,
        /// Its format.
        format: u32,
    },
    /// A line is not an event.
    #[error("line {line} is not an event")]
    NotAnEvent {
        /// The line; the first is 1.
        line: usize,
        /// What is wrong with it.
        #[source]
        source: serde_json::Error,
    },
    /// An event is missing, doubled or of another run.
    #[error("line {line} holds event {found} of {run} where event {expected} belongs")]
    OutOfOrder {
        /// The line; the first is 1.
        line: usize,
        /// The run that the event belongs to.
        run: RunId,
        /// The event's number.
        found: u64,
        /// The number that belongs there.
        expected: u64,
    },
    /// Events at the end are missing.
    #[error("it breaks off after {found} of {announced} events")]
    Incomplete {
        /// As many as the first line says.
        announced: u64,
        /// As many as there are.
        found: u64,
    },
}

impl From<JsonlError> for JournalError {
    fn from(error: JsonlError) -> Self {
        let kind = match error {
            JsonlError::Newer { .. } => JournalErrorKind::NewerFormat,
            _ => JournalErrorKind::Corrupt,
        };
        Self::new(kind, "the text is not an exported run")
            .with_source(error)
            .with_hint("export it again with `xiv run export`")
    }
}

/// The only types that lines have.
#[derive(Serialize, Deserialize)]
enum HeaderType {
    #[serde(rename = "run")]
    Run,
}

#[derive(Serialize, Deserialize)]
enum LineType {
    #[serde(rename = "event")]
    Event,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Header {
    r#type: HeaderType,
    format: u32,
    writer: String,
    run: RunId,
    kind: String,
    key: String,
    repo: String,
    parent: Option<RunId>,
    started_at: Timestamp,
    events: u64,
}

#[derive(Serialize, Deserialize)]
struct Line<'a> {
    r#type: LineType,
    run: RunId,
    seq: u64,
    at: Timestamp,
    /// Put through as it is, so that nothing of it can change.
    #[serde(borrow)]
    event: &'a RawValue,
}

/// Writes a run as text. The last line ends with a line feed.
#[must_use]
pub fn to_jsonl(export: &RunExport) -> String {
    let run = &export.run;
    let header = Header {
        r#type: HeaderType::Run,
        format: FORMAT,
        writer: export.writer.clone(),
        run: run.id.clone(),
        kind: run.kind.clone(),
        key: run.key.clone(),
        repo: run.repo.clone(),
        parent: run.parent.clone(),
        started_at: export.started_at,
        events: export.events.len() as u64,
    };
    let mut text = serde_json::json!(header).to_string();
    text.push('\n');
    for event in &export.events {
        let id = &run.id;
        let RawEvent { seq, at, body } = event;
        text.push_str(&format!(
            r#"{{"type":"event","run":"{id}","seq":{seq},"at":"{at}","event":{body}}}"#
        ));
        text.push('\n');
    }
    text
}

/// Reads such a text. Fields that this version does not know are kept in the
/// events and ignored elsewhere.
///
/// # Errors
/// [`JsonlError`] when it is not complete and in order.
pub fn from_jsonl(text: &str) -> Result<RunExport, JsonlError> {
    let mut lines = (1..)
        .zip(text.lines())
        .filter(|(_, line)| !line.trim().is_empty());
    let (_, first) = lines.next().ok_or(JsonlError::NoHeader(None))?;
    let header: Header =
        serde_json::from_str(first).map_err(|source| JsonlError::NoHeader(Some(source)))?;
    if header.format > FORMAT {
        return Err(JsonlError::Newer {
            writer: header.writer,
            format: header.format,
        });
    }
    let mut events = Vec::new();
    for (number, line) in lines {
        let line: Line = serde_json::from_str(line).map_err(|source| JsonlError::NotAnEvent {
            line: number,
            source,
        })?;
        let expected = events.len() as u64 + 1;
        if line.seq != expected || line.run != header.run {
            return Err(JsonlError::OutOfOrder {
                line: number,
                run: line.run,
                found: line.seq,
                expected,
            });
        }
        events.push(RawEvent {
            seq: line.seq,
            at: line.at,
            body: line.event.get().to_owned(),
        });
    }
    let found = events.len() as u64;
    if found != header.events {
        return Err(JsonlError::Incomplete {
            announced: header.events,
            found,
        });
    }
    Ok(RunExport {
        run: NewRun {
            id: header.run,
            kind: header.kind,
            key: header.key,
            repo: header.repo,
            parent: header.parent,
        },
        started_at: header.started_at,
        writer: header.writer,
        events,
    })
}

#[cfg(test)]
mod tests;
