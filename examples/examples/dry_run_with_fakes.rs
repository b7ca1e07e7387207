//! A whole run through the real driver, with nothing real around it: no git,
//! no agent, no disk, no waiting. The way to try a configuration or a new rule.
#![expect(clippy::print_stdout, reason = "an example speaks to its reader")]

use futures::executor::block_on;
use xiv_core::drive::{Driver, DriverOptions};
use xiv_core::flow::Event;
use xiv_core::model::{
    Finding, ImplementReport, LocalReview, Outcome, Plan, RunId, Severity, Verdict,
};
use xiv_core::port::{AgentRole, Cancel};
use xiv_core::test_support::{
    FakeAgent, FakeValidator, FakeVcs, RecordingObserver, ScriptedReply, ScriptedValidation,
};
use xiv_examples::{AnyError, issue, ports, request};

fn main() -> Result<(), AnyError> {
    let issue = issue()?;
    let vcs = FakeVcs::with_files([("greet.txt", "hello\n")]);
    let agent = scripted_agent(&vcs);
    // red in the first pass, green from then on
    let validator = FakeValidator::passing().then(ScriptedValidation::fail());
    let observer = RecordingObserver::new();

    let ports = ports(&issue, agent.clone(), &vcs, &validator, &observer);
    let driver_id = RunId::parse("0190aaaa-0000-7000-8000-0000000000d1")?;
    let driver = Driver::new(ports, DriverOptions::default(), driver_id);
    let report = block_on(driver.start(request(&issue)?, Cancel::never()))?;

    for event in observer.events() {
        if let Event::PassJudged {
            pass, done, reason, ..
        } = event
        {
            println!("pass {pass}: done = {done} ({reason:?})");
        }
    }
    println!("outcome: {}", report.output.outcome);
    println!("exit code: {}", report.exit().code());

    assert_eq!(report.output.outcome, Outcome::Done);
    assert_eq!(report.output.passes, 3);
    // what the second pass was told came from the first pass's red tests, what
    // the third was told from the second's review
    let prompts = agent.prompts(AgentRole::Implement);
    assert!(prompts[2].contains("Nobody is thanked"));
    assert!(!prompts[1].contains("Nobody is thanked"));
    assert_eq!(vcs.commits_made(), 1);
    Ok(())
}

/// Plans once, writes a file in every pass, asks for changes in the second.
fn scripted_agent(vcs: &FakeVcs) -> FakeAgent {
    let plan = Plan {
        summary: "Write it down.".to_owned(),
        steps: vec!["append a line".to_owned()],
    };
    let finding = Finding::new(
        "f1",
        Severity::High,
        "Nobody is thanked",
        "Goodbye comes with thanks.",
    );
    let reviews = [
        LocalReview::new(Verdict::Comment, "See the tests."),
        LocalReview::new(Verdict::RequestChanges, "Almost.").with_findings([finding]),
        LocalReview::new(Verdict::Approve, "Good."),
    ];
    let vcs = vcs.clone();
    let agent = FakeAgent::new("fake")
        .then(AgentRole::Plan, ScriptedReply::json(&plan))
        .always(AgentRole::Implement, move |request| {
            let pass = request.pass.map_or(0, |pass| pass.get());
            let report = ImplementReport {
                summary: format!("Attempt {pass}."),
                ..ImplementReport::default()
            };
            let text = "goodbye\n".repeat(pass as usize);
            ScriptedReply::json(&report).writing(&vcs, "greet.txt", text)
        });
    for review in &reviews {
        agent.push(AgentRole::Review, ScriptedReply::json(review));
    }
    agent
}
