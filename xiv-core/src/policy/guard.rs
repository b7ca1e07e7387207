//! Whether a command line may be run by an agent: the never-merge, never-push
//! rule, and no destructive git.
//!
//! A pure reading of one command line. It looks through shells, wrappers such
//! as `env` and `xargs`, command substitution, git aliases, absolute paths and
//! abbreviated flags, to the programs that would run in the end. The shims ask
//! it with what git, gh or jj was called with; `xiv plumbing guard` asks it for
//! anything.
//!
//! What it cannot see (a variable of another process, a script file, a program
//! that calls git itself) it lets pass: there the shims see the real call. Only
//! requests whose body could be a merge and cannot be seen are refused, since
//! no shim stands behind a server.

mod curl;
mod forge;
mod git;
mod jj;
mod options;
mod route;
mod shell;
mod words;
mod wrappers;

#[cfg(test)]
mod tests;

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::words::{assignment, base_name, is_unseen};

/// How deeply commands may be nested in each other before the rest counts as
/// unseen.
const DEPTH: usize = 24;

/// Why a command line is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::exhaustive_enums, reason = "reports must name each")]
pub enum Rule {
    /// It merges a pull request, or branches on the server.
    Merge,
    /// It enables auto-merge, or adds to a merge queue.
    AutoMerge,
    /// It changes a remote's branches.
    Push,
    /// It closes a pull request or an issue.
    Close,
    /// It throws uncommitted work away.
    Destructive,
    /// It sends something that cannot be seen to where merges are made.
    Unseen,
}

impl Rule {
    /// The word on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Merge => "merge",
            Self::AutoMerge => "autoMerge",
            Self::Push => "push",
            Self::Close => "close",
            Self::Destructive => "destructive",
            Self::Unseen => "unseen",
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A refused command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The rule that refuses it.
    pub rule: Rule,
    /// The innermost command that breaks the rule.
    pub argv: Vec<String>,
}

/// Judges a command line. `None` means that it is allowed.
pub fn judge<S: AsRef<str>>(argv: &[S]) -> Option<Refusal> {
    let argv: Vec<String> = argv.iter().map(|word| word.as_ref().to_owned()).collect();
    Call {
        words: &argv,
        stdin: None,
        depth: 0,
    }
    .judge()
}

/// One simple command.
#[derive(Clone, Copy, Debug)]
struct Call<'a> {
    /// Program and arguments.
    words: &'a [String],
    /// What it reads, when that is known.
    stdin: Option<&'a str>,
    depth: usize,
}

impl<'a> Call<'a> {
    /// The same surroundings, other words.
    fn with_words<'b>(&self, words: &'b [String]) -> Call<'b>
    where
        'a: 'b,
    {
        Call {
            words,
            stdin: self.stdin,
            depth: self.depth + 1,
        }
    }

    /// A refusal of this command.
    fn refused(&self, rule: Rule) -> Refusal {
        let shown = |word: &String| word.replace(words::UNSEEN, "?");
        Refusal {
            rule,
            argv: self.words.iter().map(shown).collect(),
        }
    }

    fn judge(&self) -> Option<Refusal> {
        // `NAME=value` before a command sets a variable for it
        let assigned = self
            .words
            .iter()
            .take_while(|word| assignment(word).is_some())
            .count();
        if assigned > 0 {
            return self.with_words(&self.words[assigned..]).judge();
        }
        let (program, arguments) = self.words.split_first()?;
        if self.depth > DEPTH {
            return Some(self.refused(Rule::Unseen));
        }
        let name = base_name(program);
        let rule = match name.as_str() {
            "git" | "hub" => return git::judge(self, arguments),
            "jj" => return jj::judge(self, arguments),
            "gh" => return forge::gh(self, arguments),
            "glab" | "tea" => forge::other(arguments),
            "curl" | "wget" | "http" | "https" | "xh" => curl::judge(&name, arguments),
            _ => match name.strip_prefix("git-") {
                // the long form of a subcommand
                Some(subcommand) if !is_unseen(subcommand) => {
                    let mut arguments = arguments.to_vec();
                    arguments.insert(0, subcommand.to_owned());
                    return git::judge(self, &arguments);
                }
                _ => return wrappers::judge(self, &name, arguments),
            },
        };
        rule.map(|rule| self.refused(rule))
    }
}
