//! The Claude and Codex adapters over stand-in programs that replay a recording and then misbehave.
//!
//! What the real programs do only now and then (a failing exit after the answer, a hang at the end, a
//! child that holds the pipe, a line of a megabyte) a few lines of shell do every time.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tempfile::TempDir;
use xiv_agents::{Claude, ClaudeOptions, Codex, CodexOptions, Host};
use xiv_core::model::{LocalReview, Verdict};
use xiv_core::port::{
    Agent, AgentErrorKind, AgentExt, AgentRequest, AgentRole, Cancel, CancelReason, StepEvent,
    SystemRules,
};
use xiv_core::rt::process::Environment;

use crate::support::{left_behind, step};

fn recording(engine: &str, name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/fixtures/{engine}/{name}.jsonl"))
}

/// Both adapters over a stand-in that replays `name` and then runs `after`.
fn both(folder: &TempDir, name: &str, after: &str) -> Vec<(&'static str, Box<dyn Agent>)> {
    let environment = Environment::empty().with("PATH", std::env::var_os("PATH").expect("PATH"));
    let program = |engine: &str| {
        let path = folder.path().join(engine);
        let replay = recording(engine, name);
        let script = format!(
            "#!/bin/sh\ncat > /dev/null\ncat '{}'\n{after}\n",
            replay.display()
        );
        std::fs::write(&path, script).expect("a script");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("a mode");
        Some(path)
    };
    let host = Host::new(environment);
    let claude = ClaudeOptions {
        program: program("claude"),
        ..ClaudeOptions::default()
    };
    let codex = CodexOptions {
        program: program("codex"),
        ..CodexOptions::default()
    };
    vec![
        ("claude", Box::new(Claude::new(host.clone(), claude))),
        ("codex", Box::new(Codex::new(host, codex))),
    ]
}

fn request(role: AgentRole, tree: &TempDir) -> AgentRequest {
    AgentRequest::new(role, "p", SystemRules::new(), tree.path())
}

#[tokio::test]
async fn a_failing_exit_after_a_valid_review_is_accepted_with_a_warning() {
    let folder = TempDir::new().expect("a folder");
    for (name, agent) in both(&folder, "json", "exit 1") {
        let (cx, _) = step(Cancel::never());
        let (review, reply) = agent
            .ask::<LocalReview>(request(AgentRole::Review, &folder), cx)
            .await
            .expect(name);
        assert_eq!(review.verdict, Verdict::Approve, "{name}");
        assert!(
            reply.warnings.iter().any(|w| w.contains("code 1")),
            "{name}: {:?}",
            reply.warnings
        );
    }
}

#[tokio::test]
async fn an_end_without_a_last_word_is_a_crash_also_with_exit_0() {
    let folder = TempDir::new().expect("a folder");
    for after in ["exit 0", "echo oops >&2; exit 1", "kill -9 $$"] {
        for (name, agent) in both(&folder, "hang-timeout", after) {
            let (cx, _) = step(Cancel::never());
            let error = agent
                .run(request(AgentRole::Review, &folder), cx)
                .await
                .expect_err(name);
            assert_eq!(
                error.kind,
                AgentErrorKind::Crashed,
                "{name} {after}: {error}"
            );
        }
    }
}

#[tokio::test]
async fn a_program_that_lingers_after_its_last_word_is_ended_and_believed() {
    let folder = TempDir::new().expect("a folder");
    let end = async |(name, agent): (&'static str, Box<dyn Agent>)| {
        let (cx, _) = step(Cancel::never());
        let mark = cx.mark.clone();
        let start = Instant::now();
        let reply = agent
            .run(request(AgentRole::Plan, &folder), cx)
            .await
            .expect(name);
        assert!(
            !reply.text.is_empty() && !reply.warnings.is_empty(),
            "{name}"
        );
        assert!(
            start.elapsed() < Duration::from_secs(30),
            "{name} took {:?}",
            start.elapsed()
        );
        assert_eq!(left_behind(&mark), Vec::<String>::new(), "{name}");
    };
    let agents = both(
        &folder,
        "json",
        "trap '' TERM INT; while :; do sleep 1; done",
    );
    // ten seconds to linger, five for the polite signal: both at once
    futures::future::join_all(agents.into_iter().map(end)).await;
}

