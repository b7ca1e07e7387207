//! The redacted record of everything a program printed.
//!
//! Best effort by design: a full disk must not fail a step whose result is
//! fine, so the first write error ends the record and is kept for the report.

use std::fmt;
use std::io::{self, Write};

use super::lines::{Line, Stream};

/// Masks secrets in one line of text.
pub type Redactor = Box<dyn FnMut(&str) -> String + Send>;

/// A sink for output lines, which pass a [`Redactor`] first.
pub struct Transcript {
    sink: Box<dyn Write + Send>,
    redact: Redactor,
    error: Option<io::Error>,
}

impl Transcript {
    /// Writes to `sink` what `redact` makes of each line. Lines from standard
    /// error are preceded by `! `.
    #[must_use]
    pub fn new(sink: impl Write + Send + 'static, redact: Redactor) -> Self {
        Self {
            sink: Box::new(sink),
            redact,
            error: None,
        }
    }

    /// Records one line.
    pub(super) fn record(&mut self, line: &Line<'_>) {
        if self.error.is_some() {
            return;
        }
        let text = (self.redact)(&line.text());
        let prefix = if line.stream == Stream::Stderr {
            "! "
        } else {
            ""
        };
        let end = if line.truncated { " [cut]\n" } else { "\n" };
        let mut record = String::with_capacity(prefix.len() + text.len() + end.len());
        record.push_str(prefix);
        record.push_str(&text);
        record.push_str(end);
        self.error = self.sink.write_all(record.as_bytes()).err();
    }

    /// Flushes and returns the first error of the whole record.
    pub(super) fn finish(mut self) -> Option<io::Error> {
        self.error.take().or_else(|| self.sink.flush().err())
    }
}

impl fmt::Debug for Transcript {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Transcript")
            .field("error", &self.error)
            .finish_non_exhaustive()
    }
}
