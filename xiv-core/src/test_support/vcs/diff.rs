//! A unified git diff of two trees: one hunk per file, from its first changed
//! line to its last. Not the shortest diff, but a valid one.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::Files;
use crate::model::RepoPath;
use crate::port::{TreeDiff, TreeDiffFile};

/// Unchanged lines shown around a change.
const CONTEXT: usize = 3;

pub(super) fn diff(from: &Files, to: &Files) -> TreeDiff {
    let mut result = TreeDiff {
        patch: Vec::new(),
        files: Vec::new(),
    };
    let paths: BTreeSet<&RepoPath> = from.keys().chain(to.keys()).collect();
    for path in paths {
        let (old, new) = (from.get(path), to.get(path));
        if old != new {
            let file = file_diff(path, old, new, &mut result.patch);
            result.files.push(file);
        }
    }
    result
}

fn file_diff(
    path: &RepoPath,
    old: Option<&Vec<u8>>,
    new: Option<&Vec<u8>>,
    patch: &mut Vec<u8>,
) -> TreeDiffFile {
    let name = path.display();
    let mut head = format!("diff --git a/{name} b/{name}\n");
    let side = |mark: char, content: Option<&Vec<u8>>| match content {
        Some(_) => format!("{mark}/{name}"),
        None => "/dev/null".to_owned(),
    };
    match (old, new) {
        (None, _) => head.push_str("new file mode 100644\n"),
        (_, None) => head.push_str("deleted file mode 100644\n"),
        _ => {}
    }
    let (before, after) = (side('a', old), side('b', new));
    let old = old.map_or(&[][..], Vec::as_slice);
    let new = new.map_or(&[][..], Vec::as_slice);
    let binary = old.contains(&0) || new.contains(&0);
    let (mut added, mut deleted) = (0, 0);
    if binary {
        // writing to a string cannot fail
        let _ok = writeln!(head, "Binary files {before} and {after} differ");
        patch.extend_from_slice(head.as_bytes());
    } else if old.is_empty() && new.is_empty() {
        patch.extend_from_slice(head.as_bytes());
    } else {
        let _ok = write!(head, "--- {before}\n+++ {after}\n");
        patch.extend_from_slice(head.as_bytes());
        (added, deleted) = hunk(old, new, patch);
    }
    TreeDiffFile {
        path: path.clone(),
        added,
        deleted,
        by_name_only: binary,
    }
}

/// Writes the hunk and counts the added and deleted lines.
fn hunk(old: &[u8], new: &[u8], patch: &mut Vec<u8>) -> (u32, u32) {
    let old: Vec<&[u8]> = old.split_inclusive(|&b| b == b'\n').collect();
    let new: Vec<&[u8]> = new.split_inclusive(|&b| b == b'\n').collect();
    let pairs = old.iter().zip(&new);
    let head = pairs.take_while(|(a, b)| a == b).count();
    let rest = old[head..].iter().rev().zip(new[head..].iter().rev());
    let tail = rest.take_while(|(a, b)| a == b).count();
    let start = head.saturating_sub(CONTEXT);
    let shown_tail = tail.min(CONTEXT);
    let (old_end, new_end) = (old.len() - tail, new.len() - tail);
    let range = |end: usize| {
        let count = end + shown_tail - start;
        let first = if count == 0 { start } else { start + 1 };
        format!("{first},{count}")
    };
    let header = format!("@@ -{} +{} @@\n", range(old_end), range(new_end));
    patch.extend_from_slice(header.as_bytes());
    let mut lines = |mark: u8, lines: &[&[u8]]| {
        for line in lines {
            patch.push(mark);
            patch.extend_from_slice(line);
            if !line.ends_with(b"\n") {
                patch.extend_from_slice(b"\n\\ No newline at end of file\n");
            }
        }
    };
    lines(b' ', &old[start..head]);
    lines(b'-', &old[head..old_end]);
    lines(b'+', &new[head..new_end]);
    lines(b' ', &old[old_end..old_end + shown_tail]);
    let count = |lines: usize| u32::try_from(lines).unwrap_or(u32::MAX);
    (count(new_end - head), count(old_end - head))
}

#[cfg(test)]
mod tests {
    use super::{Files, diff};
    use crate::model::RepoPath;

    fn files<const N: usize>(files: [(&str, &str); N]) -> Files {
        let files = files.into_iter();
        files
            .map(|(path, text)| (RepoPath::from(path), text.as_bytes().to_vec()))
            .collect()
    }

    #[test]
    fn changes_additions_and_deletions_are_shown() {
        let old = files([
            ("a", "1\n2\n3\n4\n5\n6\n7\n8\n9\n"),
            ("gone", "x\n"),
            ("same", "s"),
        ]);
        let new = files([
            ("a", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n"),
            ("new", "y"),
            ("same", "s"),
        ]);
        let diff = diff(&old, &new);
        let text = String::from_utf8(diff.patch).expect("text");
        assert_eq!(
            text,
            "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n\
             diff --git a/gone b/gone\ndeleted file mode 100644\n--- a/gone\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-x\n\
             diff --git a/new b/new\nnew file mode 100644\n--- /dev/null\n+++ b/new\n@@ -0,0 +1,1 @@\n+y\n\\ No newline at end of file\n"
        );
        let counts: Vec<_> = diff.files.iter().map(|f| (f.added, f.deleted)).collect();
        assert_eq!(counts, [(1, 1), (0, 1), (1, 0)]);
    }

    #[test]
    fn binary_files_are_named_only() {
        let diff = diff(&Files::new(), &files([("b", "\0")]));
        assert!(diff.files[0].by_name_only);
        let text = String::from_utf8(diff.patch).expect("text");
        assert!(
            text.ends_with("Binary files /dev/null and b/b differ\n"),
            "{text}"
        );
    }
}
