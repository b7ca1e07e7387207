//! The command line programs of forges.

use super::options::{Piece, pieces, words};
use super::route::{self, Field, Request};
use super::words::is_unseen;
use super::{Call, Refusal, Rule, shell};

/// GitHub's `gh`.
pub(super) fn gh(call: &Call<'_>, arguments: &[String]) -> Option<Refusal> {
    let rule = match leading_words(arguments).as_slice() {
        ["api", ..] => api(arguments),
        ["alias", "set", ..] => return alias(call, arguments),
        ["alias", "import", ..] => Some(Rule::Unseen),
        [noun, ..] | [_, noun, ..] if is_unseen(noun) => Some(Rule::Unseen),
        ["repo", "sync", ..] | ["pr", "update-branch", ..] => Some(Rule::Push),
        ["repo", "delete", ..] | ["issue", "delete", ..] => Some(Rule::Destructive),
        _ => return other(arguments).map(|rule| call.refused(rule)),
    };
    rule.map(|rule| call.refused(rule))
}

/// Any forge's program: a noun and a verb.
pub(super) fn other(arguments: &[String]) -> Option<Rule> {
    if arguments
        .iter()
        .any(|word| matches!(word.as_str(), "--help" | "-h"))
    {
        return None;
    }
    let has = |names: &[&str]| {
        let name = |word: &String| word.split('=').next().unwrap_or_default().to_owned();
        arguments
            .iter()
            .any(|word| names.contains(&name(word).as_str()))
    };
    match leading_words(arguments).as_slice() {
        ["api", ..] => api(arguments),
        ["pr" | "prs" | "pull" | "pulls" | "mr", verb, ..] => match *verb {
            "merge" | "accept" => {
                let auto = has(&[
                    "--auto",
                    "--disable-auto",
                    "--auto-merge",
                    "--when-pipeline-succeeds",
                ]);
                Some(if auto { Rule::AutoMerge } else { Rule::Merge })
            }
            "close" => Some(Rule::Close),
            _ => None,
        },
        ["issue" | "issues", "close", ..] => Some(Rule::Close),
        _ => None,
    }
}

/// The positional words, where only options that come before the subcommand
/// are known to take a value. Two words are all that is asked for.
fn leading_words(arguments: &[String]) -> Vec<&str> {
    words(&pieces(
        arguments,
        "R",
        &["repo", "hostname", "login", "remote"],
    ))
}

/// `gh api` and its kin.
fn api(arguments: &[String]) -> Option<Rule> {
    let long = [
        "method",
        "raw-field",
        "field",
        "header",
        "jq",
        "template",
        "input",
        "hostname",
        "preview",
        "cache",
        "form",
    ];
    let pieces = pieces(arguments, "XfFHqtp", &long);
    let mut request = Request::default();
    let mut method = None;
    for piece in &pieces {
        match *piece {
            Piece::Flag("X" | "--method", Some(value)) => method = Some(value.to_owned()),
            Piece::Flag("f" | "--raw-field", Some(pair)) => {
                request.fields.push(split(pair, Field::literal));
            }
            Piece::Flag("F" | "--field" | "--form", Some(pair)) => {
                request.fields.push(split(pair, Field::maybe_file));
            }
            Piece::Flag("--input", Some(_)) => return Some(Rule::Unseen),
            _ => {}
        }
    }
    let endpoint = *words(&pieces).get(1)?;
    request.url = endpoint.to_owned();
    request.method = match method {
        Some(method) if is_unseen(&method) => None,
        Some(method) => Some(method.to_ascii_uppercase()),
        None if request.fields.is_empty() => Some("GET".to_owned()),
        None => Some("POST".to_owned()),
    };
    route::judge(&request)
}

/// `name=value`.
fn split(pair: &str, value: impl Fn(&str) -> Field) -> (String, Field) {
    match pair.split_once('=') {
        Some((name, text)) => (name.to_owned(), value(text)),
        None => (pair.to_owned(), Field::Unseen),
    }
}

/// `gh alias set NAME EXPANSION`: the expansion is judged as if it ran.
fn alias(call: &Call<'_>, arguments: &[String]) -> Option<Refusal> {
    let pieces = pieces(arguments, "", &[]);
    let is_shell = pieces
        .iter()
        .any(|p| matches!(p, Piece::Flag("s" | "--shell", _)));
    let expansion = *words(&pieces).get(3)?;
    match expansion
        .strip_prefix('!')
        .or(is_shell.then_some(expansion))
    {
        Some(script) => shell::judge(call, script, &[]),
        None if expansion == "-" => Some(call.refused(Rule::Unseen)),
        None => {
            let mut words = vec!["gh".to_owned()];
            words.extend(shell::split(expansion));
            call.with_words(&words).judge()
        }
    }
}
