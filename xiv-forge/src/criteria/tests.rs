//! What people and trackers write, and what is found in it.

use proptest::prelude::*;

use super::{Provenance, parse};

fn texts(markdown: &str) -> (Vec<String>, Provenance) {
    let found = parse(markdown);
    let texts = found.criteria.into_iter().map(|c| c.text).collect();
    (texts, found.provenance)
}

#[test]
fn headings_of_every_kind_announce_criteria() {
    for heading in [
        "# Acceptance Criteria",
        "###### acceptance criteria:",
        "Acceptance\n---",
        "## **AC**",
        "## `AC`",
        "## ✅ Done when:",
        "## Definition  of\tdone ##",
        "### REQUIREMENTS",
        "**Done when**",
        "**Acceptance criteria:**",
        "__Acceptance criteria__:",
        "***AC***",
        "Some words before it.\n**AC**",
    ] {
        for list in ["- a\n- b", "1. a\n2. b", "* [ ] a\n* [x] b", "+ a\n\n+ b"] {
            let text = format!("- no\n\n{heading}\n{list}\n\n# Other\n\n- no\n");
            let want = (vec!["a".to_owned(), "b".to_owned()], Provenance::Heading);
            assert_eq!(texts(&text), want, "{text}");
        }
    }
    for none in [
        "## Acceptance Criteria for later",
        "## Macros",
        "**AC** is a word",
        "```\n## AC\n```",
        "    ## AC",
        "<!--\n## AC\n-->",
        "> ## AC",
        "`**AC**`",
    ] {
        let (found, provenance) = texts(&format!("{none}\n\n- a\n"));
        assert_eq!((found.len(), provenance), (0, Provenance::None), "{none}");
    }
}

#[test]
fn a_section_ends_at_the_next_heading_of_its_level() {
    for (text, want) in [
        (
            "## AC\n- a\n### Deeper\n- b\n\n**Bold**\n\n- c\n## Next\n- no",
            &["a", "b", "c"][..],
        ),
        ("### AC\n- a\n# Higher\n- no", &["a"]),
        ("**AC**\n- a\n\n**Notes**\n- no", &["a"]),
        ("**AC**\n- a\n###### Notes\n- no", &["a"]),
        (
            "## AC\n\n## Done when\n- a\n\n## Requirements\n- no",
            &["a"],
        ),
        ("## Done when\n- a\n## AC\n- no", &["a"]),
        ("## AC\nIt must hold that:\n- a\n\nand\n\n1. b", &["a", "b"]),
        ("## AC\n> - a\n> - b", &["a", "b"]),
    ] {
        assert_eq!(texts(text).0, want, "{text}");
    }
}

#[test]
fn paragraphs_count_where_there_is_no_list() {
    let (found, provenance) =
        texts("## AC\n\nOne\nmore line.\n\n**Sub**\n\n  Two.\n\n---\n<!-- x -->\n");
    assert_eq!(found, ["One\nmore line.", "Two."]);
    assert_eq!(provenance, Provenance::Heading);
    let (found, _) = texts("## AC\n```gherkin\nGiven a\nThen b\n```\n");
    assert_eq!(found, ["Given a\nThen b"]);
}

#[test]
fn the_source_stays_and_nested_lines_with_it() {
    let text = "## AC\n\n- [ ] `a` **b** [c](d) \\*e\\* &amp; <!-- f -->\n  - nested\n    - deeper\n\n  \
        more\n\n  ```sh\n  x\n    y\n  ```\n- [ ]\n- <!-- template -->\n-   wide\n    next\n10. ten\n    \
        - sub\n";
    assert_eq!(
        texts(text).0,
        [
            "`a` **b** [c](d) \\*e\\* &amp; <!-- f -->\n- nested\n  - deeper\n\nmore\n\n```sh\nx\n  y\n```",
            "wide\nnext",
            "ten\n- sub",
        ]
    );
    assert_eq!(texts("## AC\r\n- a\r\n  - b\r\n- c\r\n").0, ["a\n- b", "c"]);
    assert_eq!(
        texts("## AC\n- [x](y) link\n- [ ]no box\n").0,
        ["[x](y) link", "[ ]no box"]
    );
}

