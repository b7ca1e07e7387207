//! Identifiers as distinct types that parse, so that a branch can never be
//! passed where a commit is wanted and a hostile string never reaches a path,
//! an argv or a ref.
//!
//! Each type states its pattern in its JSON Schema; a property test holds the
//! schema and the parser to each other.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserializer};
use serde::{Deserialize, Serialize};

/// A text that does not have the form of the identifier it was parsed as.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{value:?} is not a valid {kind}: {reason}")]
pub struct InvalidId {
    /// What it was to be, for instance `commit id`.
    pub kind: &'static str,
    /// The text as given.
    pub value: String,
    /// What is wrong with it.
    pub reason: &'static str,
}

/// Declares a string identifier: `Name, "kind", "schema pattern", check fn`.
macro_rules! string_id {
    ($(#[$doc:meta])* $name:ident, $kind:literal, $pattern:literal, $check:path) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        impl $name {
            /// Parses the text.
            ///
            /// # Errors
            /// [`InvalidId`] when the text does not have this identifier's form.
            pub fn parse(value: impl Into<String>) -> Result<Self, InvalidId> {
                let value = value.into();
                match $check(&value) {
                    Ok(()) => Ok(Self(value)),
                    Err(reason) => Err(InvalidId { kind: $kind, value, reason }),
                }
            }

            /// The text of the identifier.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl FromStr for $name {
            type Err = InvalidId;
            fn from_str(s: &str) -> Result<Self, InvalidId> {
                Self::parse(s)
            }
        }

        impl TryFrom<String> for $name {
            type Error = InvalidId;
            fn try_from(s: String) -> Result<Self, InvalidId> {
                Self::parse(s)
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> String {
                id.0
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }
            fn inline_schema() -> bool {
                true
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "type": "string", "pattern": $pattern })
            }
        }
    };
}

fn check_hex_id(value: &str) -> Result<(), &'static str> {
    let hex = value
        .bytes()
        .all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    if hex && (value.len() == 40 || value.len() == 64) {
        Ok(())
    } else {
        Err("expected 40 or 64 lower-case hexadecimal digits")
    }
}

fn check_issue_key(value: &str) -> Result<(), &'static str> {
    let word = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
    let (Some(first), Some(last)) = (value.bytes().next(), value.bytes().last()) else {
        return Err("it is empty");
    };
    if !word(first) || !(word(last) || last == b'-') {
        return Err("it must start with a letter, digit or `_` and must not end in `.`");
    }
    if !value.bytes().all(|b| word(b) || b == b'-' || b == b'.') {
        return Err("only letters, digits, `.`, `_` and `-` are allowed");
    }
    if value.contains("..") || value.to_ascii_lowercase().ends_with(".lock") {
        return Err("`..` and a final `.lock` cannot be part of a branch name");
    }
    Ok(())
}

/// The rules of `git check-ref-format --branch`.
fn check_branch(value: &str) -> Result<(), &'static str> {
    if value.is_empty() {
        return Err("it is empty");
    }
    if value == "@" || value == "HEAD" {
        return Err("the name is reserved");
    }
    if value.starts_with('-') {
        return Err("it starts with `-`");
    }
    if value
        .chars()
        .any(|c| c <= ' ' || c == '\x7f' || "~^:?*[\\".contains(c))
    {
        return Err("it holds a space, a control character or one of ~^:?*[\\");
    }
    if value.contains("..") || value.contains("@{") || value.ends_with('.') {
        return Err("it holds `..` or `@{`, or ends in `.`");
    }
    for part in value.split('/') {
        if part.is_empty() {
            return Err("it has an empty part between slashes");
        }
        if part.starts_with('.') || part.ends_with(".lock") {
            return Err("a part starts with `.` or ends in `.lock`");
        }
    }
    Ok(())
}

fn check_change_id(value: &str) -> Result<(), &'static str> {
    let ok = value
        .bytes()
        .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    if ok && (4..=64).contains(&value.len()) {
        Ok(())
    } else {
        Err("expected 4 to 64 lower-case letters or digits")
    }
}

fn check_run_id(value: &str) -> Result<(), &'static str> {
    let canonical =
        uuid::Uuid::try_parse(value).is_ok_and(|id| id.as_hyphenated().to_string() == value);
    if canonical {
        Ok(())
    } else {
        Err("expected a lower-case hyphenated UUID")
    }
}

fn check_step_id(value: &str) -> Result<(), &'static str> {
    let (name, pass) = value
        .split_once('#')
        .map_or((value, None), |(n, p)| (n, Some(p)));
    let name_ok = name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.bytes().all(|b| b.is_ascii_alphabetic());
    let pass_ok = pass.is_none_or(|p| {
        (1..=4).contains(&p.len()) && !p.starts_with('0') && p.bytes().all(|b| b.is_ascii_digit())
    });
    if name_ok && pass_ok {
        Ok(())
    } else {
        Err("expected `name` or `name#pass`")
    }
}

