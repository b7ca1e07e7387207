//! One word of a script: quotes, escapes and expansions.

use std::collections::HashMap;
use std::iter::Peekable;
use std::str::Chars;

use crate::policy::guard::words::UNSEEN;

/// A place in a text.
#[derive(Clone, Debug)]
pub(super) struct Cursor<'a> {
    rest: Peekable<Chars<'a>>,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self {
            rest: text.chars().peekable(),
        }
    }

    pub(super) fn peek(&mut self) -> Option<char> {
        self.rest.peek().copied()
    }

    /// The character `ahead` places on.
    pub(super) fn peek_at(&self, ahead: usize) -> Option<char> {
        self.rest.clone().nth(ahead)
    }

    pub(super) fn bump(&mut self) {
        self.rest.next();
    }

    pub(super) fn skip_blanks(&mut self) {
        while self.rest.next_if(|c| *c == ' ' || *c == '\t').is_some() {}
    }

    /// Goes to the line break.
    pub(super) fn skip_line(&mut self) {
        while self.rest.next_if(|c| *c != '\n').is_some() {}
    }

    /// Takes a line without its break; `None` at the end.
    pub(super) fn take_line(&mut self) -> Option<String> {
        self.rest.peek()?;
        let line = std::iter::from_fn(|| self.rest.next_if(|c| *c != '\n')).collect();
        self.rest.next();
        Some(line)
    }

    /// Takes everything before `end`, and `end` itself. A backslash keeps the
    /// character after it from ending.
    pub(super) fn take_until(&mut self, end: char) -> String {
        let mut text = String::new();
        while let Some(c) = self.rest.next() {
            if c == end {
                break;
            }
            if c == '\\' && end == '`' {
                text.extend(self.rest.next());
            } else {
                text.push(c);
            }
        }
        text
    }

    fn take_while(&mut self, is_wanted: impl Fn(char) -> bool) -> String {
        std::iter::from_fn(|| self.rest.next_if(|c| is_wanted(*c))).collect()
    }
}

/// Takes the text up to the parenthesis that closes one already taken.
pub(super) fn skip_balanced(cursor: &mut Cursor<'_>) -> String {
    let mut text = String::new();
    let mut open = 1_usize;
    while let Some(c) = cursor.peek() {
        cursor.bump();
        match c {
            '(' => open += 1,
            ')' => {
                open -= 1;
                if open == 0 {
                    break;
                }
            }
            '\\' => {
                text.push(c);
                if let Some(next) = cursor.peek() {
                    cursor.bump();
                    text.push(next);
                }
                continue;
            }
            '\'' => {
                text.push(c);
                text.push_str(&cursor.take_until('\''));
                text.push(c);
                continue;
            }
            _ => {}
        }
        text.push(c);
    }
    text
}

/// What one written word becomes.
#[derive(Debug, Default)]
pub(super) struct Fields {
    /// None, one or several words.
    pub(super) words: Vec<String>,
    /// Scripts of the command substitutions in it.
    pub(super) inner: Vec<String>,
    /// Some of it was quoted.
    pub(super) is_quoted: bool,
}

/// Collects a word's characters.
#[derive(Default)]
struct Builder {
    fields: Fields,
    word: String,
    /// Something was written, be it an empty pair of quotes.
    is_begun: bool,
}

impl Builder {
    fn push(&mut self, c: char) {
        self.word.push(c);
        self.is_begun = true;
    }

    fn push_quoted(&mut self, text: &str) {
        self.word.push_str(text);
        self.is_begun = true;
        self.fields.is_quoted = true;
    }

    /// Adds an unquoted expansion, which is split at blanks.
    fn push_split(&mut self, text: &str) {
        for (index, part) in text.split([' ', '\t', '\n']).enumerate() {
            if index > 0 {
                self.end_word();
            }
            if !part.is_empty() {
                self.word.push_str(part);
                self.is_begun = true;
            }
        }
    }

    fn end_word(&mut self) {
        if std::mem::take(&mut self.is_begun) {
            self.fields.words.push(std::mem::take(&mut self.word));
        }
    }
}

/// Where expansions get their values.
struct Values<'a> {
    variables: &'a HashMap<String, String>,
    parameters: &'a [String],
    /// The output of a command substitution, when it can be told.
    evaluate: &'a dyn Fn(&str) -> Option<String>,
}

/// What a `$` stands for.
enum Expansion {
    Text(String),
    /// `"$@"`: one word each.
    Words(Vec<String>),
}

/// Reads the word at the cursor.
pub(super) fn read_word(
    cursor: &mut Cursor<'_>,
    variables: &HashMap<String, String>,
    parameters: &[String],
    evaluate: &dyn Fn(&str) -> Option<String>,
) -> Fields {
    let values = Values {
        variables,
        parameters,
        evaluate,
    };
    let mut built = Builder::default();
    while let Some(c) = cursor.peek() {
        if c.is_whitespace() || ";&|<>()".contains(c) {
            break;
        }
        cursor.bump();
        match c {
            '\\' => {
                if let Some(next) = cursor.peek() {
                    cursor.bump();
                    if next != '\n' {
                        built.push_quoted(next.encode_utf8(&mut [0; 4]));
                    }
                }
            }
            '\'' => built.push_quoted(&cursor.take_until('\'')),
            '"' => double_quoted(cursor, &mut built, &values),
            '`' => {
                let script = cursor.take_until('`');
                let text = values.output(&script, &mut built);
                built.push_split(&text);
            }
            '$' if cursor.peek() == Some('\'') => {
                cursor.bump();
                let text = ansi_c(cursor);
                built.push_quoted(&text);
            }
            '$' if cursor.peek() == Some('"') => {}
            '$' => match expansion(cursor, &mut built, &values) {
                Expansion::Text(text) => built.push_split(&text),
                Expansion::Words(words) => built.push_split(&words.join(" ")),
            },
            _ => built.push(c),
        }
    }
    built.end_word();
    built.fields
}

