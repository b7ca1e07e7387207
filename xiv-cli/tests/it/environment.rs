//! A world of its own for every test: home, state, repository, search path and
//! time zone, and nothing of the machine's.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// The world.
pub(crate) struct TestEnvironment {
    root: TempDir,
}

/// How a command ended and what it wrote.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    pub(crate) fn of(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).expect("UTF-8 on standard output"),
            stderr: String::from_utf8(output.stderr).expect("UTF-8 on standard error"),
        }
    }

    /// Each line of standard output as JSON.
    pub(crate) fn lines(&self) -> Vec<Value> {
        self.stdout
            .lines()
            .map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}")))
            .collect()
    }

    /// The last line of standard output as JSON.
    pub(crate) fn last(&self) -> Value {
        self.lines()
            .pop()
            .unwrap_or_else(|| panic!("no line of JSON: {self:?}"))
    }

    /// Standard output as one JSON document.
    pub(crate) fn document(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|e| panic!("{e}: {self:?}"))
    }

    /// Checks the exit code.
    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self:?}");
        self
    }
}

impl TestEnvironment {
    /// An empty world with an empty folder `repo`.
    pub(crate) fn new() -> Self {
        let root = tempfile::Builder::new()
            .prefix("xiv-it-")
            .tempdir()
            .expect("a temporary folder");
        let world = Self { root };
        for folder in ["home", "bin", "repo"] {
            fs::create_dir(world.path(folder)).expect("a folder in it");
        }
        let git = std::env::split_paths(&std::env::var_os("PATH").expect("a search path"))
            .map(|folder| folder.join("git"))
            .find(|path| path.is_file())
            .expect("git on the search path");
        std::os::unix::fs::symlink(git, world.path("bin/git")).expect("a link to git");
        world.write(
            "home/.gitconfig",
            "[user]\n\tname = Tess Ter\n\temail = tess@example.org\n[init]\n\tdefaultBranch = main\n",
        );
        world
    }

    /// A world whose `repo` has one commit with these files.
    pub(crate) fn with_repo(files: &[(&str, &str)]) -> Self {
        let world = Self::new();
        world.git(&["init", "--quiet", "--initial-branch=main"]);
        for (name, text) in files {
            world.write(&format!("repo/{name}"), text);
        }
        world.git(&["add", "--all"]);
        world.git(&["commit", "--quiet", "--allow-empty", "--message=start"]);
        world
    }

    /// A path in this world.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        let root = self.root.path().canonicalize().expect("the root exists");
        root.join(name)
    }

    /// Writes a file, with the folders above it.
    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder for it");
        fs::write(path, text).expect("a file");
    }

    /// Reads a file.
    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    /// A program in this world, not yet started.
    pub(crate) fn program(&self, program: impl AsRef<Path>, cwd: &str) -> Command {
        let mut command = Command::new(program.as_ref());
        command
            .env_clear()
            .env(
                "PATH",
                format!("{}:/usr/bin:/bin", self.path("bin").display()),
            )
            .env("HOME", self.path("home"))
            .env("XIV_HOME", self.path("xiv"))
            .env("TMPDIR", self.path("home"))
            .env("TZ", "UTC")
            .env("LC_ALL", "C.UTF-8")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .current_dir(self.path(cwd))
            .stdin(Stdio::null());
        command
    }

    /// The binary in the repository, not yet started.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = self.program(env!("CARGO_BIN_EXE_xiv"), "repo");
        command.args(args);
        command
    }

    /// Runs the binary in the repository.
    pub(crate) fn xiv(&self, args: &[&str]) -> Ran {
        Ran::of(self.command(args).output().expect("the binary starts"))
    }

    /// Runs git in the repository and returns what it printed.
    pub(crate) fn git(&self, args: &[&str]) -> String {
        self.git_in("repo", args)
    }

    /// Runs git in a folder and returns what it printed.
    pub(crate) fn git_in(&self, cwd: &str, args: &[&str]) -> String {
        let ran = Ran::of(
            self.program("git", cwd)
                .args(args)
                .output()
                .expect("git starts"),
        );
        assert_eq!(ran.code, Some(0), "git {args:?}: {ran:?}");
        ran.stdout.trim_end().to_owned()
    }

    /// A whole run for a snapshot: exit code, both streams, without what
    /// changes from run to run.
    pub(crate) fn whole(&self, args: &[&str]) -> String {
        self.shown(&self.xiv(args))
    }

    /// The same for a command that ran already.
    pub(crate) fn shown(&self, ran: &Ran) -> String {
        let code = ran.code.map_or("none".to_owned(), |code| code.to_string());
        let text = format!(
            "exit: {code}\n--- stdout\n{}--- stderr\n{}",
            ran.stdout, ran.stderr
        );
        self.scrub(&text)
    }

    /// Puts names in the place of paths, ids and times.
    pub(crate) fn scrub(&self, text: &str) -> String {
        let text = text.replace(&self.path("").display().to_string(), "[ROOT]/");
        let mut out = String::new();
        let mut word = String::new();
        for c in text.chars() {
            if c.is_ascii_alphanumeric() || "-.:".contains(c) {
                word.push(c);
            } else {
                out.push_str(&named(&word));
                word.clear();
                out.push(c);
            }
        }
        out + &named(&word)
    }

    /// Everything in the world's folders, as a list that can be compared.
    pub(crate) fn everything(&self) -> Vec<(PathBuf, Vec<u8>)> {
        fn collect(folder: &Path, out: &mut Vec<(PathBuf, Vec<u8>)>) {
            let mut entries: Vec<_> = fs::read_dir(folder)
                .expect("a readable folder")
                .map(|entry| entry.expect("an entry").path())
                .collect();
            entries.sort();
            for path in entries {
                if path.is_dir() && !path.is_symlink() {
                    out.push((path.clone(), Vec::new()));
                    collect(&path, out);
                } else {
                    let content = fs::read(&path).unwrap_or_default();
                    out.push((path, content));
                }
            }
        }
        let mut out = Vec::new();
        collect(&self.path(""), &mut out);
        out
    }
}

