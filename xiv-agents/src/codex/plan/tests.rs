//! The command lines.

use std::path::Path;

use serde_json::json;
use xiv_core::port::{AgentRequest, AgentRole, Effort, Session, SystemRules};

use super::plan;
use crate::codex::CodexOptions;

fn line(request: &AgentRequest, options: &CodexOptions) -> String {
    let plan = plan(request, options, Path::new("/scratch"));
    let words = plan.args.iter().map(|word| {
        word.to_string_lossy()
            .replace(SystemRules::NEVER_MERGE, "RULES")
    });
    words.collect::<Vec<_>>().join("\n")
}

fn request(role: AgentRole) -> AgentRequest {
    AgentRequest {
        model: Some("m".into()),
        effort: Some(Effort("high".into())),
        ..AgentRequest::new(role, "the prompt", SystemRules::new(), "/tree")
    }
    .with_schema(json!({"type": "object"}))
}

#[test]
fn a_review_is_read_only_and_ephemeral() {
    let plan = plan(
        &request(AgentRole::Review),
        &CodexOptions::default(),
        Path::new("/scratch"),
    );
    assert_eq!(plan.stdin, "the prompt");
    assert_eq!(plan.files[0].0, Path::new("/scratch/schema.json"));
    insta::assert_snapshot!(line(&request(AgentRole::Review), &CodexOptions::default()));
}

#[test]
fn a_working_agent_may_write_and_be_resumed() {
    let line = line(&request(AgentRole::Implement), &CodexOptions::default());
    assert!(
        line.contains("-s\nworkspace-write") && !line.contains("--ephemeral"),
        "{line}"
    );
}

#[test]
fn a_resumed_session_takes_its_sandbox_as_a_setting() {
    let request = request(AgentRole::Plan).with_session(Session::Resume("the-thread".into()));
    let options = CodexOptions {
        extra_args: vec!["-c".into(), "x=1".into()],
        ..CodexOptions::default()
    };
    let line = line(&request, &options);
    assert!(line.starts_with("exec\nresume\n-c\nx=1\n"), "{line}");
    assert!(
        line.contains("sandbox_mode=\"read-only\"") && line.ends_with("the-thread\n-"),
        "{line}"
    );
    assert!(
        !line.contains("\n-s\n") && !line.contains("\n-C\n"),
        "{line}"
    );
}
