//! Private keys in PEM armour, on many lines or escaped into one.
//!
//! The markers alone are no secret: a text that merely names them stays as it
//! is. A key whose end is missing (a cut log) goes as far as its lines look
//! like one.

use super::{Kind, Span, run};

const BEGIN: &str = "-----BEGIN ";
const END: &str = "-----END ";

pub(super) fn find(text: &str, spans: &mut Vec<Span>) {
    let mut ends = Markers::new(text, END);
    let mut begins = Markers::new(text, BEGIN);
    let mut at = 0;
    while let Some((start, body)) = begins.next_from(at) {
        at = body;
        let another = begins.next_from(body).map_or(text.len(), |(next, _)| next);
        let closed = ends.next_from(body).filter(|(end, _)| *end < another);
        let end = match closed {
            Some((end, after)) => is_body(&text[body..end]).then_some(after),
            None => unclosed(text, body),
        };
        if let Some(end) = end {
            spans.push(Span {
                start,
                end,
                kind: Kind::PrivateKey,
            });
            at = end;
        }
    }
}

/// The begin marker of a private key on this line, when no end follows it:
/// the offset behind it.
pub(super) fn opens(line: &str) -> Option<usize> {
    let (mut at, mut last) = (0, None);
    let mut begins = Markers::new(line, BEGIN);
    while let Some((_, after)) = begins.next_from(at) {
        last = Some(after);
        at = after;
    }
    let after = last?;
    Markers::new(line, END)
        .next_from(after)
        .is_none()
        .then_some(after)
}

/// The end marker of a private key on this line: the offset behind it.
pub(super) fn closes(line: &str) -> Option<usize> {
    Markers::new(line, END).next_from(0).map(|(_, after)| after)
}

/// Finds `-----BEGIN … PRIVATE KEY-----`, each part of the text looked at once.
struct Markers<'a> {
    text: &'a str,
    word: &'static str,
    /// The next marker, when it was looked for: its start and its end.
    found: Option<Option<(usize, usize)>>,
}

impl<'a> Markers<'a> {
    const fn new(text: &'a str, word: &'static str) -> Self {
        Self {
            text,
            word,
            found: None,
        }
    }

    /// The first marker at or after `at`, which never goes back.
    fn next_from(&mut self, at: usize) -> Option<(usize, usize)> {
        match self.found {
            Some(Some(marker)) if marker.0 >= at => return Some(marker),
            Some(None) => return None,
            _ => {}
        }
        let mut from = at;
        let next = loop {
            let Some(offset) = self.text[from..].find(self.word) else {
                break None;
            };
            let start = from + offset;
            from = start + self.word.len();
            if let Some(length) = private_label(&self.text.as_bytes()[from..]) {
                break Some((start, from + length));
            }
        };
        self.found = Some(next);
        next
    }
}

/// Length of `RSA PRIVATE KEY-----` and its like.
fn private_label(rest: &[u8]) -> Option<usize> {
    const LONGEST: usize = 64;
    let near = &rest[..rest.len().min(LONGEST)];
    let length = run(near, 0, |b| {
        b.is_ascii_uppercase() || b.is_ascii_digit() || b == b' '
    });
    let label = &near[..length];
    let private = label.ends_with(b"PRIVATE KEY") || label.ends_with(b"PRIVATE KEY BLOCK");
    (private && rest[length..].starts_with(b"-----")).then_some(length + 5)
}

/// Whether what stands between two markers is a key: it has a line end of some
/// notation, or a stretch that is no word.
fn is_body(between: &str) -> bool {
    between.contains('\n')
        || between.contains("\\n")
        || between
            .split(|c: char| !is_base64(c))
            .any(|stretch| stretch.len() >= 24)
}

/// How far a key without an end goes from `body` on.
fn unclosed(text: &str, body: usize) -> Option<usize> {
    let mut at = body;
    let (mut end, mut evidence) = (body, false);
    loop {
        let rest = &text[at..];
        let (length, separator) = line(rest);
        let content = &rest[..length];
        if !is_key_line(content) {
            break;
        }
        evidence |= is_evident(content);
        if !bare(content).is_empty() {
            end = at + content.trim_end().len();
        }
        if separator == 0 {
            break;
        }
        at += length + separator;
    }
    evidence.then_some(end)
}

/// Length of the first line and of what ends it: a line feed, or one written
/// as an escape. A line longer than any key's is cut.
fn line(text: &str) -> (usize, usize) {
    const LONGEST: usize = 4096;
    let text = &text[..text.floor_char_boundary(LONGEST)];
    let real = text.find('\n').map(|at| (at, 1));
    let escaped = text[..real.map_or(text.len(), |(at, _)| at)]
        .find("\\n")
        .map(|at| (at, 2));
    escaped.or(real).unwrap_or((text.len(), 0))
}

/// A line of a key without what quoting, diffs and code put around it.
fn bare(line: &str) -> &str {
    line.trim_matches(|c: char| c.is_whitespace() || "\\\"'+>|,;-*#`".contains(c))
}

fn is_base64(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=')
}

/// Whether a line can stand inside a key: base64, blank, or one of the headers
/// that old keys have.
pub(super) fn is_key_line(line: &str) -> bool {
    const HEADERS: [&str; 5] = ["Proc-Type:", "DEK-Info:", "Version:", "Comment:", "Hash:"];
    let content = bare(line);
    content.chars().all(is_base64) || HEADERS.iter().any(|header| content.starts_with(header))
}

/// Whether a line looks like nothing but a part of a key.
pub(super) fn is_evident(line: &str) -> bool {
    let content = bare(line);
    let digit = content.contains(|c: char| c.is_ascii_digit());
    content.chars().all(is_base64) && (content.len() >= 32 || (content.len() >= 16 && digit))
}

/// Whether the line holds nothing.
pub(super) fn is_blank(line: &str) -> bool {
    bare(line).is_empty()
}
