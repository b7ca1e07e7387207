//! xiv's own files in a repository's root: `xiv.toml` and `.xiv/`.
//!
//! While they are untracked they neither make a work tree dirty nor enter a
//! tree; once the user tracks one it is a file like any other.

/// The names in the root.
pub(super) const OWN: [&str; 2] = ["xiv.toml", ".xiv"];

/// Whether a path is one of xiv's own or lies in one.
pub(super) fn is_own(path: &[u8]) -> bool {
    OWN.iter().any(|own| {
        path.strip_prefix(own.as_bytes())
            .is_some_and(|rest| rest.is_empty() || rest[0] == b'/')
    })
}

#[cfg(test)]
mod tests {
    use super::is_own;

    #[test]
    fn only_whole_names_in_the_root_count() {
        for own in ["xiv.toml", ".xiv", ".xiv/", ".xiv/issues/A-1.md"] {
            assert!(is_own(own.as_bytes()), "{own}");
        }
        for other in ["xiv.toml.bak", "sub/xiv.toml", ".xivx/a", "a/.xiv/b", ""] {
            assert!(!is_own(other.as_bytes()), "{other}");
        }
    }
}
