//! From a script's text to simple commands.

use std::collections::HashMap;

use super::expand::{Cursor, Fields, read_word, skip_balanced};
use super::{output_of, without_assignments};
use crate::policy::guard::words::{UNSEEN, assignment};

/// Words that may stand before a command without being one.
const RESERVED: &[&str] = &[
    "!", "{", "}", "if", "then", "elif", "else", "fi", "while", "until", "do", "done", "esac",
    "time", "coproc",
];

/// One command with what is known of its input.
#[derive(Debug, Default)]
pub(super) struct Simple {
    pub(super) words: Vec<String>,
    pub(super) stdin: Option<String>,
    /// It reads what the command before it prints.
    pub(super) is_piped: bool,
}

/// A script, taken apart.
#[derive(Debug, Default)]
pub(super) struct Script {
    pub(super) commands: Vec<Simple>,
    /// Scripts of command and process substitutions.
    pub(super) inner: Vec<String>,
}

/// A here-document whose body is still to come.
struct Pending {
    command: usize,
    end: String,
    strips_tabs: bool,
    is_literal: bool,
}

struct Parser<'a> {
    cursor: Cursor<'a>,
    variables: HashMap<String, String>,
    parameters: &'a [String],
    depth: usize,
    script: Script,
    current: Simple,
    pending: Vec<Pending>,
}

/// Takes a script apart. `depth` bounds the evaluation of nested `echo`s.
pub(super) fn parse(text: &str, parameters: &[String], depth: usize) -> Script {
    let mut parser = Parser {
        cursor: Cursor::new(text),
        variables: HashMap::from([("IFS".to_owned(), " ".to_owned())]),
        parameters,
        depth,
        script: Script::default(),
        current: Simple::default(),
        pending: Vec::new(),
    };
    parser.run();
    parser.script
}

/// Splits a text into words the way a shell would, without running anything.
pub(in super::super) fn split(text: &str) -> Vec<String> {
    parse(text, &[], usize::MAX)
        .commands
        .into_iter()
        .flat_map(|command| command.words)
        .collect()
}

