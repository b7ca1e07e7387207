//! The headings of a Markdown text, by a CommonMark parser: what looks like
//! one inside a fence or an HTML comment is none.

use std::ops::Range;

use pulldown_cmark::{Event, HeadingLevel, Parser, Tag, TagEnd};

/// A heading and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Heading {
    /// 1 to 6.
    pub(super) level: u8,
    /// Its text without mark-up.
    pub(super) text: String,
    /// Its bytes, marks and line end included.
    pub(super) range: Range<usize>,
}

/// All headings outside of quotes and lists, in order.
pub(super) fn headings(markdown: &str) -> Vec<Heading> {
    let mut found: Vec<Heading> = Vec::new();
    let mut inside = false;
    let mut nesting = 0usize;
    for (event, range) in Parser::new(markdown).into_offset_iter() {
        match event {
            Event::Start(Tag::Heading { level, .. }) if nesting == 0 => {
                inside = true;
                found.push(Heading {
                    level: number(level),
                    text: String::new(),
                    range,
                });
            }
            Event::End(TagEnd::Heading(_)) => inside = false,
            Event::Start(Tag::BlockQuote(_) | Tag::List(_)) => nesting += 1,
            Event::End(TagEnd::BlockQuote(_) | TagEnd::List(_)) => nesting -= 1,
            Event::Text(text) | Event::Code(text) if inside => {
                if let Some(heading) = found.last_mut() {
                    heading.text.push_str(&text);
                }
            }
            Event::SoftBreak | Event::HardBreak if inside => {
                if let Some(heading) = found.last_mut() {
                    heading.text.push(' ');
                }
            }
            _ => {}
        }
    }
    for heading in &mut found {
        heading.text = heading.text.trim().to_owned();
    }
    found
}

const fn number(level: HeadingLevel) -> u8 {
    match level {
        HeadingLevel::H1 => 1,
        HeadingLevel::H2 => 2,
        HeadingLevel::H3 => 3,
        HeadingLevel::H4 => 4,
        HeadingLevel::H5 => 5,
        HeadingLevel::H6 => 6,
    }
}
