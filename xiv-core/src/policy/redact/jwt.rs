//! Signed and encrypted JSON tokens: base64 parts joined by dots, the first of
//! which is a JSON object and so begins with `eyJ`.

use super::{Kind, Span, at_word_start, run};

pub(super) fn find(text: &str, spans: &mut Vec<Span>) {
    let bytes = text.as_bytes();
    let mut from = 0;
    while let Some(offset) = text[from..].find("eyJ") {
        let at = from + offset;
        from = at + 3;
        let inside = at > 0 && matches!(bytes[at - 1], b'_' | b'-');
        if inside || !at_word_start(bytes, at) {
            continue;
        }
        if let Some(end) = token_end(bytes, at) {
            spans.push(Span {
                start: at,
                end,
                kind: Kind::Jwt,
            });
            from = end;
        }
    }
}

fn token_end(text: &[u8], at: usize) -> Option<usize> {
    const MOST_PARTS: usize = 5;
    const SHORTEST_PART: usize = 10;
    let mut parts = Vec::with_capacity(MOST_PARTS);
    let mut end = at;
    while parts.len() < MOST_PARTS {
        let length = run(text, end, |b| {
            b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_')
        });
        parts.push(&text[end..end + length]);
        end += length;
        if text.get(end) != Some(&b'.') {
            break;
        }
        end += 1;
    }
    // a dot that ends the sentence, not the token
    end -= text[at..end]
        .iter()
        .rev()
        .take_while(|b| **b == b'.')
        .count();
    let (header, rest) = parts.split_first()?;
    let payload = rest.iter().map(|part| part.len()).max().unwrap_or(0);
    let unsigned = rest.first().is_some_and(|part| part.starts_with(b"eyJ"));
    let enough = header.len() >= SHORTEST_PART && payload >= SHORTEST_PART;
    (enough && (rest.len() >= 2 || unsigned)).then_some(end)
}
