//! Starts a child as the leader of its own process group, with pipes whose
//! reading ends are asynchronous.

use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use rustix::process::Pid;
use tokio::net::unix::pipe::Receiver;
use tokio::process::{Child, Command};
use tokio::time::sleep;

use super::environment::Environment;
use super::program::Program;
use super::report::StartError;
use super::spec::StderrMode;

/// What [`launch`] needs.
pub(super) struct Launch {
    pub(super) program: OsString,
    pub(super) args: Vec<OsString>,
    pub(super) env: Environment,
    pub(super) cwd: PathBuf,
    pub(super) has_stdin: bool,
    pub(super) stderr: StderrMode,
}

/// A child that was started.
pub(super) struct Launched {
    pub(super) child: Child,
    pub(super) leader: Pid,
    pub(super) stdout: Receiver,
    /// None when it is merged into standard output.
    pub(super) stderr: Option<Receiver>,
}

/// Starts the program.
pub(super) async fn launch(plan: Launch) -> Result<Launched, StartError> {
    let Launch {
        program,
        args,
        env,
        cwd,
        has_stdin,
        stderr,
    } = plan;
    if let Err(source) = cwd.read_dir() {
        return Err(StartError::WorkingDirectory { cwd, source });
    }
    let search = env.get("PATH").unwrap_or_default();
    let program = Program::find_on(program, search, &cwd)?;
    let refused = |source| StartError::Refused {
        program: program.path().into(),
        source,
    };
    let (stdout, out_writer) = pipe().map_err(refused)?;
    let (stderr, err_writer) = match stderr {
        StderrMode::Merged => (None, out_writer.try_clone().map_err(refused)?),
        StderrMode::Separate => {
            let (reader, writer) = pipe().map_err(refused)?;
            (Some(reader), writer)
        }
    };
    let mut command = Command::new(program.path());
    command
        .args(args)
        .env_clear()
        .envs(env.iter())
        .current_dir(&cwd)
        .stdin(if has_stdin {
            Stdio::piped()
        } else {
            Stdio::null()
        })
        .stdout(out_writer)
        .stderr(err_writer)
        .process_group(0)
        .kill_on_drop(true);
    let child = spawn(&mut command).await.map_err(refused)?;
    // with it go this process's copies of the writing ends
    drop(command);
    let leader = child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
    let leader = leader.ok_or_else(|| refused(io::Error::other("the child has no process id")))?;
    Ok(Launched {
        child,
        leader,
        stdout,
        stderr,
    })
}

/// A pipe with an asynchronous reading end.
fn pipe() -> io::Result<(Receiver, OwnedFd)> {
    let (reader, writer) = io::pipe()?;
    Ok((Receiver::from_owned_fd(reader.into())?, writer.into()))
}

/// Spawns. A file that another thread's fork still holds open for writing is
/// busy for a moment.
async fn spawn(command: &mut Command) -> io::Result<Child> {
    let mut tries = 0;
    loop {
        match command.spawn() {
            Err(error) if error.kind() == io::ErrorKind::ExecutableFileBusy && tries < 20 => {
                tries += 1;
                sleep(Duration::from_millis(10)).await;
            }
            other => return other,
        }
    }
}
