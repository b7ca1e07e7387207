//! Walking a text from object to object.
//!
//! The text is prose, code and JSON in any mixture. What counts is what stands
//! at the top level: not in a list, not in an outer object, and not in outer
//! braces that merely fail to be one. Braces of prose and code (`{x}`, `fn f()
//! {…}`, a lone `{`) do not hide what follows them.

use serde_json::error::Category;

use super::checked::Checked;

/// One thing at the top level of a text.
#[derive(Debug)]
pub(super) enum Found {
    /// Something that parses as JSON and is not an empty object.
    Complete(Checked),
    /// Braces or a list that begin like JSON and do not parse, or never end.
    Broken {
        /// Whether the key field is named in there.
        names_key: bool,
        /// The parser's words.
        error: String,
    },
}

/// Everything at the top level of the text, in order.
pub(super) fn scan(text: &str, key: &str) -> Vec<Found> {
    let mut scanner = Scanner {
        text,
        key,
        fields: fields(text, key),
        found: Vec::new(),
        open: Vec::new(),
        span: None,
    };
    let mut at = 0;
    while at < text.len() {
        at = scanner.step(at);
    }
    scanner.found
}

/// A brace of prose or code that has not been closed yet.
struct OpenBrace {
    at: usize,
    /// How much had been found when it opened; the rest is inside.
    found: usize,
}

struct Scanner<'a> {
    text: &'a str,
    key: &'a str,
    /// Where the key stands as a field, in quotes and before a colon.
    fields: Vec<usize>,
    found: Vec<Found>,
    open: Vec<OpenBrace>,
    /// Inside inline code: how many braces were open when it began. Braces of
    /// inline code pair only with each other.
    span: Option<usize>,
}

impl Scanner<'_> {
    /// Looks at one byte and says where to go on.
    fn step(&mut self, at: usize) -> usize {
        match self.text.as_bytes()[at] {
            b'{' if begins_object(&self.text[at + 1..]) => self.json(at),
            b'{' => self.open_brace(at),
            b'}' => self.close_brace(at),
            b'[' => self.json(at),
            b'`' if self.span.is_none() => {
                self.span = Some(self.open.len());
                at + 1
            }
            b'`' | b'\n' => {
                if let Some(outside) = self.span.take() {
                    self.open.truncate(outside);
                }
                at + 1
            }
            _ => at + 1,
        }
    }

    /// Reads what begins here as JSON.
    fn json(&mut self, at: usize) -> usize {
        let rest = &self.text[at..];
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Checked>();
        match values.next() {
            Some(Ok(value)) => {
                if value.value != serde_json::json!({}) {
                    self.found.push(Found::Complete(value));
                }
                at + values.byte_offset()
            }
            Some(Err(error)) if error.classify() == Category::Eof => {
                // unfinished: all the rest is inside
                let named = rest.contains(&format!("\"{}\"", self.key));
                self.broken(named, error);
                self.text.len()
            }
            Some(Err(error)) => self.not_json(at, &error),
            None => at + 1,
        }
    }

    /// Skips what began like JSON and does not parse.
    fn not_json(&mut self, at: usize, error: &serde_json::Error) -> usize {
        let rest = &self.text[at..];
        let is_list = rest.starts_with('[');
        if is_list && !rest[1..].trim_start().starts_with('{') {
            return at + 1;
        }
        let within = match self.span {
            Some(_) => &rest[..rest.find(['`', '\n']).unwrap_or(rest.len())],
            None => rest,
        };
        let end = balanced(within, Quotes::Hide)
            .or_else(|| balanced(within, Quotes::Ignore).filter(|end| ends_line(&within[*end..])))
            .map(|length| at + length);
        match end {
            Some(end) => {
                self.broken(self.names_key(at, end), error);
                end
            }
            None if self.span.is_some() && !is_list => self.open_brace(at),
            None if self.span.is_some() => at + 1,
            None => {
                self.broken(self.names_key(at, self.text.len()), error);
                self.text.len()
            }
        }
    }

    fn open_brace(&mut self, at: usize) -> usize {
        let found = self.found.len();
        self.open.push(OpenBrace { at, found });
        if is_loose_field(&self.text[at + 1..], self.key) {
            self.broken(true, "the field names are not in quotes");
        }
        at + 1
    }

    /// What was found since the brace opened is inside, so it does not count.
    fn close_brace(&mut self, at: usize) -> usize {
        let end = at + 1;
        if self.open.len() > self.span.unwrap_or(0)
            && let Some(brace) = self.open.pop()
        {
            let mut inside = self.found.drain(brace.found..);
            let named = inside.any(|found| {
                matches!(
                    found,
                    Found::Broken {
                        names_key: true,
                        ..
                    }
                )
            });
            drop(inside);
            if named || self.names_key(brace.at, end) {
                self.broken(true, "it stands inside braces that are not JSON");
            }
        }
        end
    }

    fn broken(&mut self, names_key: bool, error: impl ToString) {
        self.found.push(Found::Broken {
            names_key,
            error: error.to_string(),
        });
    }

    /// Whether the key stands as a field in this part of the text.
    fn names_key(&self, from: usize, to: usize) -> bool {
        let first = self.fields.partition_point(|field| *field < from);
        self.fields.get(first).is_some_and(|field| *field < to)
    }
}

/// Where the key stands in quotes and before a colon.
fn fields(text: &str, key: &str) -> Vec<usize> {
    let quoted = format!("\"{key}\"");
    text.match_indices(&quoted)
        .map(|(at, _)| at)
        .filter(|at| text[at + quoted.len()..].trim_start().starts_with(':'))
        .collect()
}

/// Whether `{` begins a JSON object: a field's name or the end follows.
fn begins_object(rest: &str) -> bool {
    rest.trim_start().starts_with(['"', '}'])
}

/// Whether the key follows as JavaScript or Python would write it:
/// `{verdict: …`, `{'verdict': …`.
fn is_loose_field(inside: &str, key: &str) -> bool {
    let inside = inside.trim_start();
    let bare = inside.strip_prefix('\'').unwrap_or(inside);
    let Some(rest) = bare.strip_prefix(key) else {
        return false;
    };
    let rest = rest.strip_prefix('\'').unwrap_or(rest);
    rest.trim_start().starts_with(':')
}

/// Whether nothing but the end of a code block follows on the line.
fn ends_line(rest: &str) -> bool {
    let line = rest.lines().next().unwrap_or_default();
    line.trim_matches(|c: char| c.is_whitespace() || "`.".contains(c))
        .is_empty()
}

/// What a quote does to the braces after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quotes {
    /// It hides them up to the next quote or the end of the line.
    Hide,
    /// Nothing: the quotes of this text cannot be trusted.
    Ignore,
}

/// Length of the braces or brackets that begin the text, when they close.
/// Those of inline code are left out, like those in quotes.
fn balanced(text: &str, quotes: Quotes) -> Option<usize> {
    let (mut depth, mut quoted, mut escaped, mut code) = (0usize, false, false, false);
    for (at, b) in text.bytes().enumerate() {
        match b {
            b'\n' => (quoted, escaped, code) = (false, false, false),
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted && !code && quotes == Quotes::Hide,
            b'`' if !quoted => code = !code,
            b'{' | b'[' if !quoted && !code => depth += 1,
            b'}' | b']' if !quoted && !code => {
                depth -= 1;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
    }
    None
}
