//! The guarded environment, against real git, and the shims' decisions.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

use super::environment::{Surroundings, guarded};
use super::folder::{BIN, PLAN, TRIES};
use super::reach::reaches_the_run;
use super::tries::record;
use super::{Guard, GuardPlan, RemoteUrls, Try, TryLog};
use crate::flow::GuardStatus;
use crate::policy::guard::{Rule, judge};
use crate::rt::process::{Environment, Program};
use crate::rt::sweep::MarkKey;

fn around<'a>(remotes: &'a [RemoteUrls], allowed: &'a [String]) -> Surroundings<'a> {
    Surroundings {
        shims: Some(Path::new("/guard/bin")),
        empty: Path::new("/guard/empty"),
        remotes,
        token_names: &[],
        allowed,
    }
}

fn value<'a>(env: &'a Environment, name: &str) -> Option<&'a str> {
    env.get(name).and_then(|value| value.to_str())
}

#[test]
fn tokens_and_logins_are_gone() {
    let secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    let env: Environment = [
        ("GH_TOKEN", "x"),
        ("GITHUB_TOKEN", "x"),
        ("GH_ENTERPRISE_TOKEN", "x"),
        ("GITHUB_PERSONAL_ACCESS_TOKEN", "x"),
        ("MY_GITHUB_PAT", "x"),
        ("GITLAB_PRIVATE_TOKEN", "x"),
        ("LINEAR_API_KEY", "x"),
        ("LINEAR_ANYTHING", "x"),
        ("SSH_AUTH_SOCK", "/run/ssh"),
        ("GIT_ASKPASS", "/bin/ask"),
        ("HARMLESS_NAME", secret),
        (
            "A_URL",
            "https://user:ghp_0123456789abcdefghijABCDEFGHIJ012345@host/",
        ),
        ("CLAUDECODE", "1"),
        ("AI_AGENT", "x"),
        ("GITHUB_ACTIONS", "true"),
        ("GITHUB_SHA", "abc"),
        ("ANTHROPIC_API_KEY", "stays"),
        ("OPENAI_API_KEY", "stays"),
        ("CLAUDE_CONFIG_DIR", "/c"),
        ("CODEX_HOME", "/x"),
        ("HOME", "/home/me"),
        ("PATH", "/usr/bin:/bin"),
    ]
    .into_iter()
    .collect();
    let env = guarded(env, &around(&[], &[]));
    let names: Vec<String> = env
        .iter()
        .map(|(name, _)| name.to_string_lossy().into_owned())
        .filter(|name| !name.starts_with("GIT_CONFIG_"))
        .collect();
    assert_eq!(
        names,
        [
            "ANTHROPIC_API_KEY",
            "CLAUDE_CONFIG_DIR",
            "CODEX_HOME",
            "GH_CONFIG_DIR",
            "GITHUB_ACTIONS",
            "GITHUB_SHA",
            "GIT_TERMINAL_PROMPT",
            "GLAB_CONFIG_DIR",
            "HOME",
            "OPENAI_API_KEY",
            "PATH",
        ]
    );
    assert_eq!(value(&env, "PATH"), Some("/guard/bin:/usr/bin:/bin"));
    assert_eq!(value(&env, "GH_CONFIG_DIR"), Some("/guard/empty"));
}

#[test]
fn allowed_and_configured_names_count() {
    let base = || {
        Environment::empty()
            .with("GH_TOKEN", "x")
            .with("TRACKER", "y")
    };
    let allowed = ["GH_TOKEN".to_owned()];
    let env = guarded(base(), &around(&[], &allowed));
    assert_eq!(value(&env, "GH_TOKEN"), Some("x"));
    assert_eq!(value(&env, "TRACKER"), Some("y"));
    let names = ["TRACKER".to_owned()];
    let surroundings = Surroundings {
        token_names: &names,
        ..around(&[], &[])
    };
    assert_eq!(value(&guarded(base(), &surroundings), "TRACKER"), None);
}

#[test]
fn existing_pairs_are_kept_and_tokens_in_them_emptied() {
    let base = Environment::empty()
        .with("GIT_CONFIG_COUNT", "2")
        .with("GIT_CONFIG_KEY_0", "user.name")
        .with("GIT_CONFIG_VALUE_0", "Me")
        .with("GIT_CONFIG_KEY_1", "http.extraHeader")
        .with(
            "GIT_CONFIG_VALUE_1",
            "Authorization: token ghs_0123456789abcdefghij0123456789",
        );
    let remote = RemoteUrls {
        fetch: vec!["https://github.com/o/r.git".to_owned()],
        push: vec!["git@github.com:o/r.git".to_owned()],
    };
    let env = guarded(base, &around(&[remote], &[]));
    assert_eq!(value(&env, "GIT_CONFIG_VALUE_0"), Some("Me"));
    assert_eq!(value(&env, "GIT_CONFIG_VALUE_1"), Some(""));
    let count: usize = value(&env, "GIT_CONFIG_COUNT")
        .expect("set")
        .parse()
        .expect("a number");
    let pairs: Vec<(String, String)> = (2..count)
        .map(|n| {
            let get = |kind: &str| value(&env, &format!("GIT_CONFIG_{kind}_{n}")).expect("set");
            (get("KEY").to_owned(), get("VALUE").to_owned())
        })
        .collect();
    let has = |key: &str, value: &str| pairs.iter().any(|(k, v)| k.ends_with(key) && v == value);
    assert!(has("credential.helper", ""));
    assert!(has("gc.auto", "0"));
    assert!(has("maintenance.auto", "false"));
    assert!(has(".pushInsteadOf", "https://github.com/o/r.git"));
    assert!(has(".insteadOf", "git@github.com:o/r.git"));
    assert!(has("http.https://github.com/.extraHeader", ""));
}

