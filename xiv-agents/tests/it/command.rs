//! The contract of a command agent.

use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;
use xiv_agents::{CommandAgent, Host};
use xiv_core::model::{LocalReview, Pass, RunId, Verdict};
use xiv_core::port::{
    Agent, AgentError, AgentErrorKind, AgentExt, AgentReply, AgentRequest, AgentRole, Cancel,
    CancelReason, StepEvent, SystemRules, TimeoutKind,
};
use xiv_core::rt::process::Environment;

use crate::support::{left_behind, step};

fn host() -> Host {
    let path = std::env::var_os("PATH").expect("PATH");
    // what an outer run would leave in the environment
    Host::new(
        Environment::empty()
            .with("PATH", path)
            .with("XIV_PASS", "9")
            .with("XIV_SCHEMA_FILE", "/nowhere"),
    )
}

fn shell(script: &str) -> CommandAgent {
    CommandAgent::new(
        host(),
        "test",
        vec!["sh".into(), "-c".into(), script.into()],
    )
    .expect("a command")
}

fn request(role: AgentRole, tree: &Path) -> AgentRequest {
    AgentRequest::new(role, "the prompt", SystemRules::new(), tree)
}

async fn run(script: &str, request: AgentRequest) -> Result<AgentReply, AgentError> {
    shell(script).run(request, step(Cancel::never()).0).await
}

#[tokio::test]
async fn the_contract_is_in_the_environment_and_the_prompt_on_standard_input() {
    let tree = TempDir::new().expect("a folder");
    let mut request =
        request(AgentRole::Implement, tree.path()).with_schema(json!({"type": "object"}));
    request.pass = Pass::new(2);
    request.run = Some(RunId::parse("01234567-89ab-7cde-8f01-23456789abcd").expect("a run id"));
    request.env.insert("EXTRA".into(), "x".into());
    let script = r#"cat > prompt; cat "$XIV_SCHEMA_FILE" > schema; pwd > cwd
        echo "$XIV_ROLE $XIV_PASS $XIV_RUN_ID $EXTRA" > env; echo '{"summary":"ok"}' > "$XIV_RESULT_FILE"; echo noise"#;
    let reply = run(script, request).await.expect("it ran");
    let read = |name: &str| std::fs::read_to_string(tree.path().join(name)).expect(name);
    assert_eq!(reply.text, "{\"summary\":\"ok\"}\n");
    assert!(
        read("prompt").ends_with("the prompt") && read("prompt").contains(SystemRules::NEVER_MERGE)
    );
    assert_eq!(
        serde_json::from_str::<Value>(&read("schema")).expect("JSON"),
        json!({"type": "object"})
    );
    assert_eq!(
        read("env"),
        "implement 2 01234567-89ab-7cde-8f01-23456789abcd x\n"
    );
    assert_eq!(
        Path::new(read("cwd").trim()),
        tree.path().canonicalize().expect("a path")
    );
}

#[tokio::test]
async fn outside_passes_and_without_a_schema_the_variables_are_unset() {
    let tree = TempDir::new().expect("a folder");
    let script =
        r#"echo "${XIV_PASS-unset} ${XIV_SCHEMA_FILE-unset} ${XIV_RUN_ID-unset} $XIV_ROLE""#;
    let reply = run(script, request(AgentRole::Plan, tree.path()))
        .await
        .expect("it ran");
    assert_eq!(reply.text, "unset unset unset plan\n");
}

#[tokio::test]
async fn without_a_result_file_the_last_object_on_standard_output_counts() {
    let tree = TempDir::new().expect("a folder");
    let agent = shell(
        r#"echo thinking '{"verdict":"approve","summary":"draft"}'
        echo '{"verdict":"request_changes","summary":"real","findings":[]}'"#,
    );
    let (cx, _) = step(Cancel::never());
    let (review, _) = agent
        .ask::<LocalReview>(request(AgentRole::Review, tree.path()), cx)
        .await
        .expect("a review");
    assert_eq!(review.verdict, Verdict::RequestChanges);
}

