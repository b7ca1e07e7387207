//! What the running executable does when it was called as `git`, `gh` or `jj`.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::Ordering;

use super::folder::{BIN, GuardPlan, HOST_INTERCEPTS, PLAN, SHIMS};
use super::reach::reaches_the_run;
use super::tries::{Try, record};
use crate::policy::guard::{Refusal, Rule, judge};
use crate::rt::process::Program;
use crate::rt::sweep::MARK_VARIABLE;

/// Exit code of a refused command.
const REFUSED: u8 = 4;
/// Exit code when the real program is missing, as a shell would have it.
const MISSING: u8 = 127;
/// Exit code when the real program does not start.
const NOT_STARTED: u8 = 126;

/// What [`intercept`] decided.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the host must act on either")]
pub enum Intercepted {
    /// The process was not called as a shim. It goes on.
    No,
    /// The process was called as a shim, and what it was called for is refused
    /// or impossible. The host writes the message to standard error and exits.
    Exit {
        /// The exit code.
        code: u8,
        /// The message, without a line break at its end.
        message: String,
    },
}

/// Acts as the guarding `git`, `gh` or `jj` when the process was called by
/// such a name. To be called first in `main`: what is allowed becomes the real
/// program and does not come back.
///
/// Guards that are installed later by this process get shims.
#[must_use]
pub fn intercept() -> Intercepted {
    HOST_INTERCEPTS.store(true, Ordering::Relaxed);
    let mut arguments = std::env::args_os();
    let called_as = arguments.next().unwrap_or_default();
    let name = Path::new(&called_as).file_name().and_then(OsStr::to_str);
    match name.filter(|name| SHIMS.contains(name)) {
        Some(name) => act(name, &called_as, &arguments.collect::<Vec<_>>()),
        None => Intercepted::No,
    }
}

/// Decides, and becomes the real program if that is allowed.
fn act(name: &str, called_as: &OsStr, arguments: &[OsString]) -> Intercepted {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folder = own_folder(name, called_as, &path);
    let real = real_program(name, folder.as_deref(), &path);
    // the plan is gone when a program outlives its run: then everything counts
    let plan = folder.as_deref().and_then(read_plan).unwrap_or_default();
    let mut argv = vec![name.to_owned()];
    argv.extend(
        arguments
            .iter()
            .map(|word| word.to_string_lossy().into_owned()),
    );
    let refusal = judge(&argv).or_else(|| through_alias(name, &argv, real.as_deref()?));
    if let Some(refusal) = refusal.filter(|refusal| {
        !plan.is_freed(refusal.rule)
            && concerns_the_run(&plan, name, refusal, &argv, real.as_deref())
    }) {
        if let Some(folder) = &folder {
            let mark = std::env::var(MARK_VARIABLE).unwrap_or_default();
            let entry = Try {
                mark,
                rule: refusal.rule,
                argv: argv.clone(),
            };
            // refusing matters more than the log
            let _unlogged = record(folder, &entry);
        }
        return Intercepted::Exit {
            code: REFUSED,
            message: message(&argv, refusal.rule),
        };
    }
    let Some(real) = real else {
        let message = format!("xiv: `{name}` is not installed");
        return Intercepted::Exit {
            code: MISSING,
            message,
        };
    };
    let error = Command::new(&real).args(arguments).exec();
    let message = format!("xiv: cannot start `{}`: {error}", real.display());
    Intercepted::Exit {
        code: NOT_STARTED,
        message,
    }
}

/// Judges again with an alias from git's configuration put in.
fn through_alias(name: &str, argv: &[String], real: &Path) -> Option<Refusal> {
    if name != "git" {
        return None;
    }
    let at = super::reach::subcommand_at(argv)?;
    let global = &argv[1..at];
    let key = format!("alias.{}", argv[at]);
    let output = Command::new(real)
        .args(global)
        .args(["config", "--get", &key])
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let text = text.trim_end_matches('\n');
    if !output.status.success() || text.is_empty() {
        return None;
    }
    let mut expanded = argv[..at].to_vec();
    expanded.extend(["-c".to_owned(), format!("alias.{}={text}", argv[at])]);
    expanded.extend_from_slice(&argv[at..]);
    judge(&expanded)
}

