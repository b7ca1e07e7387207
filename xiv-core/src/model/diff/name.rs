//! File names in a diff's headers: plain, or quoted as in C.

/// A header's pair of names, without their prefixes.
pub(super) type Names = (Vec<u8>, Vec<u8>);

/// The names of `diff --git a/x b/x`. They are only needed, and only sure to
/// be found, when both sides have the same name; renames say theirs elsewhere.
pub(super) fn from_header(rest: &[u8]) -> Option<Names> {
    if let Some((old, rest)) = quoted(rest) {
        let new = rest.strip_prefix(b" ")?;
        let new = quoted(new).map_or_else(|| new.to_vec(), |(name, _)| name);
        return Some(pair(old, new));
    }
    if let Some(middle) = rest.len().checked_sub(1).map(|n| n / 2)
        && rest.len() % 2 == 1
        && rest[middle] == b' '
    {
        let (old, new) = (&rest[..middle], &rest[middle + 1..]);
        if old == new || without_prefix(old) == without_prefix(new) {
            return Some(pair(old.to_vec(), new.to_vec()));
        }
    }
    // different names: only where there is one way to cut
    let mut cuts = (0..rest.len())
        .filter(|i| rest[*i..].starts_with(b" b/") || rest[*i..].starts_with(b" \"b/"));
    let cut = cuts.next().filter(|_| cuts.next().is_none())?;
    let new = &rest[cut + 1..];
    let new = quoted(new).map_or_else(|| new.to_vec(), |(name, _)| name);
    Some(pair(rest[..cut].to_vec(), new))
}

/// Names that are the same on both sides were written without prefixes.
fn pair(old: Vec<u8>, new: Vec<u8>) -> Names {
    if old == new {
        (old, new)
    } else {
        (without_prefix(&old).to_vec(), without_prefix(&new).to_vec())
    }
}

/// The name without its `a/`, `b/` or other first folder.
pub(super) fn without_prefix(name: &[u8]) -> &[u8] {
    let slash = name.iter().position(|b| *b == b'/');
    slash.map_or(name, |at| &name[at + 1..])
}

/// The name of a `---`, `+++`, `rename` or `copy` line. A tab ends a plain
/// name: git puts one after names with blanks, other tools a time.
pub(super) fn of_line(rest: &[u8]) -> Vec<u8> {
    if let Some((name, _)) = quoted(rest) {
        return name;
    }
    let end = rest.iter().position(|b| *b == b'\t').unwrap_or(rest.len());
    rest[..end].to_vec()
}

/// A name in quotes at the beginning of the text, and what follows it.
fn quoted(text: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let mut rest = text.strip_prefix(b"\"")?;
    let mut name = Vec::new();
    loop {
        let (&first, after) = rest.split_first()?;
        rest = match first {
            b'"' => return Some((name, after)),
            b'\\' => {
                let (byte, after) = escape(after)?;
                name.push(byte);
                after
            }
            _ => {
                name.push(first);
                after
            }
        };
    }
}

/// The byte that stands behind a backslash.
fn escape(text: &[u8]) -> Option<(u8, &[u8])> {
    let (&first, rest) = text.split_first()?;
    let byte = match first {
        b'a' => 7,
        b'b' => 8,
        b't' => b'\t',
        b'n' => b'\n',
        b'v' => 11,
        b'f' => 12,
        b'r' => b'\r',
        b'"' | b'\\' => first,
        b'0'..=b'3' => {
            let [second @ b'0'..=b'7', third @ b'0'..=b'7', after @ ..] = rest else {
                return None;
            };
            let byte = (first - b'0') * 64 + (second - b'0') * 8 + (third - b'0');
            return Some((byte, after));
        }
        _ => return None,
    };
    Some((byte, rest))
}
