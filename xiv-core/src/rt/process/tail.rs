//! The last bytes of an unbounded stream, in bounded memory.

use std::collections::VecDeque;

/// A ring that keeps the newest `cap` bytes.
#[derive(Debug)]
pub(crate) struct Tail {
    cap: usize,
    bytes: VecDeque<u8>,
    cut: bool,
}

impl Tail {
    /// A ring of at most `cap` bytes.
    pub(crate) fn new(cap: usize) -> Self {
        Self {
            cap,
            bytes: VecDeque::new(),
            cut: false,
        }
    }

    /// Appends `new`, forgetting the oldest bytes beyond the cap.
    pub(crate) fn push(&mut self, new: &[u8]) {
        let new = if new.len() > self.cap {
            self.cut = true;
            &new[new.len() - self.cap..]
        } else {
            new
        };
        let excess = (self.bytes.len() + new.len()).saturating_sub(self.cap);
        self.cut |= excess > 0;
        self.bytes.drain(..excess);
        self.bytes.extend(new);
    }

    /// The kept text. When something was forgotten it begins after the first
    /// line break, so that no half line or half character stands at its start
    /// (unless a single line fills the whole ring).
    pub(crate) fn text(&self) -> String {
        let bytes: Vec<u8> = self.bytes.iter().copied().collect();
        let mut kept = &bytes[..];
        if self.cut {
            kept = match bytes.iter().position(|&b| b == b'\n') {
                Some(at) if at + 1 < bytes.len() => &bytes[at + 1..],
                _ => {
                    let is_tail_byte = |b: &&u8| (**b & 0xC0) == 0x80;
                    &bytes[bytes.iter().take(3).take_while(is_tail_byte).count()..]
                }
            };
        }
        String::from_utf8_lossy(kept).into_owned()
    }
}
