//! Cuts a byte stream into lines of any length, up to a cap.
//!
//! One agent event can be a line of several hundred kilobytes, and a runaway
//! program can print without end, so the buffer grows with the line but both a
//! line and the stream have a limit. Reading is cancel safe: bytes are in the
//! buffer before the future that read them completes.

use std::borrow::Cow;

use tokio::io::{AsyncRead, AsyncReadExt as _};

/// Size of one read.
const CHUNK: usize = 64 * 1024;

/// Where a line was printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a process has these two and no more"
)]
pub enum Stream {
    /// Standard output; with [`StderrMode::Merged`](super::StderrMode) both.
    Stdout,
    /// Standard error.
    Stderr,
}

/// One line of output, without its line break.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line<'a> {
    /// Where it was printed.
    pub stream: Stream,
    /// The bytes as they came.
    pub bytes: &'a [u8],
    /// Whether its end was dropped because a limit was reached.
    pub truncated: bool,
}

impl<'a> Line<'a> {
    /// The text, with invalid UTF-8 replaced.
    #[must_use]
    pub fn text(&self) -> Cow<'a, str> {
        String::from_utf8_lossy(self.bytes)
    }
}

/// How the stream is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Framing {
    /// At line breaks.
    Lines,
    /// Not at all: pieces as they are read.
    Raw,
}

/// A buffered stream that hands out [`Line`]s.
#[derive(Debug)]
pub(super) struct Lines<R> {
    source: Option<R>,
    stream: Stream,
    framing: Framing,
    line_cap: usize,
    /// Bytes that may still be taken from the stream.
    budget: u64,
    /// Bytes thrown away because of a limit.
    dropped: u64,
    buffer: Vec<u8>,
    /// Start of what has not been handed out.
    start: usize,
    /// End of what is known to hold no line break.
    scanned: usize,
    /// The rest of the current line is being thrown away.
    skipping: bool,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    /// Reads from `source`; `None` is a stream that has already ended.
    pub(super) fn new(
        source: Option<R>,
        stream: Stream,
        framing: Framing,
        line_cap: usize,
        budget: u64,
    ) -> Self {
        Self {
            source,
            stream,
            framing,
            line_cap: line_cap.max(1),
            budget,
            dropped: 0,
            buffer: Vec::new(),
            start: 0,
            scanned: 0,
            skipping: false,
        }
    }

    /// Whether the stream has ended. Buffered lines may remain.
    pub(super) fn is_eof(&self) -> bool {
        self.source.is_none()
    }

    /// How many bytes were thrown away because of a limit.
    pub(super) fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Reads once. An error counts as the end of the stream; at the end it
    /// never completes.
    ///
    /// Cancel safe.
    pub(super) async fn fill(&mut self) {
        let Some(source) = self.source.as_mut() else {
            return std::future::pending().await;
        };
        if self.start > 0 {
            self.buffer.drain(..self.start);
            self.scanned -= self.start;
            self.start = 0;
            if self.buffer.len() < CHUNK && self.buffer.capacity() > 16 * CHUNK {
                self.buffer.shrink_to(CHUNK);
            }
        }
        let before = self.buffer.len();
        self.buffer.reserve(CHUNK);
        let read = source.read_buf(&mut self.buffer).await.unwrap_or(0);
        if read == 0 {
            self.source = None;
            return;
        }
        let allowed = self.budget.min(read as u64);
        self.budget -= allowed;
        self.dropped += read as u64 - allowed;
        self.buffer
            .truncate(before + usize::try_from(allowed).unwrap_or(read));
    }

    /// The next complete line in the buffer; after the end of the stream also
    /// an unfinished last one.
    pub(super) fn next_line(&mut self) -> Option<Line<'_>> {
        if self.framing == Framing::Raw {
            return self.take_rest();
        }
        loop {
            let unseen = &self.buffer[self.scanned..];
            if let Some(at) = unseen.iter().position(|&b| b == b'\n') {
                let end = self.scanned + at;
                if self.skipping {
                    self.skipping = false;
                    self.drop_until(end + 1);
                    continue;
                }
                if end - self.start > self.line_cap {
                    return self.take_capped();
                }
                return self.take_line(end);
            }
            self.scanned = self.buffer.len();
            if self.skipping {
                self.drop_until(self.buffer.len());
                return None;
            }
            if self.buffer.len() - self.start > self.line_cap {
                return self.take_capped();
            }
            if self.is_eof() {
                return self.take_rest();
            }
            return None;
        }
    }

    /// Throws the buffer up to `end` away.
    fn drop_until(&mut self, end: usize) {
        self.dropped += (end - self.start) as u64;
        self.start = end;
        self.scanned = end.max(self.scanned);
    }

    /// Hands out the first `line_cap` bytes of a line that is too long.
    fn take_capped(&mut self) -> Option<Line<'_>> {
        self.skipping = true;
        let end = self.start + self.line_cap;
        let start = std::mem::replace(&mut self.start, end);
        self.scanned = end;
        Some(Line {
            stream: self.stream,
            bytes: &self.buffer[start..end],
            truncated: true,
        })
    }

    /// Hands out the line that ends before the line break at `end`.
    fn take_line(&mut self, end: usize) -> Option<Line<'_>> {
        let start = std::mem::replace(&mut self.start, end + 1);
        self.scanned = end + 1;
        let bytes = &self.buffer[start..end];
        let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        Some(Line {
            stream: self.stream,
            bytes,
            truncated: false,
        })
    }

    /// Hands out everything that is left in the buffer, if there is anything.
    fn take_rest(&mut self) -> Option<Line<'_>> {
        let end = self.buffer.len();
        if end == self.start {
            return None;
        }
        let start = std::mem::replace(&mut self.start, end);
        self.scanned = end;
        let truncated = self.dropped > 0 && self.is_eof();
        Some(Line {
            stream: self.stream,
            bytes: &self.buffer[start..end],
            truncated,
        })
    }
}