string_id!(
    /// A commit of the repository: 40 (SHA-1) or 64 (SHA-256) hex digits.
    CommitId, "commit id", "^([0-9a-f]{40}|[0-9a-f]{64})$", check_hex_id
);
string_id!(
    /// A tree of the repository: 40 (SHA-1) or 64 (SHA-256) hex digits.
    TreeId, "tree id", "^([0-9a-f]{40}|[0-9a-f]{64})$", check_hex_id
);
string_id!(
    /// An issue's key in its normal form, for instance `XIV-12` or `gh-12`.
    ///
    /// Only what git, a shell and a file name take: what a tracker calls an
    /// issue goes through [`IssueKey::normalise`] first.
    IssueKey, "issue key",
    r"^(?!.*\.\.)(?!.*\.[lL][oO][cC][kK]$)[A-Za-z0-9_]([A-Za-z0-9._-]*[A-Za-z0-9_-])?$",
    check_issue_key
);
string_id!(
    /// A branch name without `refs/heads/`, by the rules of `git check-ref-format`.
    BranchName, "branch name",
    r"^(?!-)(?!/)(?!.*//)(?!.*/$)(?!.*\.\.)(?!.*@\{)(?!\.)(?!.*/\.)(?!.*\.$)(?!.*\.lock(/|$))(?!@$)(?!HEAD$)[^\x00-\x20\x7f~^:?*\[\\]+$",
    check_branch
);
string_id!(
    /// A jj change id. Plain git has none.
    ChangeId, "change id", "^[a-z0-9]{4,64}$", check_change_id
);
string_id!(
    /// A run: a lower-case hyphenated UUID (version 7 when made by xiv, so that
    /// ids sort by time).
    RunId, "run id",
    "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$", check_run_id
);
string_id!(
    /// A step's stable id within its run: `plan`, `review#2`. It is the journal
    /// key and the marker by which an effect is found again.
    StepId, "step id", "^[a-z][A-Za-z]*(#[1-9][0-9]{0,3})?$", check_step_id
);

impl IssueKey {
    /// Brings what a person or a tracker calls an issue into key form.
    ///
    /// `#12` becomes `gh-12`, `o/r#12` becomes `gh-o-r-12`; every character
    /// that git or a shell dislikes becomes `-`.
    ///
    /// # Errors
    /// [`InvalidId`] when nothing usable is left, for instance for an empty text.
    pub fn normalise(raw: &str) -> Result<Self, InvalidId> {
        let raw = raw.trim();
        let named = match raw.split_once('#') {
            Some(("", number)) => format!("gh-{number}"),
            Some((repo, number)) => format!("gh-{repo}-{number}"),
            None => raw.to_owned(),
        };
        let mut key: String = named
            .chars()
            .map(|c| {
                if c.is_ascii_alphanumeric() || "._-".contains(c) {
                    c
                } else {
                    '-'
                }
            })
            .collect();
        while key.contains("..") {
            key = key.replace("..", "-");
        }
        let key = key.trim_matches(|c| c == '-' || c == '.');
        let key = match key.to_ascii_lowercase().strip_suffix(".lock") {
            Some(stem) => format!("{}-lock", &key[..stem.len()]),
            None => key.to_owned(),
        };
        Self::parse(key).map_err(|e| InvalidId {
            value: raw.to_owned(),
            ..e
        })
    }
}

impl BranchName {
    /// The branch that an issue is implemented on: `feat/<key in lower case>`.
    ///
    /// The only way to such a name. Pass the key that the user asked for, never
    /// one that came back from a tracker.
    #[must_use]
    pub fn for_issue(key: &IssueKey) -> Self {
        Self(format!("feat/{}", key.as_str().to_ascii_lowercase()))
    }

    /// The full ref name, `refs/heads/<name>`.
    #[must_use]
    pub fn to_ref(&self) -> String {
        format!("refs/heads/{}", self.0)
    }
}

impl StepId {
    /// The id of a step that happens once in a run.
    pub(crate) fn once(name: &'static str) -> Self {
        debug_assert!(
            check_step_id(name).is_ok(),
            "step names are literals of this crate"
        );
        Self(name.to_owned())
    }

    /// The id of a step of one pass.
    pub(crate) fn of_pass(name: &'static str, pass: Pass) -> Self {
        Self(format!("{name}#{pass}"))
    }

    /// The step's name without its pass: `review` of `review#2`.
    #[must_use]
    pub fn name(&self) -> &str {
        self.0.split('#').next().unwrap_or_default()
    }

