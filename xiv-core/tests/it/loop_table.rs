//! The loop's rules, one test per rule, through the public driver.

use futures::executor::block_on;
use xiv_core::drive::DriveError;
use xiv_core::flow::{Event, FetchOutcome, ReviewFailureKind};
use xiv_core::model::{ExitCode, MaxPasses, Outcome, Severity, Verdict};
use xiv_core::port::{AgentErrorKind, AgentRole, Cancel, CancelReason, IssueErrorKind};
use xiv_core::test_support::{FakeIssues, ScriptedReply, ScriptedValidation};

use crate::world::{World, crashes, finds, run_id, says};

use Verdict::{Approve, Comment, RequestChanges};

#[test]
fn a_missing_review_leaves_the_decision_to_validation() {
    let world = World::new(5).validating(&[false, true, true]).reviewing([
        says(RequestChanges),
        crashes(),
        crashes(),
    ]);
    let report = world.run();
    assert_eq!(report.output.outcome, Outcome::Done);
    assert_eq!(report.output.passes, 2);
    assert_eq!(report.output.review_verdict, None);
    assert_eq!(report.exit(), ExitCode::Done);
}

#[test]
fn done_on_the_last_allowed_pass_is_done() {
    let world = World::new(1).validating(&[true]).reviewing([says(Approve)]);
    let output = world.run().output;
    assert_eq!((output.outcome, output.passes), (Outcome::Done, 1));
    assert_eq!(output.review_verdict, Some(Approve));
    assert_eq!(world.committed()["work.txt"], "pass 1\n");
    assert_eq!(world.vcs.commits_made(), 1);
}

#[test]
fn an_earlier_approval_waves_nothing_through() {
    let world = World::new(2)
        .validating(&[false, false])
        .reviewing([says(Approve), crashes()]);
    let report = world.run();
    assert_eq!(
        (report.output.outcome, report.output.passes),
        (Outcome::Capped, 2)
    );
    assert_eq!(report.output.review_verdict, None);
    assert_eq!(report.exit(), ExitCode::NotDone);
    assert_eq!(world.committed()["work.txt"], "pass 2\n");
}

#[test]
fn an_approval_does_not_grant_done() {
    let world = World::new(1)
        .validating(&[false])
        .reviewing([says(Approve)]);
    assert_eq!(world.run().output.outcome, Outcome::Capped);
}

#[test]
fn a_comment_does_not_block_and_its_findings_are_known_gaps() {
    let world =
        World::new(3)
            .validating(&[true])
            .reviewing([finds(Comment, Severity::Nit, "rename it")]);
    let output = world.run().output;
    assert_eq!((output.outcome, output.passes), (Outcome::Done, 1));
    assert_eq!(output.known_gaps.len(), 1);
    assert_eq!(output.known_gaps[0].title, "rename it");
    assert_eq!(output.known_gaps[0].detail, "why");
    assert!(output.outstanding.is_empty());
}

#[test]
fn an_approval_with_a_blocker_is_done_with_a_loud_flag() {
    let world =
        World::new(3)
            .validating(&[true])
            .reviewing([finds(Approve, Severity::Blocker, "leak")]);
    let output = world.run().output;
    assert_eq!((output.outcome, output.passes), (Outcome::Done, 1));
    assert!(output.incoherent);
    assert_eq!(output.known_gaps[0].severity, Severity::Blocker);
}

#[test]
fn an_approval_with_a_blocker_withholds_when_configured() {
    let mut world = World::new(3)
        .validating(&[true, true])
        .reviewing([finds(Approve, Severity::Blocker, "leak"), says(Approve)]);
    world.config.blocker_withholds = true;
    let output = world.run().output;
    assert_eq!((output.outcome, output.passes), (Outcome::Done, 2));
    let prompts = world.agent.prompts(AgentRole::Implement);
    assert!(
        prompts[1].contains("[blocker] leak: why (work.txt:1)"),
        "{}",
        prompts[1]
    );
    assert!(prompts[1].contains("Review verdict: request_changes"));
}

