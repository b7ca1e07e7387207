//! The Claude and Codex adapters with the real programs against fake models.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::json;
use xiv_agents::fakes::{Anthropic, ModelRequest, OpenAi, Part, Script, Turn};
use xiv_agents::{Claude, ClaudeOptions, Codex, CodexOptions, Host};
use xiv_core::model::{LocalReview, Plan, Verdict};
use xiv_core::port::{
    Agent, AgentError, AgentErrorKind, AgentExt, AgentReply, AgentRequest, AgentRole, Cancel,
    CancelReason, Login, Session, StepEvent, SystemRules, TimeoutKind,
};
use xiv_core::rt::process::Environment;

use crate::peers::{Scratch, find};
use crate::support::{Seen, left_behind, step};

/// One of the two fakes, with the adapter that talks to it.
struct Engine {
    name: &'static str,
    agent: Box<dyn Agent>,
    requests: Box<dyn Fn() -> Vec<ModelRequest> + Send + Sync>,
}

fn host(scratch: &Scratch, extra: Vec<(String, String)>) -> Host {
    Host::new(
        scratch
            .env()
            .into_iter()
            .chain(extra)
            .collect::<Environment>(),
    )
}

fn claude(scratch: &Scratch, script: Script) -> Option<Engine> {
    let program = Some(find("claude")?);
    let model = Anthropic::start(script);
    let options = ClaudeOptions {
        program,
        ..ClaudeOptions::default()
    };
    let agent = Box::new(Claude::new(host(scratch, model.claude_env()), options));
    Some(Engine {
        name: "claude",
        agent,
        requests: Box::new(move || model.requests()),
    })
}

fn codex(scratch: &Scratch, script: Script) -> Option<Engine> {
    let program = Some(find("codex")?);
    let model = OpenAi::start(script);
    let options = CodexOptions {
        program,
        extra_args: model.codex_args(),
    };
    let agent = Box::new(Codex::new(host(scratch, model.codex_env()), options));
    Some(Engine {
        name: "codex",
        agent,
        requests: Box::new(move || model.requests()),
    })
}

/// Both engines with scripts of the same making.
fn both(scratch: &Scratch, script: impl Fn() -> Script) -> Vec<Engine> {
    [claude(scratch, script()), codex(scratch, script())]
        .into_iter()
        .flatten()
        .collect()
}

/// A request for the engine's default model, so that the tools are those of a model that it knows.
fn request(role: AgentRole, tree: &Path) -> AgentRequest {
    AgentRequest::new(role, "please do the work", SystemRules::new(), tree)
}

async fn run(
    engine: &Engine,
    request: AgentRequest,
) -> (Result<AgentReply, AgentError>, Seen, String) {
    let (cx, seen) = step(Cancel::never());
    let mark = cx.mark.clone();
    (engine.agent.run(request, cx).await, seen, mark)
}

#[tokio::test]
async fn peer_a_plan_comes_back_typed_and_the_rules_are_sent() {
    let scratch = Scratch::new();
    let script = || {
        Script::turns([Turn::structured(
            json!({"summary": "s", "steps": ["one", "two"]}),
        )])
    };
    for engine in both(&scratch, script) {
        let (cx, seen) = step(Cancel::never());
        let asked = request(AgentRole::Plan, &scratch.repo());
        let (plan, reply) = engine
            .agent
            .ask::<Plan>(asked, cx)
            .await
            .expect(engine.name);
        assert_eq!(plan.steps, ["one", "two"], "{}", engine.name);
        assert_eq!(
            (
                reply.usage.calls,
                reply.usage.input_tokens,
                reply.usage.output_tokens
            ),
            (1, 100, 20),
            "{}",
            engine.name
        );
        assert!(
            reply.session.is_some() && reply.usage.wall_ms > 0,
            "{}",
            engine.name
        );
        let requests = (engine.requests)();
        assert!(
            requests[0].contains(SystemRules::NEVER_MERGE),
            "{}",
            engine.name
        );
        assert!(
            requests[0].user_text().contains("please do the work"),
            "{}",
            engine.name
        );
        let known = |e: &StepEvent| matches!(e, StepEvent::Started { pid, session: Some(_), .. } if *pid > 0);
        assert!(
            seen.all().iter().any(known),
            "{}: {:?}",
            engine.name,
            seen.all()
        );
    }
}

