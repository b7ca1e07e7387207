//! The rules of the [`Agent`] port.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures::future::join;
use serde_json::{Value, json};

use super::mark_in;
use crate::model::{ImplementReport, LocalReview, Verdict};
use crate::port::{
    Agent, AgentErrorKind, AgentExt as _, AgentRequest, AgentRole, Cancel, CancelReason, Clock,
    StepContext, SystemRules,
};

/// What the suite wants the agent's program or server to do in one call.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "a bench must set up each")]
pub enum AgentScript {
    /// Answers with this JSON value.
    Answers(Value),
    /// Answers with this text, which is no JSON.
    Says(&'static str),
    /// Writes a file into the work tree, then answers with this JSON value.
    Writes {
        /// The file's path in the work tree.
        path: &'static str,
        /// What to write.
        content: &'static str,
        /// The answer.
        answer: Value,
    },
    /// Falls silent for good.
    Hangs,
    /// Ends without a word, as a program that crashes.
    Crashes,
}

/// An agent under test and what surrounds it.
#[async_trait]
pub trait AgentBench: Send + Sync {
    /// Makes an agent whose next call goes like this. `None` when this kind of
    /// agent cannot be made to; the case is left out.
    async fn agent(&self, script: AgentScript) -> Option<Arc<dyn Agent>>;

    /// Makes an agent whose program does not exist; `None` when there is no
    /// program.
    async fn missing(&self) -> Option<Arc<dyn Agent>>;

    /// The clock.
    fn clock(&self) -> Arc<dyn Clock>;

    /// The work tree.
    fn cwd(&self) -> PathBuf;

    /// Reads a file of the work tree.
    fn read(&self, path: &str) -> Option<String>;

