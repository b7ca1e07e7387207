//! Turns a request into a `codex exec` command line.

use std::ffi::OsString;
use std::path::Path;

use xiv_core::port::{Access, AgentRequest, AgentRole, Session};
use xiv_core::rt::process::StopSignal;

use super::CodexOptions;
use crate::engine::Plan;
use crate::schema::strict;

/// Variables that commands of the agent have no use for. The guard has taken the forge's tokens out
/// already; these are the model provider's own.
const HIDDEN_FROM_TOOLS: &str =
    r#"["OPENAI_API_KEY","CODEX_API_KEY","GH_*TOKEN*","GITHUB_*TOKEN*","LINEAR_*"]"#;

/// The plan of a call. `folder` is where the schema and the last message go.
pub(crate) fn plan(request: &AgentRequest, options: &CodexOptions, folder: &Path) -> Plan {
    let mut args: Vec<OsString> = vec!["exec".into()];
    if let Session::Resume(_) = request.session {
        args.push("resume".into());
    }
    args.extend(options.extra_args.iter().map(OsString::from));
    args.extend(["--json", "--skip-git-repo-check"].map(OsString::from));
    // A resumed session takes neither `-s` nor `-C`: its sandbox is a setting, its folder the process's.
    match &request.session {
        Session::Fresh => {
            args.extend(["-C".into(), request.cwd.clone().into_os_string()]);
            args.extend(["-s", sandbox(request.access)].map(OsString::from));
        }
        Session::Resume(_) => setting(&mut args, "sandbox_mode", &quoted(sandbox(request.access))),
    }
    // An ephemeral thread cannot be resumed, and only a review is never asked again.
    if request.role == AgentRole::Review {
        args.push("--ephemeral".into());
    }
    if let Some(model) = &request.model {
        args.extend(["-m", model].map(OsString::from));
    }
    if let Some(effort) = &request.effort {
        setting(&mut args, "model_reasoning_effort", &quoted(&effort.0));
    }
    setting(&mut args, "approval_policy", &quoted("never"));
    setting(
        &mut args,
        "developer_instructions",
        &quoted(request.rules.as_str()),
    );
    // Login shells rebuild PATH and would drop the guard folder; the default exclusion of names with KEY
    // in them would drop git's GIT_CONFIG_KEY_n, which hold the push guard.
    setting(&mut args, "allow_login_shell", "false");
    setting(
        &mut args,
        "shell_environment_policy.inherit",
        &quoted("all"),
    );
    setting(
        &mut args,
        "shell_environment_policy.ignore_default_excludes",
        "true",
    );
    setting(
        &mut args,
        "shell_environment_policy.exclude",
        HIDDEN_FROM_TOOLS,
    );

    let mut files = Vec::new();
    if let Some(schema) = &request.schema {
        let path = folder.join("schema.json");
        args.extend(["--output-schema".into(), path.clone().into_os_string()]);
        files.push((path, strict(schema).to_string()));
    }
    args.extend([
        "-o".into(),
        folder.join("last-message.txt").into_os_string(),
    ]);
    if let Session::Resume(id) = &request.session {
        args.push(id.into());
    }
    args.push("-".into());
    Plan {
        args,
        stdin: request.prompt.clone(),
        set: Vec::new(),
        files,
        signal: StopSignal::Interrupt,
    }
}

const fn sandbox(access: Access) -> &'static str {
    match access {
        Access::ReadOnly => "read-only",
        Access::Workspace => "workspace-write",
        Access::Full => "danger-full-access",
    }
}

fn setting(args: &mut Vec<OsString>, name: &str, toml: &str) {
    args.extend(["-c".into(), format!("{name}={toml}").into()]);
}

/// A TOML basic string.
fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

#[cfg(test)]
mod tests;
