//! Masking secrets in text before it is stored, shown or sent.
//!
//! A run's transcripts, logs and error messages can hold whatever a program
//! printed. [`Redactor`] replaces what is known to be a secret (the values
//! that the caller hands in) and what has the unmistakable form of one by
//! `[redacted:<kind>]`. Everything else stays byte by byte: hashes, UUIDs,
//! placeholders and long identifiers are what people read these texts for.
//!
//! Each form is found by a detector of its own, in time linear in the text;
//! what they find is merged before anything is replaced, so that two forms
//! that overlap leave no rest between them.

mod bearer;
mod jwt;
mod known;
mod lines;
mod pem;
mod placeholder;
mod token;
mod url;

#[cfg(test)]
mod tests;

use std::fmt;

pub use lines::LineRedactor;

/// What sort of secret a mask stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Anthropic,
    Aws,
    Bearer,
    Github,
    Jwt,
    Linear,
    OpenAi,
    Password,
    PrivateKey,
    Secret,
    Slack,
}

impl Kind {
    const fn mask(self) -> &'static str {
        match self {
            Self::Anthropic => "[redacted:anthropic]",
            Self::Aws => "[redacted:aws]",
            Self::Bearer => "[redacted:bearer]",
            Self::Github => "[redacted:github]",
            Self::Jwt => "[redacted:jwt]",
            Self::Linear => "[redacted:linear]",
            Self::OpenAi => "[redacted:openai]",
            Self::Password => "[redacted:password]",
            Self::PrivateKey => "[redacted:privateKey]",
            Self::Secret => "[redacted:secret]",
            Self::Slack => "[redacted:slack]",
        }
    }
}

/// A stretch of the text that has to go.
#[derive(Debug, Clone, Copy)]
struct Span {
    start: usize,
    end: usize,
    kind: Kind,
}

/// Masks secrets: those of a known form, and the values it was given.
///
/// ```
/// use xiv_core::policy::redact::Redactor;
///
/// let redactor = Redactor::new(["correct-horse"]);
/// assert_eq!(
///     redactor.redact("postgres://me:s3cret@db and correct-horse"),
///     "postgres://me:[redacted:password]@db and [redacted:secret]",
/// );
/// ```
#[derive(Clone, Default)]
pub struct Redactor {
    known: known::KnownSecrets,
}

impl Redactor {
    /// A redactor that also masks these values, wherever they occur: as they
    /// are, escaped as in JSON and percent-encoded. The lines of a value that
    /// has several are masked one by one as well. Values shorter than 6 bytes
    /// are not looked for: masking every `true` hides the text, not a secret.
    pub fn new<S: AsRef<str>>(known_secrets: impl IntoIterator<Item = S>) -> Self {
        Self {
            known: known::KnownSecrets::new(known_secrets),
        }
    }

    /// The text with every secret masked. What a mask brings together, such as
    /// the marks around keys that stand inside each other, is looked at again.
    #[must_use]
    pub fn redact(&self, text: &str) -> String {
        const DEEPEST: usize = 8;
        let Some(mut masked) = self.once(text) else {
            return text.to_owned();
        };
        for _ in 0..DEEPEST {
            match self.once(&masked) {
                Some(further) if further != masked => masked = further,
                _ => break,
            }
        }
        masked
    }

    /// The text after one look; none when there was nothing to mask.
    fn once(&self, text: &str) -> Option<String> {
        let mut spans = Vec::new();
        self.known.find(text, &mut spans);
        pem::find(text, &mut spans);
        token::find(text, &mut spans);
        jwt::find(text, &mut spans);
        url::find(text, &mut spans);
        bearer::find(text, &mut spans);
        (!spans.is_empty()).then(|| replace(text, spans))
    }

    /// A redactor for text that arrives line by line; it remembers that it is
    /// inside a private key.
    #[must_use]
    pub fn lines(&self) -> LineRedactor {
        LineRedactor::new(self.clone())
    }
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redactor").finish_non_exhaustive()
    }
}

/// Puts a mask in place of each span; spans that overlap become one.
fn replace(text: &str, mut spans: Vec<Span>) -> String {
    // stable: of two that begin at one place the more specific kind was found first
    spans.sort_by_key(|span| span.start);
    let mut merged: Vec<Span> = Vec::with_capacity(spans.len());
    for span in spans {
        match merged.last_mut() {
            Some(last) if span.start < last.end => last.end = last.end.max(span.end),
            _ => merged.push(span),
        }
    }
    let mut out = String::with_capacity(text.len());
    let mut copied = 0;
    for span in merged {
        out.push_str(&text[copied..span.start]);
        out.push_str(span.kind.mask());
        copied = span.end;
    }
    out.push_str(&text[copied..]);
    out
}

/// Whether a word can begin at `at`: nothing before it, no letter or digit, or
/// an escape sequence whose last character happens to be one (`\n`, `\u0022`,
/// `%3D`, a terminal colour).
fn at_word_start(text: &[u8], at: usize) -> bool {
    let before = &text[..at];
    let Some(&last) = before.last() else {
        return true;
    };
    !last.is_ascii_alphanumeric() || ends_in_escape(before)
}

fn ends_in_escape(before: &[u8]) -> bool {
    let tail = |n: usize| before.len().checked_sub(n).map(|from| &before[from..]);
    let hex = |digits: &[u8]| digits.iter().all(u8::is_ascii_hexdigit);
    match tail(2) {
        Some(
            [
                b'\\',
                b'n' | b't' | b'r' | b'b' | b'f' | b'v' | b'a' | b'e' | b'0',
            ],
        ) => return true,
        Some(_) => {}
        None => return false,
    }
    let percent = tail(3).is_some_and(|t| t[0] == b'%' && hex(&t[1..]));
    let byte = tail(4).is_some_and(|t| t.starts_with(b"\\x") && hex(&t[2..]));
    let unicode = tail(6).is_some_and(|t| t.starts_with(b"\\u") && hex(&t[2..]));
    percent || byte || unicode || ends_in_colour(before)
}

/// `ESC [ 1 ; 32 m`, however the escape character itself is written.
fn ends_in_colour(before: &[u8]) -> bool {
    const LONGEST: usize = 16;
    let Some((b'm', rest)) = before.split_last() else {
        return false;
    };
    let numbers = rest
        .iter()
        .rev()
        .take(LONGEST)
        .take_while(|b| b.is_ascii_digit() || **b == b';')
        .count();
    rest[..rest.len() - numbers].ends_with(b"[")
}

/// How many bytes from `at` on are of the class.
fn run(text: &[u8], at: usize, class: impl Fn(u8) -> bool) -> usize {
    text[at..].iter().take_while(|b| class(**b)).count()
}