/// A word that changes from run to run becomes a name.
fn named(word: &str) -> String {
    let hex = |text: &str| text.bytes().all(|b| b.is_ascii_hexdigit());
    let bare = word.trim_end_matches([':', '.']);
    let rest = &word[bare.len()..];
    let is_time = bare
        .strip_suffix('s')
        .and_then(|number| number.split_once('.'))
        .is_some_and(|(whole, tenths)| {
            let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
            digits(whole) && digits(tenths)
        });
    let name = if bare.len() == 36 && bare.matches('-').count() == 4 && hex(&bare.replace('-', ""))
    {
        "[RUN]"
    } else if (bare.len() == 7 || bare.len() == 40)
        && hex(bare)
        && bare.bytes().any(|b| b.is_ascii_digit())
    {
        "[SHA]"
    } else if is_time {
        "[TIME]"
    } else if bare.len() > 19 && bare.as_bytes()[10] == b'T' && bare.ends_with('Z') {
        "[AT]"
    } else {
        return word.to_owned();
    };
    format!("{name}{rest}")
}

/// A script for the scripted agent and a repository that uses it.
pub(crate) const ISSUE: &str = "\
---
id: T-1
title: Say hello
---

Say it.

## Acceptance Criteria

- [ ] hello.txt says hello
";

/// A configuration that validates with `sh test.sh` and uses one engine.
pub(crate) fn config(engine: &str) -> String {
    let mut text =
        "[validate]\ncommands = [ { name = \"test\", run = \"sh test.sh\" } ]\n".to_owned();
    for step in ["plan", "implement", "review"] {
        text.push_str(&format!("[steps.{step}]\nengine = \"{engine}\"\n"));
    }
    text
}

/// The test of the repository: the file must say hello.
pub(crate) const TEST_SH: &str = "grep -q hello hello.txt\n";

/// A world with an issue `T-1`, a test and the scripted agent.
pub(crate) fn scripted(script: &str) -> TestEnvironment {
    let world = TestEnvironment::with_repo(&[("test.sh", TEST_SH)]);
    world.write("repo/.xiv/issues/T-1.md", ISSUE);
    world.write("agent.toml", script);
    let file = world.path("agent.toml").display().to_string();
    world.write("repo/xiv.toml", &config(&format!("scripted:{file}")));
    world
}

/// The story of three passes: validation fails, the review asks for changes,
/// done with a gap.
pub(crate) const THREE_PASSES: &str = r#"
[[turn]]
role = "plan"
reply = { summary = "say hello", steps = ["write it"] }

[[turn]]
role = "implement"
pass = 1
write = { "hello.txt" = "good day\n" }
reply = { summary = "wrote a greeting" }

[[turn]]
role = "review"
pass = 1
reply = { verdict = "comment", summary = "not yet" }

[[turn]]
role = "implement"
pass = 2
write = { "hello.txt" = "hello\n" }
reply = { summary = "says hello" }

[[turn]]
role = "review"
pass = 2
reply = { verdict = "request_changes", summary = "whom?", findings = [ { id = "w", severity = "high", title = "Nobody is greeted", body = "Name somebody.", path = "hello.txt", line = 1 } ] }

[[turn]]
role = "implement"
pass = 3
write = { "hello.txt" = "hello world\n" }
reply = { summary = "greets the world" }

[[turn]]
role = "review"
pass = 3
reply = { verdict = "approve", summary = "fine", findings = [ { id = "p", severity = "nit", title = "No full stop", body = "Add one.", path = "hello.txt", line = 1 } ] }
"#;
