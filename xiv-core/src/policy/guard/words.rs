//! Words of a command line, some of which hold parts that nobody can know.

/// Stands in a word for text that cannot be known: a variable, a pattern, the
/// output of a program. It is no character, so no input holds it.
pub(super) const UNSEEN: char = '\u{10FFFF}';

/// Whether part of the word cannot be known.
pub(super) fn is_unseen(word: &str) -> bool {
    word.contains(UNSEEN)
}

/// The program's name, without folder and suffix.
pub(super) fn base_name(program: &str) -> String {
    let name = program.rsplit('/').next().unwrap_or_default();
    name.strip_suffix(".exe").unwrap_or(name).to_owned()
}

/// `NAME=value`, split.
pub(super) fn assignment(word: &str) -> Option<(&str, &str)> {
    let (name, value) = word.split_once('=')?;
    let name = name.strip_suffix('+').unwrap_or(name);
    let mut chars = name.chars();
    let first = chars.next()?;
    let is_name = (first.is_ascii_alphabetic() || first == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_');
    is_name.then_some((name, value))
}

/// Whether `word` is `long` or an abbreviation of it that git would accept
/// (`--har` for `--hard`), also with a value after `=`.
pub(super) fn is_abbreviation(word: &str, long: &str) -> bool {
    let word = word.split('=').next().unwrap_or_default();
    word.len() > 2 && word.starts_with("--") && long.starts_with(word)
}

/// Whether `word` is a cluster of short flags that holds `flag`, none of those
/// before it taking a value.
pub(super) fn has_short(word: &str, flag: char, taking_value: &str) -> bool {
    let Some(cluster) = word.strip_prefix('-').filter(|c| !c.starts_with('-')) else {
        return false;
    };
    cluster
        .chars()
        .take_while(|c| !taking_value.contains(*c))
        .any(|c| c == flag)
}
