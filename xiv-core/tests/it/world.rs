//! One implement run over fakes, told as a script: what validation and review
//! say in each pass.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures::executor::block_on;
use xiv_core::drive::{DriveError, Driver, DriverOptions, NewRunRequest, Ports, RunReport};
use xiv_core::flow::{RunConfig, RunSpec};
use xiv_core::model::{
    BranchName, Finding, ImplementInput, ImplementReport, Issue, IssueKey, LocalReview, MaxPasses,
    Plan, RunId, Severity, ValidationCommand, Verdict,
};
use xiv_core::port::{Agent, AgentErrorKind, AgentRole, Cancel, Journal};
use xiv_core::test_support::{
    FakeAgent, FakeIssues, FakeProcesses, FakeValidator, FakeVcs, ManualClock, MemoryJournal,
    MemoryRunFiles, RecordingObserver, ScriptedReply, ScriptedValidation,
};

/// The run of every world.
pub(crate) fn run_id() -> RunId {
    RunId::parse("0190aaaa-0000-7000-8000-000000000001").expect("a valid id")
}

/// A fresh driver id.
pub(crate) fn driver_id(n: u32) -> RunId {
    RunId::parse(format!("0190aaaa-0000-7000-8000-0000000d{n:04x}")).expect("a valid id")
}

/// Everything around one run.
pub(crate) struct World {
    pub(crate) issues: FakeIssues,
    pub(crate) vcs: FakeVcs,
    pub(crate) agent: FakeAgent,
    pub(crate) validator: FakeValidator,
    pub(crate) journal: Arc<dyn Journal>,
    pub(crate) memory: MemoryJournal,
    pub(crate) clock: ManualClock,
    pub(crate) processes: FakeProcesses,
    pub(crate) files: MemoryRunFiles,
    pub(crate) observer: RecordingObserver,
    pub(crate) input: ImplementInput,
    pub(crate) config: RunConfig,
}

impl World {
    /// A repository with one file, an issue, a planner, and an implementing
    /// agent that changes the work tree in every pass.
    pub(crate) fn new(cap: i64) -> Self {
        let clock = ManualClock::automatic();
        let processes = FakeProcesses::new();
        let vcs = FakeVcs::with_files([("README.md", "hello\n")]);
        let key = IssueKey::parse("AB-1").expect("a valid key");
        let issue = Issue::new(key, "Say goodbye")
            .with_description("It only says hello.")
            .with_criteria(["says goodbye"]);
        let memory = MemoryJournal::new(clock.clone(), processes.clone());
        let input = ImplementInput::new("AB-1").with_max_iterations(MaxPasses::clamped(cap));
        let command = ValidationCommand {
            name: "test".into(),
            run: "make test".into(),
            timeout_ms: None,
        };
        let world = Self {
            issues: FakeIssues::new([issue]),
            vcs: vcs.clone(),
            agent: FakeAgent::new("fake"),
            validator: FakeValidator::new(),
            journal: Arc::new(memory.clone()),
            memory,
            clock,
            processes,
            files: MemoryRunFiles::new(),
            observer: RecordingObserver::new(),
            input,
            config: RunConfig::new(vec![command]),
        };
        let plan = Plan {
            summary: "the plan".into(),
            steps: vec!["one".into()],
        };
        world
            .agent
            .push(AgentRole::Plan, ScriptedReply::json(&plan));
        world.agent.answer_by(AgentRole::Implement, move |request| {
            let pass = request.pass.expect("implement steps have a pass");
            let report = ImplementReport {
                summary: format!("work of pass {pass}"),
                ..ImplementReport::default()
            };
            ScriptedReply::json(&report).writing(&vcs, "work.txt", format!("pass {pass}\n"))
        });
        world
    }

    /// What validation says, pass by pass.
    pub(crate) fn validating(self, results: &[bool]) -> Self {
        for passed in results {
            self.validator.push(if *passed {
                ScriptedValidation::pass()
            } else {
                ScriptedValidation::fail()
            });
        }
        self
    }

    /// What the reviewer does, pass by pass.
    pub(crate) fn reviewing(self, reviews: impl IntoIterator<Item = ScriptedReply>) -> Self {
        for review in reviews {
            self.agent.push(AgentRole::Review, review);
        }
        self
    }

    pub(crate) fn ports(&self) -> Ports {
        let agent: Arc<dyn Agent> = Arc::new(self.agent.clone());
        let roles = [AgentRole::Plan, AgentRole::Implement, AgentRole::Review];
        Ports {
            issues: Arc::new(self.issues.clone()),
            vcs: Arc::new(self.vcs.clone()),
            agents: roles
                .map(|role| (role, Arc::clone(&agent)))
                .into_iter()
                .collect::<BTreeMap<_, _>>(),
            validator: Arc::new(self.validator.clone()),
            journal: Arc::clone(&self.journal),
            clock: Arc::new(self.clock.clone()),
            processes: Arc::new(self.processes.clone()),
            files: Arc::new(self.files.clone()),
            human: None,
            observer: Arc::new(self.observer.clone()),
        }
    }

    pub(crate) fn driver(&self, n: u32) -> Driver {
        Driver::new(self.ports(), DriverOptions::default(), driver_id(n))
    }

    pub(crate) fn request(&self) -> NewRunRequest {
        NewRunRequest {
            id: run_id(),
            spec: RunSpec::Implement {
                input: self.input.clone(),
            },
            config: self.config.clone(),
            seed: 7,
        }
    }

    /// Starts the run and drives it until it ends or stands.
    pub(crate) fn start(&self) -> Result<RunReport, DriveError> {
        block_on(self.driver(1).start(self.request(), Cancel::never()))
    }

    /// Takes it up again, in another driver.
    pub(crate) fn resume(&self) -> Result<RunReport, DriveError> {
        block_on(self.driver(2).resume(&run_id(), None, Cancel::never()))
    }

    pub(crate) fn run(&self) -> RunReport {
        self.start().expect("the run can be driven")
    }

    /// The run's branch.
    pub(crate) fn branch() -> BranchName {
        BranchName::for_issue(&IssueKey::parse("AB-1").expect("a valid key"))
    }

    /// The files of the branch's head.
    pub(crate) fn committed(&self) -> BTreeMap<String, String> {
        let head = self.vcs.branch(&Self::branch()).expect("the branch exists");
        let tree = self.vcs.commit_info(&head).expect("a known commit").tree;
        let files = self.vcs.tree_files(&tree).expect("a known tree");
        files
            .into_iter()
            .map(|(p, c)| (p.to_string(), String::from_utf8(c).expect("text")))
            .collect()
    }

    pub(crate) fn has(&self, kind: &str) -> bool {
        self.observer.kinds().contains(&kind)
    }
}

/// A reviewer that answers with this verdict and no finding.
pub(crate) fn says(verdict: Verdict) -> ScriptedReply {
    ScriptedReply::json(&LocalReview::new(verdict, "looked at it"))
}

/// A reviewer that answers with one finding.
pub(crate) fn finds(verdict: Verdict, severity: Severity, title: &str) -> ScriptedReply {
    let finding = Finding::new("f1", severity, title, "why").at("work.txt", 1);
    ScriptedReply::json(&LocalReview::new(verdict, "looked at it").with_findings([finding]))
}

/// A reviewer that crashes.
pub(crate) fn crashes() -> ScriptedReply {
    ScriptedReply::fail(AgentErrorKind::Crashed)
}
