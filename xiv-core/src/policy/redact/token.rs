//! Tokens that say by a prefix whose they are.
//!
//! A prefix alone proves nothing: `lin_api_key` is a variable, `sk-fading-circle`
//! a style and `sk-ant-your-key-here` advice. So what follows has to look like
//! chance, which words joined by `-` and `_` never do.

use super::{Kind, Span, at_word_start, run};

/// What follows a prefix is judged by at most this many bytes, so that a text
/// made of prefixes takes no longer than any other.
const JUDGED: usize = 160;

/// One issuer's form.
struct Form {
    kind: Kind,
    prefix: &'static str,
    /// The bytes that the rest of the token is made of.
    class: fn(u8) -> bool,
    /// Whether what follows the prefix makes it a token.
    accept: fn(&[u8]) -> bool,
}

/// Longer prefixes stand before the shorter ones that they begin with.
const FORMS: [Form; 16] = [
    github("ghp_"),
    github("gho_"),
    github("ghu_"),
    github("ghs_"),
    github("ghr_"),
    form(Kind::Github, "github_pat_", word, |body| {
        body.len() >= 22 && is_random(body)
    }),
    form(Kind::Linear, "lin_api_", word, is_random),
    form(Kind::Linear, "lin_oauth_", word, is_random),
    form(Kind::Anthropic, "sk-ant-", dashed, |body| {
        is_random(after_version(body))
    }),
    form(Kind::OpenAi, "sk-proj-", dashed, is_random),
    form(Kind::OpenAi, "sk-svcacct-", dashed, is_random),
    form(Kind::OpenAi, "sk-admin-", dashed, is_random),
    form(Kind::OpenAi, "sk-None-", dashed, is_random),
    form(Kind::OpenAi, "sk-", dashed, is_bare_openai),
    form(Kind::Slack, "xapp-", slack_body, is_slack),
    form(
        Kind::Slack,
        "xox",
        slack_body,
        |body| matches!(body, [b'a'..=b'z', b'-', rest @ ..] if is_slack(rest)),
    ),
];

const fn form(
    kind: Kind,
    prefix: &'static str,
    class: fn(u8) -> bool,
    accept: fn(&[u8]) -> bool,
) -> Form {
    Form {
        kind,
        prefix,
        class,
        accept,
    }
}

const fn github(prefix: &'static str) -> Form {
    form(Kind::Github, prefix, word, |body| {
        (body.len() >= 36 && is_random(body)) || wraps_signed(body)
    })
}

/// An installation token of the newer form: a number, `_`, and a signed token.
fn wraps_signed(body: &[u8]) -> bool {
    let digits = run(body, 0, |b| b.is_ascii_digit());
    digits > 0 && body[digits..].starts_with(b"_eyJ")
}

pub(super) fn find(text: &str, spans: &mut Vec<Span>) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let found = match bytes[at] {
            b'A' => aws_end(bytes, at).map(|end| (Kind::Aws, end)),
            b'g' | b'l' | b's' | b'x' => token_end(bytes, at),
            _ => None,
        };
        if let Some((kind, end)) = found {
            spans.push(Span {
                start: at,
                end,
                kind,
            });
            at = end;
        } else {
            at += 1;
        }
    }
}

fn token_end(text: &[u8], at: usize) -> Option<(Kind, usize)> {
    let form = FORMS
        .iter()
        .find(|form| text[at..].starts_with(form.prefix.as_bytes()))?;
    let from = at + form.prefix.len();
    let judged = &text[from..text.len().min(from + JUDGED)];
    let body = &judged[..run(judged, 0, form.class)];
    let certain = form.kind == Kind::Github && run(body, 0, |b| b.is_ascii_alphanumeric()) >= 36;
    if !(certain || at_word_start(text, at) && (form.accept)(body)) {
        return None;
    }
    let mut end = from + run(text, from, form.class);
    if form.kind == Kind::Github && wraps_signed(body) {
        end += run(text, end, |b| dashed(b) || b == b'.');
    }
    Some((form.kind, end))
}

/// A key id is exactly 20 capitals and digits; part of a longer word it is none.
fn aws_end(text: &[u8], at: usize) -> Option<usize> {
    const LENGTH: usize = 20;
    let rest = &text[at..];
    if !(rest.starts_with(b"AKIA") || rest.starts_with(b"ASIA")) || !at_word_start(text, at) {
        return None;
    }
    let length = run(&rest[..rest.len().min(LENGTH + 1)], 0, |b| {
        b.is_ascii_uppercase() || b.is_ascii_digit()
    });
    let ends = !rest.get(LENGTH).copied().is_some_and(word);
    (length == LENGTH && ends).then_some(at + LENGTH)
}

const fn word(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b == b'_'
}

const fn dashed(b: u8) -> bool {
    word(b) || b == b'-'
}

const fn slack_body(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'-' | b'%')
}

/// Whether this is long enough and looks like chance: a stretch without `-`
/// and `_` that no word reaches, or capitals, small letters and digits mixed.
fn is_random(body: &[u8]) -> bool {
    let has = |class: fn(&u8) -> bool| body.iter().any(class);
    let mixed =
        has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase) && has(u8::is_ascii_digit);
    body.len() >= 20 && (mixed || stretches(body).any(is_random_stretch))
}

fn stretches(body: &[u8]) -> impl Iterator<Item = &[u8]> {
    body.split(|b| !b.is_ascii_alphanumeric())
}

fn is_random_stretch(stretch: &[u8]) -> bool {
    stretch.len() >= 24 || (stretch.len() >= 16 && stretch.iter().any(u8::is_ascii_digit))
}

/// What follows `api03-` and its like.
fn after_version(body: &[u8]) -> &[u8] {
    let letters = run(body, 0, |b| b.is_ascii_lowercase());
    match &body[letters..] {
        [b'0'..=b'9', b'0'..=b'9', b'-', rest @ ..] if (2..=8).contains(&letters) => rest,
        _ => body,
    }
}

/// `sk-` begins much that is no key: here chance has to begin at once, or to
/// be overwhelming.
fn is_bare_openai(body: &[u8]) -> bool {
    stretches(body).next().is_some_and(is_random_stretch)
        || stretches(body).any(|stretch| stretch.len() >= 32)
        || (body.len() >= 32 && is_random(body))
}

fn is_slack(body: &[u8]) -> bool {
    body.len() >= 10 && body.iter().any(u8::is_ascii_digit)
}
