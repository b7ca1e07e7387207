//! The diff model against git itself: what git says about a change in its
//! machine-readable formats is what we read out of its unified one.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use proptest::prelude::*;
use tempfile::TempDir;
use xiv_core::model::{Diff, FileStatus};

struct Repository(TempDir);

impl Repository {
    fn new() -> Self {
        let repository = Self(TempDir::new().expect("a temporary folder"));
        repository.git(&["init", "-q"]);
        repository
    }

    fn root(&self) -> &Path {
        self.0.path()
    }

    fn git(&self, args: &[&str]) -> Vec<u8> {
        let output = Command::new("git")
            .args(["-c", "user.name=t", "-c", "user.email=t@example.org"])
            .args([
                "-c",
                "core.autocrlf=false",
                "-c",
                "protocol.file.allow=always",
            ])
            .args(args)
            .current_dir(self.root())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.root())
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .output()
            .expect("git starts");
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "git {args:?}: {error}");
        output.stdout
    }

    fn write(&self, name: &[u8], content: &[u8]) {
        let path = self.root().join(std::ffi::OsStr::from_bytes(name));
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).expect("a folder");
        }
        fs::write(path, content).expect("a file");
    }

    fn commit(&self) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", "x"]);
    }

    fn diff(&self, format: &[&str]) -> Vec<u8> {
        let fixed = ["diff", "--no-ext-diff", "--no-color", "-M", "--cached"];
        self.git(&[&fixed[..], format, &["HEAD"]].concat())
    }
}

/// One file of a diff in a form that both sides can be brought into.
#[derive(Debug, PartialEq, Eq)]
struct Fact {
    old: Option<Vec<u8>>,
    new: Option<Vec<u8>>,
    status: u8,
    binary: bool,
    lines: Vec<u32>,
}

/// What git says: names and status from `--raw -z`, binary from `--numstat -z`
/// and lines from a diff whose content lines begin with marks of their own.
fn oracle(repository: &Repository) -> Vec<Fact> {
    let raw = repository.diff(&["--raw", "-z"]);
    let mut fields = raw.split(|b| *b == 0).filter(|f| !f.is_empty());
    let mut facts = Vec::new();
    while let Some(head) = fields.next() {
        let words: Vec<&[u8]> = head.split(|b| *b == b' ').collect();
        let (old_mode, new_mode, status) = (words[0], words[1], words[4][0]);
        let name = fields.next().expect("a name").to_vec();
        let same_content = words[2] == words[3];
        let fact = |old: Option<Vec<u8>>, new: Option<Vec<u8>>, status| Fact {
            old,
            new,
            status,
            binary: false,
            lines: Vec::new(),
        };
        match status {
            b'A' => facts.push(fact(None, Some(name), b'A')),
            b'D' => facts.push(fact(Some(name), None, b'D')),
            b'R' | b'C' => {
                let new = fields.next().expect("the new name").to_vec();
                facts.push(fact(Some(name), Some(new), status));
            }
            b'T' => {
                facts.push(fact(Some(name.clone()), None, b'D'));
                facts.push(fact(None, Some(name), b'A'));
            }
            _ => {
                let mode_only = same_content && old_mode[1..] != new_mode[..];
                let status = if mode_only { b'm' } else { b'M' };
                facts.push(fact(Some(name.clone()), Some(name), status));
            }
        }
    }
    let marked = repository.diff(&[
        "-p",
        "--output-indicator-new=N",
        "--output-indicator-old=O",
        "--output-indicator-context=C",
    ]);
    let mut at = 0;
    let mut next = 0;
    for line in marked.split(|b| *b == b'\n') {
        if line.starts_with(b"diff --git ") {
            at += 1;
        } else if line.starts_with(b"Binary files ") {
            facts[at - 1].binary = true;
        } else if line.starts_with(b"@@ ") {
            let text = String::from_utf8_lossy(line);
            let start = text
                .split('+')
                .nth(1)
                .and_then(|new| new.split([',', ' ']).next());
            next = start.and_then(|s| s.parse().ok()).expect("a start");
        } else if line.starts_with(b"N") || line.starts_with(b"C") {
            facts[at - 1].lines.push(next);
            next += 1;
        }
    }
    assert_eq!(at, facts.len(), "git wrote as many files as it listed");
    facts
}

fn ours(repository: &Repository) -> Vec<Fact> {
    let diff = Diff::parse(&repository.diff(&["-p"])).expect("git's own diff");
    let fact = |file: &xiv_core::model::FileDiff| Fact {
        old: file.old_path.as_ref().map(|p| p.as_bytes().to_vec()),
        new: file.new_path.as_ref().map(|p| p.as_bytes().to_vec()),
        status: match file.status {
            FileStatus::Added => b'A',
            FileStatus::Deleted => b'D',
            FileStatus::Modified => b'M',
            FileStatus::Renamed => b'R',
            FileStatus::Copied => b'C',
            FileStatus::ModeChanged => b'm',
        },
        binary: file.binary,
        lines: file
            .hunks
            .iter()
            .filter_map(|h| h.lines())
            .flatten()
            .collect(),
    };
    diff.files.iter().map(fact).collect()
}

