//! The environment variable that says which step a process belongs to.

use std::ffi::{OsStr, OsString};
use std::fmt;

/// Name of the variable. Its value is a `:`-joined path of step keys, the
/// outermost first.
pub const MARK_VARIABLE: &str = "XIV_MARK";

/// The key of one attempt of one step: one segment of the mark.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MarkKey(String);

/// The text cannot be a segment of the mark.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is no mark key: it must not be empty or hold `:` or a control character")]
pub struct InvalidMark {
    /// What was given.
    pub text: String,
}

impl MarkKey {
    /// Accepts any non-empty text without `:` and control characters.
    ///
    /// # Errors
    /// [`InvalidMark`] for any other text.
    pub fn new(text: impl Into<String>) -> Result<Self, InvalidMark> {
        let text = text.into();
        if text.is_empty() || text.contains(|c: char| c == ':' || c.is_control()) {
            return Err(InvalidMark { text });
        }
        Ok(Self(text))
    }

    /// The key as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The mark of a child: `outer` with this key appended, unless it ends
    /// with it already.
    #[must_use]
    pub fn appended_to(&self, outer: Option<&OsStr>) -> OsString {
        let Some(outer) = outer.filter(|outer| !outer.is_empty()) else {
            return self.0.clone().into();
        };
        let mut path = outer.to_os_string();
        if outer.as_encoded_bytes().rsplit(|&b| b == b':').next() != Some(self.0.as_bytes()) {
            path.push(":");
            path.push(&self.0);
        }
        path
    }

    /// Where in the mark `path` this key stands.
    pub(super) fn place_in(&self, path: &[u8]) -> Place {
        let mut place = Place::Absent;
        for segment in path.split(|&b| b == b':') {
            place = match place {
                _ if segment == self.0.as_bytes() => Place::Last,
                Place::Absent => Place::Absent,
                Place::Last | Place::Outer => Place::Outer,
            };
        }
        place
    }
}

impl fmt::Display for MarkKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for MarkKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MarkKey({})", self.0)
    }
}

/// Where a key stands in a process's mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// The process does not belong to the step.
    Absent,
    /// The step started it.
    Last,
    /// A nested xiv, itself started by the step, started it.
    Outer,
}
