//! Acceptance criteria in the text of an issue.
//!
//! People write them as a checklist under a heading, as a plain list, as
//! Given/When/Then, or not at all. The text is read by a CommonMark parser, so
//! headings in code and in comments are none, and what is returned is the
//! source of each criterion, not its rendering: nothing of it is lost.

mod blocks;
mod gherkin;
mod text;

#[cfg(test)]
mod tests;

use schemars::JsonSchema;
use serde::Serialize;

use blocks::{Block, Document, Item, Level};

/// One acceptance criterion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Criterion {
    /// Its source Markdown without list marker, box and Backlog.md's number;
    /// nested lines are kept.
    pub text: String,
    /// Whether its box is ticked; false without a box.
    pub checked: bool,
}

/// Where criteria were found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum Provenance {
    /// Under a heading that names them.
    Heading,
    /// They are the tasks of the text.
    Checklist,
    /// They are its Given/When/Then paragraphs.
    Gherkin,
    /// Nowhere.
    None,
}

/// The criteria of a text, in its order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Criteria {
    /// The criteria.
    pub criteria: Vec<Criterion>,
    /// Where they were found.
    pub provenance: Provenance,
}

/// Finds the acceptance criteria of a Markdown text: what stands below the
/// first heading that names them, else its Given/When/Then paragraphs, else
/// all its tasks.
#[must_use]
pub fn parse(markdown: &str) -> Criteria {
    let markdown = markdown.replace("\r\n", "\n");
    let document = Document::read(&markdown);
    let found = [
        (Provenance::Heading, under_a_heading(&document)),
        (Provenance::Gherkin, gherkin::scenarios(&document)),
        (Provenance::Checklist, tasks(&document)),
    ];
    let first = found.into_iter().find(|(_, found)| !found.is_empty());
    let (provenance, criteria) = first.unwrap_or((Provenance::None, Vec::new()));
    Criteria {
        criteria,
        provenance,
    }
}

/// Whether a heading announces criteria. Case, a trailing colon and ornaments
/// around the words do not matter.
fn announces(title: &str) -> bool {
    const NAMES: [&str; 6] = [
        "acceptance criteria",
        "ac",
        "acceptance",
        "definition of done",
        "done when",
        "requirements",
    ];
    let words: Vec<String> = title
        .trim_matches(|c: char| !c.is_alphanumeric())
        .split_whitespace()
        .map(str::to_lowercase)
        .collect();
    NAMES.contains(&words.join(" ").as_str())
}

/// What stands below the first such heading that has anything below it.
fn under_a_heading(document: &Document<'_>) -> Vec<Criterion> {
    let sections = document
        .blocks
        .iter()
        .enumerate()
        .filter_map(|(at, block)| match block {
            Block::Heading { level, title } if announces(title) => Some((at, *level)),
            _ => None,
        });
    for (at, level) in sections {
        let below = &document.blocks[at + 1..];
        let end = below.iter().position(|block| ends(block, level));
        let found = of_section(document, &below[..end.unwrap_or(below.len())]);
        if !found.is_empty() {
            return found;
        }
    }
    Vec::new()
}

/// Whether a block is the next heading of the same or a higher level.
fn ends(block: &Block<'_>, level: Level) -> bool {
    matches!(block, Block::Heading { level: next, .. } if *next <= level)
}

/// The items of a section's lists; without any list its paragraphs.
fn of_section(document: &Document<'_>, section: &[Block<'_>]) -> Vec<Criterion> {
    let items: Vec<&Item<'_>> = section
        .iter()
        .filter_map(|block| match block {
            Block::Item(item) => document.items.get(*item),
            _ => None,
        })
        .collect();
    if !items.is_empty() {
        return criteria(&items);
    }
    let whole = section.iter().filter_map(|block| match block {
        Block::Paragraph(source) => Some(text::paragraph(source)),
        Block::Code { language, content } if gherkin::is_language(language) => {
            Some(content.trim().to_owned())
        }
        _ => None,
    });
    whole
        .filter(|text| !text::is_blank(text))
        .map(|text| Criterion {
            text,
            checked: false,
        })
        .collect()
}

/// All tasks of the text but those that belong to another task.
fn tasks(document: &Document<'_>) -> Vec<Criterion> {
    let items: Vec<&Item<'_>> = document
        .items
        .iter()
        .filter(|item| item.checked.is_some() && !item.inside_task)
        .collect();
    criteria(&items)
}

fn criteria(items: &[&Item<'_>]) -> Vec<Criterion> {
    let texts: Vec<(String, bool)> = items
        .iter()
        .map(|item| (text::item(item.source), item.checked.unwrap_or(false)))
        .filter(|(text, _)| !text::is_blank(text))
        .collect();
    let numbered = text::are_numbered(texts.iter().map(|(text, _)| text.as_str()))
        || items.iter().any(|item| item.in_backlog);
    texts
        .into_iter()
        .map(|(text, checked)| Criterion {
            text: match text::after_number(&text) {
                Some((_, rest)) if numbered => rest.to_owned(),
                _ => text,
            },
            checked,
        })
        .collect()
}
