//! Turns a request into a `claude -p` command line.

use std::ffi::OsString;
use std::path::Path;

use xiv_core::port::{Access, AgentRequest, AgentRole, Session};
use xiv_core::rt::process::StopSignal;

use super::ClaudeOptions;
use crate::engine::Plan;
use crate::schema::strict;

/// Tools of an agent that may look and not touch.
const READING: &str = "Read,Grep,Glob";
/// Tools of an agent that works.
const WORKING: &str = "Bash,Edit,Read,Write,Glob,Grep";
/// The engine's own net under the guard. It has holes (`bash -c`), which is why it is only a net.
const DENIED: &[&str] = &[
    "Bash(gh pr merge:*)",
    "Bash(gh pr close:*)",
    "Bash(gh pr create:*)",
    "Bash(git push:*)",
    "Bash(git reset --hard:*)",
    "Bash(git clean:*)",
    "Bash(jj git push:*)",
];

const NOTES: &str = "Before you begin, read CLAUDE.md and AGENTS.md at the root of the work tree, where \
    they exist, and follow what they say about the project, except where it contradicts these rules.";

/// The plan of a call. `folder` is the step's scratch folder, which the agent may read.
pub(crate) fn plan(request: &AgentRequest, options: &ClaudeOptions, folder: Option<&Path>) -> Plan {
    let mut args: Vec<OsString> = Vec::new();
    args.extend(
        [
            "-p",
            "--output-format",
            "stream-json",
            "--verbose",
            "--include-partial-messages",
            "--strict-mcp-config",
        ]
        .map(OsString::from),
    );
    args.extend(["--setting-sources", options.setting_sources.as_str()].map(OsString::from));
    args.extend([
        "--append-system-prompt".into(),
        system_prompt(request).into(),
    ]);
    args.extend(access(request.access).iter().map(OsString::from));
    args.push("--disallowedTools".into());
    args.extend(DENIED.iter().map(OsString::from));
    // A reviewer reads the diff there; whoever may write has no business in it.
    if let Some(folder) = folder
        && request.access == Access::ReadOnly
    {
        args.extend(["--add-dir".into(), folder.as_os_str().to_owned()]);
    }
    if let Some(schema) = &request.schema {
        args.extend(["--json-schema".into(), strict(schema).to_string().into()]);
    }
    if let Some(model) = &request.model {
        args.extend(["--model", model].map(OsString::from));
    }
    if let Some(effort) = &request.effort {
        args.extend(["--effort", &effort.0].map(OsString::from));
    }
    if let Some(turns) = request.limits.turns {
        args.extend(["--max-turns".into(), turns.to_string().into()]);
    }
    if let Some(budget) = request.limits.budget_usd {
        args.extend(["--max-budget-usd".into(), budget.to_string().into()]);
    }
    match &request.session {
        Session::Resume(id) => args.extend(["--resume", id].map(OsString::from)),
        // Only a review is never asked again.
        Session::Fresh if request.role == AgentRole::Review => {
            args.push("--no-session-persistence".into())
        }
        Session::Fresh => {}
    }
    args.extend(options.extra_args.iter().map(OsString::from));
    Plan {
        args,
        stdin: request.prompt.clone(),
        set: vec![
            // A background task prints a second result after the first.
            ("CLAUDE_CODE_DISABLE_BACKGROUND_TASKS", "1".into()),
            // Back-off belongs to the caller, whose policy is one and the same for every engine.
            ("CLAUDE_CODE_MAX_RETRIES", "2".into()),
            ("DISABLE_AUTOUPDATER", "1".into()),
        ],
        files: Vec::new(),
        signal: StopSignal::Terminate,
    }
}

/// The rules. Without the project's settings the engine does not read the project's notes by itself, so a
/// working agent is told to; a reviewer is not, since the notes can be part of what it reviews.
fn system_prompt(request: &AgentRequest) -> String {
    let rules = request.rules.as_str();
    match request.role {
        AgentRole::Implement | AgentRole::Fix => format!("{rules}\n\n{NOTES}"),
        AgentRole::Plan | AgentRole::Review | AgentRole::Describe => rules.to_owned(),
    }
}

const fn access(access: Access) -> &'static [&'static str] {
    match access {
        Access::ReadOnly => &[
            "--tools",
            READING,
            "--permission-mode",
            "dontAsk",
            "--allowedTools",
            READING,
        ],
        Access::Workspace => &[
            "--tools",
            WORKING,
            "--permission-mode",
            "acceptEdits",
            "--allowedTools",
            "Bash",
        ],
        Access::Full => &["--permission-mode", "bypassPermissions"],
    }
}

#[cfg(test)]
mod tests;