impl Parser<'_> {
    fn run(&mut self) {
        while let Some(c) = self.cursor.peek() {
            match c {
                '\n' => {
                    self.cursor.bump();
                    self.end_command(false);
                    self.read_here_documents();
                }
                _ if c.is_whitespace() => self.cursor.bump(),
                '\\' if self.cursor.peek_at(1) == Some('\n') => {
                    self.cursor.bump();
                    self.cursor.bump();
                }
                '#' => self.cursor.skip_line(),
                '<' | '>' => self.redirection(),
                '&' if self.cursor.peek_at(1) == Some('>') => {
                    self.cursor.bump();
                    self.redirection();
                }
                ';' | '&' | '(' | ')' => {
                    self.cursor.bump();
                    self.end_command(false);
                }
                '|' => {
                    self.cursor.bump();
                    let is_or = self.cursor.peek() == Some('|');
                    if is_or || self.cursor.peek() == Some('&') {
                        self.cursor.bump();
                    }
                    self.end_command(!is_or);
                }
                _ => self.word(),
            }
        }
        self.end_command(false);
        self.read_here_documents();
    }

    fn word(&mut self) {
        let Fields {
            words,
            inner,
            is_quoted,
        } = self.read_word();
        self.script.inner.extend(inner);
        let next = self.cursor.peek();
        let is_descriptor = matches!(next, Some('<' | '>'))
            && words.len() == 1
            && words[0].chars().all(|c| c.is_ascii_digit());
        if is_descriptor {
            return;
        }
        if self.current.words.is_empty() && !is_quoted {
            match words.first().map(String::as_str) {
                Some(word) if RESERVED.contains(&word) => return,
                // what follows is data until the next separator
                Some("for" | "case" | "select") => {
                    self.current.words = vec![":".to_owned()];
                    return;
                }
                Some("function") => {
                    self.cursor.skip_blanks();
                    self.read_word();
                    return;
                }
                _ => {}
            }
        }
        self.current.words.extend(words);
    }

    fn read_word(&mut self) -> Fields {
        let depth = self.depth;
        let evaluate = |script: &str| evaluate(script, depth);
        read_word(
            &mut self.cursor,
            &self.variables,
            self.parameters,
            &evaluate,
        )
    }

    fn redirection(&mut self) {
        let direction = self.cursor.peek();
        if self.cursor.peek_at(1) == Some('(') {
            self.cursor.bump();
            self.cursor.bump();
            let inner = skip_balanced(&mut self.cursor);
            self.script.inner.push(inner);
            self.current.words.push(UNSEEN.to_string());
            return;
        }
        let mut operator = String::new();
        while let Some(c @ ('<' | '>' | '&' | '|')) = self.cursor.peek() {
            operator.push(c);
            self.cursor.bump();
        }
        let strips_tabs = operator == "<<" && self.cursor.peek() == Some('-');
        if strips_tabs {
            self.cursor.bump();
        }
        self.cursor.skip_blanks();
        let Fields {
            words,
            inner,
            is_quoted,
        } = self.read_word();
        self.script.inner.extend(inner);
        match operator.as_str() {
            "<<<" => self.current.stdin = Some(words.join(" ")),
            "<<" => self.pending.push(Pending {
                command: self.script.commands.len(),
                end: words.concat(),
                strips_tabs,
                is_literal: is_quoted,
            }),
            _ if direction == Some('<') => self.current.stdin = None,
            _ => {}
        }
    }

    fn end_command(&mut self, pipes: bool) {
        let Simple {
            words,
            stdin,
            is_piped,
        } = std::mem::take(&mut self.current);
        self.current.is_piped = pipes;
        let rest = without_assignments(&words);
        let set = if rest.is_empty() {
            &words[..]
        } else if matches!(
            rest[0].as_str(),
            "export" | "local" | "readonly" | "declare" | "typeset"
        ) {
            &rest[1..]
        } else {
            &[]
        };
        let set: Vec<_> = set.iter().filter_map(|word| assignment(word)).collect();
        for (name, value) in set {
            self.variables.insert(name.to_owned(), value.to_owned());
        }
        let is_awaited = self
            .pending
            .iter()
            .any(|pending| pending.command == self.script.commands.len());
        if !rest.is_empty() || is_awaited {
            self.script.commands.push(Simple {
                words: rest.to_vec(),
                stdin,
                is_piped,
            });
        }
    }

    fn read_here_documents(&mut self) {
        for pending in std::mem::take(&mut self.pending) {
            let mut body = String::new();
            while let Some(line) = self.cursor.take_line() {
                let line = if pending.strips_tabs {
                    line.trim_start_matches('\t')
                } else {
                    &line
                };
                if line == pending.end {
                    break;
                }
                body.push_str(line);
                body.push('\n');
            }
            if !pending.is_literal {
                self.script.inner.extend(substitutions(&body));
            }
            if let Some(command) = self.script.commands.get_mut(pending.command) {
                command.stdin = Some(body);
            }
        }
    }
}

/// The command substitutions in the body of a here-document.
fn substitutions(body: &str) -> Vec<String> {
    let mut cursor = Cursor::new(body);
    let mut found = Vec::new();
    while let Some(c) = cursor.peek() {
        cursor.bump();
        match c {
            '\\' => cursor.bump(),
            '$' if cursor.peek() == Some('(') => {
                cursor.bump();
                found.push(skip_balanced(&mut cursor));
            }
            '`' => found.push(cursor.take_until('`')),
            _ => {}
        }
    }
    found
}

/// What a command substitution yields, when it is one `echo` or `printf`.
fn evaluate(script: &str, depth: usize) -> Option<String> {
    if depth > super::super::DEPTH {
        return None;
    }
    let Script { commands, .. } = parse(script, &[], depth + 1);
    match commands.as_slice() {
        [only] => output_of(&only.words).map(|text| text.trim_end_matches('\n').to_owned()),
        _ => None,
    }
}
