//! Redaction of text that arrives line by line, as a program's output does.

use super::{Kind, Redactor, pem};

/// Where a stream stands with regard to a private key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Outside,
    /// A begin marker ended the line before; nothing of a key was seen yet.
    Opened,
    /// At least one line of a key was seen.
    Inside,
}

/// Masks line after line. Unlike [`Redactor::redact`] it knows that the lines
/// after `-----BEGIN PRIVATE KEY-----` are the key; the markers themselves stay.
#[derive(Debug, Clone)]
pub struct LineRedactor {
    redactor: Redactor,
    place: Place,
}

impl LineRedactor {
    pub(super) const fn new(redactor: Redactor) -> Self {
        Self {
            redactor,
            place: Place::Outside,
        }
    }

    /// The next line of the stream with every secret masked.
    #[must_use]
    pub fn redact(&mut self, line: &str) -> String {
        if self.place != Place::Outside {
            if let Some(end) = pem::closes(line) {
                return self.close(line, end);
            }
            if let Some(masked) = self.key_line(line) {
                return masked;
            }
            self.place = Place::Outside;
        }
        if let Some(after) = pem::opens(line) {
            let rest = &line[after..];
            if pem::is_blank(rest) {
                self.place = Place::Opened;
            } else if pem::is_evident(rest) {
                self.place = Place::Inside;
            }
        }
        self.redactor.redact(line)
    }

    /// The line that ends a key: what stands before the marker belongs to it.
    fn close(&mut self, line: &str, end: usize) -> String {
        self.place = Place::Outside;
        let marker = line[..end].rfind("-----END ").unwrap_or(end);
        let mut out = String::new();
        if pem::is_blank(&line[..marker]) {
            out.push_str(&line[..marker]);
        } else {
            out.push_str(Kind::PrivateKey.mask());
        }
        out.push_str(&line[marker..end]);
        out.push_str(&self.redact(&line[end..]));
        out
    }

    /// The mask for a line of a key; none when the line is not one.
    fn key_line(&mut self, line: &str) -> Option<String> {
        // a logger may have put its own words before the key's
        let last_word = line.split_whitespace().next_back().unwrap_or_default();
        let evident = pem::is_evident(line) || pem::is_evident(last_word);
        if pem::is_blank(line) {
            return Some(line.to_owned());
        }
        if evident {
            self.place = Place::Inside;
        } else if !pem::is_key_line(line) || (self.place == Place::Opened && !line.contains(':')) {
            return None;
        }
        Some(Kind::PrivateKey.mask().to_owned())
    }
}
