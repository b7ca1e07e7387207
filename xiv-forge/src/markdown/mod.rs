//! Issues written as Markdown: front matter, title, body, criteria, comments.
//!
//! Reading is lenient (people write these by hand, and other tools write them
//! too) and loses nothing: whatever has no meaning stays in the description.

mod comments;
mod front_matter;
mod headings;

pub(crate) use front_matter::{FrontMatter, FrontMatterError};

use headings::headings;
use xiv_core::model::{Comment, Issue, IssueKey};

/// A Markdown issue before it has a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Document {
    /// What stands between the `---` lines.
    pub(crate) front: FrontMatter,
    /// From the front matter, else the first heading; empty without both.
    pub(crate) title: String,
    /// The body without that heading and without the comments.
    pub(crate) description: String,
    /// The acceptance criteria of the body.
    pub(crate) criteria: Vec<String>,
    /// What stands below `## Comments`.
    pub(crate) comments: Vec<Comment>,
}

impl Document {
    /// Reads a document.
    pub(crate) fn parse(text: &str) -> Result<Self, FrontMatterError> {
        let text = text
            .strip_prefix('\u{feff}')
            .unwrap_or(text)
            .replace("\r\n", "\n");
        let (front, body) = FrontMatter::split(&text)?;
        let body = without_markers(body);
        let (body, comments) = comments::split(&body);
        let (title, description) = title_and_rest(front.title.as_deref(), &body);
        let criteria = criteria(&description);
        Ok(Self {
            front,
            title,
            description,
            criteria,
            comments,
        })
    }

    /// The issue that this document is.
    pub(crate) fn into_issue(self, key: IssueKey, url: String) -> Issue {
        Issue {
            key,
            title: self.title,
            description: self.description,
            acceptance_criteria: self.criteria,
            comments: self.comments,
            labels: self.front.labels,
            url,
            parent: self.front.parent,
            children: self.front.children,
            blocked_by: self.front.blocked_by,
        }
    }
}

/// The acceptance criteria in a Markdown text.
pub(crate) fn criteria(markdown: &str) -> Vec<String> {
    let found = crate::criteria::parse(markdown);
    found.criteria.into_iter().map(|c| c.text).collect()
}

/// The front matter's title, else the text of the first heading, which is then
/// taken out of the body when nothing stands before it.
fn title_and_rest(given: Option<&str>, body: &str) -> (String, String) {
    let given = given.map(str::trim).filter(|title| !title.is_empty());
    let first = headings(body).into_iter().next();
    let Some(first) = first else {
        return (given.unwrap_or_default().to_owned(), body.trim().to_owned());
    };
    let leads = body[..first.range.start].trim().is_empty();
    let repeats = given.is_none_or(|title| title == first.text);
    let title = given.unwrap_or(&first.text).to_owned();
    let is_title = first.level == 1 || given.is_none();
    let rest = if leads && repeats && is_title {
        &body[first.range.end..]
    } else {
        body
    };
    (title, rest.trim().to_owned())
}

/// Takes out the section marks that Backlog.md writes around its sections.
fn without_markers(body: &str) -> String {
    let is_marker = |line: &str| {
        let inner = line
            .trim()
            .strip_prefix("<!--")
            .and_then(|rest| rest.strip_suffix("-->"));
        inner.is_some_and(|inner| {
            let mark = inner.trim();
            let known = ["SECTION:", "AC:", "DOD:", "COMMENTS:", "COMMENT:"];
            (mark.ends_with(":BEGIN") || mark.ends_with(":END"))
                && known.iter().any(|prefix| mark.starts_with(prefix))
        })
    };
    let kept = body.split_inclusive('\n').filter(|line| !is_marker(line));
    kept.collect()
}

#[cfg(test)]
mod tests;
