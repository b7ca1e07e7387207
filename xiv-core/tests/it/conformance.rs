//! The fakes keep the rules of their ports: they pass the suites that every
//! adapter has to pass.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use futures::executor::block_on;
use xiv_core::model::CommandExit;
use xiv_core::port::{Agent, AgentError, AgentErrorKind, AgentRole, Clock, Vcs as _};
use xiv_core::test_support::conformance::{
    self, AgentBench, AgentScript, CommandScript, ValidatorBench,
};
use xiv_core::test_support::{
    FakeAgent, FakeIssues, FakeValidator, FakeVcs, ManualClock, ScriptedReply, ScriptedValidation,
};

#[test]
fn the_manual_clock_is_a_clock() {
    block_on(conformance::clock(ManualClock::automatic));
}

#[test]
fn the_fake_tracker_is_a_tracker() {
    block_on(conformance::issues(|issues| {
        (FakeIssues::new(issues.to_vec()), ())
    }));
}

#[test]
fn the_fake_repository_is_a_repository() {
    block_on(conformance::vcs(|| {
        FakeVcs::with_files([("a.txt", "one\n")])
    }));
}

#[test]
fn the_fake_validator_is_a_validator() {
    block_on(conformance::validator(|scripts| {
        let hangs = scripts.contains(&CommandScript::Hangs);
        let printed = scripts.iter().filter_map(|script| match script {
            CommandScript::Exit { prints, .. } => Some(*prints),
            _ => None,
        });
        let exits = scripts.iter().map(|script| match script {
            CommandScript::Exit { code, .. } => CommandExit::Code(*code),
            _ => CommandExit::TimedOut,
        });
        let script = if hangs {
            ScriptedValidation::hang()
        } else {
            let printed = printed.collect::<Vec<_>>().join("\n");
            ScriptedValidation::exits(exits).printing(printed)
        };
        ValidatorBench {
            validator: Arc::new(FakeValidator::new().then(script)),
            clock: Arc::new(ManualClock::automatic()),
            cwd: PathBuf::from("/repo"),
        }
    }));
}

struct Bench(FakeVcs);

#[async_trait]
impl AgentBench for Bench {
    async fn agent(&self, script: AgentScript) -> Option<Arc<dyn Agent>> {
        let reply = match script {
            AgentScript::Answers(answer) => ScriptedReply::json(&answer),
            AgentScript::Says(text) => ScriptedReply::text(text),
            AgentScript::Writes {
                path,
                content,
                answer,
            } => ScriptedReply::json(&answer).writing(&self.0, path, content),
            AgentScript::Hangs => ScriptedReply::hang(),
            AgentScript::Crashes => ScriptedReply::fail(AgentErrorKind::Crashed),
        };
        // a call takes the reply, whatever its role
        let reply = Arc::new(Mutex::new(Some(reply)));
        let agent = AgentRole::ALL
            .into_iter()
            .fold(FakeAgent::new("fake"), |agent, role| {
                let reply = Arc::clone(&reply);
                agent.always(role, move |_| {
                    let reply = reply.lock().expect("not poisoned").take();
                    reply.expect("one call per agent")
                })
            });
        Some(Arc::new(agent))
    }

    async fn missing(&self) -> Option<Arc<dyn Agent>> {
        let missing = || AgentError::new(AgentErrorKind::Config, "it is not installed");
        let agent = FakeAgent::new("fake")
            .with_preflight(Err(missing()))
            .then(AgentRole::Plan, ScriptedReply::error(missing()));
        Some(Arc::new(agent))
    }

    fn clock(&self) -> Arc<dyn Clock> {
        Arc::new(ManualClock::automatic())
    }

    fn cwd(&self) -> PathBuf {
        self.0.root().to_path_buf()
    }

    fn read(&self, path: &str) -> Option<String> {
        String::from_utf8(self.0.read(path)?).ok()
    }

    fn left_behind(&self, _mark: &str) -> usize {
        0
    }
}

#[test]
fn the_fake_agent_is_an_agent() {
    block_on(conformance::agent(&Bench(FakeVcs::new())));
}

/// The real ones of this crate pass the suites, too.
#[cfg(feature = "tokio")]
mod real {
    use std::sync::Arc;

    use xiv_core::rt::SystemClock;
    use xiv_core::rt::guard::{Guard, GuardPlan};
    use xiv_core::rt::process::Environment;
    use xiv_core::rt::validate::ShellValidator;
    use xiv_core::test_support::conformance::{self, ValidatorBench};

    #[tokio::test]
    async fn the_system_clock_is_a_clock() {
        conformance::clock(|| SystemClock).await;
    }

    #[tokio::test]
    async fn the_shell_validator_is_a_validator() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let guard = Guard::install(folder.path().join("guard"), GuardPlan::default());
        let guard = Arc::new(guard.expect("the guard is installed"));
        let path = std::env::var_os("PATH").expect("a PATH");
        let environment = Environment::empty().with("PATH", path);
        conformance::validator(|_| ValidatorBench {
            validator: Arc::new(ShellValidator::new(Arc::clone(&guard), environment.clone())),
            clock: Arc::new(SystemClock),
            cwd: folder.path().to_path_buf(),
        })
        .await;
    }
}
