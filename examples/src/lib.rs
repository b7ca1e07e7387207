//! What the examples share: a repository, a tracker and a journal in memory.
//!
//! The examples themselves are programs: `cargo run -p xiv-examples --example
//! pure_loop` and so on. Each can be read from top to bottom.

use std::collections::BTreeMap;
use std::sync::Arc;

use xiv_core::drive::{NewRunRequest, Ports};
use xiv_core::flow::{RunConfig, RunSpec};
use xiv_core::model::{ImplementInput, Issue, IssueKey, RunId, ValidationCommand};
use xiv_core::port::{Agent, AgentRole};
use xiv_core::test_support::{
    FakeIssues, FakeProcesses, FakeValidator, FakeVcs, ManualClock, MemoryJournal, MemoryRunFiles,
    RecordingObserver,
};

/// The error of any example: it is shown and ends the program.
pub type AnyError = Box<dyn std::error::Error>;

/// The issue of the examples.
///
/// # Errors
/// Never: the key is a valid one.
pub fn issue() -> Result<Issue, AnyError> {
    let key = IssueKey::parse("DEMO-1")?;
    Ok(Issue::new(key, "Say goodbye")
        .with_description("The program greets, but never says goodbye.")
        .with_criteria(["it says goodbye before it ends"]))
}

/// Configuration of a run with one validation command.
#[must_use]
pub fn config() -> RunConfig {
    RunConfig::new(vec![ValidationCommand {
        name: "test".to_owned(),
        run: "cargo test".to_owned(),
        timeout_ms: None,
    }])
}

/// A run of this issue.
///
/// # Errors
/// Never: the id is a valid one.
pub fn request(issue: &Issue) -> Result<NewRunRequest, AnyError> {
    Ok(NewRunRequest {
        id: RunId::parse("0190aaaa-0000-7000-8000-000000000001")?,
        spec: RunSpec::Implement {
            input: ImplementInput::new(issue.key.as_str()),
        },
        config: config(),
        seed: 7,
    })
}

/// Ports that touch nothing: one agent for every role, everything else a fake.
pub fn ports(
    issue: &Issue,
    agent: impl Agent,
    vcs: &FakeVcs,
    validator: &FakeValidator,
    observer: &RecordingObserver,
) -> Ports {
    let agent: Arc<dyn Agent> = Arc::new(agent);
    let roles = [AgentRole::Plan, AgentRole::Implement, AgentRole::Review];
    let clock = ManualClock::automatic();
    let processes = FakeProcesses::new();
    Ports {
        issues: Arc::new(FakeIssues::new([issue.clone()])),
        vcs: Arc::new(vcs.clone()),
        agents: BTreeMap::from(roles.map(|role| (role, Arc::clone(&agent)))),
        validator: Arc::new(validator.clone()),
        journal: Arc::new(MemoryJournal::new(clock.clone(), processes.clone())),
        clock: Arc::new(clock),
        processes: Arc::new(processes),
        files: Arc::new(MemoryRunFiles::new()),
        human: None,
        observer: Arc::new(observer.clone()),
    }
}