#[tokio::test]
async fn a_child_that_holds_the_pipe_delays_nothing() {
    let folder = TempDir::new().expect("a folder");
    for (name, agent) in both(&folder, "json", "setsid sleep 300 & exit 0") {
        let (cx, _) = step(Cancel::never());
        let mark = cx.mark.clone();
        let start = Instant::now();
        agent
            .run(request(AgentRole::Plan, &folder), cx)
            .await
            .expect(name);
        assert!(
            start.elapsed() < Duration::from_secs(8),
            "{name} took {:?}",
            start.elapsed()
        );
        assert_eq!(left_behind(&mark), Vec::<String>::new(), "{name}");
    }
}

#[tokio::test]
async fn long_lines_and_noise_do_not_hide_the_answer() {
    let folder = TempDir::new().expect("a folder");
    let noise = "head -c 3000000 /dev/zero | tr '\\0' x; echo; echo '{\"type\":\"new.thing\",\"x\":[1]}'; printf '{\"type\":'";
    for (name, agent) in both(&folder, "json", noise) {
        let (cx, seen) = step(Cancel::never());
        agent
            .run(request(AgentRole::Plan, &folder), cx)
            .await
            .expect(name);
        let long =
            |e: &StepEvent| matches!(e, StepEvent::Output { line } if line.len() == 3_000_000);
        assert!(seen.all().iter().any(long), "{name}");
    }
}

#[tokio::test]
async fn dropping_the_call_ends_every_process_at_once() {
    let folder = TempDir::new().expect("a folder");
    for (name, agent) in both(
        &folder,
        "hang-timeout",
        "setsid sleep 300 & echo ready; trap '' TERM INT; sleep 301",
    ) {
        let (cx, seen) = step(Cancel::never());
        let mark = cx.mark.clone();
        let ready = |e: &StepEvent| {
            *e == StepEvent::Output {
                line: "ready".into(),
            }
        };
        tokio::select! {
            outcome = agent.run(request(AgentRole::Plan, &folder), cx) => panic!("{name} ended: {outcome:?}"),
            () = seen.wait(ready) => {}
        }
        assert_eq!(left_behind(&mark), Vec::<String>::new(), "{name}");
    }
}

#[tokio::test]
async fn a_program_that_ignores_the_polite_signal_is_killed() {
    let folder = TempDir::new().expect("a folder");
    for (name, agent) in both(
        &folder,
        "hang-timeout",
        "trap '' TERM INT; echo ready; while :; do sleep 1; done",
    ) {
        let (canceller, cancel) = Cancel::new();
        let (cx, seen) = step(cancel);
        let mark = cx.mark.clone();
        let start = Instant::now();
        let stop = async {
            seen.wait(|e| {
                *e == StepEvent::Output {
                    line: "ready".into(),
                }
            })
            .await;
            canceller.cancel(CancelReason::User);
        };
        let (outcome, ()) = futures::join!(agent.run(request(AgentRole::Plan, &folder), cx), stop);
        assert_eq!(
            outcome.expect_err(name).kind,
            AgentErrorKind::Cancelled,
            "{name}"
        );
        assert!(
            start.elapsed() < Duration::from_secs(15),
            "{name} took {:?}",
            start.elapsed()
        );
        assert_eq!(left_behind(&mark), Vec::<String>::new(), "{name}");
    }
}

#[tokio::test]
async fn the_transcript_is_kept_with_secrets_masked_and_private() {
    let folder = TempDir::new().expect("a folder");
    let key = format!("ghp_{}", "a1B2".repeat(9));
    for (name, agent) in both(&folder, "json", &format!("echo 'a {key} b'")) {
        let (cx, _) = step(Cancel::never());
        let asked = AgentRequest {
            scratch: Some(folder.path().join("run")),
            ..request(AgentRole::Plan, &folder)
        };
        let reply = agent.run(asked, cx).await.expect(name);
        let path = reply.transcript.expect("a transcript");
        let text = std::fs::read_to_string(&path).expect("it is there");
        assert!(
            text.contains("looks fine") || text.contains("approve"),
            "{name}"
        );
        assert!(
            text.contains("redacted:github") && !text.contains(&key),
            "{name}: {text}"
        );
        let mode = std::fs::metadata(&path)
            .expect("metadata")
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
}
