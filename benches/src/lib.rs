//! Inputs of the benchmarks: runs over fakes, histories, prompts' commands,
//! diffs and answers of realistic size.
//!
//! `cargo bench -p xiv-benches` measures; `-- --test` only tries each once.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use futures::executor::block_on;
use xiv_core::drive::{Driver, DriverOptions, NewRunRequest, Ports, RunReport};
use xiv_core::flow::{Command, Machine, Next, Recorded, RunConfig, RunSpec};
use xiv_core::model::{
    Finding, ImplementInput, ImplementReport, Issue, IssueKey, LocalReview, MaxPasses, Plan, RunId,
    Severity, ValidationCommand, Verdict,
};
use xiv_core::port::{Agent, AgentRole, Cancel, Journal, NullObserver};
use xiv_core::test_support::{
    FakeAgent, FakeIssues, FakeProcesses, FakeValidator, FakeVcs, ManualClock, MemoryJournal,
    MemoryRunFiles, ScriptedReply,
};

/// The run of every fixture.
///
/// # Panics
/// Never: the id is a valid one.
#[must_use]
pub fn run_id(n: u64) -> RunId {
    RunId::parse(format!("0190aaaa-0000-7000-8000-{n:012x}")).expect("a valid id")
}

/// Everything around one run, all of it in memory.
#[derive(Debug)]
pub struct Dry {
    journal: Arc<dyn Journal>,
    driver: Driver,
    request: NewRunRequest,
}

impl Dry {
    /// A run that is done after this many passes: its tests always pass, its
    /// reviewer asks for changes until the last one.
    ///
    /// # Panics
    /// Never: keys and ids are valid.
    #[must_use]
    pub fn new(passes: u32) -> Self {
        let clock = ManualClock::new();
        let processes = FakeProcesses::new();
        let journal = MemoryJournal::new(clock.clone(), processes.clone());
        Self::over(Arc::new(journal), clock, processes, passes)
    }

    /// The same with this journal.
    ///
    /// # Panics
    /// Never: keys and ids are valid.
    pub fn over(
        journal: Arc<dyn Journal>,
        clock: ManualClock,
        processes: FakeProcesses,
        passes: u32,
    ) -> Self {
        let vcs = FakeVcs::with_files([("README.md", "hello\n")]);
        let agent: Arc<dyn Agent> = Arc::new(agent(&vcs, passes));
        let roles = [AgentRole::Plan, AgentRole::Implement, AgentRole::Review];
        let ports = Ports {
            issues: Arc::new(FakeIssues::new([issue()])),
            vcs: Arc::new(vcs),
            agents: BTreeMap::from(roles.map(|role| (role, Arc::clone(&agent)))),
            validator: Arc::new(FakeValidator::passing()),
            journal: Arc::clone(&journal),
            clock: Arc::new(clock),
            processes: Arc::new(processes),
            files: Arc::new(MemoryRunFiles::new()),
            human: None,
            observer: Arc::new(NullObserver),
        };
        let input = ImplementInput::new("AB-1").with_max_iterations(MaxPasses::MAX);
        let command = ValidationCommand {
            name: "test".to_owned(),
            run: "cargo test".to_owned(),
            timeout_ms: None,
        };
        Self {
            journal,
            driver: Driver::new(ports, DriverOptions::default(), run_id(0xd)),
            request: NewRunRequest {
                id: run_id(1),
                spec: RunSpec::Implement { input },
                config: RunConfig::new(vec![command]),
                seed: 7,
            },
        }
    }

    /// Gives the run another id, for a journal that holds several.
    #[must_use]
    pub fn with_run(mut self, id: RunId) -> Self {
        self.request.id = id;
        self
    }

    /// Drives the run to its end.
    ///
    /// # Panics
    /// When it cannot be driven.
    #[must_use]
    pub fn run(self) -> RunReport {
        block_on(self.driver.start(self.request, Cancel::never())).expect("the run can be driven")
    }

