//! What the fakes can be made to do, beyond the rules of their ports.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::FutureExt;
use futures::executor::block_on;
use futures::future::join;
use xiv_core::model::{CommandExit, RunId, TreeId, Usage, ValidationCommand};
use xiv_core::port::{
    Agent, AgentErrorKind, AgentReply, AgentRequest, AgentRole, Cancel, CancelReason, Clock,
    Events, GateAnswer, GateRequest, Human, HumanError, Processes, StepContext, StepEvent,
    SystemRules, ValidateRequest, Validator, ValidatorError, Vcs, VcsErrorKind,
};
use xiv_core::test_support::{
    CrashSwitch, FakeAgent, FakeHuman, FakeProcesses, FakeValidator, FakeVcs, Fault, ManualClock,
    ScriptedReply, ScriptedValidation, VcsOp, When, context,
};

fn cx() -> StepContext {
    context(&ManualClock::automatic())
}

fn request(role: AgentRole) -> AgentRequest {
    AgentRequest::new(role, "do it", SystemRules::new(), "/repo")
}

fn commands(count: usize) -> ValidateRequest {
    let command = |n: usize| ValidationCommand {
        name: format!("c{n}"),
        run: format!("run {n}"),
        timeout_ms: None,
    };
    ValidateRequest {
        commands: (0..count).map(command).collect(),
        cwd: "/repo".into(),
        run: None,
        env_allow: Vec::new(),
    }
}

#[test]
fn queued_replies_come_first_and_are_per_role() {
    let agent = FakeAgent::new("a")
        .then(AgentRole::Plan, ScriptedReply::text("plan"))
        .then(AgentRole::Review, ScriptedReply::text("first"))
        .always(AgentRole::Review, |request| {
            ScriptedReply::text(format!("to {}", request.prompt))
        });
    let say = |role| {
        let reply = block_on(agent.run(request(role), cx()));
        reply.expect("it answers").text
    };
    assert_eq!(agent.unused(AgentRole::Plan), 1);
    assert_eq!(say(AgentRole::Review), "first");
    assert_eq!(say(AgentRole::Review), "to do it");
    assert_eq!(say(AgentRole::Plan), "plan");
    assert_eq!(agent.unused(AgentRole::Plan), 0);
    assert_eq!(agent.calls(AgentRole::Review), 2);
    assert_eq!(agent.prompts(AgentRole::Plan), ["do it"]);
    assert_eq!(agent.requests().len(), 3);
}

#[test]
#[should_panic(expected = "no reply left for another call in the role fix")]
fn a_call_without_a_reply_is_a_mistake_of_the_test() {
    let agent = FakeAgent::new("a");
    let _never = block_on(agent.run(request(AgentRole::Fix), cx()));
}

#[test]
fn a_reply_edits_reports_takes_time_and_ends() {
    let vcs = FakeVcs::new();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&seen);
    let clock = ManualClock::automatic();
    let cx = context(&clock).with_events(Events::new(move |event| {
        sink.lock().expect("not poisoned").push(event);
    }));
    let used = Usage {
        calls: 1,
        output_tokens: 7,
        ..Usage::default()
    };
    let says = StepEvent::Text {
        text: "working".into(),
    };
    let reply = ScriptedReply::json(&serde_json::json!({ "summary": "s" }))
        .writing(&vcs, "a.txt", "by the agent")
        .reporting(says.clone())
        .taking(Duration::from_secs(60))
        .using(used)
        .in_session("s-1")
        .denied("push", "git push");
    let agent = FakeAgent::new("a").then(AgentRole::Implement, reply);
    let reply = block_on(agent.run(request(AgentRole::Implement), cx)).expect("it answers");
    assert_eq!(vcs.read("a.txt").as_deref(), Some(&b"by the agent"[..]));
    assert_eq!(*seen.lock().expect("not poisoned"), [says]);
    assert_eq!(clock.elapsed(), Duration::from_secs(60));
    assert_eq!(reply.usage, used);
    assert_eq!(reply.session.as_deref(), Some("s-1"));
    assert_eq!(reply.denials[0].rule, "push");
}

