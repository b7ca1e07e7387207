//! An agent of one's own: implement one trait, and the loop runs it like any
//! other.
//!
//! This one is no model at all: it replaces a word. (To run a program as an
//! agent no code is needed: configure `engine = "command:NAME"`.)
#![expect(clippy::print_stdout, reason = "an example speaks to its reader")]

use async_trait::async_trait;
use futures::executor::block_on;
use xiv_core::drive::{Driver, DriverOptions};
use xiv_core::model::{ImplementReport, LocalReview, Outcome, Plan, RunId, Usage, Verdict};
use xiv_core::port::{
    Agent, AgentCaps, AgentError, AgentErrorKind, AgentInfo, AgentReply, AgentRequest, AgentRole,
    Cancel, Login, StepContext, StepEvent,
};
use xiv_core::test_support::{FakeValidator, FakeVcs, RecordingObserver};
use xiv_examples::{AnyError, issue, ports, request};

/// Replaces one word in one file.
#[derive(Debug)]
struct Replacer {
    file: &'static str,
    from: &'static str,
    to: &'static str,
    /// Where it works. A real agent would use files below `request.cwd`.
    vcs: FakeVcs,
}

#[async_trait]
impl Agent for Replacer {
    fn id(&self) -> String {
        "replacer".to_owned()
    }

    fn caps(&self) -> AgentCaps {
        // what it cannot do, xiv makes up for: without `read_only`, for
        // instance, the tree is compared before and after a review
        AgentCaps {
            schema: true,
            cost: true,
            ..AgentCaps::default()
        }
    }

    async fn preflight(&self, _cx: StepContext) -> Result<AgentInfo, AgentError> {
        Ok(AgentInfo {
            version: Some(env!("CARGO_PKG_VERSION").to_owned()),
            login: Login::Yes,
        })
    }

    async fn run(&self, request: AgentRequest, cx: StepContext) -> Result<AgentReply, AgentError> {
        if cx.cancel.reason().is_some() {
            return Err(AgentError::new(AgentErrorKind::Cancelled, "told to stop"));
        }
        let words = format!("replacing {:?} by {:?}", self.from, self.to);
        cx.events.emit(StepEvent::Text {
            text: words.clone(),
        });
        let json = match request.role {
            AgentRole::Plan => serde_json::to_value(Plan {
                summary: words,
                steps: vec![format!("edit {}", self.file)],
            }),
            AgentRole::Implement | AgentRole::Fix => serde_json::to_value(self.edit(&request)?),
            AgentRole::Review | AgentRole::Describe => {
                serde_json::to_value(LocalReview::new(Verdict::Approve, "as planned"))
            }
        };
        let json = json.map_err(|e| AgentError::new(AgentErrorKind::Unparseable, e.to_string()))?;
        Ok(AgentReply {
            text: json.to_string(),
            json: Some(json),
            usage: Usage {
                calls: 1,
                cost_usd: Some(0.0),
                ..Usage::default()
            },
            ..AgentReply::default()
        })
    }
}

impl Replacer {
    fn edit(&self, request: &AgentRequest) -> Result<ImplementReport, AgentError> {
        let tree = self.vcs.work_tree(&request.cwd);
        let found = tree.read(self.file).unwrap_or_default();
        let text = String::from_utf8(found)
            .map_err(|_| AgentError::new(AgentErrorKind::Other, "the file is not text"))?;
        tree.write(self.file, text.replace(self.from, self.to));
        Ok(ImplementReport {
            summary: format!("Edited {}.", self.file),
            files_changed: vec![self.file.to_owned()],
            ..ImplementReport::default()
        })
    }
}

fn main() -> Result<(), AnyError> {
    let issue = issue()?;
    let vcs = FakeVcs::with_files([("greet.txt", "hello\n")]);
    let agent = Replacer {
        file: "greet.txt",
        from: "hello",
        to: "hello and goodbye",
        vcs: vcs.clone(),
    };
    let observer = RecordingObserver::new();
    let validator = FakeValidator::passing();
    let ports = ports(&issue, agent, &vcs, &validator, &observer);
    let driver_id = RunId::parse("0190aaaa-0000-7000-8000-0000000000d1")?;
    let driver = Driver::new(ports, DriverOptions::default(), driver_id);
    let report = block_on(driver.start(request(&issue)?, Cancel::never()))?;

    println!("{}: {}", report.output.title, report.output.outcome);
    println!("{}", report.output.summary);
    assert_eq!(report.output.outcome, Outcome::Done);
    assert_eq!(report.output.passes, 1);
    assert_eq!(vcs.read("greet.txt"), Some(b"hello and goodbye\n".to_vec()));
    Ok(())
}