#[tokio::test]
async fn peer_codex_keeps_a_provider_of_the_users_own_configuration() {
    let Some(program) = find("codex") else { return };
    let scratch = Scratch::new();
    let model = OpenAi::start(Script::always(Turn::structured(
        json!({"summary": "s", "steps": ["one"]}),
    )));
    std::fs::write(
        scratch.path("home/.codex/config.toml"),
        model.codex_config(),
    )
    .expect("a configuration");
    let options = CodexOptions {
        program: Some(program),
        ..CodexOptions::default()
    };
    let agent = Codex::new(host(&scratch, model.codex_env()), options);
    let (cx, _) = step(Cancel::never());
    let (plan, _) = agent
        .ask::<Plan>(request(AgentRole::Plan, &scratch.repo()), cx)
        .await
        .expect("a plan");
    assert_eq!(plan.steps, ["one"]);
}

#[tokio::test]
async fn peer_an_implementing_agent_edits_the_work_tree() {
    let script = || {
        Script::turns([
            Turn::write("hello.txt", "hello\n"),
            Turn::run("printf 'more\\n' >> hello.txt; echo \"$XIV_MARK\" > mark.txt"),
            Turn::structured(
                json!({"summary": "done", "filesChanged": ["hello.txt"], "evidence": []}),
            ),
        ])
    };
    let scratch = Scratch::new();
    for engine in both(&scratch, script) {
        let (reply, seen, mark) =
            run(&engine, request(AgentRole::Implement, &scratch.repo())).await;
        reply.expect(engine.name);
        let read = |name: &str| std::fs::read_to_string(scratch.repo().join(name)).expect(name);
        assert_eq!(read("hello.txt"), "hello\nmore\n", "{}", engine.name);
        assert_eq!(read("mark.txt").trim(), mark, "{}", engine.name);
        let tool = |e: &StepEvent| matches!(e, StepEvent::Activity { tool: Some(_), .. });
        assert!(seen.all().iter().any(tool), "{}", engine.name);
        std::fs::remove_file(scratch.repo().join("hello.txt"))
            .expect("the next engine makes it anew");
    }
}

#[tokio::test]
async fn peer_a_review_keeps_the_last_answer_and_cannot_write() {
    let scratch = Scratch::new();
    let draft = json!({"verdict": "approve", "summary": "draft", "findings": [], "reviewed": []});
    let real =
        json!({"verdict": "request_changes", "summary": "real", "findings": [], "reviewed": []});
    let codex_script = Script::turns([
        Turn::Answer(vec![
            Part::Structured(draft),
            Part::Run("touch written".into()),
        ]),
        Turn::structured(real.clone()),
    ]);
    let claude_script = Script::turns([Turn::write("written", "x"), Turn::structured(real)]);
    for engine in [
        codex(&scratch, codex_script),
        claude(&scratch, claude_script),
    ]
    .into_iter()
    .flatten()
    {
        let (cx, _) = step(Cancel::never());
        let asked = request(AgentRole::Review, &scratch.repo());
        let (review, reply) = engine
            .agent
            .ask::<LocalReview>(asked, cx)
            .await
            .expect(engine.name);
        assert_eq!(
            (review.verdict, review.summary.as_str()),
            (Verdict::RequestChanges, "real"),
            "{}",
            engine.name
        );
        assert!(
            !scratch.repo().join("written").exists(),
            "{} wrote",
            engine.name
        );
        assert_eq!(
            reply.session, None,
            "{}: a review is not stored",
            engine.name
        );
    }
}

#[tokio::test]
async fn peer_a_session_is_resumed_and_counted_once() {
    let scratch = Scratch::new();
    let script = || {
        Script::turns([
            Turn::text("no json here"),
            Turn::text("no json here"),
            Turn::text("never needed"),
        ])
    };
    for engine in both(&scratch, script) {
        let plain = request(AgentRole::Plan, &scratch.repo());
        let (first, ..) = run(&engine, plain.clone()).await;
        let first = first.expect(engine.name);
        let session = first.session.expect("a session to resume");
        let again = AgentRequest {
            prompt: "once more".into(),
            ..plain.with_session(Session::Resume(session))
        };
        let (second, ..) = run(&engine, again).await;
        let second = second.expect(engine.name);
        let last = (engine.requests)().pop().expect("requests");
        assert!(
            last.user_text().contains("please do the work"),
            "{}: the session was not resumed",
            engine.name
        );
        assert!(last.user_text().contains("once more"), "{}", engine.name);
        assert!(last.contains(SystemRules::NEVER_MERGE), "{}", engine.name);
        assert_eq!(
            second.usage.input_tokens, 100,
            "{}: counted twice",
            engine.name
        );
        if let (Some(one), Some(two)) = (first.usage.cost_usd, second.usage.cost_usd) {
            assert!((one - two).abs() < 1e-9, "{}: {one} and {two}", engine.name);
        }
    }
}

