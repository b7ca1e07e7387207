//! Reads a shell script far enough to know which commands it may run.
//!
//! Not an interpreter: every branch counts as taken, and what depends on the
//! world is [`UNSEEN`]. Quotes, expansions of variables that the script itself
//! sets, positional parameters, here-documents and pipes from `echo` are
//! followed, since that is how a command line is hidden by accident.

mod expand;
mod parse;

use self::parse::{Script, Simple, parse};
use super::words::assignment;
use super::{Call, Refusal, Rule};

pub(super) use self::parse::split;

/// Judges every command of `script`, run with `parameters` as `$0`, `$1`, ….
pub(super) fn judge(call: &Call<'_>, script: &str, parameters: &[String]) -> Option<Refusal> {
    if call.depth > super::DEPTH {
        return Some(call.refused(Rule::Unseen));
    }
    let Script { commands, inner } = parse(script, parameters, call.depth);
    for script in &inner {
        let deeper = Call {
            depth: call.depth + 1,
            ..*call
        };
        if let Some(refusal) = judge(&deeper, script, parameters) {
            return Some(refusal);
        }
    }
    let mut said: Option<String> = None;
    for command in &commands {
        let Simple {
            words,
            stdin,
            is_piped,
        } = command;
        let piped = said.take().filter(|_| *is_piped);
        let stdin = stdin.as_deref().or(piped.as_deref());
        let next = Call {
            words,
            stdin,
            depth: call.depth + 1,
        };
        if let Some(refusal) = next.judge() {
            return Some(refusal);
        }
        said = output_of(words);
    }
    None
}

/// What a command prints, when that can be told from its words.
pub(super) fn output_of(words: &[String]) -> Option<String> {
    let (program, arguments) = words.split_first()?;
    match program.rsplit('/').next()? {
        "echo" => {
            let is_flag = |w: &&String| matches!(w.as_str(), "-n" | "-e" | "-E" | "-ne" | "-en");
            let shown: Vec<&str> = arguments
                .iter()
                .skip_while(is_flag)
                .map(String::as_str)
                .collect();
            Some(shown.join(" "))
        }
        "printf" => {
            let (format, values) = arguments.split_first()?;
            let mut values = values.iter();
            let mut text = String::new();
            let mut parts = format.replace("\\n", "\n").replace("%%", "%");
            while let Some(at) = parts.find("%s") {
                text.push_str(&parts[..at]);
                text.push_str(values.next().map_or("", String::as_str));
                parts = parts[at + 2..].to_owned();
            }
            text.push_str(&parts);
            for value in values {
                text.push(' ');
                text.push_str(value);
            }
            Some(text)
        }
        _ => None,
    }
}

/// Writes words as a script of one command with these very words.
pub(super) fn join(words: &[String]) -> String {
    let quoted = words
        .iter()
        .map(|word| format!("'{}'", word.replace('\'', "'\\''")));
    quoted.collect::<Vec<_>>().join(" ")
}

/// Words after leading assignments.
fn without_assignments(words: &[String]) -> &[String] {
    let count = words
        .iter()
        .take_while(|word| assignment(word).is_some())
        .count();
    &words[count..]
}
