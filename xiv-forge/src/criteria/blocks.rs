//! A Markdown text as a flat list of what matters for finding criteria.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

/// How deep a heading is. A line in bold is one below all others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    Heading(HeadingLevel),
    Bold,
}

/// Something at the top level of the text, in its order.
#[derive(Debug)]
pub(super) enum Block<'a> {
    Heading {
        level: Level,
        title: String,
    },
    Paragraph(&'a str),
    Code {
        language: String,
        content: String,
    },
    /// A list item that is in no other item: its index among all.
    Item(usize),
}

/// A list item of any depth.
#[derive(Debug)]
pub(super) struct Item<'a> {
    /// From its marker to its end.
    pub(super) source: &'a str,
    /// Its box, when it has one.
    pub(super) checked: Option<bool>,
    /// It belongs to an item with a box.
    pub(super) inside_task: bool,
    /// It stands in a section that Backlog.md wrote.
    pub(super) in_backlog: bool,
}

/// A text, read.
#[derive(Debug, Default)]
pub(super) struct Document<'a> {
    pub(super) blocks: Vec<Block<'a>>,
    /// All list items, outer before inner.
    pub(super) items: Vec<Item<'a>>,
}

impl<'a> Document<'a> {
    pub(super) fn read(markdown: &'a str) -> Self {
        let mut reader = Reader {
            markdown,
            document: Self::default(),
            open: Vec::new(),
            quotes: 0,
            in_backlog: false,
            leaf: Leaf::None,
        };
        let events = Parser::new_ext(markdown, Options::ENABLE_TASKLISTS).into_offset_iter();
        for (event, range) in events {
            reader.event(event, range);
        }
        reader.document
    }
}

/// The block whose inside is being read.
enum Leaf {
    None,
    Heading(HeadingLevel, String),
    Paragraph(Lines),
    Code(String, String),
}

/// A paragraph as lines, so that a line in bold can be told.
struct Lines {
    done: Vec<Line>,
    line: Line,
    strong: u32,
}

/// One line of a paragraph.
struct Line {
    start: usize,
    end: usize,
    bold: String,
    /// Something other than bold text and a colon stands in it.
    plain: bool,
}

impl Line {
    const fn at(start: usize) -> Self {
        Self {
            start,
            end: start,
            bold: String::new(),
            plain: false,
        }
    }

    fn is_bold(&self) -> bool {
        !self.plain && !self.bold.trim().is_empty()
    }
}

struct Reader<'a> {
    markdown: &'a str,
    document: Document<'a>,
    /// The items around what is read, outermost first.
    open: Vec<usize>,
    quotes: usize,
    in_backlog: bool,
    leaf: Leaf,
}

impl<'a> Reader<'a> {
    fn event(&mut self, event: Event<'a>, range: Range<usize>) {
        match event {
            Event::Start(tag) => self.start(tag, range),
            Event::End(tag) => self.end(tag, &range),
            Event::TaskListMarker(checked) => {
                if let Some(&item) = self.open.last() {
                    self.document.items[item].checked = Some(checked);
                }
            }
            Event::Html(html) => self.comment(&html),
            inline => self.inline(&inline, &range),
        }
    }

