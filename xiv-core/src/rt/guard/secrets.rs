//! Which variables a guarded program must not see: two tables and one look at
//! the values.

use std::ffi::OsStr;

/// Variables that hold a forge's or a tracker's token, or lead to one.
const TOKENS: &[&str] = &[
    "ACTIONS_ID_TOKEN_REQUEST_TOKEN",
    "ACTIONS_ID_TOKEN_REQUEST_URL",
    "ACTIONS_RUNTIME_TOKEN",
    "CI_JOB_TOKEN",
    "CI_REGISTRY_PASSWORD",
    "GH_ENTERPRISE_TOKEN",
    "GH_TOKEN",
    "GIT_ASKPASS",
    "GIT_CREDENTIALS",
    "GIT_PASSWORD",
    "GIT_TOKEN",
    "HOMEBREW_GITHUB_API_TOKEN",
    "SSH_AGENT_PID",
    "SSH_ASKPASS",
    "SSH_AUTH_SOCK",
    "SYSTEM_ACCESSTOKEN",
];

/// Beginnings of variables of services that hold code or issues.
const SERVICES: &[&str] = &[
    "ATLASSIAN_",
    "AZURE_DEVOPS_",
    "BITBUCKET_",
    "FORGEJO_",
    "GITEA_",
    "GITLAB_",
    "GLAB_",
    "JIRA_",
    "LINEAR_",
];

/// A name that holds one of these words and one of [`SECRET_WORDS`] is taken
/// for a token as well.
const SERVICE_WORDS: &[&str] = &["GITHUB", "GITLAB", "LINEAR", "GITEA", "BITBUCKET", "JIRA"];

/// See [`SERVICE_WORDS`].
const SECRET_WORDS: &[&str] = &[
    "TOKEN",
    "PAT",
    "KEY",
    "SECRET",
    "PASSWORD",
    "PASSWD",
    "CREDENTIAL",
    "CREDENTIALS",
    "AUTH",
];

/// How the tokens of forges and trackers begin.
const TOKEN_BEGINNINGS: &[&str] = &[
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "github_pat_",
    "glpat-",
    "lin_api_",
    "lin_oauth_",
];

/// What an outer agent sets to tell its children about itself. Agents that see
/// it refuse to start, or behave as if they were a tool call.
const OUTER_AGENT: &[&str] = &[
    "AGENT",
    "AI_AGENT",
    "AIDER",
    "CLAUDECODE",
    "CLAUDE_CODE_CHILD_SESSION",
    "CLAUDE_CODE_ENTRYPOINT",
    "CLAUDE_CODE_EXECPATH",
    "CLAUDE_CODE_SESSION_ID",
    "CLAUDE_CODE_SSE_PORT",
    "CODEX_CI",
    "CODEX_SANDBOX",
    "CODEX_SANDBOX_NETWORK_DISABLED",
    "CODEX_THREAD_ID",
    "COPILOT_AGENT",
    "CURSOR_AGENT",
    "CURSOR_TRACE_ID",
    "GEMINI_CLI",
    "GOOSE_TERMINAL",
    "OPENCODE",
    "OPENCODE_CLIENT",
    "PI_CODING_AGENT",
];

/// Whether the variable gives access to a forge or a tracker.
pub(super) fn is_secret(name: &OsStr, value: &OsStr) -> bool {
    let name = name.to_string_lossy().to_ascii_uppercase();
    let has = |words: &[&str]| name.split('_').any(|part| words.contains(&part));
    TOKENS.contains(&name.as_str())
        || SERVICES.iter().any(|service| name.starts_with(service))
        || (has(SERVICE_WORDS) && has(SECRET_WORDS))
        || holds_token(&value.to_string_lossy())
}

/// Whether the variable only tells that an agent is around.
pub(super) fn is_outer_agent(name: &OsStr) -> bool {
    name.to_str()
        .is_some_and(|name| OUTER_AGENT.contains(&name))
}

/// Whether a token stands anywhere in the value, at the start of a word.
fn holds_token(value: &str) -> bool {
    TOKEN_BEGINNINGS.iter().any(|beginning| {
        value.match_indices(beginning).any(|(at, _)| {
            let before = value[..at].chars().next_back();
            let after = &value[at + beginning.len()..];
            let body = after
                .chars()
                .take_while(|c| c.is_ascii_alphanumeric() || *c == '_')
                .count();
            !before.is_some_and(char::is_alphanumeric) && body >= 16
        })
    })
}
