//! Reading diffs: forms that git and its users make. Real git is the oracle of
//! the crate's integration tests.

use proptest::prelude::*;
use serde_json::json;

use super::{Diff, DiffError, FileStatus};

fn parse(text: &str) -> Diff {
    Diff::parse(text.as_bytes()).expect("a diff")
}

/// Old path, new path, status and lines of each file.
fn summary(text: &str) -> Vec<(String, String, FileStatus, Vec<u32>)> {
    let name = |path: Option<&super::RepoPath>| path.map_or("-".to_owned(), ToString::to_string);
    parse(text)
        .files
        .iter()
        .map(|file| {
            let lines = file.hunks.iter().filter_map(super::Hunk::lines).flatten();
            (
                name(file.old_path.as_ref()),
                name(file.new_path.as_ref()),
                file.status,
                lines.collect(),
            )
        })
        .collect()
}

fn entry(
    old: &str,
    new: &str,
    status: FileStatus,
    lines: &[u32],
) -> (String, String, FileStatus, Vec<u32>) {
    (old.to_owned(), new.to_owned(), status, lines.to_vec())
}

#[test]
fn counts_decide_what_a_line_is() {
    let text = "diff --git a/q.sql b/q.sql\nindex 1..2 100644\n--- a/q.sql\n+++ b/q.sql\n\
        @@ -1,3 +1,5 @@ fn\n+++ counter\n--- remark\n-diff --git a/x b/x\n+@@ -1 +1 @@\n \
        rename from y\n+\\ No newline\n+Binary files a and b differ\n\\ No newline at end of file\n\
        @@ -20 +22 @@\n-a\n+b\n";
    let want = entry("q.sql", "q.sql", FileStatus::Modified, &[1, 2, 3, 4, 5, 22]);
    assert_eq!(summary(text), [want]);
}

#[test]
fn names_are_told_from_the_surest_place() {
    use FileStatus::{Added, Copied, Deleted, ModeChanged, Modified, Renamed};
    for (text, want) in [
        (
            "diff --git a/x b/x b/x b/x\nold mode 100644\nnew mode 100755\n",
            entry("x b/x", "x b/x", ModeChanged, &[]),
        ),
        (
            "diff --git \"a/t\\tn\" \"b/t\\tn\"\nold mode 100644\nnew mode 100755\n",
            entry("t\tn", "t\tn", ModeChanged, &[]),
        ),
        (
            "diff --git a/a/x b/a/x\nindex 1..2\n--- a/a/x\n+++ b/a/x\n@@ -1 +1 @@\n-a\n+b\n",
            entry("a/x", "a/x", Modified, &[1]),
        ),
        (
            "diff --git a/s p b/s p\nindex 1..2\n--- a/s p\t\n+++ b/s p\t\n@@ -0,0 +1 @@\n+b\n",
            entry("s p", "s p", Modified, &[1]),
        ),
        (
            "diff --git i/x w/x\nindex 1..2\n--- i/x\n+++ w/x\n@@ -1 +1 @@\n-a\n+b\n",
            entry("x", "x", Modified, &[1]),
        ),
        (
            "diff --git src/x src/x\nindex 1..2\n--- src/x\n+++ src/x\n@@ -1 +1 @@\n-a\n+b\n",
            entry("src/x", "src/x", Modified, &[1]),
        ),
        (
            "diff --git a/o b/n\nsimilarity index 100%\ncopy from o\ncopy to n\n",
            entry("o", "n", Copied, &[]),
        ),
        (
            "diff --git a/o \"b/n\\303\\251\"\nsimilarity index 90%\nrename from o\nrename to \"n\\303\\251\"\nindex 1..2 100644\n--- a/o\n+++ \"b/n\\303\\251\"\n@@ -1 +1 @@\n-a\n+b\n",
            entry("o", "né", Renamed, &[1]),
        ),
        (
            "diff --git a/e b/e\nnew file mode 100644\nindex 0000000..e69de29\n",
            entry("-", "e", Added, &[]),
        ),
        (
            "diff --git a/e b/e\ndeleted file mode 100644\nindex 1..0\n--- a/e\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n",
            entry("e", "-", Deleted, &[]),
        ),
        (
            "diff --git a/b.png b/b.png\nindex 1..2 100644\nBinary files a/b.png and b/b.png differ\n",
            entry("b.png", "b.png", Modified, &[]),
        ),
        (
            "diff --git a/x b/x\r\nindex 1..2\r\n--- a/x\r\n+++ b/x\r\n@@ -1,2 +1,2 @@\r\n \r\n-a\r\n+b\r\n",
            entry("x", "x", Modified, &[1, 2]),
        ),
        (
            "diff --git a/m b/m\nindex 1..2 160000\n--- a/m\n+++ b/m\n@@ -1 +1 @@\n-Subproject commit 1\n+Subproject commit 2\n",
            entry("m", "m", Modified, &[1]),
        ),
    ] {
        assert_eq!(summary(text), [want], "{text}");
    }
}

#[test]
fn what_stands_around_files_is_skipped() {
    let text = "From 1234 Mon Sep 17\nSubject: [PATCH] x\n\n---\n a | 2 +-\n\n\
        diff --git a/a b/a\nindex 1..2 100644\n--- a/a\n+++ b/a\n@@ -1,3 +1,3 @@\n x\n\n-y\n+z\n\
        -- \n2.47.3\n\nFrom 5678\n@@ not a hunk\n--- neither\n\
        diff --git a/b b/b\nindex 1..2 100644\n--- a/b\n+++ b/b\n@@ -5,2 +4,0 @@\n-x\n-y";
    let want = [
        entry("a", "a", FileStatus::Modified, &[1, 2, 3]),
        entry("b", "b", FileStatus::Modified, &[]),
    ];
    assert_eq!(summary(text), want);
    assert_eq!(parse("").files, []);
    assert_eq!(parse("\n \n").files, []);
}