    /// Drives the run and returns what it recorded.
    ///
    /// # Panics
    /// When it cannot be driven.
    #[must_use]
    pub fn history(self) -> Vec<Recorded> {
        let journal = Arc::clone(&self.journal);
        let id = self.request.id.clone();
        let report = self.run();
        assert_eq!(report.output.outcome, xiv_core::model::Outcome::Done);
        block_on(journal.load(&id)).expect("it was recorded")
    }
}

/// The first command of a history that `wanted` finds.
///
/// # Panics
/// When there is none.
pub fn command<T>(history: &[Recorded], wanted: impl Fn(Command) -> Option<T>) -> T {
    (1..=history.len())
        .filter_map(|end| Machine::replay(&history[..end]).ok())
        .filter_map(|machine| match machine.next() {
            Next::Do(command) => wanted(command),
            Next::Wait(_) | Next::Finish(_) => None,
        })
        .next()
        .expect("the history has such a command")
}

fn issue() -> Issue {
    let key = IssueKey::parse("AB-1").expect("a valid key");
    Issue::new(key, "Say goodbye")
        .with_description("It says hello and never goodbye. ".repeat(40))
        .with_criteria((1..=8).map(|n| format!("criterion number {n} of this issue holds")))
}

fn agent(vcs: &FakeVcs, passes: u32) -> FakeAgent {
    let plan = Plan {
        summary: "the plan".to_owned(),
        steps: (1..=6).map(|n| format!("step {n}")).collect(),
    };
    let vcs = vcs.clone();
    let agent = FakeAgent::new("fake")
        .then(AgentRole::Plan, ScriptedReply::json(&plan))
        .always(AgentRole::Implement, move |request| {
            let pass = request.pass.map_or(0, |pass| pass.get());
            let report = ImplementReport {
                summary: format!("work of pass {pass}"),
                ..ImplementReport::default()
            };
            ScriptedReply::json(&report).writing(&vcs, "work.txt", format!("pass {pass}\n"))
        });
    for pass in 1..=passes {
        let verdict = if pass == passes {
            Verdict::Approve
        } else {
            Verdict::RequestChanges
        };
        agent.push(AgentRole::Review, ScriptedReply::json(&review(verdict)));
    }
    agent
}

/// A review with ten findings.
fn review(verdict: Verdict) -> LocalReview {
    let findings = (1..=10).map(|n| {
        Finding::new(
            format!("f{n}"),
            Severity::Medium,
            format!("finding {n}"),
            "what is wrong and why it matters ".repeat(6),
        )
        .at("work.txt", n)
    });
    LocalReview::new(verdict, "looked at it").with_findings(findings)
}

/// An agent's answer: a long text with drafts, code and braces in it, and the
/// review at its end.
///
/// # Panics
/// Never: a review is JSON.
#[must_use]
pub fn answer() -> String {
    let mut text = String::new();
    for n in 0..200 {
        let _ = writeln!(text, "Looking at `fn f{n}() {{ g({{\"n\": {n}}}) }}` …");
    }
    let review = serde_json::to_string_pretty(&review(Verdict::Comment)).expect("JSON");
    text.push_str("```json\n");
    text.push_str(&review);
    text.push_str("\n```\n");
    text
}

/// A git diff of this many files with two hunks each.
#[must_use]
pub fn diff(files: usize) -> Vec<u8> {
    let mut text = String::new();
    for n in 0..files {
        let _ = write!(
            text,
            "diff --git a/src/f{n}.rs b/src/f{n}.rs\nindex 1111111..2222222 100644\n\
             --- a/src/f{n}.rs\n+++ b/src/f{n}.rs\n"
        );
        for start in [10, 90] {
            let _ = writeln!(text, "@@ -{start},6 +{start},7 @@ fn f{n}() {{");
            text.push_str(
                " before\n before\n before\n-old line\n+new line\n+another\n after\n after\n",
            );
        }
    }
    text.into_bytes()
}
