//! Events for the cases: small, and of every kind that a journal looks at.

use std::collections::BTreeMap;

use crate::flow::{BudgetLimits, CORE_VERSION, Event, GuardStatus, RunConfig, RunSpec, Wait};
use crate::model::{
    BranchName, CommitId, ImplementInput, ImplementOutput, Outcome, Pass, RunId, StepId, TreeId,
    Usage,
};
use crate::port::GateAnswer;

fn step(id: &str) -> StepId {
    StepId::parse(id).expect("a step id")
}

fn tree() -> TreeId {
    TreeId::parse("a".repeat(40)).expect("a tree id")
}

fn commit() -> CommitId {
    CommitId::parse("c".repeat(40)).expect("a commit id")
}

/// Changes nothing in a list.
pub(super) fn denied() -> Event {
    Event::Denied {
        step: step("implement#1"),
        rule: "push".to_owned(),
        argv: ["git", "push", "--force"].map(str::to_owned).to_vec(),
    }
}

pub(super) fn run_started(run: &RunId) -> Event {
    let mut config = RunConfig::new(Vec::new());
    config.budget = BudgetLimits {
        usd: Some(0.1 + 0.2),
        ..BudgetLimits::default()
    };
    config.steps = BTreeMap::new();
    Event::RunStarted {
        run: run.clone(),
        spec: RunSpec::Implement {
            input: ImplementInput::new("KEY-1 \u{1f980} \"quoted\"\n\u{0}"),
        },
        config,
        core_version: CORE_VERSION,
        seed: u64::MAX,
        guard: GuardStatus::Shims,
    }
}

pub(super) fn branch_prepared() -> Event {
    Event::BranchPrepared {
        step: step("prepare"),
        branch: BranchName::parse("feat/key-1").expect("a branch"),
        base: "main".to_owned(),
        start: commit(),
        start_tree: tree(),
        reused: false,
        behind: 0,
        root: "/home/me/repo".to_owned(),
    }
}

pub(super) fn implement_started(pass: u32) -> Event {
    Event::StepStarted {
        step: step(&format!("implement#{pass}")),
        tree: None,
        attempt: 1,
        prompt_sha256: None,
    }
}

pub(super) fn gate_raised() -> Event {
    Event::GateRaised {
        gate: "implement#1".to_owned(),
        pass: Pass::FIRST,
        tree: tree(),
    }
}

pub(super) fn gate_answered() -> Event {
    Event::GateAnswered {
        gate: "implement#1".to_owned(),
        answer: GateAnswer {
            tree: tree(),
            notes: Vec::new(),
            patch: String::new(),
        },
    }
}

pub(super) fn suspended(wait: Wait) -> Event {
    Event::Suspended {
        wait,
        usage: Usage::default(),
        session: None,
    }
}

pub(super) fn resumed() -> Event {
    Event::Resumed { budget: None }
}

pub(super) fn finished(run: &RunId, outcome: Outcome) -> Event {
    let output = ImplementOutput {
        branch: None,
        head_sha: None,
        issue_key: None,
        title: String::new(),
        acceptance_criteria: Vec::new(),
        summary: String::new(),
        review_verdict: None,
        known_gaps: Vec::new(),
        outstanding: Vec::new(),
        evidence: Vec::new(),
        review_failures: Vec::new(),
        incoherent: false,
        outcome,
        passes: 1,
        run_id: run.clone(),
        usage: Usage::default(),
        worktree: None,
        paused_until: None,
        failed_step: None,
        error: None,
    };
    Event::RunFinished { outcome, output }
}