/// Whether a refusal is this run's business: a push to its remotes, a reset of
/// its work tree. What programs do in repositories of their own is theirs, and
/// nothing on a forge is.
fn concerns_the_run(
    plan: &GuardPlan,
    name: &str,
    refusal: &Refusal,
    argv: &[String],
    real: Option<&Path>,
) -> bool {
    match (name, refusal.rule, real) {
        ("gh", _, _) | (_, Rule::Merge | Rule::AutoMerge | Rule::Close, _) | (_, _, None) => true,
        (_, _, Some(real)) => reaches_the_run(plan, name, refusal, argv, real),
    }
}

/// The guard folder that this shim stands in: by its own path, else the first
/// on the search path with a shim of this name.
fn own_folder(name: &str, called_as: &OsStr, path: &OsStr) -> Option<PathBuf> {
    let is_guard = |bin: &Path| {
        bin.ends_with(BIN)
            && bin
                .parent()
                .is_some_and(|folder| folder.join(PLAN).is_file())
    };
    if called_as.as_encoded_bytes().contains(&b'/') {
        let bin = Path::new(called_as).parent()?.canonicalize().ok()?;
        return bin
            .parent()
            .map(Path::to_path_buf)
            .filter(|_| is_guard(&bin));
    }
    std::env::split_paths(path)
        .find(|bin| is_guard(bin) && bin.join(name).is_symlink())
        .and_then(|bin| bin.parent().map(Path::to_path_buf))
}

/// The program to become: the next of this name after this shim's folder. That
/// may be the shim of an outer run, which then decides for that run.
fn real_program(name: &str, folder: Option<&Path>, path: &OsStr) -> Option<PathBuf> {
    let entries: Vec<PathBuf> = std::env::split_paths(path).collect();
    let own = folder.map(|folder| folder.join(BIN));
    // a folder that stands twice counts where it stands last, lest two guards
    // hand a call to each other for ever
    let after = own.and_then(|own| {
        let own = own.canonicalize().ok()?;
        entries
            .iter()
            .rposition(|entry| entry.canonicalize().is_ok_and(|entry| entry == own))
    });
    let rest = match after {
        Some(at) => std::env::join_paths(&entries[at + 1..]).ok()?,
        None => {
            return Program::find_on(name, path, Path::new("/"))
                .ok()
                .map(path_of);
        }
    };
    let outer = std::env::split_paths(&rest).find_map(|entry| {
        let candidate = entry.join(name);
        let is_outer_shim = entry.ends_with(BIN)
            && candidate.is_symlink()
            && entry
                .parent()
                .is_some_and(|folder| folder.join(PLAN).is_file());
        (is_outer_shim || candidate.is_file()).then_some((is_outer_shim, candidate))
    });
    match outer {
        Some((true, shim)) => Some(shim),
        _ => Program::find_on(name, &rest, Path::new("/"))
            .ok()
            .map(path_of),
    }
}

fn path_of(program: Program) -> PathBuf {
    program.path().to_path_buf()
}

fn read_plan(folder: &Path) -> Option<GuardPlan> {
    serde_json::from_slice(&fs::read(folder.join(PLAN)).ok()?).ok()
}

/// What a person or an agent reads instead of the program's output.
fn message(argv: &[String], rule: Rule) -> String {
    let why = match rule {
        Rule::Merge => "this run never merges; report that the change is ready for a human",
        Rule::AutoMerge => "this run never enables auto-merge; report that the change is ready",
        Rule::Push => "this run never pushes; leave the work in the work tree",
        Rule::Close => "this run never closes pull requests or issues",
        Rule::Destructive => "this would throw uncommitted work away",
        Rule::Unseen => "what would run or be sent cannot be seen",
    };
    format!("xiv: refused `{}` (rule {rule}): {why}", argv.join(" "))
}
