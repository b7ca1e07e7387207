//! `xiv demo`: the real loop on a small real repository that it makes.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use xiv_core::model::{ExitCode, Outcome};
use xiv_core::rt::process::{Environment, ProcessSpec, Program, output};

use crate::config::Sources;
use crate::error::CliError;
use crate::files::make_private;
use crate::implement::{self, ImplementArgs};
use crate::paths::Paths;
use crate::runtime::block_on;
use crate::ui::{
    Ui,
    style::{DIM, HEAD, paint},
};

/// Show the whole loop on a small repository in a temporary folder.
///
/// Needs no account and no network: a scripted agent fails the tests in pass 1,
/// is sent back by the review in pass 2 and is done in pass 3, with one known
/// gap. Everything else is real: the repository, the tests, the commit.
#[derive(Debug, clap::Args)]
pub(crate) struct DemoArgs {
    /// Who does the work.
    #[arg(long, value_name = "AGENT", default_value = "scripted")]
    agent: DemoAgent,
    /// The folder to make; it must not exist, or be empty.
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

/// Who does the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum DemoAgent {
    /// A script; the same each time.
    Scripted,
    /// Claude Code, for every step.
    Claude,
    /// Codex, for every step.
    Codex,
}

const KEY: &str = "GREET-1";
const SCRIPT: &str = ".xiv/demo-agent.toml";

/// The files of the repository.
const FILES: [(&str, &str); 4] = [
    ("README.md", include_str!("../../assets/demo/README.md")),
    ("greet.sh", include_str!("../../assets/demo/greet.sh")),
    ("test.sh", include_str!("../../assets/demo/test.sh")),
    (
        ".xiv/issues/GREET-1.md",
        include_str!("../../assets/demo/GREET-1.md"),
    ),
];

/// Makes the repository and runs the loop on it.
///
/// # Errors
/// When the folder cannot be made, or a real agent cannot be used.
pub(crate) fn run(args: &DemoArgs, ui: Ui) -> Result<ExitCode, CliError> {
    let folder = folder(args.dir.as_deref())?;
    let repo = folder.join("repo");
    let home = folder.join("xiv-home");
    write(&repo, args.agent)
        .map_err(|e| CliError::io(format!("{} cannot be written", repo.display()), &e))?;
    let paths = Paths::below(home.clone());
    let report = block_on(async {
        commit(&repo).await?;
        if !ui.is_json() {
            ui.note(paint(
                DIM,
                format!("a small repository is in {}", repo.display()),
            ));
        }
        let args = ImplementArgs::of_key(KEY);
        let surroundings = (paths, Sources::of_repository(&repo));
        implement::start(&args, &repo, Some(surroundings), ui).await
    })?;
    let exit = implement::show(&report, ui)?;
    if !ui.is_json() {
        ui.note(afterwards(&folder, report.output.outcome));
    }
    Ok(exit)
}

fn folder(wanted: Option<&Path>) -> Result<PathBuf, CliError> {
    let broken = |e: std::io::Error| CliError::io("the demo's folder cannot be made", &e);
    let Some(dir) = wanted else {
        let made = tempfile::Builder::new().prefix("xiv-demo-").tempdir();
        return Ok(made.map_err(broken)?.keep());
    };
    make_private(dir).map_err(broken)?;
    let mut entries = dir.read_dir().map_err(broken)?;
    if entries.next().is_some() {
        return Err(
            CliError::refused("exists", format!("{} is not empty", dir.display()))
                .with_hint("name a folder that does not exist"),
        );
    }
    dir.canonicalize().map_err(broken)
}

fn write(repo: &Path, agent: DemoAgent) -> std::io::Result<()> {
    let config = config(agent);
    let mut files = FILES.to_vec();
    files.push(("xiv.toml", &config));
    if agent == DemoAgent::Scripted {
        files.push((SCRIPT, include_str!("../../assets/demo/agent.toml")));
    }
    for (name, text) in files {
        let path = repo.join(name);
        std::fs::create_dir_all(path.parent().unwrap_or(repo))?;
        std::fs::write(path, text)?;
    }
    Ok(())
}

fn config(agent: DemoAgent) -> String {
    let engine = match agent {
        DemoAgent::Scripted => format!("scripted:{SCRIPT}"),
        DemoAgent::Claude => "claude".to_owned(),
        DemoAgent::Codex => "codex".to_owned(),
    };
    let mut text = String::from(
        "base = \"main\"\n\n[validate]\ncommands = [ { name = \"test\", run = \"sh test.sh\" } ]\n",
    );
    for step in ["plan", "implement", "review"] {
        text.push_str(&format!("\n[steps.{step}]\nengine = \"{engine}\"\n"));
    }
    text
}

/// The first commit. The repository has an identity of its own, so that the
/// demo works before git is set up.
async fn commit(repo: &Path) -> Result<(), CliError> {
    for args in [
        &["init", "--quiet", "--initial-branch=main"][..],
        &["config", "user.name", "xiv demo"],
        &["config", "user.email", "demo@localhost"],
        &["config", "commit.gpgsign", "false"],
        &["config", "core.hooksPath", ".git/hooks"],
        &["add", "--all"],
        &["commit", "--quiet", "--message=Say hello"],
    ] {
        git(repo, args).await?;
    }
    Ok(())
}

async fn git(repo: &Path, args: &[&str]) -> Result<(), CliError> {
    let failed = |why: String| {
        CliError::new(
            ExitCode::Adapter,
            "git",
            format!("`git {}` failed", args.join(" ")),
        )
        .with_cause(why)
    };
    let program = Program::find("git")
        .map_err(|e| failed(e.to_string()).with_hint("install git 2.36 or newer"))?;
    let environment = Environment::inherited().without_git();
    let spec = ProcessSpec::new(program, environment, repo).with_args(args.iter().copied());
    let captured = output(spec).await.map_err(|e| failed(e.to_string()))?;
    if captured.is_success() {
        Ok(())
    } else {
        Err(failed(captured.stderr_text()))
    }
}

fn afterwards(folder: &Path, outcome: Outcome) -> String {
    let folder = folder.display();
    let mut text = format!("\n{}\n", paint(HEAD, "Where everything is"));
    text.push_str(&format!(
        "  {folder}/repo      the repository; the work is on feat/greet-1\n"
    ));
    text.push_str(&format!(
        "  {folder}/xiv-home  the record of the run, prompts and diffs\n"
    ));
    text.push_str(&format!("{}\n", paint(HEAD, "Try next")));
    text.push_str(&format!(
        "  cd {folder}/repo\n  export XIV_HOME={folder}/xiv-home\n"
    ));
    if outcome.is_ended() {
        text.push_str("  git show feat/greet-1      what was committed\n");
        text.push_str("  xiv run explain --verify   why each pass was judged as it was\n");
    } else {
        text.push_str("  xiv run resume             go on\n");
    }
    text.push_str("  xiv run log                everything that was recorded\n");
    text.push_str("In a repository of your own: xiv init, xiv doctor, xiv implement KEY");
    text
}
