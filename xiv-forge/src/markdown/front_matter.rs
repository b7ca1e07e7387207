//! The YAML between two `---` lines at the top of an issue.
//!
//! Only the keys that mean something here are parsed. What other tools keep
//! beside them need not even be valid YAML (Backlog.md writes `assignee:
//! @name`), and it must not make an issue unreadable.

use std::fmt;

use serde::de::{self, Deserialize, Deserializer, SeqAccess, Visitor};

/// What an issue says about itself before its text.
#[derive(Debug, Clone, PartialEq, Eq, Default, serde::Deserialize)]
#[serde(default)]
pub(crate) struct FrontMatter {
    /// Its key.
    pub(crate) id: Option<String>,
    /// Its title.
    pub(crate) title: Option<String>,
    /// Its status, in the writer's own word.
    pub(crate) status: Option<String>,
    /// Label names.
    #[serde(deserialize_with = "words")]
    pub(crate) labels: Vec<String>,
    /// The issue that it is part of.
    #[serde(alias = "parent_task_id")]
    pub(crate) parent: Option<String>,
    /// The issues below it.
    #[serde(alias = "subtasks", deserialize_with = "words")]
    pub(crate) children: Vec<String>,
    /// The issues that come first.
    #[serde(
        alias = "blockedBy",
        alias = "dependencies",
        deserialize_with = "words"
    )]
    pub(crate) blocked_by: Vec<String>,
    /// The project that it belongs to.
    pub(crate) project: Option<String>,
}

/// Every key that is read, aliases included.
const KEYS: [&str; 12] = [
    "id",
    "title",
    "status",
    "labels",
    "parent",
    "parent_task_id",
    "children",
    "subtasks",
    "blocked_by",
    "blockedBy",
    "dependencies",
    "project",
];

/// Front matter that cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum FrontMatterError {
    /// It begins and does not end.
    #[error("the front matter has no closing `---` line")]
    Unclosed,
    /// It is not the YAML that is expected.
    #[error("the front matter is not valid YAML")]
    Yaml(#[source] serde_yaml_ng::Error),
}

impl FrontMatter {
    /// Takes the front matter off a text with `\n` line ends. A text without
    /// one has the empty front matter.
    pub(crate) fn split(text: &str) -> Result<(Self, &str), FrontMatterError> {
        let Some(rest) = text.strip_prefix("---") else {
            return Ok((Self::default(), text));
        };
        let Some((blank, rest)) = rest.split_once('\n') else {
            return Ok((Self::default(), text));
        };
        if !blank.trim().is_empty() {
            return Ok((Self::default(), text));
        }
        let mut end = 0;
        for line in rest.split_inclusive('\n') {
            if matches!(line.trim_end(), "---" | "...") {
                let front = Self::parse(&rest[..end])?;
                return Ok((front, &rest[end + line.len()..]));
            }
            end += line.len();
        }
        // a thematic break that opens an ordinary text has no keys after it
        if rest.lines().next().and_then(key_of).is_some() {
            return Err(FrontMatterError::Unclosed);
        }
        Ok((Self::default(), text))
    }

    fn parse(yaml: &str) -> Result<Self, FrontMatterError> {
        let known = known_entries(yaml);
        if known.trim().is_empty() {
            return Ok(Self::default());
        }
        let mut front: Self = serde_yaml_ng::from_str(&known).map_err(FrontMatterError::Yaml)?;
        let fields = [
            &mut front.id,
            &mut front.title,
            &mut front.status,
            &mut front.parent,
            &mut front.project,
        ];
        for field in fields {
            *field = field
                .take()
                .map(|text| text.trim().to_owned())
                .filter(|text| !text.is_empty());
        }
        Ok(front)
    }
}

/// The key of a line `key: …` that is not indented.
fn key_of(line: &str) -> Option<&str> {
    let (key, _) = line.split_once(':')?;
    let plain = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'-';
    let is_key = !key.is_empty() && !key.starts_with('-') && key.bytes().all(plain);
    is_key.then_some(key)
}

/// The entries whose keys are read, with the lines that belong to them.
fn known_entries(yaml: &str) -> String {
    let mut known = String::new();
    let mut keep = false;
    let lines: Vec<&str> = yaml.lines().collect();
    for (index, line) in lines.iter().enumerate() {
        if let Some(key) = key_of(line) {
            keep = KEYS.contains(&key);
        }
        if !keep {
            continue;
        }
        let goes_on = lines
            .get(index + 1)
            .is_some_and(|next| next.starts_with([' ', '\t']));
        match line.strip_prefix("title:") {
            Some(title) if !goes_on => known.push_str(&quoted_title(title)),
            _ => known.push_str(line),
        }
        known.push('\n');
    }
    known
}

/// People write `title: Fix: the #12 thing` and mean all of it.
fn quoted_title(title: &str) -> String {
    let title = title.trim();
    if title.is_empty() || title.starts_with(['"', '\'', '|', '>', '&', '*', '!']) {
        return format!("title: {title}");
    }
    format!("title: '{}'", title.replace('\'', "''"))
}

/// A list, or one text with commas; null and absent are the empty list.
fn words<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    struct Words;

    impl<'de> Visitor<'de> for Words {
        type Value = Vec<String>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a list of words")
        }

        fn visit_unit<E: de::Error>(self) -> Result<Self::Value, E> {
            Ok(Vec::new())
        }

        fn visit_none<E: de::Error>(self) -> Result<Self::Value, E> {
            Ok(Vec::new())
        }

        fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
            let words = text.split(',').map(str::trim);
            Ok(words.filter(|w| !w.is_empty()).map(str::to_owned).collect())
        }

        fn visit_u64<E: de::Error>(self, number: u64) -> Result<Self::Value, E> {
            Ok(vec![number.to_string()])
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
            let mut words = Vec::new();
            while let Some(word) = seq.next_element::<Word>()? {
                if !word.0.trim().is_empty() {
                    words.push(word.0.trim().to_owned());
                }
            }
            Ok(words)
        }
    }

    deserializer.deserialize_any(Words)
}

/// One scalar, as it is written.
struct Word(String);

impl<'de> Deserialize<'de> for Word {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Option::<String>::deserialize(deserializer).map(|word| Self(word.unwrap_or_default()))
    }
}
