//! The command lines.

use std::path::Path;

use serde_json::json;
use xiv_core::port::{Access, AgentRequest, AgentRole, Effort, Session, SystemRules, TurnLimits};

use super::plan;
use crate::claude::ClaudeOptions;

fn line(request: &AgentRequest) -> String {
    let plan = plan(
        request,
        &ClaudeOptions::default(),
        Some(Path::new("/scratch")),
    );
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
    .with_schema(json!({"$schema": "x", "type": "object"}))
}

#[test]
fn a_review_can_only_read_and_is_not_stored() {
    insta::assert_snapshot!(line(&request(AgentRole::Review)));
}

#[test]
fn a_working_agent_may_write_and_be_resumed() {
    let mut request = request(AgentRole::Implement);
    request.limits = TurnLimits {
        turns: Some(7),
        budget_usd: Some(1.5),
    };
    let fresh = line(&request);
    assert!(
        fresh.contains("Bash,Edit,Read,Write")
            && fresh.contains("--max-turns\n7\n--max-budget-usd\n1.5"),
        "{fresh}"
    );
    assert!(!fresh.contains("--no-session-persistence"), "{fresh}");
    let resumed = line(
        &request
            .clone()
            .with_session(Session::Resume("the-session".into())),
    );
    assert!(resumed.contains("--resume\nthe-session"), "{resumed}");
    request.access = Access::Full;
    assert!(line(&request).contains("--permission-mode\nbypassPermissions"));
}

#[test]
fn background_tasks_and_own_retries_are_off() {
    let plan = plan(&request(AgentRole::Plan), &ClaudeOptions::default(), None);
    let set: Vec<_> = plan
        .set
        .iter()
        .map(|(name, value)| format!("{name}={}", value.to_string_lossy()))
        .collect();
    assert!(
        set.contains(&"CLAUDE_CODE_DISABLE_BACKGROUND_TASKS=1".to_owned()),
        "{set:?}"
    );
    assert!(
        set.contains(&"CLAUDE_CODE_MAX_RETRIES=2".to_owned()),
        "{set:?}"
    );
}