fn numbered(lines: u32) -> String {
    (1..=lines).map(|n| format!("line {n}\n")).collect()
}

#[test]
#[expect(clippy::too_many_lines, reason = "one kind of change after the other")]
fn every_kind_of_change_is_read_as_git_means_it() {
    let repository = Repository::new();
    let names: [&[u8]; 9] = [
        b"plain",
        b"with space",
        b"x b/x",
        b"tab\tname",
        b"quo\"te",
        b"back\\slash",
        b"new\nline",
        "na\u{ef}ve".as_bytes(),
        b"bytes\xff\xfe",
    ];
    for name in names {
        repository.write(name, numbered(20).as_bytes());
        repository.write(
            &[name, b".moved"].concat(),
            [name, &b"\n"[..], numbered(9).as_bytes()]
                .concat()
                .as_slice(),
        );
        repository.write(&[name, b".gone"].concat(), b"x\n");
        repository.write(&[name, b".mode"].concat(), b"x\n");
    }
    repository.write(b"crlf", b"a\r\nb\r\nc\r\n");
    repository.write(b"binary", &[0, 1, 2, 3]);
    repository.write(b"binary-mode", &[0, 1, 2, 4]);
    repository.write(b"becomes-link", b"target\n");
    repository.write(b"no-end", b"a\nb");
    repository.write(b"gets-end", b"a\nb");
    repository.write(b"query.sql", b"-- remark\n++ x\nselect 1;\n");
    repository.write(b"emptied", b"x\n");
    repository.write(b"stays", b"x\n");
    repository.commit();

    let rename = |old: &[u8], new: &[u8]| {
        let path = |name: &[u8]| repository.root().join(std::ffi::OsStr::from_bytes(name));
        if let Some(folder) = path(new).parent() {
            fs::create_dir_all(folder).expect("a folder");
        }
        fs::rename(path(old), path(new)).expect("renamed");
    };
    let executable = |name: &[u8]| {
        let path = repository.root().join(std::ffi::OsStr::from_bytes(name));
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("a mode");
    };
    for name in names {
        let changed = numbered(20).replace("line 10\n", "line ten\nand more\n");
        repository.write(name, changed.as_bytes());
        rename(&[name, b".moved"].concat(), &[b"sub b/", name].concat());
        fs::remove_file(
            repository
                .root()
                .join(std::ffi::OsStr::from_bytes(&[name, b".gone"].concat())),
        )
        .expect("removed");
        executable(&[name, b".mode"].concat());
        repository.write(&[name, b".empty"].concat(), b"");
    }
    repository.write(b"crlf", b"a\r\nB\r\nc\r\n");
    repository.write(b"binary", &[0, 9]);
    repository.write(b"binary-mode", &[0, 8]);
    executable(b"binary-mode");
    fs::remove_file(repository.root().join("becomes-link")).expect("removed");
    symlink("target", repository.root().join("becomes-link")).expect("a link");
    repository.write(b"no-end", b"a\nc");
    repository.write(b"gets-end", b"a\nb\n");
    repository.write(b"query.sql", b"select 2;\n++ x\n-- other\n+++ y\n");
    repository.write(b"emptied", b"");
    repository.git(&["init", "-q", "module"]);
    let module = ["-C", "module", "commit", "-q", "--allow-empty", "-m", "m"];
    repository.git(&module);
    repository.git(&["add", "-A"]);

    let (want, got) = (oracle(&repository), ours(&repository));
    assert_eq!(got.len(), want.len());
    for (got, want) in got.iter().zip(&want) {
        assert_eq!(got, want);
    }
    let statuses: std::collections::BTreeSet<u8> = want.iter().map(|f| f.status).collect();
    assert!(
        [b'A', b'D', b'M', b'R', b'm']
            .iter()
            .all(|s| statuses.contains(s))
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, max_shrink_iters: 20, ..ProptestConfig::default() })]

    #[test]
    fn random_edits_are_read_as_git_means_them(
        before in prop::collection::vec("[a-c+@ -]{0,3}", 0..40),
        edits in prop::collection::vec((0usize..40, 0usize..4, prop::collection::vec("(--- |\\+\\+\\+ |@@ -1 \\+1 @@|[a-c])?", 0..4)), 0..6),
        final_newline in any::<bool>(),
    ) {
        let repository = Repository::new();
        repository.write(b"f", before.join("\n").as_bytes());
        repository.commit();
        let mut after = before;
        for (at, remove, insert) in edits {
            let from = at.min(after.len());
            let to = (from + remove).min(after.len());
            after.splice(from..to, insert);
        }
        let end = if final_newline { "\n" } else { "" };
        repository.write(b"f", format!("{}{end}", after.join("\n")).as_bytes());
        repository.git(&["add", "-A"]);
        prop_assert_eq!(ours(&repository), oracle(&repository));
    }
}
