//! `guard`: whether an agent may run a command line.

use schemars::JsonSchema;
use serde::Serialize;
use xiv_core::policy::guard::{Rule, judge};

/// Arguments of `guard`.
#[derive(Debug, clap::Args)]
pub(crate) struct GuardArgs {
    /// The command line: program and arguments.
    #[arg(last = true, required = true, value_name = "ARGV")]
    argv: Vec<std::ffi::OsString>,
}

/// The answer.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct GuardAnswer {
    /// Whether it may run.
    allowed: bool,
    /// The rule that refuses it; null when it may run.
    rule: Option<Rule>,
}

pub(super) fn answer(args: &GuardArgs) -> GuardAnswer {
    let argv: Vec<_> = args
        .argv
        .iter()
        .map(|word| word.to_string_lossy())
        .collect();
    let refusal = judge(&argv);
    GuardAnswer {
        allowed: refusal.is_none(),
        rule: refusal.map(|refusal| refusal.rule),
    }
}
