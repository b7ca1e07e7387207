//! What recorded Codex runs mean, and that nothing else is ever taken for a success.

use proptest::prelude::*;
use xiv_core::port::{
    AgentError, AgentErrorKind, AgentReply, AgentRole, CancelReason, TimeoutKind,
};
use xiv_core::rt::process::{Ended, Exit};

use super::{classify, meaning};
use crate::codex::feed::Codex;
use crate::engine::{End, Parser};

fn recorded(name: &str) -> String {
    let path = format!(
        "{}/tests/fixtures/codex/{name}.jsonl",
        env!("CARGO_MANIFEST_DIR")
    );
    std::fs::read_to_string(path).expect(name)
}

fn exited(code: i32) -> End {
    End {
        exit: Exit::Code(code),
        ended: Ended::Exited,
        stderr: String::new(),
        cancel: None,
    }
}

fn parsed(lines: &str) -> Codex {
    let mut codex = Codex::default();
    for line in lines.lines() {
        codex.feed(line);
    }
    codex
}

fn outcome(name: &str, end: &End) -> Result<AgentReply, AgentError> {
    classify(&parsed(&recorded(name)), AgentRole::Review, end)
}

#[test]
fn recorded_failures_are_of_their_kind() {
    let limited = |ms| AgentErrorKind::RateLimited { retry_after_ms: ms };
    let quota = AgentErrorKind::Quota { resets_at: None };
    for (name, kind) in [
        ("s401", AgentErrorKind::Auth),
        ("s403", AgentErrorKind::Auth),
        ("s404", AgentErrorKind::Config),
        ("s413", AgentErrorKind::ContextOverflow),
        ("s400ctx", AgentErrorKind::ContextOverflow),
        ("failed_ctx", AgentErrorKind::ContextOverflow),
        ("s429", limited(None)),
        ("s429ra", limited(None)),
        ("flaky429", limited(None)),
        ("failed_rl", limited(Some(1500))),
        ("s429quota", quota.clone()),
        ("s429usage", quota.clone()),
        ("failed_quota", quota),
        ("s500", AgentErrorKind::Transient),
        ("s503", AgentErrorKind::Transient),
        ("failed_srv", AgentErrorKind::Transient),
        ("cut", AgentErrorKind::Transient),
        ("garbage", AgentErrorKind::Transient),
        ("hang", AgentErrorKind::Transient),
        ("incomplete", AgentErrorKind::LimitReached),
    ] {
        assert_eq!(
            outcome(name, &exited(1)).expect_err(name).kind,
            kind,
            "{name}"
        );
    }
}

#[test]
fn recorded_successes_hold_their_answer() {
    for name in [
        "json",
        "edit",
        "patch",
        "cutonce",
        "flaky",
        "wrongjson",
        "badjson",
    ] {
        let reply = outcome(name, &exited(0)).expect(name);
        assert!(!reply.text.is_empty(), "{name}");
        assert_eq!(reply.usage.calls, 1, "{name}");
        assert!(reply.session.is_some(), "{name}");
    }
}

#[test]
fn the_last_message_counts_and_not_the_first_that_looks_right() {
    let reply = outcome("preamble", &exited(0)).expect("it completed");
    assert!(reply.text.contains("the real one"), "{}", reply.text);
}

#[test]
fn a_draft_before_more_work_is_no_answer() {
    let lines: Vec<String> = recorded("preamble").lines().map(str::to_owned).collect();
    let without_the_real_one: Vec<String> = lines
        .into_iter()
        .filter(|line| !line.contains("the real one"))
        .collect();
    let codex = parsed(&without_the_real_one.join("\n"));
    let error = classify(&codex, AgentRole::Review, &exited(0)).expect_err("only a draft");
    assert_eq!(error.kind, AgentErrorKind::Unparseable);
}

#[test]
fn a_failing_exit_after_the_last_word_is_accepted_with_a_warning() {
    let reply = outcome("json", &exited(1)).expect("the turn was completed");
    assert!(
        reply
            .warnings
            .iter()
            .any(|warning| warning.contains("code 1")),
        "{:?}",
        reply.warnings
    );
}

#[test]
fn an_interrupted_run_tells_why_and_a_dead_one_is_a_crash() {
    for name in [
        "hangpre-timeout",
        "longtool-signal-rcm9",
        "hangpre-signal-rcm15",
        "json-timeout",
    ] {
        let signalled = End {
            exit: Exit::Signal(9),
            ..exited(0)
        };
        assert_eq!(
            outcome(name, &signalled).expect_err(name).kind,
            AgentErrorKind::Crashed,
            "{name}"
        );
        for (reason, kind) in [
            (CancelReason::User, AgentErrorKind::Cancelled),
            (
                CancelReason::TimedOutTotal,
                AgentErrorKind::TimedOut(TimeoutKind::Total),
            ),
            (
                CancelReason::TimedOutIdle,
                AgentErrorKind::TimedOut(TimeoutKind::Idle),
            ),
        ] {
            let cancelled = End {
                ended: Ended::Cancelled,
                cancel: Some(reason),
                ..signalled.clone()
            };
            assert_eq!(
                outcome(name, &cancelled).expect_err(name).kind,
                kind,
                "{name}"
            );
        }
    }
}