    /// The pass that the step belongs to; `None` for steps outside the loop.
    #[must_use]
    pub fn pass(&self) -> Option<Pass> {
        let (_, pass) = self.0.split_once('#')?;
        Pass::new(pass.parse().ok()?)
    }
}

/// A pull request's number, at least 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "u64", into = "u64")]
pub struct PrNumber(u64);

impl PrNumber {
    /// The number, or `None` for 0.
    #[must_use]
    pub const fn new(number: u64) -> Option<Self> {
        if number == 0 {
            None
        } else {
            Some(Self(number))
        }
    }

    /// The plain number.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }
}

/// One iteration of implement → validate → review; counts from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "u32", into = "u32")]
pub struct Pass(u32);

impl Pass {
    /// The first pass of every run.
    pub const FIRST: Self = Self(1);

    /// The pass with this number, or `None` for 0.
    #[must_use]
    pub const fn new(number: u32) -> Option<Self> {
        if number == 0 {
            None
        } else {
            Some(Self(number))
        }
    }

    /// The plain number.
    #[must_use]
    pub const fn get(self) -> u32 {
        self.0
    }

    /// The pass after this one.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

/// Number type ids: `Name, "kind", integer type`.
macro_rules! number_id {
    ($name:ident, $kind:literal, $int:ty) => {
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl TryFrom<$int> for $name {
            type Error = InvalidId;
            fn try_from(n: $int) -> Result<Self, InvalidId> {
                Self::new(n).ok_or_else(|| InvalidId {
                    kind: $kind,
                    value: n.to_string(),
                    reason: "it must be at least 1",
                })
            }
        }

        impl From<$name> for $int {
            fn from(n: $name) -> $int {
                n.0
            }
        }

        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }
            fn inline_schema() -> bool {
                true
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "type": "integer", "minimum": 1, "maximum": <$int>::MAX })
            }
        }
    };
}

number_id!(PrNumber, "pull request number", u64);
number_id!(Pass, "pass", u32);

/// How many passes a run may use: 1 to 10, 3 unless told otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(into = "i64")]
pub struct MaxPasses(u32);

impl MaxPasses {
    /// The fewest passes that can be asked for.
    pub const MIN: Self = Self(1);
    /// The most passes that can be asked for.
    pub const MAX: Self = Self(10);

    /// Brings any number into the allowed range: 0 and less become 1, more
    /// than 10 becomes 10. Callers that talk to a person say so when it did.
    #[must_use]
    pub const fn clamped(asked: i64) -> Self {
        if asked < Self::MIN.0 as i64 {
            Self::MIN
        } else if asked > Self::MAX.0 as i64 {
            Self::MAX
        } else {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "1..=10"
            )]
            Self(asked as u32)
        }
    }

    /// The plain number.
    #[must_use]
    pub const fn get(self) -> u32 {
        self.0
    }

    /// Whether this pass is the last one allowed.
    #[must_use]
    pub const fn is_last(self, pass: Pass) -> bool {
        pass.0 >= self.0
    }
}

impl Default for MaxPasses {
    /// 3 passes.
    fn default() -> Self {
        Self(3)
    }
}

impl<'de> Deserialize<'de> for MaxPasses {
    /// Takes any whole number, however large, and clamps it.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct WholeNumber;

        impl de::Visitor<'_> for WholeNumber {
            type Value = MaxPasses;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a whole number")
            }

            fn visit_i64<E>(self, asked: i64) -> Result<MaxPasses, E> {
                Ok(MaxPasses::clamped(asked))
            }

            fn visit_u64<E>(self, asked: u64) -> Result<MaxPasses, E> {
                Ok(MaxPasses::clamped(i64::try_from(asked).unwrap_or(i64::MAX)))
            }

            fn visit_f64<E: de::Error>(self, asked: f64) -> Result<MaxPasses, E> {
                // how JSON numbers beyond 64 bits arrive
                if asked.fract() != 0.0 {
                    return Err(E::invalid_value(de::Unexpected::Float(asked), &self));
                }
                let end = if asked < 1.0 { i64::MIN } else { i64::MAX };
                let small = (1..=10i32).find(|n| asked == f64::from(*n));
                Ok(MaxPasses::clamped(small.map_or(end, i64::from)))
            }
        }

        deserializer.deserialize_any(WholeNumber)
    }
}

impl From<i64> for MaxPasses {
    fn from(asked: i64) -> Self {
        Self::clamped(asked)
    }
}

impl From<MaxPasses> for i64 {
    fn from(max: MaxPasses) -> i64 {
        i64::from(max.0)
    }
}

impl fmt::Display for MaxPasses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl JsonSchema for MaxPasses {
    fn schema_name() -> Cow<'static, str> {
        "MaxPasses".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "integer",
            "default": 3,
            "description": "1 to 10; what lies outside is brought to the nearer end",
        })
    }
}