fn double_quoted(cursor: &mut Cursor<'_>, built: &mut Builder, values: &Values<'_>) {
    let is_alone = !built.is_begun;
    built.push_quoted("");
    while let Some(c) = cursor.peek() {
        cursor.bump();
        match c {
            '"' => return,
            '\\' => match cursor.peek() {
                Some('\n') => cursor.bump(),
                Some(next @ ('$' | '`' | '"' | '\\')) => {
                    cursor.bump();
                    built.push(next);
                }
                _ => built.push('\\'),
            },
            '`' => {
                let script = cursor.take_until('`');
                let text = values.output(&script, built);
                built.push_quoted(&text);
            }
            '$' => match expansion(cursor, built, values) {
                Expansion::Text(text) => built.push_quoted(&text),
                Expansion::Words(words) => {
                    for (index, word) in words.iter().enumerate() {
                        if index > 0 {
                            built.end_word();
                        }
                        built.push_quoted(word);
                    }
                    if words.is_empty() && is_alone && built.word.is_empty() {
                        built.is_begun = false;
                    }
                }
            },
            _ => built.push(c),
        }
    }
}

impl Values<'_> {
    /// Notes a substitution's script and returns its output.
    fn output(&self, script: &str, built: &mut Builder) -> String {
        built.fields.inner.push(script.to_owned());
        (self.evaluate)(script).unwrap_or_else(|| UNSEEN.to_string())
    }

    fn variable(&self, name: &str) -> Option<String> {
        match name.parse::<usize>() {
            Ok(_) if self.parameters.is_empty() => None,
            Ok(index) => Some(self.parameters.get(index).cloned().unwrap_or_default()),
            Err(_) => self.variables.get(name).cloned(),
        }
    }

    /// `$1` and on; nothing is known of them when nothing was passed.
    fn all(&self) -> Vec<String> {
        match self.parameters.split_first() {
            Some((_, rest)) => rest.to_vec(),
            None => vec![UNSEEN.to_string()],
        }
    }
}

/// Reads what follows a `$`.
fn expansion(cursor: &mut Cursor<'_>, built: &mut Builder, values: &Values<'_>) -> Expansion {
    let unseen = || UNSEEN.to_string();
    match cursor.peek() {
        Some('(') if cursor.peek_at(1) == Some('(') => {
            cursor.bump();
            skip_balanced(cursor);
            Expansion::Text(unseen())
        }
        Some('(') => {
            cursor.bump();
            let script = skip_balanced(cursor);
            Expansion::Text(values.output(&script, built))
        }
        Some('{') => {
            cursor.bump();
            let text = braced(cursor);
            Expansion::Text(parameter(&text, values).unwrap_or_else(unseen))
        }
        Some('@' | '*') => {
            cursor.bump();
            Expansion::Words(values.all())
        }
        Some(c) if c.is_ascii_digit() => {
            cursor.bump();
            Expansion::Text(values.variable(&c.to_string()).unwrap_or_else(unseen))
        }
        Some(c) if c.is_ascii_alphabetic() || c == '_' => {
            let name = cursor.take_while(|c| c.is_ascii_alphanumeric() || c == '_');
            Expansion::Text(values.variable(&name).unwrap_or_else(unseen))
        }
        Some('#' | '?' | '$' | '!' | '-') => {
            cursor.bump();
            Expansion::Text(unseen())
        }
        _ => Expansion::Text("$".to_owned()),
    }
}

/// Takes the text up to the brace that closes one already taken.
fn braced(cursor: &mut Cursor<'_>) -> String {
    let mut text = String::new();
    let mut open = 1_usize;
    while let Some(c) = cursor.peek() {
        cursor.bump();
        match c {
            '{' => open += 1,
            '}' => {
                open -= 1;
                if open == 0 {
                    break;
                }
            }
            _ => {}
        }
        text.push(c);
    }
    text
}

/// `NAME`, `NAME:-default`, `NAME-default`, `@`; anything else is unknown.
fn parameter(text: &str, values: &Values<'_>) -> Option<String> {
    if matches!(text, "@" | "*") {
        return Some(values.all().join(" "));
    }
    let end = text
        .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
        .unwrap_or(text.len());
    let (name, operator) = text.split_at(end);
    if operator.is_empty() {
        return values.variable(name);
    }
    let operator = operator.strip_prefix(':').unwrap_or(operator);
    let default = operator.strip_prefix(['-', '='])?;
    values.variable(name).or_else(|| Some(default.to_owned()))
}

/// The text of `$'…'`.
fn ansi_c(cursor: &mut Cursor<'_>) -> String {
    let mut text = String::new();
    while let Some(c) = cursor.peek() {
        cursor.bump();
        if c == '\'' {
            break;
        }
        if c != '\\' {
            text.push(c);
            continue;
        }
        let Some(escaped) = cursor.peek() else { break };
        cursor.bump();
        match escaped {
            'n' => text.push('\n'),
            't' => text.push('\t'),
            'x' | 'u' | 'U' => {
                let digits = cursor.take_while(|c| c.is_ascii_hexdigit());
                let code = u32::from_str_radix(&digits, 16)
                    .ok()
                    .and_then(char::from_u32);
                text.push(code.unwrap_or(UNSEEN));
            }
            '0'..='7' => {
                let more = cursor.take_while(|c| ('0'..='7').contains(&c));
                let code = u32::from_str_radix(&format!("{escaped}{more}"), 8).ok();
                text.push(code.and_then(char::from_u32).unwrap_or(UNSEEN));
            }
            other => text.push(other),
        }
    }
    text
}