    /// How many processes with this mark are alive.
    fn left_behind(&self, mark: &str) -> usize;
}

/// Runs every case.
///
/// # Panics
/// When a rule is broken.
pub async fn agent(bench: &dyn AgentBench) {
    it_has_a_name_and_can_be_looked_at(bench).await;
    a_structured_answer_arrives(bench).await;
    prose_is_no_review(bench).await;
    a_review_without_a_verdict_is_none(bench).await;
    what_it_wrote_is_in_the_work_tree(bench).await;
    a_crash_is_an_error(bench).await;
    a_missing_program_is_said(bench).await;
    the_stop_signal_ends_it(bench).await;
}

fn step(bench: &dyn AgentBench) -> StepContext {
    StepContext::new(bench.clock(), mark_in(&bench.cwd()))
}

fn request(bench: &dyn AgentBench, role: AgentRole) -> AgentRequest {
    AgentRequest::new(role, "Do as you are told.", SystemRules::new(), bench.cwd())
}

fn assert_alone(bench: &dyn AgentBench, after: &str) {
    let left = bench.left_behind(&mark_in(&bench.cwd()));
    assert_eq!(left, 0, "processes are left after {after}");
}

fn review(verdict: &str) -> Value {
    json!({ "verdict": verdict, "summary": "looked at it", "findings": [], "reviewed": ["a.rs"] })
}

async fn it_has_a_name_and_can_be_looked_at(bench: &dyn AgentBench) {
    let Some(agent) = bench.agent(AgentScript::Says("hello")).await else {
        return;
    };
    assert!(!agent.id().trim().is_empty(), "an agent has a name");
    assert_eq!(agent.id(), agent.id(), "the name stays the same");
    assert_eq!(agent.caps(), agent.caps(), "what it can do stays the same");
    agent
        .preflight(step(bench))
        .await
        .unwrap_or_else(|error| panic!("it can be used, but preflight says: {error}"));
    assert_alone(bench, "preflight");
}

async fn a_structured_answer_arrives(bench: &dyn AgentBench) {
    for (word, verdict) in [
        ("approve", Verdict::Approve),
        ("request_changes", Verdict::RequestChanges),
        ("comment", Verdict::Comment),
    ] {
        let script = AgentScript::Answers(review(word));
        let Some(agent) = bench.agent(script).await else {
            return;
        };
        let (review, reply) = agent
            .ask::<LocalReview>(request(bench, AgentRole::Review), step(bench))
            .await
            .unwrap_or_else(|error| panic!("a review was given, but: {error}"));
        assert_eq!(review.verdict, verdict);
        assert_eq!(review.summary, "looked at it");
        assert_eq!(reply.usage.calls, 1, "one call is one call");
        assert_alone(bench, "an answer");
    }
}

async fn prose_is_no_review(bench: &dyn AgentBench) {
    let prose = "I found no issues. This looks good to me, approve!";
    let Some(agent) = bench.agent(AgentScript::Says(prose)).await else {
        return;
    };
    let error = agent
        .ask::<LocalReview>(request(bench, AgentRole::Review), step(bench))
        .await
        .expect_err("prose is not a review");
    assert_eq!(error.kind, AgentErrorKind::Unparseable, "{error}");
    assert_eq!(error.usage.calls, 1, "what the call used stays known");
    assert_alone(bench, "prose");
}

async fn a_review_without_a_verdict_is_none(bench: &dyn AgentBench) {
    for answer in [
        json!({ "summary": "fine" }),
        review(""),
        review("lgtm"),
        json!({ "verdict": null, "summary": "fine" }),
    ] {
        let script = AgentScript::Answers(answer.clone());
        let Some(agent) = bench.agent(script).await else {
            return;
        };
        let error = agent
            .ask::<LocalReview>(request(bench, AgentRole::Review), step(bench))
            .await
            .expect_err("a review without a verdict is not a review");
        assert_eq!(error.kind, AgentErrorKind::Unparseable, "{answer}: {error}");
    }
}

async fn what_it_wrote_is_in_the_work_tree(bench: &dyn AgentBench) {
    let script = AgentScript::Writes {
        path: "written.txt",
        content: "by the agent\n",
        answer: json!({ "summary": "wrote it", "filesChanged": ["written.txt"] }),
    };
    let Some(agent) = bench.agent(script).await else {
        return;
    };
    let (report, _) = agent
        .ask::<ImplementReport>(request(bench, AgentRole::Implement), step(bench))
        .await
        .unwrap_or_else(|error| panic!("it reported, but: {error}"));
    assert_eq!(report.files_changed, ["written.txt"]);
    let found = bench.read("written.txt");
    assert_eq!(found.as_deref(), Some("by the agent\n"));
    assert_alone(bench, "its work");
}

async fn a_crash_is_an_error(bench: &dyn AgentBench) {
    let Some(agent) = bench.agent(AgentScript::Crashes).await else {
        return;
    };
    let error = agent
        .run(request(bench, AgentRole::Implement), step(bench))
        .await
        .expect_err("it gave no answer");
    assert_eq!(error.kind, AgentErrorKind::Crashed, "{error}");
    assert!(!error.message.trim().is_empty(), "it says what happened");
    assert_alone(bench, "a crash");
}

async fn a_missing_program_is_said(bench: &dyn AgentBench) {
    let Some(agent) = bench.missing().await else {
        return;
    };
    let is_said =
        |kind: &AgentErrorKind| matches!(kind, AgentErrorKind::Config | AgentErrorKind::Crashed);
    let error = agent
        .preflight(step(bench))
        .await
        .expect_err("its program is missing");
    assert!(is_said(&error.kind), "preflight: {:?} {error}", error.kind);
    let error = agent
        .run(request(bench, AgentRole::Plan), step(bench))
        .await
        .expect_err("its program is missing");
    assert!(is_said(&error.kind), "run: {:?} {error}", error.kind);
}

async fn the_stop_signal_ends_it(bench: &dyn AgentBench) {
    for delay in [Duration::ZERO, Duration::from_millis(300)] {
        let Some(agent) = bench.agent(AgentScript::Hangs).await else {
            return;
        };
        let clock = bench.clock();
        let (canceller, cancel) = Cancel::new();
        let stop = async {
            clock.sleep(delay).await;
            canceller.cancel(CancelReason::User);
        };
        let call = agent.run(
            request(bench, AgentRole::Implement),
            step(bench).with_cancel(cancel),
        );
        let (result, ()) = join(call, stop).await;
        match result {
            Err(error) => assert_eq!(error.kind, AgentErrorKind::Cancelled, "{error}"),
            Ok(reply) => panic!("stopped after {delay:?} it answered {reply:?}"),
        }
        assert_alone(bench, "the stop signal");
    }
}
