//! Reads the machine-readable half of a comparison: which files changed, how,
//! and by how many lines.

use xiv_core::model::RepoPath;

/// One changed file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Changed {
    /// Its path on the new side; on the old one when it was deleted.
    pub(super) path: RepoPath,
    /// It turned into another kind of thing, which a patch shows as a deletion
    /// and a creation.
    pub(super) retyped: bool,
    /// Lines added and deleted; `None` for a binary file.
    pub(super) lines: Option<(u32, u32)>,
}

/// Reads `--raw --numstat -z`; `None` when it is not that.
pub(super) fn parse(printed: &[u8]) -> Option<Vec<Changed>> {
    let mut fields = super::fields(printed).peekable();
    let mut changed = Vec::new();
    while let Some(raw) = fields.next_if(|field| field.starts_with(b":")) {
        let status = *raw.rsplit(|&byte| byte == b' ').next()?.first()?;
        let mut path = fields.next()?;
        if matches!(status, b'R' | b'C') {
            path = fields.next()?;
        }
        changed.push(Changed {
            path: RepoPath::new(path.to_vec()),
            retyped: status == b'T',
            lines: None,
        });
    }
    for file in &mut changed {
        let counts = fields.next()?;
        let mut parts = counts.splitn(3, |&byte| byte == b'\t');
        let (added, deleted, path) = (parts.next()?, parts.next()?, parts.next()?);
        if path.is_empty() {
            // a rename: both names follow
            fields.next()?;
            fields.next()?;
        }
        file.lines = if added == b"-" {
            None
        } else {
            Some((number(added)?, number(deleted)?))
        };
    }
    fields.next().is_none().then_some(changed)
}

fn number(digits: &[u8]) -> Option<u32> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::{Changed, parse};

    fn with_nulls(text: &str) -> Vec<u8> {
        text.replace('|', "\0").into_bytes()
    }

    #[test]
    fn counts_are_matched_to_their_files() {
        let printed = with_nulls(
            ":100644 100644 a b M|x\ty|:100644 100644 a b R090|old|new|\
             :100644 120000 a b T|t|:000000 100644 0 b A|bin|\
             1\t2\tx\ty|3\t0\t|old|new|1\t1\tt|-\t-\tbin|",
        );
        let file = |path: &str, retyped, lines| Changed {
            path: path.into(),
            retyped,
            lines,
        };
        let want = vec![
            file("x\ty", false, Some((1, 2))),
            file("new", false, Some((3, 0))),
            file("t", true, Some((1, 1))),
            file("bin", false, None),
        ];
        assert_eq!(parse(&printed), Some(want));
    }

    #[test]
    fn nothing_is_no_change_and_half_a_record_is_an_error() {
        assert_eq!(parse(b""), Some(vec![]));
        for broken in [
            ":100644 100644 a b M|x|",
            ":100644 100644 a b M|x|1\t1\tx|more|",
        ] {
            assert_eq!(parse(&with_nulls(broken)), None, "{broken}");
        }
    }
}
