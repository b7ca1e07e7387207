//! Asking an agent for a typed answer: what is ignored is said, and what does
//! not fit is an error that keeps the text.

use std::sync::{Arc, Mutex};

use futures::executor::block_on;
use xiv_core::model::{LocalReview, Verdict};
use xiv_core::port::{
    AgentErrorKind, AgentExt, AgentRequest, AgentRole, Events, StepEvent, SystemRules,
};
use xiv_core::test_support::{FakeAgent, ManualClock, ScriptedReply, context};

fn request() -> AgentRequest {
    AgentRequest::new(AgentRole::Review, "look", SystemRules::new(), "/repo")
}

#[test]
fn unknown_fields_are_named_and_do_no_harm() {
    let text = r#"{"verdict":"comment","summary":"s","mood":"good","findings":
        [{"id":"a","severity":"low","title":"t","body":"b","score":1}]}"#;
    let agent = FakeAgent::new("a").then(AgentRole::Review, ScriptedReply::text(text));
    let seen = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&seen);
    let cx = context(&ManualClock::automatic()).with_events(Events::new(move |event| {
        if let StepEvent::Warning { message } = event {
            sink.lock().expect("not poisoned").push(message);
        }
    }));
    let (review, reply) = block_on(agent.ask::<LocalReview>(request(), cx)).expect("a review");
    assert_eq!(review.verdict, Verdict::Comment);
    let said = "unknown fields of the answer were ignored: mood, findings[0].score";
    assert_eq!(reply.warnings, [said]);
    assert_eq!(*seen.lock().expect("not poisoned"), [said]);
}

#[test]
fn an_answer_without_a_verdict_is_no_review() {
    for text in [
        "LGTM",
        r#"{"verdict":"","summary":"s"}"#,
        r#"{"summary":"s"}"#,
    ] {
        let agent = FakeAgent::new("a").then(AgentRole::Review, ScriptedReply::text(text));
        let cx = context(&ManualClock::automatic());
        let error = block_on(agent.ask::<LocalReview>(request(), cx)).expect_err("no review");
        assert_eq!(error.kind, AgentErrorKind::Unparseable);
        assert_eq!(error.raw.as_deref(), Some(text));
    }
}