#[test]
fn refusing_to_start_is_a_matter_of_configuration() {
    let end = End {
        stderr: recorded_stderr(),
        ..exited(2)
    };
    let error = outcome("longtool", &end).expect_err("it never started");
    assert_eq!(error.kind, AgentErrorKind::Config);
    assert!(
        error.message.contains("cannot be used multiple times"),
        "{}",
        error.message
    );
}

fn recorded_stderr() -> String {
    let path = format!(
        "{}/tests/fixtures/codex/longtool.stderr.txt",
        env!("CARGO_MANIFEST_DIR")
    );
    std::fs::read_to_string(path).expect("recorded")
}

#[test]
fn doing_nothing_is_no_success() {
    let nothing = outcome("empty", &exited(0)).expect_err("it did nothing");
    assert_eq!(nothing.kind, AgentErrorKind::Other);
    let blocked = recorded("empty")
        .replace(":100,", ":0,")
        .replace(":20,", ":0,");
    let blocked =
        classify(&parsed(&blocked), AgentRole::Implement, &exited(0)).expect_err("held back");
    assert_eq!(blocked.kind, AgentErrorKind::GateBlocked);
}

#[test]
fn an_implementing_agent_may_hand_over_only_the_work_tree() {
    let silent: String = recorded("patch")
        .lines()
        .filter(|line| !line.contains("agent_message"))
        .map(|l| format!("{l}\n"))
        .collect();
    assert!(classify(&parsed(&silent), AgentRole::Implement, &exited(0)).is_ok());
    let error = classify(&parsed(&silent), AgentRole::Review, &exited(0)).expect_err("no words");
    assert_eq!(error.kind, AgentErrorKind::Unparseable);
}

#[test]
fn a_message_after_the_end_of_the_turn_is_not_the_answer() {
    let late = recorded("json")
        + "{\"type\":\"item.completed\",\"item\":{\"type\":\"agent_message\",\"text\":\"late\"}}\n";
    let reply = classify(&parsed(&late), AgentRole::Review, &exited(0)).expect("completed");
    assert!(reply.text.contains("looks fine"));
}

#[test]
fn short_words_in_other_text_mean_nothing() {
    for text in [
        "panicked at src/401.rs:403:429",
        "merge conflict in quota.rs",
        "the test `not_logged_in` failed",
        "error: 500 tests failed",
        "usage limits are documented in docs/usage.md",
    ] {
        assert_eq!(meaning(text), AgentErrorKind::Other, "{text}");
    }
    assert_eq!(
        meaning("unexpected status 418 I'm a teapot: 503"),
        AgentErrorKind::Config
    );
    assert_eq!(
        meaning("unexpected status 502 Bad Gateway"),
        AgentErrorKind::Transient
    );
}

/// Lines of all recordings, whole, cut and shuffled, and lines that mean nothing.
fn lines() -> impl Strategy<Value = Vec<String>> {
    let names = [
        "json",
        "preamble",
        "s401",
        "cutonce",
        "empty",
        "incomplete",
        "patch",
    ];
    let known: Vec<String> = names
        .iter()
        .flat_map(|name| {
            recorded(name)
                .lines()
                .map(str::to_owned)
                .collect::<Vec<_>>()
        })
        .collect();
    let line = prop_oneof![
        4 => proptest::sample::select(known.clone()),
        2 => (proptest::sample::select(known), any::<proptest::sample::Index>()).prop_map(|(line, at)| {
            let cut = line.floor_char_boundary(at.index(line.len() + 1));
            line[..cut].to_owned()
        }),
        1 => ".*",
        1 => "\\{\"type\":\"(turn|item)\\.[a-z]{1,9}\"(,\"item\":(3|\\{\"type\":[0-9]\\}))?\\}",
    ];
    proptest::collection::vec(line, 0..12)
}

proptest! {
    #[test]
    fn nothing_panics_and_success_has_a_payload(lines in lines(), code in 0..3) {
        let codex = parsed(&lines.join("\n"));
        if let Ok(reply) = classify(&codex, AgentRole::Review, &exited(code)) {
            prop_assert!(!reply.text.is_empty());
            let completed = lines.iter().any(|line| line.contains("\"turn.completed\""));
            prop_assert!(completed);
        }
    }
}
