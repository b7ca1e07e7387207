//! Tables over front matter, titles and comments.

use super::{Document, FrontMatterError};

fn parse(text: &str) -> Document {
    Document::parse(text).expect("the document reads")
}

#[test]
fn front_matter_is_read_whole_and_unknown_keys_do_not_matter() {
    let text = "---\nid: XIV-7\ntitle: Fix: the #12 thing\nstatus: To Do\nassignee: @ann\n\
        labels: [a, 'b c']\nparent: XIV-1\nblocked_by:\n- XIV-2\n- 3\nproject: core\n\
        created_date: '2026-01-01 10:00'\nodd: [unclosed\n---\n\nBody.\n";
    let document = parse(text);
    let front = &document.front;
    assert_eq!(front.id.as_deref(), Some("XIV-7"));
    assert_eq!(document.title, "Fix: the #12 thing");
    assert_eq!(front.status.as_deref(), Some("To Do"));
    assert_eq!(front.labels, ["a", "b c"]);
    assert_eq!(front.parent.as_deref(), Some("XIV-1"));
    assert_eq!(front.blocked_by, ["XIV-2", "3"]);
    assert_eq!(front.project.as_deref(), Some("core"));
    assert_eq!(document.description, "Body.");
}

#[test]
fn scalars_are_kept_as_they_are_written() {
    for (written, read) in [
        ("id: 12", "12"),
        ("id: 1.10", "1.10"),
        ("id: 007", "007"),
        ("id: '8'", "8"),
        ("id: yes", "yes"),
    ] {
        let document = parse(&format!("---\n{written}\ntitle: t\n---\n"));
        assert_eq!(document.front.id.as_deref(), Some(read), "{written}");
    }
}

#[test]
fn titles_are_read_in_every_style() {
    for (front, title) in [
        ("title: 'It''s: so'", "It's: so"),
        ("title: \"a \\\"b\\\"\"", "a \"b\""),
        ("title: it's", "it's"),
        ("title: >\n  folded\n  text", "folded text"),
        ("title: [WIP] brackets", "[WIP] brackets"),
        ("title: {x}", "{x}"),
        ("title: 5", "5"),
        ("title: -dash", "-dash"),
    ] {
        let document = parse(&format!("---\n{front}\n---\nBody\n"));
        assert_eq!(document.title, title, "{front}");
    }
}

#[test]
fn the_first_heading_is_the_title_of_last_resort() {
    for (text, title, description) in [
        ("# The title\n\nBody\n", "The title", "Body"),
        ("\n## With `code`\n\nBody\n", "With code", "Body"),
        ("Under\n=====\nBody\n", "Under", "Body"),
        (
            "Intro\n\n# Later\n\nBody\n",
            "Later",
            "Intro\n\n# Later\n\nBody",
        ),
        (
            "```\n# fenced\n```\n# Real\n",
            "Real",
            "```\n# fenced\n```\n# Real",
        ),
        ("<!--\n# hidden\n-->\n", "", "<!--\n# hidden\n-->"),
        ("just text\n", "", "just text"),
        ("---\ntitle:\n---\n# From the body\n", "From the body", ""),
        ("---\ntitle: T\n---\n# T\n\nBody\n", "T", "Body"),
        (
            "---\ntitle: T\n---\n# Other\n\nBody\n",
            "T",
            "# Other\n\nBody",
        ),
        ("---\ntitle: T\n---\n## T\n\nBody\n", "T", "## T\n\nBody"),
        ("", "", ""),
    ] {
        let document = parse(text);
        assert_eq!(document.title, title, "{text}");
        assert_eq!(document.description, description, "{text}");
    }
}

#[test]
fn other_line_ends_and_a_byte_order_mark_do_not_matter() {
    let document = parse("\u{feff}---\r\nid: A-1\r\ntitle: T\r\n---\r\n\r\nOne\r\nTwo\r\n");
    assert_eq!(document.front.id.as_deref(), Some("A-1"));
    assert_eq!(document.description, "One\nTwo");
}

