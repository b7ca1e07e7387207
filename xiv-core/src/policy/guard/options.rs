//! A small reader of options: enough to tell positional words from the values
//! of flags.

/// One piece of a command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Piece<'a> {
    /// A flag with its value, if it takes one. Names keep their dashes.
    Flag(&'a str, Option<&'a str>),
    /// Anything else.
    Word(&'a str),
}

/// Splits arguments. `short` lists the letters that take a value, `long` the
/// long names (without dashes) that do. After `--` everything is a word.
pub(super) fn pieces<'a>(arguments: &'a [String], short: &str, long: &[&str]) -> Vec<Piece<'a>> {
    let mut pieces = Vec::new();
    let mut rest = arguments.iter().map(String::as_str);
    while let Some(word) = rest.next() {
        if word == "--" {
            pieces.extend(rest.by_ref().map(Piece::Word));
        } else if let Some(name) = word.strip_prefix("--") {
            match name.split_once('=') {
                Some((name, value)) => {
                    pieces.push(Piece::Flag(&word[..name.len() + 2], Some(value)));
                }
                None if long.contains(&name) => pieces.push(Piece::Flag(word, rest.next())),
                None => pieces.push(Piece::Flag(word, None)),
            }
        } else if word.len() > 1 && word.starts_with('-') {
            cluster(word, short, &mut rest, &mut pieces);
        } else {
            pieces.push(Piece::Word(word));
        }
    }
    pieces
}

/// Splits `-abcVALUE`.
fn cluster<'a>(
    word: &'a str,
    short: &str,
    rest: &mut impl Iterator<Item = &'a str>,
    pieces: &mut Vec<Piece<'a>>,
) {
    for (at, letter) in word.char_indices().skip(1) {
        let end = at + letter.len_utf8();
        let flag = &word[at..end];
        if short.contains(letter) {
            let glued = &word[end..];
            let value = if glued.is_empty() {
                rest.next()
            } else {
                Some(glued.strip_prefix('=').unwrap_or(glued))
            };
            pieces.push(Piece::Flag(flag, value));
            return;
        }
        pieces.push(Piece::Flag(flag, None));
    }
}

/// The positional words among `pieces`.
pub(super) fn words<'a>(pieces: &[Piece<'a>]) -> Vec<&'a str> {
    pieces
        .iter()
        .filter_map(|piece| match piece {
            Piece::Word(word) => Some(*word),
            Piece::Flag(..) => None,
        })
        .collect()
}
