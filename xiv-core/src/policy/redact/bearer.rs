//! The credential of an `Authorization` header, in whatever notation the
//! header was printed: raw, as JSON, as the arguments of a call.

use super::placeholder::is_placeholder;
use super::{Kind, Span, run};

const HEADER: &[u8] = b"authorization";

/// Words that follow `Bearer` where people write about the header.
const PROSE: [&str; 14] = [
    "auth",
    "authentication",
    "authorization",
    "credential",
    "credentials",
    "format",
    "header",
    "headers",
    "key",
    "prefix",
    "scheme",
    "token",
    "tokens",
    "value",
];

pub(super) fn find(text: &str, spans: &mut Vec<Span>) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at + HEADER.len() < bytes.len() {
        if !bytes[at..at + HEADER.len()].eq_ignore_ascii_case(HEADER) {
            at += 1;
            continue;
        }
        at += HEADER.len();
        if let Some((start, end)) = value_after(text, at) {
            spans.push(Span {
                start,
                end,
                kind: Kind::Bearer,
            });
            at = end;
        }
    }
}

/// The range of the credential, when one follows the header's name at `at`.
fn value_after(text: &str, at: usize) -> Option<(usize, usize)> {
    const SCHEME: &[u8] = b"bearer";
    const LONGEST_GAP: usize = 16;
    let bytes = text.as_bytes();
    let near = &bytes[..bytes.len().min(at + LONGEST_GAP)];
    let gap = run(near, at, |b| b" \t\"'\\:=>,([".contains(&b));
    if !bytes[at..at + gap].iter().any(|b| b":=,".contains(b)) {
        return None;
    }
    let scheme = at + gap;
    let after = scheme + SCHEME.len();
    if !bytes.get(scheme..after)?.eq_ignore_ascii_case(SCHEME) {
        return None;
    }
    let blanks = run(bytes, after, |b| b == b' ' || b == b'\t');
    let start = after + blanks;
    let length = run(bytes, start, |b| {
        !(b.is_ascii_whitespace() || b.is_ascii_control() || b"\"'`\\,;)]}<>".contains(&b))
    });
    let printed = &text[start..start + length];
    let value = printed.trim_end_matches(['.', ':', '!', '?']);
    let opens = value.starts_with(['$', '{', '[', '%', '*', '(']);
    if blanks == 0 || value.is_empty() || opens || is_placeholder(printed) || is_placeholder(value)
    {
        return None;
    }
    let end = start + value.len();
    (!is_prose(value, &text[end..])).then_some((start, end))
}

/// Whether a sentence goes on here: a known noun, or a plain word with another
/// after it.
fn is_prose(value: &str, rest: &str) -> bool {
    const LONGEST_WORD: usize = 16;
    let plain = value.bytes().all(|b| b.is_ascii_lowercase());
    let mut next = rest.bytes();
    let goes_on = next.next() == Some(b' ') && next.next().is_some_and(|b| b.is_ascii_alphabetic());
    plain && (PROSE.contains(&value) || (goes_on && value.len() < LONGEST_WORD))
}