#[tokio::test]
async fn peer_failures_of_the_model_service_are_of_their_kind() {
    let scratch = Scratch::new();
    let quota = AgentErrorKind::Quota { resets_at: None };
    let limited = AgentErrorKind::RateLimited {
        retry_after_ms: None,
    };
    for (turn, kind) in [
        (Turn::status(403), AgentErrorKind::Auth),
        (Turn::status(429), limited),
        (Turn::status(500), AgentErrorKind::Transient),
        (Turn::Cut, AgentErrorKind::Transient),
        (Turn::OutputLimit, AgentErrorKind::LimitReached),
    ] {
        for engine in both(&scratch, || Script::always(turn.clone())) {
            let (outcome, ..) = run(&engine, request(AgentRole::Plan, &scratch.repo())).await;
            assert_eq!(
                outcome.expect_err(engine.name).kind,
                kind,
                "{} {turn:?}",
                engine.name
            );
        }
    }
    let spent = Turn::failure(
        429,
        "insufficient_quota",
        "You exceeded your current quota.",
    );
    if let Some(engine) = codex(&scratch, Script::always(spent)) {
        let (outcome, ..) = run(&engine, request(AgentRole::Review, &scratch.repo())).await;
        assert_eq!(outcome.expect_err("spent").kind, quota);
    }
    let broke = Turn::failure(
        400,
        "",
        "Your credit balance is too low to access the Anthropic API.",
    );
    if let Some(engine) = claude(&scratch, Script::always(broke)) {
        let (outcome, ..) = run(&engine, request(AgentRole::Review, &scratch.repo())).await;
        assert_eq!(outcome.expect_err("broke").kind, quota);
    }
}

#[tokio::test]
async fn peer_a_refused_login_ends_soon() {
    let scratch = Scratch::new();
    for engine in both(&scratch, || Script::always(Turn::status(401))) {
        let start = Instant::now();
        let (outcome, _, mark) = run(&engine, request(AgentRole::Implement, &scratch.repo())).await;
        let error = outcome.expect_err(engine.name);
        assert_eq!(
            error.kind,
            AgentErrorKind::Auth,
            "{}: {error:?}",
            engine.name
        );
        assert!(!error.hints.is_empty(), "{}", engine.name);
        assert!(
            start.elapsed() < Duration::from_secs(20),
            "{} took {:?}",
            engine.name,
            start.elapsed()
        );
        assert_eq!(
            (engine.requests)().len().min(2),
            (engine.requests)().len(),
            "{} went on trying",
            engine.name
        );
        assert_eq!(left_behind(&mark), Vec::<String>::new(), "{}", engine.name);
    }
}

#[tokio::test]
async fn peer_not_logged_in_is_seen_without_a_call() {
    let scratch = Scratch::new();
    if let Some(program) = find("claude") {
        let options = ClaudeOptions {
            program: Some(program),
            ..ClaudeOptions::default()
        };
        let agent = Claude::new(host(&scratch, Vec::new()), options);
        let info = agent
            .preflight(step(Cancel::never()).0)
            .await
            .expect("it starts");
        assert!(matches!(info.login, Login::No { .. }), "{info:?}");
        assert!(
            info.version
                .is_some_and(|version| version.starts_with("2."))
        );
        let outcome = agent
            .run(
                request(AgentRole::Review, &scratch.repo()),
                step(Cancel::never()).0,
            )
            .await;
        assert_eq!(outcome.expect_err("no login").kind, AgentErrorKind::Auth);
    }
    if let Some(program) = find("codex") {
        let options = CodexOptions {
            program: Some(program.clone()),
            ..CodexOptions::default()
        };
        let agent = Codex::new(host(&scratch, Vec::new()), options);
        let info = agent
            .preflight(step(Cancel::never()).0)
            .await
            .expect("it starts");
        assert!(matches!(info.login, Login::No { .. }), "{info:?}");
        assert!(
            info.version
                .is_some_and(|version| version.starts_with("0."))
        );
        // with another provider its login cannot be told from here
        let model = OpenAi::start(Script::turns([]));
        let options = CodexOptions {
            program: Some(program),
            extra_args: model.codex_args(),
        };
        let agent = Codex::new(host(&scratch, Vec::new()), options);
        let info = agent
            .preflight(step(Cancel::never()).0)
            .await
            .expect("it starts");
        assert_eq!(info.login, Login::Unknown);
        let outcome = agent
            .run(
                request(AgentRole::Review, &scratch.repo()),
                step(Cancel::never()).0,
            )
            .await;
        assert_eq!(outcome.expect_err("no key").kind, AgentErrorKind::Auth);
    }
}

