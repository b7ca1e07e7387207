//! Paths as git knows them: bytes, relative to the repository's root.
//!
//! A file name need not be UTF-8, and no such file may be lost on the way into
//! JSON. So a path is a plain string when it can be one and `{"base64": …}`
//! when it cannot.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A path inside a repository, `/`-separated, as bytes.
///
/// On the wire: a string, or `{"base64": "…"}` when the bytes are not UTF-8.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RepoPath(Vec<u8>);

impl RepoPath {
    /// Wraps the bytes of a path.
    pub fn new(bytes: impl Into<Vec<u8>>) -> Self {
        Self(bytes.into())
    }

    /// The bytes of the path.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The path as text, if it is UTF-8.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        std::str::from_utf8(&self.0).ok()
    }

    /// The path for people: bytes that are not UTF-8 are shown as `\u{FFFD}`.
    #[must_use]
    pub fn display(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.0)
    }
}

impl From<&str> for RepoPath {
    fn from(path: &str) -> Self {
        Self(path.as_bytes().to_vec())
    }
}

impl fmt::Debug for RepoPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.display())
    }
}

impl fmt::Display for RepoPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.display())
    }
}

impl Serialize for RepoPath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if let Some(text) = self.as_str() {
            return serializer.serialize_str(text);
        }
        let mut map = serializer.serialize_map(Some(1))?;
        map.serialize_entry("base64", &base64::encode(&self.0))?;
        map.end()
    }
}

impl<'de> Deserialize<'de> for RepoPath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct PathVisitor;

        impl<'de> Visitor<'de> for PathVisitor {
            type Value = RepoPath;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a path as a string or as {\"base64\": …}")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<RepoPath, E> {
                Ok(RepoPath::from(text))
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<RepoPath, M::Error> {
                let Some((key, value)) = map.next_entry::<String, String>()? else {
                    return Err(de::Error::missing_field("base64"));
                };
                if key != "base64" || map.next_entry::<String, de::IgnoredAny>()?.is_some() {
                    return Err(de::Error::custom(
                        "a path object holds `base64` and nothing else",
                    ));
                }
                base64::decode(&value)
                    .map(RepoPath)
                    .ok_or_else(|| de::Error::custom("`base64` is not standard padded base64"))
            }
        }

        deserializer.deserialize_any(PathVisitor)
    }
}

impl JsonSchema for RepoPath {
    fn schema_name() -> Cow<'static, str> {
        "RepoPath".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "a repository-relative path; an object when it is not UTF-8",
            "anyOf": [
                { "type": "string" },
                {
                    "type": "object",
                    "properties": {
                        "base64": { "type": "string", "pattern": base64::PATTERN },
                    },
                    "required": ["base64"],
                    "additionalProperties": false,
                },
            ],
        })
    }
}

/// Standard padded base64. Forty lines rather than a dependency: the core's
/// dependency list is closed, and paths are the only use.
mod base64 {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

    /// What [`decode`] accepts (it also wants the unused bits of the last
    /// character to be zero).
    pub(super) const PATTERN: &str = "^([A-Za-z0-9+/]{4})*\
        ([A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)?$";

    pub(super) fn encode(bytes: &[u8]) -> String {
        let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
        for chunk in bytes.chunks(3) {
            let mut group = [0u8; 3];
            group[..chunk.len()].copy_from_slice(chunk);
            let bits = u32::from_be_bytes([0, group[0], group[1], group[2]]);
            for i in 0..4 {
                if i <= chunk.len() {
                    let index = (bits >> (18 - 6 * i)) & 63;
                    text.push(char::from(ALPHABET[index as usize]));
                } else {
                    text.push('=');
                }
            }
        }
        text
    }

    pub(super) fn decode(text: &str) -> Option<Vec<u8>> {
        let text = text.as_bytes();
        if !text.len().is_multiple_of(4) {
            return None;
        }
        let body_len = text.len() - text.iter().rev().take(2).filter(|&&b| b == b'=').count();
        let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
        for chunk in text[..body_len].chunks(4) {
            let mut bits = 0u32;
            for &symbol in chunk {
                let value = ALPHABET.iter().position(|&a| a == symbol)?;
                bits = (bits << 6) | u32::try_from(value).ok()?;
            }
            bits <<= 6 * (4 - chunk.len());
            bytes.extend_from_slice(&bits.to_be_bytes()[1..chunk.len()]);
        }
        // one spelling per path: leftover bits must be zero
        (encode(&bytes).as_bytes() == text).then_some(bytes)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::RepoPath;

    #[test]
    fn text_stays_text_and_other_bytes_become_base64() {
        let plain = serde_json::to_value(RepoPath::from("src/ä b.rs")).expect("serialises");
        assert_eq!(plain, serde_json::json!("src/ä b.rs"));
        let odd = serde_json::to_value(RepoPath::new(b"a\xff".to_vec())).expect("serialises");
        assert_eq!(odd, serde_json::json!({ "base64": "Yf8=" }));
    }

    #[test]
    fn malformed_objects_are_refused() {
        for bad in [
            "{}",
            r#"{"base64":"Yf8"}"#,
            r#"{"base64":"Yf9="}"#,
            r#"{"base64":"YQ==","x":1}"#,
            "7",
        ] {
            assert!(
                serde_json::from_str::<RepoPath>(bad).is_err(),
                "{bad} was accepted"
            );
        }
    }

    proptest! {
        #[test]
        fn any_bytes_survive_the_wire(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            let path = RepoPath::new(bytes);
            let json = serde_json::to_string(&path).expect("serialises");
            prop_assert_eq!(serde_json::from_str::<RepoPath>(&json).expect("reads back"), path);
        }
    }
}
