//! The loop by hand: no driver, no async, no I/O.
//!
//! The machine says what it wants, this program makes up what came of it, and
//! the machine says what follows. Everything here is in xiv-core with its
//! default features.
#![expect(clippy::print_stdout, reason = "an example speaks to its reader")]

use xiv_core::flow::{
    CORE_VERSION, Command, Event, FetchOutcome, GuardStatus, Machine, Next, RunSpec,
};
use xiv_core::model::{
    CommandExit, CommandResult, CommitId, Finding, ImplementInput, LocalReview, Pass, Plan, RunId,
    Severity, TreeId, Usage, Validation, Verdict,
};
use xiv_examples::{AnyError, config, issue};

fn main() -> Result<(), AnyError> {
    let mut machine = Machine::start(&Event::RunStarted {
        run: RunId::parse("0190aaaa-0000-7000-8000-000000000001")?,
        spec: RunSpec::Implement {
            input: ImplementInput::new("DEMO-1"),
        },
        config: config(),
        core_version: CORE_VERSION,
        seed: 7,
        guard: GuardStatus::EnvironmentOnly,
    })?;

    let outcome = loop {
        // what follows from the events so far is recorded, too
        while let Some(decision) = machine.decision() {
            println!("  decided: {}", describe(&decision));
            machine.apply(&decision)?;
        }
        match machine.next() {
            Next::Do(command) => {
                println!("wanted: {}", command.step());
                let event = carry_out(&command)?;
                println!("  happened: {}", describe(&event));
                machine.apply(&event)?;
            }
            Next::Wait(wait) => return Err(format!("nothing here makes it wait: {wait:?}").into()),
            Next::Finish(outcome) => break outcome,
        }
    };

    let output = machine.output();
    println!("outcome: {outcome} after {} passes", output.passes);
    for gap in &output.known_gaps {
        println!("known gap: {}", gap.title);
    }
    // the first pass failed its tests; the second passed them, and its review
    // had a remark that withholds nothing
    assert_eq!(outcome.to_string(), "done");
    assert_eq!((output.passes, output.known_gaps.len()), (2, 1));
    Ok(())
}

/// What came of a command. A real driver would do it, and write the event down
/// before the machine hears of it.
fn carry_out(command: &Command) -> Result<Event, AnyError> {
    let step = command.step();
    let usage = Usage::default();
    Ok(match command {
        Command::Fetch { .. } => Event::IssueFetched {
            step,
            outcome: FetchOutcome::Fetched {
                issue: issue()?,
                verbatim: false,
            },
        },
        Command::Prepare(prepare) => Event::BranchPrepared {
            step,
            branch: prepare.branch.clone(),
            base: "main".to_owned(),
            start: CommitId::parse("a".repeat(40))?,
            start_tree: tree(0)?,
            reused: false,
            behind: 0,
            root: "/repo".to_owned(),
        },
        Command::Plan(_) => Event::PlanMade {
            step,
            plan: Plan {
                summary: "Say goodbye at the end of main.".to_owned(),
                steps: vec!["print a line".to_owned()],
            },
            usage,
        },
        Command::Implement(implement) => Event::Implemented {
            step,
            pass: implement.pass,
            report: None,
            tree_before: tree(implement.pass.get() - 1)?,
            tree_after: tree(implement.pass.get())?,
            session: None,
            usage,
        },
        Command::Validate(validate) => Event::Validated {
            step,
            pass: validate.pass,
            validation: tests_pass_from(Pass::FIRST.next(), validate.pass)?,
        },
        Command::Review(review) => Event::Reviewed {
            step,
            pass: review.pass,
            review: LocalReview::new(Verdict::Comment, "Works, could be friendlier.")
                .with_findings([Finding::new(
                    "f1",
                    Severity::Low,
                    "The goodbye is curt",
                    "Say the user's name.",
                )]),
            usage,
        },
        Command::Finalize(finalize) => Event::Committed {
            step,
            commit: CommitId::parse("c".repeat(40))?,
            tree: finalize.tree.clone(),
        },
    })
}

fn tests_pass_from(green: Pass, pass: Pass) -> Result<Validation, AnyError> {
    let exit = CommandExit::Code(i32::from(pass < green));
    Ok(Validation {
        commands: vec![CommandResult {
            name: "test".to_owned(),
            run: "cargo test".to_owned(),
            exit,
            duration_ms: 1200,
            output_tail: String::new(),
        }],
        tree_before: tree(pass.get())?,
        tree_after: tree(pass.get())?,
        created: Vec::new(),
    })
}

fn tree(n: u32) -> Result<TreeId, AnyError> {
    Ok(TreeId::parse(format!("{n:040x}"))?)
}

fn describe(event: &Event) -> String {
    match event {
        Event::PassJudged {
            pass, done, reason, ..
        } => format!("pass {pass} done: {done} ({reason:?})"),
        other => other.kind().to_owned(),
    }
}
