//! Given/When/Then: criteria that need no list and no heading.

use super::Criterion;
use super::blocks::{Block, Document};
use super::text;

/// Whether a code block is written in the language of scenarios.
pub(super) fn is_language(info: &str) -> bool {
    let language = info.split_whitespace().next().unwrap_or_default();
    ["gherkin", "cucumber", "feature"]
        .iter()
        .any(|name| language.eq_ignore_ascii_case(name))
}

/// The scenarios of a text: paragraphs, plain items and code blocks that are
/// one. Tasks are left to the checklist, which keeps all of them.
/// A `When`, `Then`, `And` or `But` paragraph belongs to the scenario before it.
pub(super) fn scenarios(document: &Document<'_>) -> Vec<Criterion> {
    let mut found: Vec<Criterion> = Vec::new();
    // a `Given` paragraph that waits for its `Then`
    let mut open: Option<String> = None;
    for block in &document.blocks {
        let text = match block {
            Block::Paragraph(source) => text::paragraph(source),
            Block::Item(item) if document.items[*item].checked.is_none() => {
                text::item(document.items[*item].source)
            }
            Block::Code { language, content } if is_language(language) => content.trim().to_owned(),
            Block::Item(_) | Block::Code { .. } | Block::Heading { .. } => {
                open = None;
                continue;
            }
        };
        let paragraph = matches!(block, Block::Paragraph(_));
        if is_scenario(&text) {
            open = None;
            found.push(scenario(text));
        } else if paragraph && begins(&text, &["given", "scenario"]) {
            open = Some(text);
        } else if paragraph && begins(&text, &["when", "then", "and", "but"]) {
            let continued = open.take().map(|before| format!("{before}\n\n{text}"));
            match continued {
                Some(whole) if is_scenario(&whole) => found.push(scenario(whole)),
                Some(partial) => open = Some(partial),
                None => {}
            }
        } else {
            open = None;
        }
    }
    found
}

const fn scenario(text: String) -> Criterion {
    Criterion {
        text,
        checked: false,
    }
}

/// Whether the text goes from its given to its then. Prose that merely begins
/// with "Given" does not.
fn is_scenario(text: &str) -> bool {
    let steps: Vec<String> = text.lines().map(plain).collect();
    let line = |words: &[&str]| steps.iter().any(|step| begins(step, words));
    let has = |word: &str| {
        steps
            .iter()
            .flat_map(|step| step.split(|c: char| !c.is_alphanumeric()))
            .any(|part| part == word)
    };
    let stepwise = line(&["then"]) && line(&["given", "when"]);
    let in_one_go = begins(text, &["given"]) && has("when") && has("then");
    begins(
        text,
        &["given", "when", "scenario", "feature", "background"],
    ) && (stepwise || in_one_go)
}

fn begins(text: &str, words: &[&str]) -> bool {
    let text = plain(text);
    let first = text
        .split(|c: char| !c.is_alphanumeric())
        .next()
        .unwrap_or_default();
    words.contains(&first)
}

/// In lower case and without what decorates the first word.
fn plain(text: &str) -> String {
    text.trim_start_matches(|c: char| !c.is_alphanumeric())
        .to_lowercase()
}