    fn start(&mut self, tag: Tag<'a>, range: Range<usize>) {
        let top = self.open.is_empty();
        match tag {
            Tag::BlockQuote(_) => self.quotes += 1,
            Tag::Item => {
                let index = self.document.items.len();
                if top {
                    self.document.blocks.push(Block::Item(index));
                }
                let inside_task = self
                    .open
                    .iter()
                    .any(|item| self.document.items[*item].checked.is_some());
                self.document.items.push(Item {
                    source: &self.markdown[range],
                    checked: None,
                    inside_task,
                    in_backlog: self.in_backlog,
                });
                self.open.push(index);
            }
            Tag::Heading { level, .. } if top && self.quotes == 0 => {
                self.leaf = Leaf::Heading(level, String::new());
            }
            Tag::Paragraph if top => {
                self.leaf = Leaf::Paragraph(Lines {
                    done: Vec::new(),
                    line: Line::at(range.start),
                    strong: 0,
                });
            }
            Tag::CodeBlock(kind) if top => {
                let language = match kind {
                    CodeBlockKind::Fenced(info) => info.to_string(),
                    CodeBlockKind::Indented => String::new(),
                };
                self.leaf = Leaf::Code(language, String::new());
            }
            Tag::Strong => {
                if let Leaf::Paragraph(lines) = &mut self.leaf {
                    lines.strong += 1;
                }
            }
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd, range: &Range<usize>) {
        match tag {
            TagEnd::BlockQuote(_) => self.quotes -= 1,
            TagEnd::Item => {
                self.open.pop();
            }
            TagEnd::Strong => {
                if let Leaf::Paragraph(lines) = &mut self.leaf {
                    lines.strong -= 1;
                    lines.line.end = range.end;
                }
            }
            TagEnd::Heading(_) | TagEnd::CodeBlock | TagEnd::Paragraph if self.open.is_empty() => {
                self.close(range.end);
            }
            _ => {}
        }
    }

    /// Turns the block that was read into blocks of the document.
    fn close(&mut self, end: usize) {
        match std::mem::replace(&mut self.leaf, Leaf::None) {
            Leaf::None => {}
            Leaf::Heading(level, title) => self.document.blocks.push(Block::Heading {
                level: Level::Heading(level),
                title,
            }),
            Leaf::Code(language, content) => {
                self.document.blocks.push(Block::Code { language, content });
            }
            Leaf::Paragraph(mut lines) => {
                lines.line.end = end;
                lines.done.push(lines.line);
                self.paragraph(&lines.done);
            }
        }
    }

    /// Lines in bold become headings, the stretches between them paragraphs.
    fn paragraph(&mut self, lines: &[Line]) {
        let mut from = None;
        for line in lines {
            if line.is_bold() && self.quotes == 0 {
                self.push_lines(from.take(), line.start);
                self.document.blocks.push(Block::Heading {
                    level: Level::Bold,
                    title: line.bold.clone(),
                });
            } else {
                from.get_or_insert(line.start);
            }
        }
        self.push_lines(from, lines.last().map_or(0, |line| line.end));
    }

    fn push_lines(&mut self, from: Option<usize>, to: usize) {
        if let Some(from) = from {
            let source = &self.markdown[from..to];
            self.document.blocks.push(Block::Paragraph(source));
        }
    }

    /// Backlog.md marks its sections by comments.
    fn comment(&mut self, html: &str) {
        for name in ["AC", "DOD"] {
            if html.contains(&format!("<!-- {name}:BEGIN -->")) {
                self.in_backlog = true;
            }
            if html.contains(&format!("<!-- {name}:END -->")) {
                self.in_backlog = false;
            }
        }
    }

    fn inline(&mut self, event: &Event<'a>, range: &Range<usize>) {
        let text: &str = match event {
            Event::Text(text) | Event::Code(text) => text,
            _ => "",
        };
        match &mut self.leaf {
            Leaf::None => {}
            Leaf::Heading(_, title) => match event {
                Event::SoftBreak | Event::HardBreak => title.push(' '),
                _ => title.push_str(text),
            },
            Leaf::Code(_, content) => content.push_str(text),
            Leaf::Paragraph(lines) => {
                if matches!(event, Event::SoftBreak | Event::HardBreak) {
                    let line = std::mem::replace(&mut lines.line, Line::at(range.end));
                    lines.done.push(line);
                } else if lines.strong > 0 {
                    lines.line.bold.push_str(text);
                } else if !matches!(text.trim(), ":" | "") || matches!(event, Event::InlineHtml(_))
                {
                    lines.line.plain = true;
                }
            }
        }
    }
}
