//! Cuts a patch into its files.
//!
//! Inside hunks every line starts with a space, a sign or a backslash, so a
//! line that starts with `diff --git ` can only be a file's first.

use super::listing::Changed;

/// One file's part of the patch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Section<'a>(&'a [u8]);

impl<'a> Section<'a> {
    /// All of it.
    pub(super) fn whole(self) -> &'a [u8] {
        self.0
    }

    /// Its header lines, without content: still a valid patch of its names,
    /// modes and ids. A binary file has nothing else.
    pub(super) fn headers(self) -> &'a [u8] {
        let mut at = 0;
        for line in self.0.split_inclusive(|&byte| byte == b'\n') {
            if line.starts_with(b"--- ") {
                return &self.0[..at];
            }
            at += line.len();
        }
        self.0
    }

    /// The lines that it adds, without their sign.
    pub(super) fn added(self) -> impl Iterator<Item = &'a [u8]> {
        let content = &self.0[self.headers().len()..];
        content
            .split(|&byte| byte == b'\n')
            .skip_while(|line| !line.starts_with(b"@@"))
            .filter_map(|line| line.strip_prefix(b"+"))
    }
}

/// One section per changed file, in order; `None` when the counts differ.
pub(super) fn split<'a>(patch: &'a [u8], changed: &[Changed]) -> Option<Vec<Section<'a>>> {
    let mut starts = Vec::new();
    let mut at = 0;
    for line in patch.split_inclusive(|&byte| byte == b'\n') {
        if line.starts_with(b"diff --git ") {
            starts.push(at);
        }
        at += line.len();
    }
    starts.push(patch.len());
    let mut next = 0;
    let mut sections = Vec::with_capacity(changed.len());
    for file in changed {
        let parts = if file.retyped { 2 } else { 1 };
        let (start, end) = (*starts.get(next)?, *starts.get(next + parts)?);
        sections.push(Section(&patch[start..end]));
        next += parts;
    }
    (next + 1 == starts.len()).then_some(sections)
}

#[cfg(test)]
mod tests {
    use super::super::listing::Changed;
    use super::split;

    fn changed(retyped: bool) -> Changed {
        Changed {
            path: "x".into(),
            retyped,
            lines: None,
        }
    }

    const PATCH: &[u8] = b"diff --git a/a b/a\nindex 1..2 100644\n--- a/a\n+++ b/a\n\
        @@ -1 +1 @@\n-diff --git a/q b/q\n+++ b/q\ndiff --git a/t b/t\ndeleted file mode 100644\n\
        diff --git a/t b/t\nnew file mode 120000\n";

    #[test]
    fn content_that_looks_like_a_header_starts_no_file() {
        let sections = split(PATCH, &[changed(false), changed(true)]).expect("splits");
        assert_eq!(
            sections[0].headers(),
            b"diff --git a/a b/a\nindex 1..2 100644\n"
        );
        assert_eq!(sections[0].added().collect::<Vec<_>>(), [b"++ b/q"]);
        assert!(
            sections[1]
                .whole()
                .starts_with(b"diff --git a/t b/t\ndeleted")
        );
        assert!(sections[1].whole().ends_with(b"new file mode 120000\n"));
    }

    #[test]
    fn a_patch_of_other_files_is_refused() {
        assert!(split(PATCH, &[changed(false)]).is_none());
        assert!(split(PATCH, &vec![changed(false); 4]).is_none());
        assert_eq!(split(b"", &[]), Some(vec![]));
    }
}
