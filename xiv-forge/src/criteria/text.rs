//! The source of a criterion without what makes it a list item.

/// An item's source without marker and box, its nested lines moved left.
pub(super) fn item(source: &str) -> String {
    let (marker, rest) = marker(source);
    let first_line = without_box(rest);
    let mut lines = first_line.split('\n');
    let mut text = lines.next().unwrap_or_default().trim_end().to_owned();
    for line in lines {
        text.push('\n');
        text.push_str(dedent(line, marker).trim_end());
    }
    text.trim().to_owned()
}

/// A paragraph's source without the indentation of its lines.
pub(super) fn paragraph(source: &str) -> String {
    let lines: Vec<&str> = source
        .lines()
        .map(|line| line.trim_start().trim_start_matches("> ").trim_end())
        .collect();
    lines.join("\n").trim().to_owned()
}

/// Whether nothing is left of the text without its comments: what a template
/// leaves behind.
pub(super) fn is_blank(text: &str) -> bool {
    let mut rest = text;
    loop {
        rest = rest.trim_start();
        let Some(comment) = rest.strip_prefix("<!--") else {
            return rest.is_empty();
        };
        match comment.split_once("-->") {
            Some((_, after)) => rest = after,
            None => return true,
        }
    }
}

/// Width of the list marker, and what follows it.
fn marker(source: &str) -> (usize, &str) {
    let digits = source.bytes().take_while(u8::is_ascii_digit).count();
    let sign = usize::from(source[digits..].starts_with(['-', '*', '+', '.', ')']));
    let rest = &source[digits + sign..];
    let blanks = rest.len() - rest.trim_start_matches([' ', '\t']).len();
    // more than four blanks are the content's own
    let blanks = if blanks > 4 { 1 } else { blanks };
    (digits + sign + blanks.max(1), &rest[blanks..])
}

fn without_box(text: &str) -> &str {
    ["[ ]", "[x]", "[X]"]
        .iter()
        .find_map(|mark| text.strip_prefix(mark))
        .filter(|rest| rest.is_empty() || rest.starts_with(char::is_whitespace))
        .map_or(text, |rest| rest.trim_start_matches([' ', '\t']))
}

/// Takes up to `width` columns of blanks away.
fn dedent(line: &str, width: usize) -> &str {
    let mut columns = 0;
    let blanks = line
        .bytes()
        .take_while(|b| {
            columns += match b {
                b' ' => 1,
                b'\t' => 4,
                _ => return false,
            };
            columns <= width.max(4)
        })
        .take(width)
        .count();
    &line[blanks..]
}

/// Backlog.md's `#3 ` at the beginning of a text, and what follows it.
pub(super) fn after_number(text: &str) -> Option<(u32, &str)> {
    let rest = text.strip_prefix('#')?;
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let number = rest[..digits].parse().ok()?;
    let after = rest[digits..].strip_prefix(' ')?;
    Some((number, after.trim_start()))
}

/// Whether the texts are numbered by Backlog.md: all of them, from 1 upwards.
/// A lone `#12` is another issue's number.
pub(super) fn are_numbered<'a>(texts: impl Iterator<Item = &'a str>) -> bool {
    let mut last = None;
    for text in texts {
        match (after_number(text), last) {
            (Some((1, _)), None) => last = Some(1),
            (Some((number, _)), Some(before)) if number > before => last = Some(number),
            _ => return false,
        }
    }
    last.is_some()
}