#[test]
fn a_type_change_is_two_entries() {
    let text = "diff --git a/l b/l\ndeleted file mode 100644\nindex 1..0\n--- a/l\n+++ /dev/null\n\
        @@ -1 +0,0 @@\n-x\ndiff --git a/l b/l\nnew file mode 120000\nindex 0..2\n--- /dev/null\n\
        +++ b/l\n@@ -0,0 +1 @@\n+target\n\\ No newline at end of file\n";
    let want = [
        entry("l", "-", FileStatus::Deleted, &[]),
        entry("-", "l", FileStatus::Added, &[1]),
    ];
    assert_eq!(summary(text), want);
}

#[test]
fn what_is_no_whole_diff_is_refused() {
    let cut = "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n x\n-y\n";
    let next = format!("{cut}diff --git a/b b/b\n");
    let long = "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,2 +1 @@\n x\n y\n";
    let merge = "diff --cc a\nindex 1,2..3\n--- a/a\n+++ b/a\n@@@ -1,1 -1,1 +1,1 @@@\n++x\n";
    let number = "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +99999999999 @@\n";
    let overflow = "diff --git a/a b/a\n@@ -1 +4294967295,4294967295 @@\n";
    let nameless = "diff --git x\nold mode 100644\nnew mode 100755\n";
    let malformed = |line, what| DiffError::Malformed { line, what };
    for (text, want) in [
        ("some text\n", DiffError::NoHeader),
        (
            "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n",
            DiffError::NoHeader,
        ),
        (merge, DiffError::Combined { line: 1 }),
        (cut, DiffError::CutShort { line: 4 }),
        (&next, DiffError::CutShort { line: 4 }),
        (long, DiffError::CutShort { line: 4 }),
        (number, malformed(4, "the hunk's header cannot be read")),
        (overflow, malformed(2, "the hunk's header cannot be read")),
        (nameless, malformed(1, "the file's name cannot be told")),
    ] {
        assert_eq!(Diff::parse(text.as_bytes()), Err(want), "{text}");
    }
}

#[test]
fn the_wire_form_spells_the_lines_out() {
    let text =
        b"diff --git \"a/n\\377\" \"b/n\\377\"\nindex 1..2\n--- \"a/n\\377\"\n+++ \"b/n\\377\"\n\
        @@ -3,0 +4,2 @@\n+a\n+b\n";
    assert_eq!(
        serde_json::to_value(Diff::parse(text).expect("a diff")).expect("serialises"),
        json!([{
            "oldPath": {"base64": "bv8="}, "newPath": {"base64": "bv8="}, "status": "modified",
            "binary": false, "hunks": [{"newStart": 4, "newLines": 2, "commentable": [4, 5]}],
        }])
    );
}

/// A hunk's lines: kind and content.
fn hunk() -> impl Strategy<Value = Vec<(char, String)>> {
    let content = prop_oneof![
        "[ -~]{0,10}",
        Just("-- a/x".to_owned()),
        Just("++ b/x".to_owned()),
        Just("diff --git a/x b/x".to_owned()),
        Just("@@ -1 +1 @@".to_owned()),
        Just("rename from x".to_owned()),
    ];
    prop::collection::vec(
        (prop_oneof![Just(' '), Just('+'), Just('-')], content),
        1..12,
    )
}

proptest! {
    #[test]
    fn walking_finds_what_was_written(
        files in prop::collection::vec(prop::collection::vec(hunk(), 1..4), 1..4),
        final_newline in any::<bool>(),
    ) {
        let mut text = String::new();
        let mut want = Vec::new();
        for (i, hunks) in files.iter().enumerate() {
            text += &format!("diff --git a/f{i} b/f{i}\nindex 1..2\n--- a/f{i}\n+++ b/f{i}\n");
            let mut lines = Vec::new();
            for (start, hunk) in (0u32..).step_by(100).zip(hunks) {
                let count = |skip: char| hunk.iter().filter(|(kind, _)| *kind != skip).count();
                let (old, new) = (count('+'), count('-'));
                let start = start + u32::from(new > 0);
                text += &format!("@@ -{start},{old} +{start},{new} @@ x\n");
                for (kind, content) in hunk {
                    text += &format!("{kind}{content}\n");
                }
                lines.extend((start..).take(new));
            }
            want.push((format!("f{i}"), lines));
        }
        if !final_newline {
            text.pop();
        }
        let got: Vec<_> = summary(&text).into_iter().map(|(_, new, _, lines)| (new, lines)).collect();
        prop_assert_eq!(got, want);
    }

    #[test]
    fn any_bytes_are_survived(
        parts in prop::collection::vec(
            prop_oneof![
                Just(b"diff --git a/x b/x\n".to_vec()),
                Just(b"diff --git \"a/x".to_vec()),
                Just(b"@@ -1,2 +1,2 @@\n".to_vec()),
                Just(b"--- a/x\n+++ b/x\n".to_vec()),
                Just(b"rename from \"x\\9\"\n".to_vec()),
                prop::collection::vec(any::<u8>(), 0..12),
            ],
            0..12,
        ),
    ) {
        let _either = Diff::parse(&parts.concat());
    }
}
