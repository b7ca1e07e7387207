//! Targets of `just` and `make` for what no language tool covers.

use super::{Ecosystem, Kind, Project};

/// Target names per kind, the first that exists counts.
const NAMES: [(Kind, &[&str]); 3] = [
    (Kind::Lint, &["lint", "clippy"]),
    (Kind::Typecheck, &["typecheck", "type-check", "types"]),
    (Kind::Test, &["test", "tests"]),
];

/// A program, the files it reads, and the name that a line of them begins.
type Runner = (
    &'static str,
    &'static [&'static str],
    fn(&str) -> Option<&str>,
);

/// Commands for the kinds in `open`.
pub(super) fn detect(project: &Project, open: &[Kind]) -> Option<Ecosystem> {
    let runners: [Runner; 2] = [
        ("just", &["justfile", "Justfile", ".justfile"], recipe),
        ("make", &["GNUmakefile", "makefile", "Makefile"], target),
    ];
    let (program, names) = runners.into_iter().find_map(|(program, files, name_in)| {
        let text = project.first_text(files)?;
        let names: Vec<&str> = text.lines().filter_map(name_in).collect();
        let is_useful = chosen(&names, open).next().is_some();
        is_useful.then_some((program, names))
    })?;
    let mut found = Ecosystem::new(program);
    for (kind, name) in chosen(&names, open) {
        if project.can_run(program) {
            found.add(kind, format!("{program} {name}"));
        } else {
            found.skip(&format!("target `{name}`"), program);
        }
    }
    Some(found)
}

/// The target for each open kind. `check` is the test where there is no other
/// (as autotools has it), else the lint.
fn chosen<'a>(
    names: &'a [&'a str],
    open: &'a [Kind],
) -> impl Iterator<Item = (Kind, &'a str)> + 'a {
    let named = |kind: Kind| {
        let (_, wanted) = NAMES.iter().find(|(known, _)| *known == kind)?;
        wanted.iter().find(|wanted| names.contains(wanted)).copied()
    };
    let check = names.contains(&"check").then_some("check");
    let check_is = match (named(Kind::Test), named(Kind::Lint)) {
        (None, _) => Some(Kind::Test),
        (Some(_), None) => Some(Kind::Lint),
        (Some(_), Some(_)) => None,
    };
    open.iter().filter_map(move |&kind| {
        let name = named(kind).or(check.filter(|_| check_is == Some(kind)))?;
        Some((kind, name))
    })
}

/// The target that a line of a makefile begins.
fn target(line: &str) -> Option<&str> {
    let (name, after) = line.split_once(':')?;
    let is_name = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let name = name.trim_end();
    let is_rule = !after.starts_with('=') && !after.starts_with(":=");
    (is_rule && !name.is_empty() && !name.starts_with('.') && name.chars().all(is_name))
        .then_some(name)
}

/// The recipe that a line of a justfile begins, if it needs no arguments.
fn recipe(line: &str) -> Option<&str> {
    if line.starts_with(char::is_whitespace) {
        return None;
    }
    let (head, after) = line.split_once(':')?;
    let mut words = head.split_whitespace();
    let name = words.next()?.trim_start_matches('@');
    let is_name = name
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || "-_".contains(c));
    let is_optional = |word: &str| word.contains('=') || word.starts_with('*');
    let is_recipe = !after.starts_with('=') && !matches!(name, "alias" | "set" | "export");
    (is_recipe && is_name && !name.is_empty() && words.all(is_optional)).then_some(name)
}
