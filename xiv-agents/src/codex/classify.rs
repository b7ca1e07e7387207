//! Says what came of a Codex call.
//!
//! Codex exits with 1 for everything and names no error codes, so the words of `turn.failed` decide,
//! through the table below. Success is `turn.completed` with something to show for it; the exit code of a
//! process that had said its last word does not matter.

use xiv_core::port::{AgentError, AgentErrorKind, AgentReply, AgentRole};
use xiv_core::rt::process::Exit;

use super::feed::{Codex, Terminal};
use crate::engine::End;
use crate::engine::patterns::{At, Pattern, find, wait_in};

/// What Codex's messages mean. The first match counts.
const TABLE: &[Pattern] = &[
    row(At::Start, "unexpected status 401", |_| AgentErrorKind::Auth),
    row(At::Start, "unexpected status 403", |_| AgentErrorKind::Auth),
    row(At::Start, "missing environment variable", |_| {
        AgentErrorKind::Auth
    }),
    row(At::Start, "not logged in", |_| AgentErrorKind::Auth),
    row(
        At::Start,
        "your access token could not be refreshed",
        |_| AgentErrorKind::Auth,
    ),
    row(
        At::Start,
        "your authentication session could not be refreshed",
        |_| AgentErrorKind::Auth,
    ),
    row(At::Start, "quota exceeded", |_| AgentErrorKind::Quota {
        resets_at: None,
    }),
    row(At::Start, "you've hit your usage limit", |_| {
        AgentErrorKind::Quota { resets_at: None }
    }),
    row(At::Start, "you have hit your usage limit", |_| {
        AgentErrorKind::Quota { resets_at: None }
    }),
    row(
        At::Start,
        "to use codex with your chatgpt plan, upgrade",
        |_| AgentErrorKind::Quota { resets_at: None },
    ),
    row(
        At::Start,
        "exceeded retry limit, last status: 429",
        rate_limited,
    ),
    row(At::Start, "unexpected status 429", rate_limited),
    row(At::Start, "rate limit exceeded", rate_limited),
    row(At::Start, "rate limit reached", rate_limited),
    row(
        At::Anywhere,
        "ran out of room in the model's context window",
        |_| AgentErrorKind::ContextOverflow,
    ),
    row(At::Start, "unexpected status 413", |_| {
        AgentErrorKind::ContextOverflow
    }),
    row(At::Anywhere, "\"input_too_large\"", |_| {
        AgentErrorKind::ContextOverflow
    }),
    row(
        At::Anywhere,
        "your prompt was flagged as potentially violating",
        |_| AgentErrorKind::Refused,
    ),
    row(
        At::Start,
        "incomplete response returned, reason: content_filter",
        |_| AgentErrorKind::Refused,
    ),
    row(At::Start, "incomplete response returned", |_| {
        AgentErrorKind::LimitReached
    }),
    row(
        At::Anywhere,
        "we're currently experiencing high demand",
        |_| AgentErrorKind::Transient,
    ),
    row(At::Start, "selected model is at capacity", |_| {
        AgentErrorKind::Transient
    }),
    row(At::Start, "stream disconnected before completion", |_| {
        AgentErrorKind::Transient
    }),
    row(At::Start, "connection failed", |_| {
        AgentErrorKind::Transient
    }),
    row(At::Start, "error sending request", |_| {
        AgentErrorKind::Transient
    }),
    row(At::Start, "request timed out", |_| {
        AgentErrorKind::Transient
    }),
    row(At::Start, "unexpected status 400", |_| {
        AgentErrorKind::Config
    }),
    row(At::Start, "unexpected status 404", |_| {
        AgentErrorKind::Config
    }),
    row(At::Start, "unexpected status 422", |_| {
        AgentErrorKind::Config
    }),
    row(At::Start, "the model `", |_| AgentErrorKind::Config),
    row(At::Anywhere, "no rollout found", |_| AgentErrorKind::Config),
    row(At::Start, "unexpected status", server_status),
    row(
        At::Start,
        "exceeded retry limit, last status:",
        server_status,
    ),
];

