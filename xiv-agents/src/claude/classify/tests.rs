//! What recorded Claude runs mean, and that nothing else is ever taken for a success.

use proptest::prelude::*;
use serde_json::json;
use xiv_core::port::{AgentError, AgentErrorKind, AgentReply, AgentRole, CancelReason};
use xiv_core::rt::process::{Ended, Exit, Flow};

use super::{Schema, classify};
use crate::claude::feed::Claude;
use crate::engine::{End, Parser};

fn recorded(name: &str) -> String {
    let path = format!(
        "{}/tests/fixtures/claude/{name}.jsonl",
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

/// Feeds lines until the parser asks for a stop, as the runner would.
fn parsed(lines: &str) -> (Claude, Flow) {
    let mut claude = Claude::default();
    for line in lines.lines() {
        if claude.feed(line).flow == Flow::Stop {
            return (claude, Flow::Stop);
        }
    }
    (claude, Flow::Continue)
}

fn outcome(name: &str, end: &End) -> Result<AgentReply, AgentError> {
    classify(
        &parsed(&recorded(name)).0,
        AgentRole::Review,
        Schema::Wanted,
        end,
    )
}

#[test]
fn recorded_failures_are_of_their_kind() {
    let limited = AgentErrorKind::RateLimited {
        retry_after_ms: None,
    };
    for (name, kind) in [
        ("s403", AgentErrorKind::Auth),
        ("s404", AgentErrorKind::Config),
        ("s400", AgentErrorKind::Config),
        ("s400ctx", AgentErrorKind::ContextOverflow),
        ("s413", AgentErrorKind::ContextOverflow),
        ("s400credit", AgentErrorKind::Quota { resets_at: None }),
        ("s429", limited.clone()),
        ("s429ra", limited.clone()),
        ("s429unified", limited.clone()),
        ("flaky429", limited),
        ("s500", AgentErrorKind::Transient),
        ("s529", AgentErrorKind::Transient),
        ("flaky", AgentErrorKind::Transient),
        ("flaky529", AgentErrorKind::Transient),
        ("cut", AgentErrorKind::Transient),
        ("garbage", AgentErrorKind::Transient),
        ("hangpre", AgentErrorKind::Transient),
        ("sse_overloaded", AgentErrorKind::Transient),
        ("loop", AgentErrorKind::LimitReached),
        ("maxtokens", AgentErrorKind::LimitReached),
        ("refusal", AgentErrorKind::Refused),
        ("wrongjson", AgentErrorKind::Unparseable),
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
        "bash",
        "askdeny",
        "cutonce",
        "wrongonce",
        "longtool",
    ] {
        let reply = outcome(name, &exited(0)).expect(name);
        assert_eq!(
            reply.json.as_ref().map(|answer| &answer["verdict"]),
            Some(&json!("approve")),
            "{name}"
        );
        assert!(
            reply.usage.cost_usd.is_some() && reply.usage.cost_complete,
            "{name}"
        );
        assert!(reply.session.is_some(), "{name}");
    }
    // the schema was ignored: the words are handed on, without a structured answer
    for name in ["textonly", "badjson", "bgbash"] {
        let reply = outcome(name, &exited(0)).expect(name);
        assert_eq!(reply.json, None, "{name}");
        assert!(!reply.text.is_empty(), "{name}");
    }
}

#[test]
fn a_refused_tool_call_is_on_record() {
    let reply = outcome("askdeny", &exited(0)).expect("it went on");
    assert_eq!(reply.denials.len(), 1);
    assert_eq!(reply.denials[0].rule, "Bash");
    assert!(reply.denials[0].what.starts_with("rm -rf"));
}

#[test]
fn a_refused_login_stops_the_process_at_its_first_sign() {
    let (claude, flow) = parsed(&recorded("s401-timeout"));
    assert_eq!(flow, Flow::Stop);
    assert!(
        claude.warnings.is_empty(),
        "it waited for retries: {:?}",
        claude.warnings
    );
    let end = End {
        ended: Ended::Stopped,
        ..exited(143)
    };
    let error = classify(&claude, AgentRole::Plan, Schema::Wanted, &end).expect_err("refused");
    assert_eq!((error.kind, error.hints.len()), (AgentErrorKind::Auth, 1));
}

#[test]
fn a_failing_exit_after_the_last_word_is_accepted_with_a_warning() {
    let reply = outcome("json", &exited(1)).expect("the result was given");
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
fn the_last_result_counts() {
    let two = recorded("badjson") + &recorded("json");
    let reply = classify(
        &parsed(&two).0,
        AgentRole::Review,
        Schema::Wanted,
        &exited(0),
    )
    .expect("a result");
    assert!(reply.json.is_some());
    let failed_last = recorded("json") + &recorded("s500");
    let error = classify(
        &parsed(&failed_last).0,
        AgentRole::Review,
        Schema::Wanted,
        &exited(1),
    )
    .expect_err("failed");
    assert_eq!(error.kind, AgentErrorKind::Transient);
}

#[test]
fn an_interrupted_run_tells_why_whatever_the_exit_code() {
    for (name, code) in [
        ("hangpre-signal-rc0", 0),
        ("longtool-signal-rc0", 0),
        ("slowtext-signal-rc143", 143),
    ] {
        let end = End {
            ended: Ended::Cancelled,
            cancel: Some(CancelReason::User),
            ..exited(code)
        };
        assert_eq!(
            outcome(name, &end).expect_err(name).kind,
            AgentErrorKind::Cancelled,
            "{name}"
        );
    }
    for (name, code) in [
        ("hangpre-signal-rc0", 0),
        ("hang-timeout", 0),
        ("slowtext-signal-rcm9", 1),
    ] {
        assert_eq!(
            outcome(name, &exited(code)).expect_err(name).kind,
            AgentErrorKind::Crashed,
            "{name}"
        );
    }
}

#[test]
fn refusing_to_start_is_a_matter_of_configuration() {
    let end = End {
        stderr: "error: unknown option '--nope'".into(),
        ..exited(1)
    };
    let error =
        classify(&Claude::default(), AgentRole::Plan, Schema::Wanted, &end).expect_err("no start");
    assert_eq!(error.kind, AgentErrorKind::Config);
}

#[test]
fn a_usage_limit_tells_when_it_is_lifted() {
    let limit = r#"{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":1800000000}}"#;
    let lines = format!("{limit}\n{}", recorded("s429unified"));
    let error = classify(
        &parsed(&lines).0,
        AgentRole::Plan,
        Schema::Wanted,
        &exited(1),
    )
    .expect_err("limited");
    let resets_at = jiff::Timestamp::from_second(1_800_000_000).ok();
    assert_eq!(error.kind, AgentErrorKind::Quota { resets_at });
    let spoken = recorded("s429").replace(
        "API Error: Request rejected (429)",
        "You've hit your session limit",
    );
    let error = classify(
        &parsed(&spoken).0,
        AgentRole::Plan,
        Schema::Wanted,
        &exited(1),
    )
    .expect_err("limited");
    assert_eq!(error.kind, AgentErrorKind::Quota { resets_at: None });
}

#[test]
fn a_prompt_that_was_held_back_is_no_success() {
    let held = r#"{"type":"result","subtype":"success","is_error":false,"num_turns":0,"result":"Operation blocked by hook: gate open"}"#;
    let error = classify(
        &parsed(held).0,
        AgentRole::Implement,
        Schema::Free,
        &exited(0),
    )
    .expect_err("held back");
    assert_eq!(error.kind, AgentErrorKind::GateBlocked);
}

fn lines() -> impl Strategy<Value = Vec<String>> {
    let names = [
        "json",
        "badjson",
        "s401",
        "s500",
        "wrongonce",
        "maxtokens",
        "edit",
        "longtool-signal-rc0",
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
        1 => "\\{\"type\":\"(result|assistant|system)\"(,\"(message|subtype|result)\":(3|\"success\"|null))?\\}",
    ];
    proptest::collection::vec(line, 0..12)
}

proptest! {
    #[test]
    fn nothing_panics_and_success_has_a_payload(lines in lines(), code in 0..3) {
        let (claude, _) = parsed(&lines.join("\n"));
        if let Ok(reply) = classify(&claude, AgentRole::Review, Schema::Wanted, &exited(code)) {
            prop_assert!(reply.json.is_some() || !reply.text.trim().is_empty());
            let said_so = lines.iter().any(|line| line.contains("\"type\":\"result\"") && line.contains("\"is_error\":false"));
            prop_assert!(said_so);
        }
    }
}
