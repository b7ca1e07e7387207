//! A home, a repository and an environment of its own for each test with real agent programs.

use std::path::PathBuf;
use std::process::Command;

use tempfile::TempDir;
pub(crate) use xiv_agents::fakes::peer as find;

/// A scratch place for one test: `home`, `tmp` and a git repository `repo` with one commit.
#[derive(Debug)]
pub(crate) struct Scratch {
    root: TempDir,
}

impl Scratch {
    pub(crate) fn new() -> Self {
        let root = TempDir::new().expect("a scratch folder");
        for sub in ["home/.codex", "home/.claude", "tmp", "repo"] {
            std::fs::create_dir_all(root.path().join(sub)).expect("scratch folders");
        }
        let scratch = Self { root };
        std::fs::write(scratch.repo().join("README.md"), "# scratch\n").expect("a first file");
        scratch.git(&["init", "-q", "-b", "main"]);
        scratch.git(&["add", "."]);
        scratch.git(&[
            "-c",
            "user.name=t",
            "-c",
            "user.email=t@example.invalid",
            "commit",
            "-qm",
            "first",
        ]);
        scratch
    }

    pub(crate) fn path(&self, sub: &str) -> PathBuf {
        self.root.path().join(sub)
    }

    pub(crate) fn repo(&self) -> PathBuf {
        self.path("repo")
    }

    /// A hermetic environment for the real programs.
    pub(crate) fn env(&self) -> Vec<(String, String)> {
        let text = |sub: &str| self.path(sub).to_string_lossy().into_owned();
        vec![
            ("PATH".into(), std::env::var("PATH").expect("PATH")),
            ("HOME".into(), text("home")),
            ("TMPDIR".into(), text("tmp")),
            ("CODEX_HOME".into(), text("home/.codex")),
            ("CLAUDE_CONFIG_DIR".into(), text("home/.claude")),
            ("LANG".into(), "C.UTF-8".into()),
        ]
    }

    fn git(&self, args: &[&str]) {
        let done = Command::new("git")
            .args(args)
            .current_dir(self.repo())
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_SYSTEM", "/dev/null")
            .output()
            .expect("git runs");
        assert!(
            done.status.success(),
            "git {args:?}: {}",
            String::from_utf8_lossy(&done.stderr)
        );
    }
}