#[test]
fn boxes_are_read() {
    let found = parse("## AC\n- [ ] a\n- [x] b\n- [X] c\n- d\n");
    let checked: Vec<bool> = found.criteria.iter().map(|c| c.checked).collect();
    assert_eq!(checked, [false, true, true, false]);
}

#[test]
fn only_numbers_of_backlog_go() {
    for (text, want) in [
        (
            "## AC\n<!-- AC:BEGIN -->\n- [ ] #2 a\n- [x] #7 #12 b\n- [ ] c\n<!-- AC:END -->",
            &["a", "#12 b", "c"][..],
        ),
        ("## AC\n- [ ] #1 a\n- [ ] #3 b", &["a", "b"]),
        ("## AC\n- [ ] #12 is closed", &["#12 is closed"]),
        ("## AC\n- #1 a\n- b", &["#1 a", "b"]),
        ("## AC\n- [ ] #1a", &["#1a"]),
    ] {
        assert_eq!(texts(text).0, want, "{text}");
    }
}

#[test]
fn without_a_heading_scenarios_come_before_tasks() {
    let scenario = "Given a user\nWhen they log in\nThen they see it";
    for text in [
        format!("Intro.\n\n{scenario}\n\n- [ ] task"),
        "Given a user\n\nWhen they log in\n\nThen they see it\n".to_owned(),
        "**Given** a user, **when** they log in, **then** they see it.".to_owned(),
        "- Given a user, when they log in, then they see it".to_owned(),
        format!("```gherkin\nScenario: login\n  {scenario}\n```"),
        format!("Scenario: login\n{scenario}"),
    ] {
        let (found, provenance) = texts(&text);
        assert_eq!(
            (found.len(), provenance),
            (1, Provenance::Gherkin),
            "{text}"
        );
    }
    let (found, _) = texts(&format!("{scenario}\n\n{scenario}"));
    assert_eq!(found, [scenario, scenario]);
    for prose in [
        "Given the constraints we should wait.",
        "When I click it, then nothing happens.",
        "Then it crashed.",
    ] {
        assert_eq!(texts(prose), (vec![], Provenance::None), "{prose}");
    }
}

#[test]
fn tasks_count_wherever_they_are() {
    let text = "- [ ] a\n  - [ ] of a\n- plain\n  - [x] b\n\n> - [ ] c\n\n## Notes\n1. [ ] d\n";
    let (found, provenance) = texts(text);
    assert_eq!(found, ["a\n- [ ] of a", "b", "c", "d"]);
    assert_eq!(provenance, Provenance::Checklist);
    let (found, provenance) = texts("- [ ] Given a, when b, then c\n- [ ] docs\n");
    assert_eq!((found.len(), provenance), (2, Provenance::Checklist));
    assert_eq!(texts("- a\n- b"), (vec![], Provenance::None));
    assert_eq!(texts(""), (vec![], Provenance::None));
}

proptest! {
    #[test]
    fn any_text_is_survived(text in "(## AC|\\*\\*|- \\[ \\] |#1 |[0-9]\\. |> |```|<!--|-->|\\n|  |\t|Given |Then |\\PC){0,40}") {
        let _found = parse(&text);
    }

    #[test]
    fn items_come_back_as_they_were_written(
        items in prop::collection::vec("[a-z(][a-z`*_(]{0,7}( [a-z0-9]{1,6}){0,3}", 1..8),
        marker in prop_oneof![Just("-"), Just("*"), Just("1."), Just("- [ ]"), Just("+ [x]")],
    ) {
        let list: String = items.iter().map(|item| format!("{marker} {item}\n")).collect();
        prop_assert_eq!(texts(&format!("## AC\n\n{list}")).0, items);
    }
}