#[test]
fn what_only_looks_like_front_matter_is_text() {
    for text in [
        "---",
        "---\n\nA text after a rule\n",
        "--- x\nid: 1\n",
        "a\n\n---\nid: 1\n\n---\n",
    ] {
        let document = parse(text);
        assert_eq!(document.front.id, None, "{text}");
        assert_eq!(document.description, text.trim(), "{text}");
    }
}

#[test]
fn broken_front_matter_is_an_error() {
    let unclosed = Document::parse("---\nid: A-1\ntitle: T\n");
    assert!(matches!(unclosed, Err(FrontMatterError::Unclosed)));
    for yaml in ["id: [a", "labels: {a: b}", "id: {a: b}"] {
        let broken = Document::parse(&format!("---\n{yaml}\n---\n"));
        assert!(matches!(broken, Err(FrontMatterError::Yaml(_))), "{yaml}");
    }
}

#[test]
fn lists_may_be_one_text_with_commas_or_nothing() {
    for (written, read) in [
        ("labels: a, b", vec!["a", "b"]),
        ("labels: a", vec!["a"]),
        ("labels:", vec![]),
        ("labels: []", vec![]),
        ("labels: [a, ~, ' ']", vec!["a"]),
        ("labels: 7", vec!["7"]),
    ] {
        let document = parse(&format!("---\n{written}\n---\n"));
        assert_eq!(document.front.labels, read, "{written}");
    }
}

#[test]
fn section_marks_of_other_tools_are_not_part_of_the_text() {
    let document = parse(
        "---\nid: task-1\ntitle: T\n---\n\n## Description\n\n<!-- SECTION:DESCRIPTION:BEGIN -->\nWhy.\n\
         <!-- SECTION:DESCRIPTION:END -->\n<!-- keep me -->\n",
    );
    assert_eq!(
        document.description,
        "## Description\n\nWhy.\n<!-- keep me -->"
    );
}

#[test]
fn comments_are_taken_out_of_the_body() {
    let document = parse(
        "# T\n\nBody\n\n## Comments\n\n### alice, 2026-01-02\n\nFirst.\n\n```\n## Not a heading\n```\n\n\
         ### @bob — 2026-01-02T03:04:05Z\n\nSecond.\n\n## Notes\n\nKept.\n",
    );
    assert_eq!(document.description, "Body\n\n## Notes\n\nKept.");
    let seen: Vec<_> = document
        .comments
        .iter()
        .map(|c| {
            (
                c.author.as_str(),
                c.body.as_str(),
                c.created_at.map(|t| t.to_string()),
            )
        })
        .collect();
    assert_eq!(
        seen,
        [
            (
                "alice",
                "First.\n\n```\n## Not a heading\n```",
                Some("2026-01-02T00:00:00Z".to_owned())
            ),
            ("bob", "Second.", Some("2026-01-02T03:04:05Z".to_owned())),
        ]
    );
}

#[test]
fn comments_may_be_a_list_or_a_plain_text() {
    let comments = |section: &str| {
        let document = parse(&format!("# T\n\n## Comments:\n\n{section}\n"));
        let comments = document.comments.into_iter();
        let seen = comments.map(|c| (c.author, c.body, c.created_at.is_some()));
        seen.collect::<Vec<_>>()
    };
    let comment = |author: &str, body: &str, timed| (author.to_owned(), body.to_owned(), timed);
    assert_eq!(
        comments("- **alice** (2026-01-02): one\n  more\n- @bob: two\n- three: no name"),
        [
            comment("alice", "one\nmore", true),
            comment("bob", "two", false),
            comment("unknown", "three: no name", false),
        ]
    );
    assert_eq!(
        comments("Just a remark.\n\nIn two parts."),
        [comment("unknown", "Just a remark.\n\nIn two parts.", false)]
    );
    assert_eq!(
        comments("### Ann Lee\n\nHi."),
        [comment("Ann Lee", "Hi.", false)]
    );
    assert_eq!(comments(""), []);
}