/// Real repositories: the run's, its remote, and one that a test might make.
struct World {
    folder: TempDir,
    git: PathBuf,
}

impl World {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let git = Program::find("git").expect("git").path().to_path_buf();
        let world = Self { folder, git };
        world.git("", &["init", "-q", "--bare", "remote.git"]);
        world.git("", &["init", "-q", "--bare", "scratch-remote.git"]);
        world.git("", &["init", "-q", "-b", "main", "run"]);
        world.git("", &["init", "-q", "-b", "main", "scratch"]);
        for repository in ["run", "scratch"] {
            world.git(repository, &["commit", "-q", "--allow-empty", "-m", "one"]);
        }
        world.git(
            "run",
            &["remote", "add", "origin", &world.path("remote.git")],
        );
        world.git(
            "scratch",
            &["remote", "add", "origin", &world.path("scratch-remote.git")],
        );
        world
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    fn base(&self) -> Environment {
        Environment::inherited()
            .without_git()
            .with("HOME", self.folder.path())
            .with("XDG_CONFIG_HOME", self.folder.path())
            .with("GIT_CONFIG_NOSYSTEM", "1")
            .with("GIT_AUTHOR_NAME", "A")
            .with("GIT_AUTHOR_EMAIL", "a@example.org")
            .with("GIT_COMMITTER_NAME", "A")
            .with("GIT_COMMITTER_EMAIL", "a@example.org")
    }

    fn run(&self, env: &Environment, folder: &str, args: &[&str]) -> Output {
        Command::new(&self.git)
            .args(args)
            .current_dir(self.folder.path().join(folder))
            .env_clear()
            .envs(env.iter())
            .output()
            .expect("git starts")
    }

