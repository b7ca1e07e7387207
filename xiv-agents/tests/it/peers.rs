//! Finds the real agent programs and gives each test a home, a repository and an environment of its own.

use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

/// The native binary of a peer, from `XIV_PEER_<NAME>`, else from `target/peers`; `None` says "skipped".
pub(crate) fn find(name: &str) -> Option<PathBuf> {
    if std::env::var_os("XIV_PEERS").is_some_and(|peers| peers == "none") {
        skip("XIV_PEERS=none");
        return None;
    }
    let variable = format!("XIV_PEER_{}", name.to_uppercase());
    let linked = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../target/peers")
        .join(name);
    let candidates = std::env::var_os(&variable)
        .map(PathBuf::from)
        .into_iter()
        .chain([linked]);
    let found = candidates.filter_map(|path| native(name, &path)).next();
    if found.is_none() {
        skip(&format!(
            "no {name} ({variable} is unset and target/peers has none)"
        ));
    }
    found
}

#[expect(
    clippy::print_stderr,
    reason = "the reason of a skipped test belongs in its output"
)]
pub(crate) fn skip(why: &str) {
    eprintln!("skipped: {why}");
}

/// A path may name the binary itself or a folder that npm installed it into.
fn native(name: &str, path: &Path) -> Option<PathBuf> {
    if path.is_file() {
        return Some(path.to_owned());
    }
    let inner = match name {
        "codex" => {
            "node_modules/@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex"
        }
        _ => "node_modules/@anthropic-ai/claude-code-linux-x64/claude",
    };
    Some(path.join(inner)).filter(|binary| binary.is_file())
}

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
