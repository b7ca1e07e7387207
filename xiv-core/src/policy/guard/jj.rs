//! Jujutsu: everything that sends commits to a remote.

use super::options::{Piece, pieces, words};
use super::words::is_unseen;
use super::{Call, Refusal, Rule};

/// Global options that take a value.
const WITH_VALUE: &[&str] = &[
    "at-op",
    "at-operation",
    "color",
    "config",
    "config-file",
    "config-toml",
    "repository",
];

pub(super) fn judge(call: &Call<'_>, arguments: &[String]) -> Option<Refusal> {
    let pieces = pieces(arguments, "R", WITH_VALUE);
    if pieces
        .iter()
        .any(|piece| matches!(piece, Piece::Flag("--help" | "h", None)))
    {
        return None;
    }
    let words = words(&pieces);
    match words.as_slice() {
        ["git", "push", ..] | ["gerrit", "upload" | "send", ..] => Some(call.refused(Rule::Push)),
        ["util", "exec", ..] => {
            let at = arguments.iter().position(|word| word == "exec")?;
            let inner: Vec<String> = arguments[at + 1..]
                .iter()
                .skip_while(|w| w.starts_with("--"))
                .cloned()
                .collect();
            call.with_words(&inner).judge()
        }
        [first, ..] if is_unseen(first) => Some(call.refused(Rule::Unseen)),
        ["git", second, ..] if is_unseen(second) => Some(call.refused(Rule::Unseen)),
        [first, ..] => {
            let definition = pieces.iter().rev().find_map(|piece| match piece {
                Piece::Flag("--config" | "--config-toml", Some(setting)) => alias(setting, first),
                _ => None,
            })?;
            let mut expanded = vec!["jj".to_owned()];
            expanded.extend(definition);
            let at = arguments.iter().position(|word| word == first)?;
            expanded.extend_from_slice(&arguments[at + 1..]);
            call.with_words(&expanded).judge()
        }
        [] => None,
    }
}

/// The words of `aliases.NAME = ["a", "b"]`.
fn alias(setting: &str, name: &str) -> Option<Vec<String>> {
    let (key, value) = setting.split_once('=')?;
    let key = key
        .trim()
        .strip_prefix("aliases.")?
        .trim_matches(['"', '\'']);
    if key != name {
        return None;
    }
    let list = value.trim().strip_prefix('[')?.strip_suffix(']')?;
    let words = list
        .split(',')
        .map(|word| word.trim().trim_matches(['"', '\'']).to_owned());
    Some(words.filter(|word| !word.is_empty()).collect())
}