    fn git(&self, folder: &str, args: &[&str]) {
        let output = self.run(&self.base(), folder, args);
        assert!(
            output.status.success(),
            "{args:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
    }

    fn plan(&self) -> GuardPlan {
        let fetch = vec![self.path("remote.git")];
        let remotes = vec![RemoteUrls {
            fetch,
            push: Vec::new(),
        }];
        GuardPlan::new(self.folder.path().join("run/.git"), remotes)
    }

    /// Whether the shim would refuse this, given where it happens by `-C`.
    fn refuses(&self, line: &[&str]) -> bool {
        let argv: Vec<String> = line.iter().map(|&word| word.to_owned()).collect();
        let refusal = judge(&argv).expect("refused by the rules");
        reaches_the_run(&self.plan(), "git", &refusal, &argv, &self.git)
    }
}

#[test]
fn nothing_can_be_pushed_to_the_remotes_but_fetching_works() {
    let world = World::new();
    let guard = Guard::install(world.folder.path().join("guard"), world.plan()).expect("installed");
    let env = guard.environment(world.base());
    let url = world.path("remote.git");
    let file_url = format!("file://{url}");
    for target in ["origin", url.as_str()] {
        let pushed = world.run(&env, "run", &["push", target, "main"]);
        assert!(!pushed.status.success(), "{target}");
    }
    let refs = world.run(&world.base(), "remote.git", &["for-each-ref"]);
    assert_eq!(refs.stdout, b"");
    assert!(
        world
            .run(&env, "run", &["fetch", "origin"])
            .status
            .success()
    );
    // repositories of one's own are nobody's business
    assert!(
        world
            .run(&env, "scratch", &["push", "-q", "origin", "main"])
            .status
            .success()
    );
    drop(guard);
    assert!(
        world
            .run(&world.base(), "run", &["push", "-q", &file_url, "main"])
            .status
            .success()
    );
}

#[test]
fn an_explicit_push_address_is_redirected_too() {
    let world = World::new();
    world.git(
        "run",
        &[
            "remote",
            "set-url",
            "--push",
            "origin",
            &world.path("scratch-remote.git"),
        ],
    );
    let mut plan = world.plan();
    plan.remotes[0].push.push(world.path("scratch-remote.git"));
    let guard = Guard::install(world.folder.path().join("guard"), plan).expect("installed");
    let pushed = world.run(
        &guard.environment(world.base()),
        "run",
        &["push", "origin", "main"],
    );
    assert!(!pushed.status.success());
    let refs = world.run(&world.base(), "scratch-remote.git", &["for-each-ref"]);
    assert_eq!(refs.stdout, b"");
}

#[test]
fn the_shims_mind_the_runs_repository_only() {
    let world = World::new();
    let (run, scratch) = (world.path("run"), world.path("scratch"));
    let run_git = format!("{run}/.git");
    assert!(world.refuses(&["git", "-C", &run, "reset", "--hard"]));
    assert!(world.refuses(&["git", "--git-dir", &run_git, "clean", "-fd"]));
    assert!(!world.refuses(&["git", "-C", &scratch, "reset", "--hard"]));
    assert!(!world.refuses(&["git", "-C", &world.path(""), "clean", "-f"]));
    // a work tree of the run's repository is the run's repository
    world.git(
        "run",
        &["worktree", "add", "-q", "../second", "-b", "second"],
    );
    assert!(world.refuses(&["git", "-C", &world.path("second"), "checkout", "-f"]));
}

#[test]
fn a_push_is_refused_only_to_the_runs_remotes() {
    let world = World::new();
    let run = world.path("run");
    let remote = world.path("remote.git");
    let elsewhere = world.path("scratch-remote.git");
    world.git("run", &["remote", "add", "elsewhere", &elsewhere]);
    assert!(world.refuses(&["git", "-C", &run, "push"]));
    assert!(world.refuses(&["git", "-C", &run, "push", "origin", "HEAD:main"]));
    assert!(world.refuses(&["git", "-C", &run, "push", "-f", "--", &remote, "main"]));
    assert!(world.refuses(&["git", "-C", &run, "push", &format!("file://{remote}/")]));
    assert!(world.refuses(&["git", "-C", &run, "push", "-o", "x", "--repo=origin"]));
    assert!(!world.refuses(&["git", "-C", &run, "push", "elsewhere", "main"]));
    assert!(!world.refuses(&["git", "-C", &run, "push", &elsewhere]));
    assert!(!world.refuses(&["git", "-C", &world.path("scratch"), "push", "origin"]));
}

#[test]
fn without_a_known_repository_everything_is_refused() {
    let argv: Vec<String> = ["git", "push"].map(str::to_owned).into();
    let refusal = judge(&argv).expect("refused");
    let nowhere = Path::new("/nowhere/git");
    assert!(reaches_the_run(
        &GuardPlan::default(),
        "git",
        &refusal,
        &argv,
        nowhere
    ));
}

#[test]
fn merging_cannot_be_freed() {
    let freed = vec![Rule::Merge, Rule::AutoMerge, Rule::Push];
    let plan = GuardPlan {
        freed,
        ..GuardPlan::default()
    };
    assert!(!plan.is_freed(Rule::Merge));
    assert!(!plan.is_freed(Rule::AutoMerge));
    assert!(plan.is_freed(Rule::Push));
    assert!(!plan.is_freed(Rule::Destructive));
}

#[test]
fn the_folder_is_private_and_goes_with_the_guard() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().expect("a folder");
    let place = folder.path().join("deep/guard");
    let guard = Guard::install(&place, GuardPlan::default()).expect("installed");
    // this test program does not intercept
    assert_eq!(guard.status(), GuardStatus::EnvironmentOnly);
    let mode = fs::metadata(guard.folder())
        .expect("there")
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o700);
    assert!(place.join(PLAN).is_file());
    assert!(guard.tries().is_empty());
    drop(guard);
    assert!(!place.exists());
}

#[test]
fn tries_are_found_by_step() {
    let folder = tempfile::tempdir().expect("a folder");
    let guard = Guard::install(folder.path().join("g"), GuardPlan::default()).expect("installed");
    let path = format!("{}:/usr/bin", guard.folder().join(BIN).display());
    let log = |key: &str| TryLog::open(Some(path.as_ref()), MarkKey::new(key).expect("valid"));
    let entry = |mark: &str| Try {
        mark: mark.to_owned(),
        rule: Rule::Push,
        argv: vec!["git".to_owned(), "push".to_owned()],
    };
    record(guard.folder(), &entry("a:b")).expect("written");
    let (a, b, c) = (log("a"), log("b"), log("c"));
    record(guard.folder(), &entry("a")).expect("written");
    record(guard.folder(), &entry("a:b:d")).expect("written");
    let marks = |log: &TryLog| {
        log.new_tries()
            .into_iter()
            .map(|t| t.mark)
            .collect::<Vec<_>>()
    };
    assert_eq!(marks(&a), ["a", "a:b:d"]);
    assert_eq!(marks(&b), ["a:b:d"]);
    assert_eq!(marks(&c), Vec::<String>::new());
    fs::write(guard.folder().join(TRIES), "rubbish\n").expect("written");
    assert!(guard.tries().is_empty());
}