#[tokio::test]
async fn a_failing_exit_is_a_crash_even_with_a_result_file() {
    let tree = TempDir::new().expect("a folder");
    let script =
        r#"echo '{"verdict":"approve","summary":"s"}' > "$XIV_RESULT_FILE"; echo oops >&2; exit 3"#;
    let error = run(script, request(AgentRole::Review, tree.path()))
        .await
        .expect_err("it crashed");
    assert_eq!(error.kind, AgentErrorKind::Crashed);
    assert!(
        error.message.contains("code 3") && error.message.contains("oops"),
        "{}",
        error.message
    );
}

#[tokio::test]
async fn an_earlier_result_is_never_taken_for_this_one() {
    let tree = TempDir::new().expect("a folder");
    let scratch = TempDir::new().expect("a folder");
    let mut asked = request(AgentRole::Review, tree.path());
    asked.scratch = Some(scratch.path().to_owned());
    let first = run(r#"echo '{"a":1}' > "$XIV_RESULT_FILE""#, asked.clone())
        .await
        .expect("it ran");
    assert_eq!(first.text, "{\"a\":1}\n");
    let second = run("true", asked).await.expect("it ran");
    assert_eq!(second.text, "");
}

#[tokio::test]
async fn a_missing_program_is_a_crash_at_preflight_and_at_the_run() {
    let tree = TempDir::new().expect("a folder");
    let agent =
        CommandAgent::new(host(), "test", vec!["no-such-program-here".into()]).expect("a command");
    let (cx, _) = step(Cancel::never());
    assert_eq!(
        agent.preflight(cx.clone()).await.expect_err("missing").kind,
        AgentErrorKind::Crashed
    );
    let error = agent
        .run(request(AgentRole::Plan, tree.path()), cx)
        .await
        .expect_err("missing");
    assert_eq!(error.kind, AgentErrorKind::Crashed);
    assert!(CommandAgent::new(host(), "test", vec![]).is_err());
}

#[tokio::test]
async fn cancelling_leaves_no_process_whatever_it_started() {
    let tree = TempDir::new().expect("a folder");
    for (reason, kind) in [
        (CancelReason::User, AgentErrorKind::Cancelled),
        (
            CancelReason::TimedOutIdle,
            AgentErrorKind::TimedOut(TimeoutKind::Idle),
        ),
    ] {
        let (canceller, cancel) = Cancel::new();
        let (cx, seen) = step(cancel);
        let mark = cx.mark.clone();
        let agent = shell("setsid sleep 300 & nohup sleep 301 >/dev/null & echo ready; sleep 302");
        let asked = request(AgentRole::Implement, tree.path());
        let call = tokio::spawn(async move { agent.run(asked, cx).await });
        seen.wait(|event| {
            *event
                == StepEvent::Output {
                    line: "ready".into(),
                }
        })
        .await;
        assert!(!left_behind(&mark).is_empty());
        canceller.cancel(reason);
        assert_eq!(
            call.await.expect("no panic").expect_err("cancelled").kind,
            kind
        );
        assert_eq!(left_behind(&mark), Vec::<String>::new());
        assert!(matches!(seen.all()[0], StepEvent::Started { pid, .. } if pid > 0));
    }
}

#[tokio::test]
async fn a_doubled_key_is_no_answer() {
    let tree = TempDir::new().expect("a folder");
    let twice = r#"{"verdict":"request_changes","summary":"s","verdict":"approve"}"#;
    for target in ["", r#" > "$XIV_RESULT_FILE""#] {
        let (cx, _) = step(Cancel::never());
        let error = shell(&format!("echo '{twice}'{target}"))
            .ask::<LocalReview>(request(AgentRole::Review, tree.path()), cx)
            .await
            .expect_err("two verdicts are none");
        assert_eq!(error.kind, AgentErrorKind::Unparseable);
    }
}
