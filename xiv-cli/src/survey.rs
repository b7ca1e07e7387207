//! Looking around: what this repository and this machine have. `init` proposes
//! from it, `doctor` judges it, `implement` uses its validation commands.

use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;
use xiv_agents::Host;
use xiv_core::port::{Agent, Login, StepContext};
use xiv_core::rt::SystemClock;
use xiv_core::rt::detect::{Detected, Project, detect};
use xiv_core::rt::process::{Environment, ProcessSpec, Program, output};

use crate::agents::agent;
use crate::config::Config;
use crate::paths::Place;

/// An agent's program, as it was found.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FoundAgent {
    /// The engine's name.
    pub(crate) engine: String,
    /// Whether it can be started.
    pub(crate) installed: bool,
    /// What it calls its version.
    pub(crate) version: Option<String>,
    /// Whether it is logged in; null when that cannot be told without a call.
    pub(crate) logged_in: Option<bool>,
    /// What to do when it cannot be used.
    pub(crate) fix: Option<String>,
    /// What is wrong.
    pub(crate) problem: Option<String>,
}

/// The validation commands of a repository, found by its files.
pub(crate) fn validation(root: &Path) -> Detected {
    let path = std::env::var_os("PATH").unwrap_or_default();
    detect(&Project::look(root, &path))
}

/// Asks one engine's program about itself.
pub(crate) async fn look_at(engine: &str, config: &Config, root: &Path) -> FoundAgent {
    let host = Host::new(Environment::inherited());
    let found = FoundAgent {
        engine: engine.to_owned(),
        installed: false,
        version: None,
        logged_in: None,
        fix: None,
        problem: None,
    };
    match agent(engine, config, root, &host) {
        Ok(agent) => ask(&agent, found).await,
        Err(error) => FoundAgent {
            problem: Some(
                std::iter::once(error.message)
                    .chain(error.causes)
                    .collect::<Vec<_>>()
                    .join(": "),
            ),
            fix: error.hints.first().cloned(),
            ..found
        },
    }
}

async fn ask(agent: &Arc<dyn Agent>, found: FoundAgent) -> FoundAgent {
    let cx = StepContext::new(Arc::new(SystemClock), "preflight");
    match agent.preflight(cx).await {
        Err(error) => FoundAgent {
            problem: Some(error.message.clone()),
            fix: error.hints.first().cloned(),
            ..found
        },
        Ok(info) => {
            let (logged_in, fix, problem) = match info.login {
                Login::Yes => (Some(true), None, None),
                Login::Unknown => (None, None, None),
                Login::No { fix } => (Some(false), Some(fix), Some("not logged in".to_owned())),
            };
            FoundAgent {
                installed: true,
                version: info.version,
                logged_in,
                fix,
                problem,
                ..found
            }
        }
    }
}

/// What a program prints, trimmed; `None` when it is missing or fails.
pub(crate) async fn says(program: &str, args: &[&str], cwd: &Path) -> Option<String> {
    let program: OsString = Program::find(program).ok()?.into();
    let environment = Environment::inherited().without_git();
    let spec = ProcessSpec::new(program, environment, cwd).with_args(args.iter().copied());
    let captured = output(spec).await.ok()?;
    let text = String::from_utf8_lossy(&captured.stdout).trim().to_owned();
    captured.is_success().then_some(text)
}

/// The branch that work starts from: what the remote calls its default, else
/// `main` or `master`, else the current one.
pub(crate) async fn default_branch(place: &Place) -> Option<String> {
    let ask = async |args: &[&str]| says("git", args, &place.main).await;
    if let Some(remote) = ask(&["symbolic-ref", "--short", "refs/remotes/origin/HEAD"]).await
        && let Some(name) = remote.strip_prefix("origin/")
        && ask(&[
            "rev-parse",
            "--verify",
            "--quiet",
            &format!("refs/heads/{name}"),
        ])
        .await
        .is_some()
    {
        return Some(name.to_owned());
    }
    for name in ["main", "master"] {
        if ask(&[
            "rev-parse",
            "--verify",
            "--quiet",
            &format!("refs/heads/{name}"),
        ])
        .await
        .is_some()
        {
            return Some(name.to_owned());
        }
    }
    ask(&["symbolic-ref", "--short", "HEAD"]).await
}

/// The forge behind the remote `origin`, in words; `None` without a remote.
pub(crate) async fn forge(place: &Place) -> Option<String> {
    let url = says(
        "git",
        &["config", "--get", "remote.origin.url"],
        &place.main,
    )
    .await?;
    Some(if url.contains("github") {
        "GitHub".to_owned()
    } else {
        "a remote that is not GitHub".to_owned()
    })
}
