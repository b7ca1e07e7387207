//! The secret values that a run knows: its tokens, by value.
//!
//! A value is also found in the two forms into which programs put it when they
//! print it: escaped as in a JSON string, and percent-encoded as in a URL.

use super::{Kind, Span};

/// Shorter values are not looked for.
const SHORTEST: usize = 6;

/// Values to look for, longest first.
#[derive(Clone, Default)]
pub(super) struct KnownSecrets {
    values: Vec<String>,
    /// Which bytes a value can begin with.
    first: Vec<u8>,
}

impl KnownSecrets {
    pub(super) fn new<S: AsRef<str>>(secrets: impl IntoIterator<Item = S>) -> Self {
        let mut values = Vec::new();
        for secret in secrets {
            let secret = secret.as_ref();
            let whole = std::iter::once(secret.trim());
            for value in whole.chain(secret.lines().map(str::trim)) {
                values.extend([
                    value.to_owned(),
                    json_escaped(value),
                    percent_encoded(value),
                ]);
            }
        }
        values.retain(|value| value.len() >= SHORTEST);
        values.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        values.dedup();
        let mut first: Vec<u8> = values.iter().map(|value| value.as_bytes()[0]).collect();
        first.sort_unstable();
        first.dedup();
        Self { values, first }
    }

    pub(super) fn find(&self, text: &str, spans: &mut Vec<Span>) {
        if self.values.is_empty() {
            return;
        }
        let bytes = text.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            if self.first.binary_search(&bytes[at]).is_ok()
                && let Some(value) = self.value_at(&bytes[at..])
            {
                spans.push(Span {
                    start: at,
                    end: at + value.len(),
                    kind: Kind::Secret,
                });
            }
            at += 1;
        }
    }

    fn value_at(&self, text: &[u8]) -> Option<&str> {
        let is_here = |value: &&String| text.starts_with(value.as_bytes());
        self.values.iter().find(is_here).map(String::as_str)
    }
}

fn json_escaped(value: &str) -> String {
    let quoted = serde_json::Value::from(value).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

fn percent_encoded(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push('%');
            for nibble in [byte >> 4, byte & 15] {
                out.push(char::from(b"0123456789ABCDEF"[usize::from(nibble)]));
            }
        }
    }
    out
}