#[tokio::test]
async fn peer_a_silent_service_is_cancelled_and_nothing_is_left() {
    let scratch = Scratch::new();
    for turn in [Turn::Hang, Turn::Silent] {
        for engine in both(&scratch, || Script::always(turn.clone())) {
            let (canceller, cancel) = Cancel::new();
            let (cx, _) = step(cancel);
            let mark = cx.mark.clone();
            let asked = request(AgentRole::Review, &scratch.repo());
            let call = engine.agent.run(asked, cx);
            let requests = &engine.requests;
            let stop = async {
                while requests().is_empty() {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
                canceller.cancel(CancelReason::TimedOutIdle);
                Instant::now()
            };
            let (outcome, asked_at) = futures::join!(call, stop);
            let kind = AgentErrorKind::TimedOut(TimeoutKind::Idle);
            assert_eq!(
                outcome.expect_err(engine.name).kind,
                kind,
                "{} {turn:?}",
                engine.name
            );
            assert!(
                asked_at.elapsed() < Duration::from_secs(15),
                "{} {turn:?}",
                engine.name
            );
            assert_eq!(
                left_behind(&mark),
                Vec::<String>::new(),
                "{} {turn:?}",
                engine.name
            );
        }
    }
}

#[tokio::test]
async fn peer_children_of_tools_are_swept_after_a_clean_end() {
    let scratch = Scratch::new();
    let script = || {
        Script::turns([
            Turn::run(
                "setsid sleep 300 >/dev/null 2>&1 & nohup sleep 301 >/dev/null 2>&1 & echo started > started",
            ),
            Turn::structured(json!({"summary": "done", "filesChanged": [], "evidence": []})),
        ])
    };
    for engine in both(&scratch, script) {
        let (outcome, _, mark) = run(&engine, request(AgentRole::Implement, &scratch.repo())).await;
        outcome.expect(engine.name);
        std::fs::remove_file(scratch.repo().join("started")).expect("the tool ran");
        assert_eq!(left_behind(&mark), Vec::<String>::new(), "{}", engine.name);
    }
}

#[tokio::test]
async fn peer_a_long_tool_is_ended_with_everything_it_started() {
    let scratch = Scratch::new();
    let script = || {
        Script::turns([Turn::run(
            "setsid sleep 300 & echo on > running; python3 -c 'import time; time.sleep(200)'",
        )])
    };
    for engine in both(&scratch, script) {
        let (canceller, cancel) = Cancel::new();
        let (cx, _) = step(cancel);
        let mark = cx.mark.clone();
        let call = engine
            .agent
            .run(request(AgentRole::Implement, &scratch.repo()), cx);
        let flag = scratch.repo().join("running");
        let stop = async {
            while !flag.exists() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            canceller.cancel(CancelReason::User);
        };
        let (outcome, ()) = futures::join!(call, stop);
        assert_eq!(
            outcome.expect_err(engine.name).kind,
            AgentErrorKind::Cancelled,
            "{}",
            engine.name
        );
        assert_eq!(left_behind(&mark), Vec::<String>::new(), "{}", engine.name);
        std::fs::remove_file(flag).expect("the next engine makes it anew");
    }
}

#[tokio::test]
async fn peer_an_ignored_schema_is_no_structured_answer() {
    let scratch = Scratch::new();
    for engine in both(&scratch, || Script::always(Turn::text("no issues found"))) {
        let (cx, _) = step(Cancel::never());
        let asked = request(AgentRole::Review, &scratch.repo());
        let error = engine
            .agent
            .ask::<LocalReview>(asked, cx)
            .await
            .expect_err("prose is never a review");
        assert_eq!(error.kind, AgentErrorKind::Unparseable, "{}", engine.name);
    }
}

#[tokio::test]
async fn peer_what_cannot_work_is_told_apart_from_what_failed() {
    let scratch = Scratch::new();
    let nowhere = "01234567-89ab-7cde-8f01-23456789abcd";
    let lost =
        request(AgentRole::Plan, &scratch.repo()).with_session(Session::Resume(nowhere.into()));
    let bad_model = Turn::failure(404, "", "The model `nope` does not exist");
    for engine in both(&scratch, || Script::always(bad_model.clone())) {
        let (outcome, ..) = run(&engine, lost.clone()).await;
        let error = outcome.expect_err(engine.name);
        assert_eq!(
            error.kind,
            AgentErrorKind::Config,
            "{} unknown session: {error}",
            engine.name
        );
        let (outcome, ..) = run(&engine, request(AgentRole::Plan, &scratch.repo())).await;
        let error = outcome.expect_err(engine.name);
        assert_eq!(
            error.kind,
            AgentErrorKind::Config,
            "{} unknown model: {error}",
            engine.name
        );
    }
    for engine in both(&scratch, || Script::always(Turn::Refuse)) {
        let (outcome, ..) = run(&engine, request(AgentRole::Plan, &scratch.repo())).await;
        let error = outcome.expect_err(engine.name);
        assert_eq!(
            error.kind,
            AgentErrorKind::Refused,
            "{}: {error}",
            engine.name
        );
    }
    let long = AgentRequest {
        prompt: "x ".repeat(600_000),
        ..request(AgentRole::Plan, &scratch.repo())
    };
    if let Some(engine) = codex(&scratch, Script::always(Turn::text("hm"))) {
        let (outcome, ..) = run(&engine, long).await;
        let error = outcome.expect_err("too long");
        assert_eq!(error.kind, AgentErrorKind::ContextOverflow, "{error}");
    }
}

#[tokio::test]
async fn peer_tools_see_the_guarded_environment() {
    let scratch = Scratch::new();
    // a login shell would read these and lose the guard folder
    for profile in [
        ".bash_profile",
        ".profile",
        ".bashrc",
        ".zprofile",
        ".zshrc",
    ] {
        let path = scratch.path("home").join(profile);
        std::fs::write(path, "export PATH=/usr/local/bin:/usr/bin:/bin\n").expect("a profile");
    }
    let guard = scratch.path("guard");
    std::fs::create_dir(&guard).expect("a folder");
    let shim = guard.join("git");
    std::fs::write(&shim, "#!/bin/sh\n").expect("a shim");
    std::fs::set_permissions(&shim, std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .expect("a mode");
    let path = format!(
        "{}:{}",
        guard.display(),
        std::env::var("PATH").expect("PATH")
    );
    let pair = [
        ("GIT_CONFIG_COUNT", "1"),
        ("GIT_CONFIG_KEY_0", "gc.auto"),
        ("GIT_CONFIG_VALUE_0", "0"),
    ];
    let script = || {
        Script::turns([
            Turn::run(
                "{ command -v git; echo \"$GIT_CONFIG_COUNT $GIT_CONFIG_KEY_0 $GIT_CONFIG_VALUE_0\"; } > seen",
            ),
            Turn::structured(json!({"summary": "done", "filesChanged": [], "evidence": []})),
        ])
    };
    for engine in both(&scratch, script) {
        let mut asked = request(AgentRole::Implement, &scratch.repo());
        asked.env.insert("PATH".into(), path.clone());
        asked
            .env
            .extend(pair.map(|(name, value)| (name.to_owned(), value.to_owned())));
        let (outcome, ..) = run(&engine, asked).await;
        outcome.expect(engine.name);
        let seen = std::fs::read_to_string(scratch.repo().join("seen")).expect("the tool ran");
        assert_eq!(
            seen,
            format!("{}\n1 gc.auto 0\n", shim.display()),
            "{}",
            engine.name
        );
    }
}

#[tokio::test]
async fn peer_a_repair_prompt_in_the_same_session_brings_the_answer() {
    let scratch = Scratch::new();
    let script = || {
        Script::by(|request: &ModelRequest| {
            if request.user_text().contains("as JSON, please") {
                Turn::structured(json!({"summary": "s", "steps": ["one"]}))
            } else {
                Turn::text("First I would write a file, then another.")
            }
        })
    };
    for engine in both(&scratch, script) {
        let asked = request(AgentRole::Plan, &scratch.repo());
        let (cx, _) = step(Cancel::never());
        let error = engine
            .agent
            .ask::<Plan>(asked.clone(), cx)
            .await
            .expect_err("prose is no plan");
        assert_eq!(error.kind, AgentErrorKind::Unparseable, "{}", engine.name);
        let session = Session::Resume(error.session.expect("a session to resume"));
        let repair = AgentRequest {
            prompt: "as JSON, please".into(),
            ..asked.with_session(session)
        };
        let (cx, _) = step(Cancel::never());
        let (plan, _) = engine
            .agent
            .ask::<Plan>(repair, cx)
            .await
            .expect(engine.name);
        assert_eq!(plan.steps, ["one"], "{}", engine.name);
    }
}