#[test]
fn a_reviewer_that_edits_is_discarded_and_what_it_wrote_is_not_committed() {
    let world = World::new(3).validating(&[true]);
    let vcs = world.vcs.clone();
    world.agent.push(
        AgentRole::Review,
        says(RequestChanges).writing(&vcs, "work.txt", "the reviewer was here\n"),
    );
    let output = world.run().output;
    assert_eq!((output.outcome, output.passes), (Outcome::Done, 1));
    assert_eq!(output.review_verdict, None);
    assert!(world.has("violated"));
    assert_eq!(failed_kind(&world), Some(ReviewFailureKind::Tampered));
    assert_eq!(world.committed()["work.txt"], "pass 1\n");
    // the edit is the user's to look at: nothing is taken away
    assert_eq!(
        world.vcs.read("work.txt").as_deref(),
        Some(&b"the reviewer was here\n"[..])
    );
}

#[test]
fn a_reviewer_that_is_logged_out_over_quota_silent_or_prosaic_changes_nothing() {
    let cases = [
        (
            ScriptedReply::fail(AgentErrorKind::Auth),
            ReviewFailureKind::Auth,
        ),
        (
            ScriptedReply::fail(AgentErrorKind::Quota { resets_at: None }),
            ReviewFailureKind::Quota,
        ),
        (ScriptedReply::hang(), ReviewFailureKind::TimedOut),
        (ScriptedReply::ignore_cancel(), ReviewFailureKind::TimedOut),
        (
            ScriptedReply::text("no issues found"),
            ReviewFailureKind::Unparseable,
        ),
        (
            ScriptedReply::text(r#"{"summary":"fine"}"#),
            ReviewFailureKind::Unparseable,
        ),
        (
            ScriptedReply::text(r#"{"verdict":"","summary":"fine"}"#),
            ReviewFailureKind::Unparseable,
        ),
    ];
    for (reply, kind) in cases {
        let world = World::new(3).validating(&[true]).reviewing([reply]);
        let output = world.run().output;
        assert_eq!(output.outcome, Outcome::Done, "{kind:?}");
        assert_eq!(output.review_verdict, None);
        assert_eq!(failed_kind(&world), Some(kind));
        assert_eq!(output.review_failures.len(), 1);
    }
}

#[test]
fn an_agents_word_is_not_validation() {
    let world = World::new(1).validating(&[false]).reviewing([crashes()]);
    let output = world.run().output;
    assert_eq!(output.outcome, Outcome::Capped);
    assert!(output.summary.contains("work of pass 1"));
}

#[test]
fn without_validation_commands_nothing_is_begun() {
    let mut world = World::new(1);
    world.config.validate.clear();
    let error = world.start().expect_err("must be refused");
    assert!(matches!(error, DriveError::NoValidation));
    assert_eq!(error.exit(), ExitCode::Configuration);
    assert_eq!(world.agent.calls(AgentRole::Plan), 0);
    assert!(world.observer.events().is_empty());
}

#[test]
fn an_interrupted_review_is_never_no_review() {
    let world = World::new(3).validating(&[true]);
    let (canceller, cancel) = Cancel::new();
    world.agent.push(
        AgentRole::Review,
        ScriptedReply::hang().doing(move |_| canceller.cancel(CancelReason::User)),
    );
    let report = block_on(world.driver(1).start(world.request(), cancel)).expect("drives");
    assert_eq!(report.output.outcome, Outcome::Interrupted);
    assert_eq!(report.exit(), ExitCode::Interrupted);
    assert_eq!(world.vcs.commits_made(), 0);
    assert!(!world.has("reviewFailed"));
    world.agent.push(AgentRole::Review, says(Approve));
    let output = world.resume().expect("resumes").output;
    assert_eq!((output.outcome, output.passes), (Outcome::Done, 1));
    assert_eq!(output.review_verdict, Some(Approve));
    assert_eq!(world.agent.calls(AgentRole::Review), 2);
    assert_eq!(world.agent.calls(AgentRole::Implement), 1);
    assert_eq!(world.vcs.commits_made(), 1);
}

#[test]
fn a_failed_fetch_is_a_hard_stop() {
    let mut world = World::new(3);
    world.issues =
        FakeIssues::new([]).failing(IssueErrorKind::Unauthenticated, "the token was refused");
    let report = world.run();
    assert_eq!(report.output.outcome, Outcome::Refused);
    assert_eq!(report.exit(), ExitCode::Refused);
    let error = report.output.error.expect("says why");
    assert!(
        error.contains("AB-1") && error.contains("the token was refused"),
        "{error}"
    );
    assert_eq!(world.agent.calls(AgentRole::Plan), 0);
    assert_eq!(world.vcs.branch(&World::branch()), None);
    assert!(matches!(
        world
            .observer
            .events()
            .iter()
            .find(|e| e.kind() == "issueFetched"),
        Some(Event::IssueFetched {
            outcome: FetchOutcome::NotFetched { .. },
            ..
        })
    ));
}

#[test]
fn the_cap_is_clamped() {
    for (asked, passes) in [(0, 1), (99, 10), (-1, 1)] {
        assert_eq!(MaxPasses::clamped(asked).get(), passes);
        let world = World::new(asked);
        world.validator.answer_by(|_| ScriptedValidation::fail());
        world
            .agent
            .answer_by(AgentRole::Review, |_| says(RequestChanges));
        let output = world.run().output;
        assert_eq!((output.outcome, output.passes), (Outcome::Capped, passes));
    }
}

#[test]
fn feedback_of_the_pass_before_reaches_the_next_prompt() {
    let world = World::new(3).reviewing([
        finds(RequestChanges, Severity::High, "Alpha"),
        finds(Comment, Severity::Low, "Beta"),
        says(Approve),
    ]);
    world.validator.push(ScriptedValidation::pass());
    world
        .validator
        .push(ScriptedValidation::fail().printing("assertion failed: 1 == 2"));
    world.validator.push(ScriptedValidation::pass());
    assert_eq!(world.run().output.passes, 3);
    let prompts = world.agent.prompts(AgentRole::Implement);
    assert!(!prompts[0].contains("Alpha") && !prompts[0].contains("pass before this one"));
    assert!(prompts[1].contains("[high] Alpha: why (work.txt:1)"));
    assert!(!prompts[1].contains("did not pass"));
    assert!(prompts[2].contains("[low] Beta") && !prompts[2].contains("Alpha"));
    assert!(prompts[2].contains("assertion failed: 1 == 2"));
    assert!(prompts[2].contains("(`make test`) did not pass: exit 1"));
    for prompt in &prompts {
        assert!(prompt.contains("says goodbye") && prompt.contains("the plan"));
    }
}

#[test]
fn a_skipped_review_is_not_asked_for() {
    let mut world = World::new(3).validating(&[false, true]);
    world.input.skip_acceptance_review = true;
    let output = world.run().output;
    assert_eq!((output.outcome, output.passes), (Outcome::Done, 2));
    assert_eq!(world.agent.calls(AgentRole::Review), 0);
    assert!(output.review_failures.is_empty());
    let prompts = world.agent.prompts(AgentRole::Implement);
    assert!(prompts[1].contains("did not pass") && !prompts[1].contains("Review verdict"));
}

#[test]
fn what_only_validation_made_is_not_committed_in_any_pass() {
    let world = World::new(3).reviewing([says(RequestChanges), says(Approve)]);
    let vcs = world.vcs.clone();
    world.validator.answer_by(move |_| {
        ScriptedValidation::pass()
            .writing(&vcs, "coverage.out", "42\n")
            .writing(&vcs, "README.md", "formatted\n")
    });
    let output = world.run().output;
    assert_eq!((output.outcome, output.passes), (Outcome::Done, 2));
    let committed = world.committed();
    assert_eq!(committed.get("coverage.out"), None);
    assert_eq!(committed["README.md"], "formatted\n");
    assert_eq!(committed["work.txt"], "pass 2\n");
}

#[test]
fn findings_that_no_later_review_covered_are_outstanding() {
    let world = World::new(2)
        .validating(&[false, true])
        .reviewing([finds(RequestChanges, Severity::High, "Alpha"), crashes()]);
    let output = world.run().output;
    assert_eq!(output.outcome, Outcome::Done);
    assert!(output.known_gaps.is_empty());
    assert_eq!(output.outstanding.len(), 1);
    assert_eq!(output.outstanding[0].title, "Alpha");
}

#[test]
fn a_run_that_stands_still_ends_early() {
    let world = World::new(5);
    world.validator.answer_by(|_| ScriptedValidation::fail());
    world.agent.answer_by(AgentRole::Review, |_| {
        finds(RequestChanges, Severity::High, "Alpha")
    });
    let vcs = world.vcs.clone();
    world.agent.answer_by(AgentRole::Implement, move |request| {
        let pass = request.pass.expect("a pass").get();
        let reply = ScriptedReply::text("done");
        if pass < 3 {
            reply.writing(&vcs, "work.txt", format!("pass {pass}\n"))
        } else {
            reply
        }
    });
    let report = world.run();
    assert_eq!(report.output.outcome, Outcome::NoProgress);
    assert_eq!(report.output.passes, 3);
    assert_eq!(report.exit(), ExitCode::NotDone);
    assert_eq!(world.validator.calls(), 2);
    assert_eq!(report.output.known_gaps.len(), 1);
    assert_eq!(world.committed()["work.txt"], "pass 2\n");
}

#[test]
fn nothing_changed_is_nothing_to_commit() {
    let world = World::new(1).validating(&[true]).reviewing([says(Approve)]);
    world.agent.answer_by(AgentRole::Implement, |_| {
        ScriptedReply::text("nothing to do")
    });
    let output = world.run().output;
    assert_eq!(output.outcome, Outcome::Done);
    assert!(world.has("nothingToCommit"));
    assert_eq!(world.vcs.commits_made(), 0);
}

#[test]
fn a_usage_limit_pauses_and_the_pass_does_not_count() {
    let world = World::new(1).validating(&[true]).reviewing([says(Approve)]);
    let vcs = world.vcs.clone();
    let resets_at = "2026-01-01T05:00:00Z".parse().expect("a time");
    let asked = std::sync::atomic::AtomicUsize::new(0);
    world.agent.answer_by(AgentRole::Implement, move |_| {
        if asked.fetch_add(1, std::sync::atomic::Ordering::SeqCst) == 0 {
            ScriptedReply::fail(AgentErrorKind::Quota {
                resets_at: Some(resets_at),
            })
        } else {
            ScriptedReply::text("done").writing(&vcs, "work.txt", "pass 1\n")
        }
    });
    let report = world.run();
    assert_eq!(report.output.outcome, Outcome::Paused);
    assert_eq!(report.output.paused_until, Some(resets_at));
    assert_eq!(report.exit(), ExitCode::Paused);
    let output = world.resume().expect("resumes").output;
    assert_eq!((output.outcome, output.passes), (Outcome::Done, 1));
    assert_eq!(world.agent.calls(AgentRole::Plan), 1);
}

#[test]
fn a_crashed_implementer_fails_the_run_and_it_can_be_resumed() {
    let world = World::new(1).validating(&[true]).reviewing([says(Approve)]);
    let vcs = world.vcs.clone();
    let asked = std::sync::atomic::AtomicUsize::new(0);
    world.agent.answer_by(AgentRole::Implement, move |_| {
        if asked.fetch_add(1, std::sync::atomic::Ordering::SeqCst) == 0 {
            crashes()
        } else {
            ScriptedReply::text("done").writing(&vcs, "work.txt", "pass 1\n")
        }
    });
    let report = world.run();
    assert_eq!(report.output.outcome, Outcome::Failed);
    assert_eq!(
        report
            .output
            .failed_step
            .as_ref()
            .map(ToString::to_string)
            .as_deref(),
        Some("implement#1")
    );
    assert_eq!(report.exit(), ExitCode::Adapter);
    assert_eq!(
        world.resume().expect("resumes").output.outcome,
        Outcome::Done
    );
}

#[test]
fn a_silent_implementer_fails_after_the_idle_limit() {
    let world = World::new(1);
    world
        .agent
        .answer_by(AgentRole::Implement, |_| ScriptedReply::hang());
    let report = world.run();
    assert_eq!(report.output.outcome, Outcome::Failed);
    assert!(
        report
            .output
            .error
            .expect("says why")
            .contains("silent for 600s")
    );
}

#[test]
fn transient_faults_are_tried_again_within_the_step() {
    let world = World::new(1).validating(&[true]).reviewing([
        ScriptedReply::fail(AgentErrorKind::Transient),
        ScriptedReply::fail(AgentErrorKind::Transient),
        says(Approve),
    ]);
    let output = world.run().output;
    assert_eq!(output.review_verdict, Some(Approve));
    assert_eq!(
        world
            .observer
            .kinds()
            .iter()
            .filter(|k| **k == "retried")
            .count(),
        2
    );
}

#[test]
fn an_ended_run_gives_its_result_again() {
    let world = World::new(1).validating(&[true]).reviewing([says(Approve)]);
    let first = world.run();
    let again = world.resume().expect("answers");
    assert_eq!(first, again);
    assert_eq!(world.agent.calls(AgentRole::Implement), 1);
}

#[test]
fn a_cancelled_run_is_over() {
    let world = World::new(1);
    world.agent.answer_by(AgentRole::Implement, |_| crashes());
    world.run();
    let report = block_on(world.driver(3).cancel(&run_id())).expect("cancels");
    assert_eq!(report.output.outcome, Outcome::Cancelled);
    assert_eq!(
        world.resume().expect("answers").output.outcome,
        Outcome::Cancelled
    );
}

#[test]
fn a_second_run_on_the_same_tree_is_refused_and_leaves_no_trace() {
    let world = World::new(1);
    world.agent.answer_by(AgentRole::Implement, |_| crashes());
    world.run();
    let mut request = world.request();
    request.id = crate::world::driver_id(99);
    let error = block_on(world.driver(4).start(request, Cancel::never())).expect_err("refused");
    assert!(
        matches!(&error, DriveError::Locked { holder, .. } if *holder == run_id()),
        "{error:?}"
    );
    assert_eq!(error.exit(), ExitCode::Refused);
}

#[test]
fn a_refused_branch_holds_up_no_other_run() {
    let mut world = World::new(1).validating(&[true]).reviewing([says(Approve)]);
    world.input.base = Some("nowhere".to_owned());
    let report = world.run();
    assert_eq!(report.output.outcome, Outcome::Failed);
    assert_eq!(report.exit(), ExitCode::Refused);
    world.input.base = None;
    let mut request = world.request();
    request.id = crate::world::driver_id(99);
    let plan = xiv_core::model::Plan {
        summary: "p".into(),
        steps: vec!["s".into()],
    };
    world
        .agent
        .answer_by(AgentRole::Plan, move |_| ScriptedReply::json(&plan));
    let other = block_on(world.driver(4).start(request, Cancel::never())).expect("drives");
    assert_eq!(other.output.outcome, Outcome::Done);
}

#[test]
fn a_work_tree_that_was_switched_meanwhile_is_not_worked_on() {
    let world = World::new(1).validating(&[true]).reviewing([says(Approve)]);
    world.agent.push(
        AgentRole::Implement,
        ScriptedReply::fail(AgentErrorKind::Crashed),
    );
    world.run();
    let main = xiv_core::model::BranchName::parse("main").expect("a valid name");
    world.vcs.set_head(&main);
    world.vcs.write("mine.txt", "the user's own\n");
    let report = world.resume().expect("drives");
    assert_eq!(report.output.outcome, Outcome::Failed);
    assert_eq!(report.exit(), ExitCode::Refused);
    assert!(
        report
            .hints
            .iter()
            .any(|hint| hint.contains("git switch feat/ab-1"))
    );
    assert_eq!(world.agent.calls(AgentRole::Implement), 1);
    assert_eq!(world.vcs.commits_made(), 0);
    world.vcs.remove("mine.txt");
    world.vcs.set_head(&World::branch());
    let output = world.resume().expect("drives").output;
    assert_eq!(output.outcome, Outcome::Done);
    assert_eq!(world.committed().get("mine.txt"), None);
}

fn failed_kind(world: &World) -> Option<ReviewFailureKind> {
    world
        .observer
        .events()
        .into_iter()
        .find_map(|event| match event {
            Event::ReviewFailed { reason, .. } => Some(reason.kind),
            _ => None,
        })
}