#[test]
fn a_slow_reply_can_be_cancelled_and_keeps_what_it_used() {
    let used = Usage {
        calls: 1,
        input_tokens: 9,
        ..Usage::default()
    };
    let slow = ScriptedReply::text("too late")
        .taking(Duration::from_secs(60))
        .using(used);
    let agent = FakeAgent::new("a").then(AgentRole::Review, slow);
    let clock = ManualClock::automatic();
    let (canceller, cancel) = Cancel::new();
    let call = agent.run(
        request(AgentRole::Review),
        context(&clock).with_cancel(cancel),
    );
    let stop = async {
        clock.sleep(Duration::from_secs(30)).await;
        canceller.cancel(CancelReason::TimedOutTotal);
    };
    let (result, ()) = block_on(join(call, stop));
    let error = result.expect_err("cancelled");
    assert_eq!((error.kind, error.usage), (AgentErrorKind::Cancelled, used));
    assert_eq!(clock.elapsed(), Duration::from_secs(30));
}

#[test]
fn an_agent_can_ignore_the_stop_signal_and_xiv_can_die_in_a_call() {
    let switch = CrashSwitch::new();
    let agent = FakeAgent::new("a")
        .then(AgentRole::Review, ScriptedReply::ignore_cancel())
        .then(AgentRole::Implement, ScriptedReply::crash(&switch));
    let (canceller, cancel) = Cancel::new();
    canceller.cancel(CancelReason::User);
    let deaf = agent.run(request(AgentRole::Review), cx().with_cancel(cancel));
    assert_eq!(deaf.now_or_never(), None::<Result<AgentReply, _>>);
    let ended = block_on(switch.run(agent.run(request(AgentRole::Implement), cx())));
    assert!(ended.is_none() && switch.is_tripped());
}

#[test]
fn validation_follows_its_script() {
    let vcs = FakeVcs::new();
    let switch = CrashSwitch::new();
    let validator = FakeValidator::passing()
        .then(ScriptedValidation::fail().printing("red"))
        .then(ScriptedValidation::exits([CommandExit::Signal(9)]).writing(&vcs, "out", "x"))
        .then(ScriptedValidation::error(ValidatorError::Cancelled))
        .then(ScriptedValidation::crash(&switch));
    let run = || block_on(switch.run(validator.validate(commands(2), cx())));
    let exits = || {
        let results = run().expect("no crash").expect("results").commands;
        let tails: Vec<_> = results.iter().map(|r| r.output_tail.clone()).collect();
        (
            results.into_iter().map(|r| r.exit).collect::<Vec<_>>(),
            tails,
        )
    };
    let code = CommandExit::Code;
    assert_eq!(
        exits(),
        (vec![code(1), code(1)], vec!["red".into(), "red".into()])
    );
    assert_eq!(exits().0, [CommandExit::Signal(9), code(0)]);
    assert_eq!(vcs.read("out").as_deref(), Some(&b"x"[..]));
    assert!(matches!(run(), Some(Err(ValidatorError::Cancelled))));
    assert!(run().is_none(), "xiv died");
    let again = CrashSwitch::new();
    let last = block_on(again.run(validator.validate(commands(2), cx())));
    assert!(
        last.expect("no crash")
            .expect("results")
            .commands
            .iter()
            .all(|r| r.exit.passed())
    );
    assert_eq!(validator.calls(), 5);
    assert_eq!(validator.requests()[0].commands.len(), 2);
}

#[test]
fn faults_strike_before_or_after_the_effect_and_once() {
    let vcs = FakeVcs::new();
    let tree = vcs.current_tree();
    let pin = |name: &'static str| {
        let (vcs, tree) = (vcs.clone(), tree.clone());
        async move { vcs.pin(&tree, name, cx()).await }
    };
    vcs.inject(VcsOp::Pin, When::Before, Fault::Error(VcsErrorKind::Locked));
    vcs.inject(VcsOp::Pin, When::After, Fault::Error(VcsErrorKind::Program));
    let error = block_on(pin("refs/xiv/1")).expect_err("before");
    assert_eq!(error.kind, VcsErrorKind::Locked);
    assert_eq!(vcs.reference("refs/xiv/1"), None);
    let error = block_on(pin("refs/xiv/2")).expect_err("after");
    assert_eq!(error.kind, VcsErrorKind::Program);
    assert_eq!(vcs.reference("refs/xiv/2"), Some(tree.to_string()));
    block_on(pin("refs/xiv/3")).expect("faults strike once");
    assert_eq!(vcs.calls(VcsOp::Pin), 3);

    let switch = CrashSwitch::new();
    vcs.inject(VcsOp::Pin, When::After, Fault::Crash(switch.clone()));
    assert!(block_on(switch.run(pin("refs/xiv/4"))).is_none());
    assert!(vcs.reference("refs/xiv/4").is_some());
}

