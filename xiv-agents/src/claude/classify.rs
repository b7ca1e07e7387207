//! Says what came of a Claude call.
//!
//! `subtype: success` comes with API errors too, an interrupted process exits with 0, and a run that never
//! gave its structured answer ends well in the engine's own eyes. So neither the exit code nor the subtype
//! decides alone: a success is a result that is no error and has something to show for it.

use jiff::Timestamp;
use xiv_core::port::{AgentError, AgentErrorKind, AgentReply, AgentRole};
use xiv_core::rt::process::{Ended, Exit};

use super::feed::{ApiError, Claude, Outcome};
use crate::engine::End;
use crate::engine::patterns::{At, Pattern, find};

/// What Claude's texts mean where no error word says more. The first match counts.
const TABLE: &[Pattern] = &[
    row(At::Start, "not logged in", |_| AgentErrorKind::Auth),
    row(At::Start, "invalid api key", |_| AgentErrorKind::Auth),
    row(At::Start, "failed to authenticate", |_| {
        AgentErrorKind::Auth
    }),
    row(At::Start, "oauth token has expired", |_| {
        AgentErrorKind::Auth
    }),
    row(At::Anywhere, "please run /login", |_| AgentErrorKind::Auth),
    row(At::Start, "credit balance is too low", |_| {
        AgentErrorKind::Quota { resets_at: None }
    }),
    row(At::Start, "claude ai usage limit reached", |_| {
        AgentErrorKind::Quota { resets_at: None }
    }),
    row(At::Start, "you've hit your", |_| AgentErrorKind::Quota {
        resets_at: None,
    }),
    row(At::Start, "prompt is too long", |_| {
        AgentErrorKind::ContextOverflow
    }),
    row(At::Start, "request too large", |_| {
        AgentErrorKind::ContextOverflow
    }),
    row(At::Start, "no conversation found with session id", |_| {
        AgentErrorKind::Config
    }),
    row(At::Anywhere, "connection to the api was lost", |_| {
        AgentErrorKind::Transient
    }),
    row(At::Start, "request timed out", |_| {
        AgentErrorKind::Transient
    }),
];

const fn row(at: At, phrase: &'static str, meaning: fn(&str) -> AgentErrorKind) -> Pattern {
    Pattern {
        at,
        phrase,
        meaning,
    }
}

/// The outcome of a call.
///
/// # Errors
/// Every end that is not a result with something to show for it.
pub(crate) fn classify(
    claude: &Claude,
    role: AgentRole,
    schema: Schema,
    end: &End,
) -> Result<AgentReply, AgentError> {
    if claude.auth_refused && end.ended == Ended::Stopped {
        return Err(with_usage(claude, login_refused(claude.api_error.as_ref())));
    }
    match &claude.result {
        Some(result) if !result.is_error && result.subtype == "success" => {
            succeeded(claude, result, role, schema, end)
        }
        Some(result) => Err(failed(claude, result, end)),
        None => Err(cut_short(claude, end)),
    }
    .map_err(|error| with_usage(claude, error))
}

/// Whether the request asked for an answer of a certain form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Schema {
    Wanted,
    Free,
}

fn with_usage(claude: &Claude, error: AgentError) -> AgentError {
    AgentError {
        usage: claude.usage,
        session: claude.session.clone(),
        ..error
    }
}

fn succeeded(
    claude: &Claude,
    result: &Outcome,
    role: AgentRole,
    schema: Schema,
    end: &End,
) -> Result<AgentReply, AgentError> {
    if claude.tools == 0 && !claude.spoke && result.structured.is_none() {
        return Err(if result.turns.unwrap_or(0) == 0 {
            AgentError::new(
                AgentErrorKind::GateBlocked,
                format!("claude was held back: {}", one_line(&result.text)),
            )
        } else {
            AgentError::new(
                AgentErrorKind::Other,
                "claude did nothing: no tool call and no message",
            )
        });
    }
    // The work tree is what an implementing agent hands over; everyone else hands over words.
    let works = matches!(role, AgentRole::Implement | AgentRole::Fix);
    if !works
        && schema == Schema::Wanted
        && result.structured.is_none()
        && result.text.trim().is_empty()
    {
        return Err(AgentError::new(
            AgentErrorKind::Unparseable,
            "claude ended without an answer",
        ));
    }
    let mut warnings = claude.warnings.clone();
    if !end.is_clean() {
        let how = match end.exit {
            Exit::Code(code) => format!("ended with code {code}"),
            Exit::Signal(signal) => format!("was ended by signal {signal}"),
        };
        warnings.push(format!("claude had answered, then {how}"));
    }
    Ok(AgentReply {
        json: result.structured.clone(),
        text: result.text.clone(),
        session: claude.session.clone(),
        usage: claude.usage,
        denials: claude.denials.clone(),
        transcript: None,
        warnings,
    })
}

