//! git: pushing in all its forms, and the commands that throw work away.

use super::options::{Piece, pieces, words};
use super::words::{is_abbreviation, is_unseen};
use super::{Call, Refusal, Rule, shell};

/// Global options that take the next word as their value.
const WITH_VALUE: &[&str] = &[
    "-C",
    "-c",
    "--attr-source",
    "--config-env",
    "--exec-path",
    "--git-dir",
    "--list-cmds",
    "--namespace",
    "--super-prefix",
    "--work-tree",
];

/// What `-c` and `--config-env` say about one alias.
struct Alias<'a> {
    name: &'a str,
    /// Its text, unless it comes from a variable.
    text: Option<&'a str>,
}

pub(super) fn judge(call: &Call<'_>, arguments: &[String]) -> Option<Refusal> {
    let mut aliases: Vec<Alias<'_>> = Vec::new();
    let mut rest = arguments;
    while let Some((word, after)) = rest.split_first().filter(|(word, _)| word.starts_with('-')) {
        let (name, glued) = match word.split_once('=') {
            Some((name, value)) if name.starts_with("--") => (name, Some(value)),
            _ => (word.as_str(), None),
        };
        // `--exec-path` alone only prints
        let takes_next = glued.is_none() && WITH_VALUE.contains(&name) && name != "--exec-path";
        let value = glued.or(after.first().filter(|_| takes_next).map(String::as_str));
        let setting = value.unwrap_or_default();
        let (key, text) = setting.split_once('=').unwrap_or((setting, ""));
        let is_alias = key
            .get(..6)
            .is_some_and(|start| start.eq_ignore_ascii_case("alias."));
        if is_alias && matches!(name, "-c" | "--config-env") {
            aliases.push(Alias {
                name: &key[6..],
                text: (name == "-c").then_some(text),
            });
        }
        rest = if takes_next {
            after.get(1..).unwrap_or_default()
        } else {
            after
        };
    }
    let (subcommand, options) = rest.split_first()?;
    if is_unseen(subcommand) {
        return Some(call.refused(Rule::Unseen));
    }
    if options
        .first()
        .is_some_and(|first| matches!(first.as_str(), "--help" | "-h"))
    {
        return None;
    }
    if let Some(rule) = builtin(subcommand, options) {
        return Some(call.refused(rule));
    }
    if let Some(inner) = runs(subcommand, options) {
        return shell::judge(call, &inner, &[]);
    }
    let alias = aliases
        .iter()
        .rev()
        .find(|alias| alias.name.eq_ignore_ascii_case(subcommand))?;
    let Some(text) = alias.text else {
        return Some(call.refused(Rule::Unseen));
    };
    let global = &arguments[..arguments.len() - rest.len()];
    expand(call, global, text, options)
}

/// Judges what an alias stands for, under the same global options, since an
/// alias may name another. Git appends the arguments; a text that begins with
/// `!` is for the shell.
fn expand(call: &Call<'_>, global: &[String], text: &str, options: &[String]) -> Option<Refusal> {
    if let Some(script) = text.trim_start().strip_prefix('!') {
        let script = format!("{script} \"$@\"");
        let mut parameters = vec!["git".to_owned()];
        parameters.extend_from_slice(options);
        return shell::judge(call, &script, &parameters);
    }
    let mut words = vec!["git".to_owned()];
    words.extend_from_slice(global);
    words.extend(shell::split(text));
    words.extend_from_slice(options);
    call.with_words(&words).judge()
}

/// The rule that a subcommand of git itself breaks.
fn builtin(subcommand: &str, options: &[String]) -> Option<Rule> {
    // the short flags that take a value hide what follows them
    let taking_value = match subcommand {
        "clean" => "e",
        "checkout" => "bB",
        "switch" => "cC",
        _ => "",
    };
    let pieces = pieces(options, taking_value, &[]);
    let flag = |is_wanted: &dyn Fn(&str) -> bool| {
        pieces
            .iter()
            .any(|piece| matches!(piece, Piece::Flag(name, _) if is_wanted(name)))
    };
    let long = |name: &str| flag(&|flag| is_abbreviation(flag, name));
    let short = |letter: &str| flag(&|flag| flag == letter);
    let force = || long("--force") || short("f");
    let first = words(&pieces).first().copied();
    let destructive = match subcommand {
        "push" | "send-pack" | "http-push" => return Some(Rule::Push),
        "subtree" | "lfs" | "annex" if first == Some("push") => return Some(Rule::Push),
        "svn" if matches!(first, Some("dcommit" | "set-tree")) => return Some(Rule::Push),
        "p4" if first == Some("submit") => return Some(Rule::Push),
        "reset" => long("--hard"),
        "clean" => !long("--dry-run") && !short("n"),
        "checkout" | "checkout-index" => force(),
        "switch" => force() || long("--discard-changes"),
        "read-tree" => long("--reset"),
        "worktree" => first == Some("remove") && force(),
        "stash" => first == Some("clear"),
        _ => false,
    };
    destructive.then_some(Rule::Destructive)
}

/// The shell script that a subcommand runs: `rebase --exec`, `bisect run`,
/// `submodule foreach`.
fn runs(subcommand: &str, options: &[String]) -> Option<String> {
    let after = |word: &str| {
        let at = options.iter().position(|option| option == word)?;
        Some(options[at + 1..].to_vec())
    };
    match subcommand {
        "rebase" => {
            let scripts: Vec<&str> = options
                .iter()
                .enumerate()
                .filter_map(|(at, word)| {
                    let next = || options.get(at + 1).map(String::as_str);
                    match word.split_once('=') {
                        Some((name, script)) if is_abbreviation(name, "--exec") => Some(script),
                        None if word == "-x" || is_abbreviation(word, "--exec") => next(),
                        None => word.strip_prefix("-x").filter(|_| !word.starts_with("--")),
                        Some(_) => None,
                    }
                })
                .collect();
            (!scripts.is_empty()).then(|| scripts.join("\n"))
        }
        "bisect" => after("run").map(|words| shell::join(&words)),
        "submodule" => {
            let words = after("foreach")?;
            let words: Vec<String> = words
                .into_iter()
                .skip_while(|word| word.starts_with('-'))
                .collect();
            // one word is a script, several are a command
            Some(if words.len() == 1 {
                words[0].clone()
            } else {
                words.join(" ")
            })
        }
        _ => None,
    }
}