#[test]
fn the_repository_can_be_looked_into() {
    let vcs = FakeVcs::with_files([("a.txt", "1")]);
    let head = vcs.head();
    let main = head.branch.expect("main is checked out");
    vcs.write("b.txt", "2");
    let second = vcs.commit_all("second");
    assert_eq!(
        vcs.history(&main),
        [second.clone(), head.commit.expect("a first commit")]
    );
    let info = vcs.commit_info(&second).expect("it exists");
    assert_eq!(
        (info.message.as_str(), info.tree.clone()),
        ("second", vcs.current_tree())
    );
    let files = vcs.tree_files(&info.tree).expect("it exists");
    let names: Vec<_> = files.iter().map(|(path, _)| path.to_string()).collect();
    assert_eq!(names, ["a.txt", "b.txt"]);
    assert_eq!(vcs.commits_made(), 0, "only those through the port count");
    vcs.set_commit_msg_hook(|message| match message {
        "no" => Err("too short".to_owned()),
        other => Ok(format!("{other}\n\nChecked.")),
    });
    let message = block_on(vcs.final_message("yes", cx())).expect("accepted");
    assert_eq!(message, "yes\n\nChecked.");
    let error = block_on(vcs.final_message("no", cx())).expect_err("refused");
    assert_eq!(error.kind, VcsErrorKind::Rejected);
    vcs.set_operation(Some("rebase"));
    let state = block_on(vcs.state(cx())).expect("a state");
    assert_eq!(state.operation.as_deref(), Some("rebase"));
}

#[test]
fn people_answer_in_turn_and_then_leave_gates_open() {
    let tree = TreeId::parse("a".repeat(40)).expect("a tree id");
    let answer = GateAnswer {
        notes: Vec::new(),
        tree: tree.clone(),
        patch: String::new(),
    };
    let human = FakeHuman::new()
        .answering(answer.clone())
        .leaving_open()
        .failing(HumanError::NoTerminal);
    let ask = || {
        let request = GateRequest {
            gate: "implement#1".into(),
            pass: xiv_core::model::Pass::FIRST,
            tree: tree.clone(),
        };
        block_on(human.gate(request, cx()))
    };
    assert_eq!(ask().expect("an answer"), Some(answer));
    assert_eq!(ask().expect("no fault"), None);
    assert!(matches!(ask(), Err(HumanError::NoTerminal)));
    assert_eq!(ask().expect("no fault"), None);
    assert_eq!(human.requests().len(), 4);
}

#[test]
fn processes_live_and_die_as_told() {
    let here = FakeProcesses::new();
    let there = here.beside(7);
    assert!(here.is_alive(&there.current()));
    here.kill(&there.current());
    assert!(!here.is_alive(&there.current()));
    assert!(there.is_alive(&here.current()));
    let mut reused = here.current();
    reused.start_time += 1;
    assert!(!here.is_alive(&reused), "a re-used pid is another process");
    let mut elsewhere = here.current();
    elsewhere.host = "other".into();
    assert!(here.is_alive(&elsewhere), "nothing is known of other hosts");
    here.leave_behind("m", 2);
    assert_eq!(block_on(there.sweep("m")), 2);
    assert_eq!(block_on(here.sweep("m")), 0);
    assert_eq!(here.swept(), ["m", "m"]);
}

#[test]
fn the_observer_keeps_what_it_saw() {
    use xiv_core::flow::{Event, Recorded};
    use xiv_core::port::Observer as _;
    let observer = xiv_core::test_support::RecordingObserver::new();
    let run = RunId::parse("0190aaaa-0000-7000-8000-000000000001").expect("a run id");
    let recorded = Recorded {
        seq: 1,
        at: ManualClock::new().now(),
        event: Event::Resumed { budget: None },
    };
    observer.clone().recorded(&run, &recorded);
    assert_eq!(observer.kinds(), ["resumed"]);
    assert_eq!(observer.history(), [(run, recorded)]);
    assert!(observer.all_progress().is_empty());
}
