//! Carries one turn out.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use xiv_core::model::Usage;
use xiv_core::port::{
    AgentError, AgentErrorKind, AgentReply, AgentRequest, StepContext, StepEvent,
};
use xiv_core::rt::process::StopSignal;

use super::file::{Ending, Failure, Turn};
use crate::engine::runner::Call;
use crate::engine::{Fed, Identity, Parser, Plan, cancelled};
use crate::host::Host;

/// Does what the turn says, in its fixed order: wait, delete, write, run, tell, end.
pub(super) async fn perform(
    number: usize,
    turn: &Turn,
    host: &Host,
    request: &AgentRequest,
    cx: &StepContext,
) -> Result<AgentReply, AgentError> {
    wait(Duration::from_millis(turn.delay_ms), cx).await?;
    change_files(turn, &request.cwd, cx)
        .map_err(|error| crash(number, format!("cannot change the work tree: {error}")))?;
    if let Some(script) = &turn.run {
        shell(number, script, host, request, cx).await?;
    }
    let mut usage = Usage {
        calls: 1,
        ..Usage::default()
    };
    for event in &turn.events {
        if let StepEvent::Usage { usage: told } = event {
            usage = *told;
        }
        cx.events.emit(event.clone());
    }
    let session = Some(format!("scripted-{number}"));
    match &turn.ending {
        Ending::Reply(value) => Ok(AgentReply {
            json: Some(value.clone()),
            text: value.to_string(),
            session,
            usage,
            ..AgentReply::default()
        }),
        Ending::Text(text) => Ok(AgentReply {
            text: text.clone(),
            session,
            usage,
            ..AgentReply::default()
        }),
        Ending::Fail(failure) => Err(fail(number, *failure, cx).await),
    }
}

async fn fail(number: usize, failure: Failure, cx: &StepContext) -> AgentError {
    match failure {
        Failure::Auth => AgentError::new(
            AgentErrorKind::Auth,
            format!("turn {number} of the script: not logged in"),
        ),
        Failure::Quota => AgentError::new(
            AgentErrorKind::Quota { resets_at: None },
            format!("turn {number} of the script: the usage limit is reached"),
        ),
        Failure::Crash => crash(number, "crashed, as written".into()),
        Failure::Hang => cancelled(cx.cancel.clone().await),
    }
}

fn crash(number: usize, what: String) -> AgentError {
    AgentError::new(
        AgentErrorKind::Crashed,
        format!("turn {number} of the script: {what}"),
    )
}

async fn wait(pause: Duration, cx: &StepContext) -> Result<(), AgentError> {
    if pause.is_zero() {
        return match cx.cancel.reason() {
            Some(reason) => Err(cancelled(reason)),
            None => Ok(()),
        };
    }
    tokio::select! {
        biased;
        reason = cx.cancel.clone() => Err(cancelled(reason)),
        () = cx.clock.sleep(pause) => Ok(()),
    }
}

fn change_files(turn: &Turn, tree: &Path, cx: &StepContext) -> io::Result<()> {
    for file in &turn.delete {
        let path = confined(tree, file)?;
        tell(cx, "delete", file);
        match fs::symlink_metadata(&path) {
            Ok(meta) if meta.is_dir() => fs::remove_dir_all(&path)?,
            Ok(_) => fs::remove_file(&path)?,
            Err(error) => return Err(error),
        }
    }
    for (file, content) in &turn.write {
        let path = confined(tree, file)?;
        tell(cx, "write", file);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(path, content)?;
    }
    Ok(())
}

fn tell(cx: &StepContext, tool: &str, file: &Path) {
    cx.events.emit(StepEvent::Activity {
        tool: Some(tool.into()),
        target: Some(file.to_string_lossy().into_owned()),
    });
}

/// The path in the work tree, unless a link on the way leads out of it.
fn confined(tree: &Path, file: &Path) -> io::Result<PathBuf> {
    let tree = tree.canonicalize()?;
    let path = tree.join(file);
    let existing = path
        .ancestors()
        .skip(1)
        .find_map(|folder| folder.canonicalize().ok());
    let leads_out = existing.is_none_or(|folder| !folder.starts_with(&tree));
    let is_link = fs::symlink_metadata(&path).is_ok_and(|meta| meta.is_symlink())
        && path
            .canonicalize()
            .map_or(true, |target| !target.starts_with(&tree));
    if leads_out || is_link {
        return Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            format!("`{}` leads out of the work tree", file.display()),
        ));
    }
    Ok(path)
}

async fn shell(
    number: usize,
    script: &str,
    host: &Host,
    request: &AgentRequest,
    cx: &StepContext,
) -> Result<(), AgentError> {
    let plan = Plan {
        args: vec!["-c".into(), script.into()],
        stdin: String::new(),
        set: Vec::new(),
        files: Vec::new(),
        signal: StopSignal::Terminate,
    };
    let call = Call {
        name: "sh",
        host,
        request,
        cx,
    };
    let report = call.execute("sh", plan, &mut Shown).await?;
    if report.end.cancel.is_some() || !report.end.is_clean() {
        let error = report.end.without_result("`run`");
        return Err(AgentError {
            message: format!("turn {number} of the script: {}", error.message),
            ..error
        });
    }
    Ok(())
}

/// Shows every line.
struct Shown;

impl Parser for Shown {
    fn feed(&mut self, line: &str) -> Fed {
        Fed::one(StepEvent::Output {
            line: line.to_owned(),
        })
    }

    fn identity(&self) -> Identity {
        Identity::default()
    }
}
