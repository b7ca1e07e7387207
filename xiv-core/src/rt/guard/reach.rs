//! Whether a refused git or jj command would reach the run's own repository.
//!
//! A project's tests may push, reset and clean as they like in repositories
//! that they made. So the shims ask the real program which repository a call
//! is about, and where a push would go.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::folder::GuardPlan;
use crate::policy::guard::{Refusal, Rule};

/// git's global options that take the next word as their value.
const GIT_WITH_VALUE: &[&str] = &[
    "-C",
    "-c",
    "--attr-source",
    "--config-env",
    "--git-dir",
    "--namespace",
    "--super-prefix",
    "--work-tree",
];

/// Options of `git push` that take the next word as their value.
const PUSH_WITH_VALUE: &[&str] = &[
    "-o",
    "--push-option",
    "--receive-pack",
    "--exec",
    "--repo",
    "--recurse-submodules",
];

/// Whether the command is about the run's repository and, for a push, about
/// one of its remotes. What cannot be told counts as yes.
pub(super) fn reaches_the_run(
    plan: &GuardPlan,
    name: &str,
    refusal: &Refusal,
    argv: &[String],
    real: &Path,
) -> bool {
    let Some(common_dir) = &plan.common_dir else {
        return true;
    };
    let repository = match name {
        "git" => git_common_dir(argv, real),
        _ => jj_git_dir(argv, real),
    };
    let Some(repository) = repository else {
        // no repository: the program will say so itself
        return false;
    };
    let own = common_dir
        .canonicalize()
        .unwrap_or_else(|_| common_dir.clone());
    if repository.canonicalize().unwrap_or(repository) != own {
        return false;
    }
    match (name, refusal.rule, refusal.argv.as_slice()) {
        // an alias may stand for a command of another program
        ("git", Rule::Push, [git, ..]) if git == "git" => push_reaches(plan, argv, refusal, real),
        _ => true,
    }
}

/// Where the subcommand of git stands in `argv`.
pub(super) fn subcommand_at(argv: &[String]) -> Option<usize> {
    let mut at = 1;
    while let Some(word) = argv.get(at) {
        if !word.starts_with('-') {
            return Some(at);
        }
        at += if GIT_WITH_VALUE.contains(&word.as_str()) {
            2
        } else {
            1
        };
    }
    None
}

/// The global options of a git command line.
fn global_options(argv: &[String]) -> &[String] {
    &argv[1..subcommand_at(argv).unwrap_or(argv.len()).min(argv.len())]
}

fn git_common_dir(argv: &[String], real: &Path) -> Option<PathBuf> {
    let mut command = Command::new(real);
    command
        .args(global_options(argv))
        .args(["rev-parse", "--git-common-dir"]);
    let text = said(&mut command)?;
    // a relative answer counts from where git went with `-C`
    let mut base = std::env::current_dir().ok()?;
    let options = global_options(argv);
    for pair in options.windows(2).filter(|pair| pair[0] == "-C") {
        base.push(&pair[1]);
    }
    Some(base.join(text))
}

fn jj_git_dir(argv: &[String], real: &Path) -> Option<PathBuf> {
    let mut command = Command::new(real);
    command.args(["git", "root", "--ignore-working-copy"]);
    for (at, word) in argv.iter().enumerate() {
        let glued = word
            .strip_prefix("--repository=")
            .or_else(|| word.strip_prefix("-R").filter(|rest| !rest.is_empty()));
        let value = match word.as_str() {
            "-R" | "--repository" => argv.get(at + 1).map(String::as_str),
            _ => glued,
        };
        if let Some(value) = value {
            command.args(["-R", value]);
            break;
        }
    }
    said(&mut command).map(PathBuf::from)
}

/// Whether a push goes to an address of the run's remotes.
fn push_reaches(plan: &GuardPlan, argv: &[String], refusal: &Refusal, real: &Path) -> bool {
    let Some(push) = refusal.argv.iter().position(|word| word == "push") else {
        return true;
    };
    let Some(target) = target(&refusal.argv[push + 1..]) else {
        // the configured default, which is one of the remotes
        return true;
    };
    let configured = |key: &str| {
        let mut command = Command::new(real);
        let key = format!("remote.{target}.{key}");
        command
            .args(global_options(argv))
            .args(["config", "--get-all", &key]);
        said(&mut command)
    };
    let known = configured("pushurl").or_else(|| configured("url"));
    let addresses: Vec<String> = match known {
        Some(text) => text.lines().map(str::to_owned).collect(),
        None => vec![target.to_owned()],
    };
    let own = || {
        plan.remotes
            .iter()
            .flat_map(|remote| remote.fetch.iter().chain(&remote.push))
    };
    addresses
        .iter()
        .any(|address| own().any(|url| same_place(url, address)))
}

/// The first positional word of `git push`, or the value of `--repo`.
fn target(options: &[String]) -> Option<&str> {
    let mut words = options.iter().map(String::as_str);
    let mut repo = None;
    while let Some(word) = words.next() {
        if let Some(value) = word.strip_prefix("--repo=") {
            repo = Some(value);
        } else if PUSH_WITH_VALUE.contains(&word) {
            let value = words.next();
            repo = if word == "--repo" { value } else { repo };
        } else if word == "--" {
            return words.next().or(repo);
        } else if !word.starts_with('-') {
            return Some(word);
        }
    }
    repo
}

/// Whether two addresses lead to the same place, however they are written.
fn same_place(one: &str, other: &str) -> bool {
    let plain = |url: &str| {
        let url = url.strip_prefix("file://").unwrap_or(url);
        let url = url
            .trim_end_matches('/')
            .trim_end_matches(".git")
            .trim_end_matches('/');
        url.to_owned()
    };
    let file = |url: &str| {
        Path::new(url.strip_prefix("file://").unwrap_or(url))
            .canonicalize()
            .ok()
    };
    plain(one) == plain(other) || (file(one).is_some() && file(one) == file(other))
}

/// The first thing that a program prints, without its line break, when it
/// exits with 0 and prints anything.
fn said(command: &mut Command) -> Option<String> {
    let output = command
        .output()
        .ok()
        .filter(|output| output.status.success())?;
    let text = String::from_utf8(output.stdout).ok()?;
    let text = text.trim_end_matches('\n');
    (!text.is_empty()).then(|| text.to_owned())
}