fn failed(claude: &Claude, result: &Outcome, end: &End) -> AgentError {
    if let Some(reason) = end.cancel {
        return crate::engine::cancelled(reason);
    }
    let api = claude.api_error.as_ref();
    let text = [
        result.text.as_str(),
        &result.errors.join("; "),
        api.map_or("", |error| error.text.as_str()),
    ]
    .into_iter()
    .find(|text| !text.trim().is_empty())
    .unwrap_or("an error without a word")
    .to_owned();
    let kind = kind_of(claude, result, &text);
    let mut error = AgentError::new(kind.clone(), format!("claude: {}", one_line(&text)));
    match kind {
        AgentErrorKind::Other => {
            error.message += &format!(" ({}, {})", result.subtype, api.map_or("", |api| &api.word))
        }
        AgentErrorKind::Auth => error = error.with_hint(LOGIN_HINT),
        AgentErrorKind::Unparseable => {
            error.raw = claude.last_answer.as_ref().map(ToString::to_string)
        }
        _ => {}
    }
    error
}

/// From the surest sign to the least: the engine's own limits, its error word, the status, its text.
fn kind_of(claude: &Claude, result: &Outcome, text: &str) -> AgentErrorKind {
    match result.subtype.as_str() {
        "error_max_turns" | "error_max_budget_usd" => return AgentErrorKind::LimitReached,
        "error_max_structured_output_retries" => return AgentErrorKind::Unparseable,
        _ => {}
    }
    if result.stop_reason.as_deref() == Some("refusal") {
        return AgentErrorKind::Refused;
    }
    match result.terminal_reason.as_deref() {
        Some("prompt_too_long") => return AgentErrorKind::ContextOverflow,
        Some("max_turns" | "budget_exhausted") => return AgentErrorKind::LimitReached,
        Some("structured_output_retry_exhausted") => return AgentErrorKind::Unparseable,
        _ => {}
    }
    if let Some(resets) = claude.limit_resets {
        return AgentErrorKind::Quota {
            resets_at: resets.and_then(|s| Timestamp::from_second(s).ok()),
        };
    }
    let api = claude.api_error.as_ref();
    let status = result.status.or_else(|| api.and_then(|error| error.status));
    if status == Some(413) {
        return AgentErrorKind::ContextOverflow;
    }
    let by_text = find(TABLE, text);
    if matches!(by_text, Some(AgentErrorKind::Quota { .. })) {
        return AgentErrorKind::Quota { resets_at: None };
    }
    by_word(api.map_or("", |error| error.word.as_str()))
        .or(by_text)
        .or_else(|| by_status(status))
        .or_else(|| (api.is_some() && status.is_none()).then_some(AgentErrorKind::Transient))
        .unwrap_or(AgentErrorKind::Other)
}

fn by_word(word: &str) -> Option<AgentErrorKind> {
    Some(match word {
        "authentication_failed" => AgentErrorKind::Auth,
        "billing_error" => AgentErrorKind::Quota { resets_at: None },
        "rate_limit" => AgentErrorKind::RateLimited {
            retry_after_ms: None,
        },
        "overloaded" | "server_error" => AgentErrorKind::Transient,
        "max_output_tokens" => AgentErrorKind::LimitReached,
        "model_not_found" | "invalid_request" => AgentErrorKind::Config,
        _ => return None,
    })
}

fn by_status(status: Option<u64>) -> Option<AgentErrorKind> {
    Some(match status? {
        401 | 403 => AgentErrorKind::Auth,
        429 => AgentErrorKind::RateLimited {
            retry_after_ms: None,
        },
        500..=599 => AgentErrorKind::Transient,
        400..=499 => AgentErrorKind::Config,
        _ => return None,
    })
}

const LOGIN_HINT: &str = "run `claude` and log in with /login, or set ANTHROPIC_API_KEY";

fn login_refused(api: Option<&ApiError>) -> AgentError {
    let status = api
        .and_then(|error| error.status)
        .map_or_else(String::new, |code| format!(" ({code})"));
    AgentError::new(
        AgentErrorKind::Auth,
        format!("claude: the login was refused{status}"),
    )
    .with_hint(LOGIN_HINT)
}

fn cut_short(claude: &Claude, end: &End) -> AgentError {
    if end.cancel.is_some() {
        return end.without_result("claude");
    }
    let mut error = end.without_result("claude");
    if let Some(kind) = find(TABLE, &end.stderr) {
        error.kind = kind;
    } else if !claude.any_event && matches!(end.exit, Exit::Code(1 | 2)) {
        error.kind = AgentErrorKind::Config;
    }
    error
}

fn one_line(text: &str) -> String {
    text.lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect::<Vec<_>>()
        .join(" / ")
}

#[cfg(test)]
mod tests;
