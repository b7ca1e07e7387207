//! Passwords in URLs: `scheme://user:password@host`.
//!
//! Only the password goes; user, host and path are what one reads the line
//! for. A user name that is itself a token has its own form.

use super::placeholder::is_placeholder;
use super::{Kind, Span, run};

pub(super) fn find(text: &str, spans: &mut Vec<Span>) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(offset) = text[at..].find(':') {
        let colon = at + offset;
        at = colon + 1;
        let slashes = slashes(&bytes[colon + 1..]);
        let scheme_ends = colon > 0 && bytes[colon - 1].is_ascii_alphanumeric();
        if slashes == 0 || !scheme_ends {
            continue;
        }
        let authority = colon + 1 + slashes;
        if let Some((start, end)) = password(text, authority) {
            spans.push(Span {
                start,
                end,
                kind: Kind::Password,
            });
            at = end;
        }
    }
}

/// Length of `//` or of its JSON form `\/\/`.
fn slashes(rest: &[u8]) -> usize {
    if rest.starts_with(b"//") {
        2
    } else if rest.starts_with(b"\\/\\/") {
        4
    } else {
        0
    }
}

/// The range of the password of the authority that begins at `from`.
fn password(text: &str, from: usize) -> Option<(usize, usize)> {
    let bytes = text.as_bytes();
    let all = &bytes[from..from + length(&bytes[from..])];
    let authority = &all[..run(all, 0, |b| !b"/?#".contains(&b))];
    let (user_end, at_sign) = match authority.iter().rposition(|b| *b == b'@') {
        // an image pinned to its digest, not a host
        Some(at_sign) if authority[at_sign + 1..].starts_with(b"sha256:") => return None,
        Some(at_sign) => (colon(&authority[..at_sign])?, at_sign),
        None => unencoded(all, authority)?,
    };
    let (start, end) = (from + user_end + 1, from + at_sign);
    let value = &text[start..end];
    (!value.is_empty() && !is_placeholder(value) && !is_port_and_more(value))
        .then_some((start, end))
}

/// How far a URL can reach: to a blank, a quote or the next URL.
fn length(text: &[u8]) -> usize {
    let ends = |b: u8| b.is_ascii_whitespace() || b.is_ascii_control() || b"\"'`\\<>".contains(&b);
    (0..text.len())
        .find(|&i| ends(text[i]) || text[i..].starts_with(b"://"))
        .unwrap_or(text.len())
}

/// The colon that ends the user; the one inside a mask does not.
fn colon(text: &[u8]) -> Option<usize> {
    (0..text.len()).find(|&i| text[i] == b':' && !text[..i].ends_with(b"[redacted"))
}

/// `user:pass/word@host` with the slash written as it is. A port is made of
/// digits, so an authority without `@` whose "port" is not must be the
/// beginning of a password.
fn unencoded(all: &[u8], authority: &[u8]) -> Option<(usize, usize)> {
    let user_end = colon(authority)?;
    let port = &authority[user_end + 1..];
    let templated = port.iter().any(|b| b"{}$[]*".contains(b));
    let named = std::str::from_utf8(port).is_ok_and(is_placeholder);
    if authority.starts_with(b"[") || templated || named || port.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let at_sign = all.iter().position(|b| *b == b'@')?;
    Some((user_end, at_sign))
}

/// `8080,me` in `http://a:8080,me@b`: a list, not a password.
fn is_port_and_more(value: &str) -> bool {
    let digits = value.bytes().take_while(u8::is_ascii_digit).count();
    (1..=5).contains(&digits) && value[digits..].starts_with([',', ';', ')', '|', '&'])
}
