//! The `## Comments` section of an issue.
//!
//! Three ways of writing it are understood: a sub-heading per comment
//! (`### alice, 2026-01-02`), a list item per comment (`- **alice**
//! (2026-01-02): text`), or one plain text.

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use pulldown_cmark::{Event, Parser, Tag, TagEnd};
use xiv_core::model::Comment;

use super::headings::{Heading, headings};

/// Who wrote a comment that names nobody.
const UNKNOWN: &str = "unknown";

/// Takes the section out of a body. What follows it stays.
pub(super) fn split(body: &str) -> (String, Vec<Comment>) {
    let headings = headings(body);
    let Some(index) = headings.iter().position(is_comments) else {
        return (body.to_owned(), Vec::new());
    };
    let (heading, later) = (&headings[index], &headings[index + 1..]);
    let next = later.iter().find(|h| h.level <= heading.level);
    let end = next.map_or(body.len(), |h| h.range.start);
    let comments = parse(&body[heading.range.end..end]);
    let rest = format!("{}{}", &body[..heading.range.start], &body[end..]);
    (rest, comments)
}

fn is_comments(heading: &Heading) -> bool {
    let text = heading.text.trim_end_matches(':').trim_end();
    text.eq_ignore_ascii_case("comments")
}

fn parse(section: &str) -> Vec<Comment> {
    let headings = headings(section);
    let Some(top) = headings.iter().map(|heading| heading.level).min() else {
        return parse_list(section);
    };
    let of_comments: Vec<&Heading> = headings.iter().filter(|h| h.level == top).collect();
    let mut comments = parse_list(&section[..of_comments[0].range.start]);
    for (index, heading) in of_comments.iter().enumerate() {
        let end = of_comments
            .get(index + 1)
            .map_or(section.len(), |next| next.range.start);
        let (author, created_at) = author_and_time(&heading.text);
        comments.push(Comment {
            author,
            body: section[heading.range.end..end].trim().to_owned(),
            created_at,
        });
    }
    comments
}

/// A list with one item per comment; anything else is one comment.
fn parse_list(section: &str) -> Vec<Comment> {
    let text = section.trim();
    if text.is_empty() {
        return Vec::new();
    }
    let items = list_items(text);
    if items.is_empty() {
        return vec![Comment {
            author: UNKNOWN.to_owned(),
            body: text.to_owned(),
            created_at: None,
        }];
    }
    items.iter().map(|item| parse_item(item)).collect()
}

/// The items of a text that is one list and nothing else.
fn list_items(text: &str) -> Vec<String> {
    let mut items = Vec::new();
    let mut depth = 0usize;
    for (event, range) in Parser::new(text).into_offset_iter() {
        match event {
            Event::Start(Tag::List(_)) => depth += 1,
            Event::End(TagEnd::List(_)) => depth -= 1,
            Event::Start(_) if depth == 0 => return Vec::new(),
            Event::Start(Tag::Item) if depth == 1 => items.push(dedented(&text[range])),
            _ => {}
        }
    }
    items
}

/// An item's text without its mark and without the indentation that it asks
/// for.
fn dedented(item: &str) -> String {
    let mark = item
        .find(|c: char| !(c.is_ascii_digit() || "-*+.)".contains(c)))
        .unwrap_or(item.len());
    let space = item[mark..].len() - item[mark..].trim_start_matches(' ').len();
    let width = mark + space;
    let mut lines = item[width.min(item.len())..].lines();
    let mut text = lines.next().unwrap_or_default().to_owned();
    for line in lines {
        let indent = line.len() - line.trim_start_matches(' ').len();
        text.push('\n');
        text.push_str(&line[indent.min(width)..]);
    }
    text.trim().to_owned()
}

/// `**alice** (2026-01-02): text` or `@alice: text`; else all of it is text.
fn parse_item(item: &str) -> Comment {
    let named = item.split_once(':').and_then(|(who, body)| {
        let marked = who.starts_with('@') || who.starts_with("**");
        (marked && !who.contains('\n')).then_some((who, body))
    });
    let (author, created_at, body) = match named {
        Some((who, body)) => {
            let (author, created_at) = author_and_time(&who.replace("**", ""));
            (author, created_at, body.trim())
        }
        None => (UNKNOWN.to_owned(), None, item),
    };
    Comment {
        author,
        body: body.to_owned(),
        created_at,
    }
}

/// `alice`, `alice (2026-01-02)`, `alice, 2026-01-02T03:04:05Z`, `alice - …`.
fn author_and_time(text: &str) -> (String, Option<Timestamp>) {
    let text = text.trim();
    let breaks = text
        .char_indices()
        .filter(|(_, c)| c.is_whitespace() || ",(".contains(*c));
    for (at, _) in breaks {
        let rest = text[at..].trim_matches(|c: char| c.is_whitespace() || "-,()–—·|".contains(c));
        if let Some(time) = time(rest) {
            let author =
                text[..at].trim_end_matches(|c: char| c.is_whitespace() || "-,(–—·|".contains(c));
            return (name(author), Some(time));
        }
    }
    (name(text), None)
}

fn name(text: &str) -> String {
    let name = text.trim().trim_start_matches('@');
    if name.is_empty() { UNKNOWN } else { name }.to_owned()
}

/// A time with its zone, or a date or date and time in UTC.
fn time(text: &str) -> Option<Timestamp> {
    let civil = || text.parse::<jiff::civil::DateTime>().ok();
    let date = || text.parse::<Date>().ok().map(|d| d.at(0, 0, 0, 0));
    text.parse::<Timestamp>().ok().or_else(|| {
        let civil = civil().or_else(date)?;
        TimeZone::UTC.to_timestamp(civil).ok()
    })
}
