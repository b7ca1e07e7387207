//! The scripted agent's behaviour.

use std::path::Path;

use serde_json::json;
use tempfile::TempDir;
use xiv_agents::{Host, ScriptedAgent};
use xiv_core::model::Pass;
use xiv_core::port::{
    Agent, AgentErrorKind, AgentRequest, AgentRole, Cancel, CancelReason, StepEvent, SystemRules,
};
use xiv_core::rt::process::Environment;

use crate::support::{left_behind, step};

fn agent(text: &str) -> ScriptedAgent {
    let environment = Environment::empty().with("PATH", std::env::var_os("PATH").expect("PATH"));
    ScriptedAgent::parse(Host::new(environment), "script.toml", text).expect("a valid script")
}

fn request(role: AgentRole, pass: u32, tree: &Path) -> AgentRequest {
    AgentRequest {
        pass: Pass::new(pass),
        ..AgentRequest::new(role, "p", SystemRules::new(), tree)
    }
}

#[tokio::test]
async fn the_first_unused_matching_turn_answers() {
    let tree = TempDir::new().expect("a folder");
    let agent = agent(
        r#"
        [[turn]]
        role = "review"
        pass = 2
        text = "second pass"
        [[turn]]
        role = "review"
        reply = { verdict = "approve", summary = "any pass" }
        [[turn]]
        role = "implement"
        text = "work"
        "#,
    );
    let ask = async |role, pass| {
        agent
            .run(request(role, pass, tree.path()), step(Cancel::never()).0)
            .await
    };
    assert_eq!(
        ask(AgentRole::Implement, 1).await.expect("a turn").text,
        "work"
    );
    let first = ask(AgentRole::Review, 1).await.expect("a turn");
    assert_eq!(
        first.json,
        Some(json!({"verdict": "approve", "summary": "any pass"}))
    );
    assert_eq!(
        ask(AgentRole::Review, 2).await.expect("a turn").text,
        "second pass"
    );
    let none = ask(AgentRole::Review, 3).await.expect_err("none is left");
    assert_eq!(none.kind, AgentErrorKind::Crashed);
    assert_eq!(
        none.message,
        "the script script.toml has no unused turn left for review in pass 3"
    );
}

#[tokio::test]
async fn a_turn_changes_the_work_tree_then_runs_then_tells() {
    let tree = TempDir::new().expect("a folder");
    std::fs::write(tree.path().join("old"), "").expect("a file");
    let agent = agent(
        r#"
        [[turn]]
        role = "implement"
        delete = ["old"]
        write = { "deep/new" = "text" }
        run = "cp deep/new copy; test ! -e old; echo ran; setsid sleep 300 & true"
        events = ["halfway"]
        text = "done"
        "#,
    );
    let (cx, seen) = step(Cancel::never());
    let mark = cx.mark.clone();
    agent
        .run(request(AgentRole::Implement, 1, tree.path()), cx)
        .await
        .expect("a turn");
    assert_eq!(
        std::fs::read_to_string(tree.path().join("copy")).expect("copied"),
        "text"
    );
    assert!(!tree.path().join("old").exists());
    let seen = seen.all();
    let ran = seen
        .iter()
        .position(|e| *e == StepEvent::Output { line: "ran".into() })
        .expect("ran");
    let told = seen
        .iter()
        .position(|e| {
            *e == StepEvent::Text {
                text: "halfway".into(),
            }
        })
        .expect("told");
    assert!(ran < told);
    assert_eq!(left_behind(&mark), Vec::<String>::new());
}

#[tokio::test]
async fn failures_are_of_their_kind() {
    let tree = TempDir::new().expect("a folder");
    for (ending, kind) in [
        ("fail = \"auth\"", AgentErrorKind::Auth),
        (
            "fail = \"quota\"",
            AgentErrorKind::Quota { resets_at: None },
        ),
        ("fail = \"crash\"", AgentErrorKind::Crashed),
        ("run = \"exit 4\"", AgentErrorKind::Crashed),
    ] {
        let agent = agent(&format!("[[turn]]\nrole = \"plan\"\n{ending}"));
        let error = agent
            .run(
                request(AgentRole::Plan, 1, tree.path()),
                step(Cancel::never()).0,
            )
            .await
            .expect_err("it fails");
        assert_eq!(error.kind, kind, "{ending}");
    }
}

#[tokio::test]
async fn hanging_and_waiting_end_with_the_signal() {
    let tree = TempDir::new().expect("a folder");
    for ending in [
        "fail = \"hang\"",
        "delay_ms = 600000",
        "run = \"sleep 300\"",
    ] {
        let (canceller, cancel) = Cancel::new();
        let (cx, _) = step(cancel);
        let mark = cx.mark.clone();
        let agent = agent(&format!("[[turn]]\nrole = \"plan\"\n{ending}"));
        let asked = request(AgentRole::Plan, 1, tree.path());
        let call = tokio::spawn(async move { agent.run(asked, cx).await });
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        assert!(!call.is_finished(), "{ending}");
        canceller.cancel(CancelReason::User);
        let error = call.await.expect("no panic").expect_err("cancelled");
        assert_eq!(error.kind, AgentErrorKind::Cancelled, "{ending}");
        assert_eq!(left_behind(&mark), Vec::<String>::new());
    }
}

#[tokio::test]
async fn a_link_does_not_lead_out_of_the_work_tree() {
    let tree = TempDir::new().expect("a folder");
    let outside = TempDir::new().expect("a folder");
    std::os::unix::fs::symlink(outside.path(), tree.path().join("link")).expect("a link");
    std::os::unix::fs::symlink(outside.path().join("f"), tree.path().join("file")).expect("a link");
    for write in ["link/x", "link/a/b", "file"] {
        let agent = agent(&format!(
            "[[turn]]\nrole = \"implement\"\nwrite = {{ \"{write}\" = \"x\" }}"
        ));
        let error = agent
            .run(
                request(AgentRole::Implement, 1, tree.path()),
                step(Cancel::never()).0,
            )
            .await
            .expect_err("refused");
        assert!(
            error.message.contains("leads out of the work tree"),
            "{}",
            error.message
        );
    }
    assert_eq!(
        std::fs::read_dir(outside.path()).expect("a folder").count(),
        0
    );
}