const fn row(at: At, phrase: &'static str, meaning: fn(&str) -> AgentErrorKind) -> Pattern {
    Pattern {
        at,
        phrase,
        meaning,
    }
}

fn rate_limited(text: &str) -> AgentErrorKind {
    AgentErrorKind::RateLimited {
        retry_after_ms: wait_in(text),
    }
}

/// The class of a status that has no row of its own.
fn server_status(text: &str) -> AgentErrorKind {
    let status = text
        .split(|c: char| !c.is_ascii_digit())
        .find(|word| word.len() == 3);
    match status.and_then(|word| word.as_bytes().first()) {
        Some(b'5') => AgentErrorKind::Transient,
        Some(b'4') => AgentErrorKind::Config,
        _ => AgentErrorKind::Other,
    }
}

/// What a failure message means, if the table knows it.
pub(crate) fn meaning(message: &str) -> AgentErrorKind {
    find(TABLE, message).unwrap_or(AgentErrorKind::Other)
}

/// The outcome of a call.
///
/// # Errors
/// Every end that is not a completed turn with something to show for it.
pub(crate) fn classify(
    codex: &Codex,
    role: AgentRole,
    end: &End,
) -> Result<AgentReply, AgentError> {
    match &codex.terminal {
        Some(Terminal::Completed) => completed(codex, role, end),
        Some(Terminal::Failed(message)) => Err(failed(message)),
        None => Err(cut_short(codex, end)),
    }
    .map_err(|error| AgentError {
        usage: codex.usage.unwrap_or_default(),
        session: codex.thread.clone(),
        ..error
    })
}

fn completed(codex: &Codex, role: AgentRole, end: &End) -> Result<AgentReply, AgentError> {
    let usage = codex.usage.unwrap_or_default();
    let message = codex.message.as_deref().unwrap_or_default().trim();
    if message.is_empty() && codex.tools == 0 {
        return Err(if usage.tokens() == 0 {
            AgentError::new(
                AgentErrorKind::GateBlocked,
                "codex ended at once: something held the prompt back",
            )
        } else {
            AgentError::new(
                AgentErrorKind::Other,
                "codex did nothing: no tool call and no message",
            )
        });
    }
    // The work tree is what an implementing agent hands over; everyone else hands over words.
    if message.is_empty() && !matches!(role, AgentRole::Implement | AgentRole::Fix) {
        return Err(AgentError::new(
            AgentErrorKind::Unparseable,
            "codex ended without a message",
        ));
    }
    let mut warnings = codex.warnings.clone();
    if !end.is_clean() {
        warnings.push(format!("codex had answered, then {}", describe(end)));
    }
    Ok(AgentReply {
        json: None,
        text: message.to_owned(),
        session: codex.thread.clone(),
        usage,
        denials: codex.denials.clone(),
        transcript: None,
        warnings,
    })
}

fn describe(end: &End) -> String {
    match end.exit {
        Exit::Code(code) => format!("ended with code {code}"),
        Exit::Signal(signal) => format!("was ended by signal {signal}"),
    }
}

fn failed(message: &str) -> AgentError {
    let kind = meaning(message);
    let error = AgentError::new(kind.clone(), format!("codex: {message}"));
    match kind {
        AgentErrorKind::Auth => error.with_hint("run `codex login`"),
        _ => error,
    }
}

fn cut_short(codex: &Codex, end: &End) -> AgentError {
    if end.cancel.is_some() {
        return end.without_result("codex");
    }
    if let Some(message) = &codex.error {
        return failed(message);
    }
    if let Some(kind) = find(TABLE, &end.stderr) {
        return AgentError {
            kind,
            ..failed(&end.stderr)
        };
    }
    let mut error = end.without_result("codex");
    if !codex.any_event && matches!(end.exit, Exit::Code(1 | 2)) {
        error.kind = AgentErrorKind::Config;
    }
    error
}

#[cfg(test)]
mod tests;
