//! Times as people write them in a configuration: `90s`, `10m`, `1h30m`.

use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// A time span in milliseconds, written with units.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(crate) struct Span(u64);

const UNITS: [(&str, u64); 4] = [("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)];

impl Span {
    /// A span of whole milliseconds.
    pub(crate) const fn from_ms(ms: u64) -> Self {
        Self(ms)
    }

    /// The span in milliseconds.
    pub(crate) const fn as_ms(self) -> u64 {
        self.0
    }

    /// Reads numbers with units, in any order: `1h30m`, `500ms`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut rest = text.trim();
        let mut total: u64 = 0;
        if rest.is_empty() {
            return None;
        }
        while !rest.is_empty() {
            let (number, after) = rest.split_at(rest.find(|c: char| !c.is_ascii_digit())?);
            let end = after
                .find(|c: char| !c.is_ascii_alphabetic())
                .unwrap_or(after.len());
            let (unit, after) = after.split_at(end);
            let (_, factor) = UNITS.iter().find(|(name, _)| *name == unit)?;
            total = total.checked_add(number.parse::<u64>().ok()?.checked_mul(*factor)?)?;
            rest = after.trim_start();
        }
        (total > 0).then_some(Self(total))
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0;
        for (unit, factor) in UNITS {
            if rest >= factor {
                write!(f, "{}{unit}", rest / factor)?;
                rest %= factor;
            }
        }
        Ok(())
    }
}

impl TryFrom<String> for Span {
    type Error = String;
    fn try_from(text: String) -> Result<Self, String> {
        Self::parse(&text)
            .ok_or_else(|| format!("{text:?} is not a time span such as `90s`, `10m` or `1h30m`"))
    }
}

impl From<Span> for String {
    fn from(span: Span) -> Self {
        span.to_string()
    }
}

impl JsonSchema for Span {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Span".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "pattern": r"^\s*([0-9]+(h|m|s|ms)\s*)+$",
            "description": "A time span: `90s`, `10m`, `1h30m`",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Span;

    #[test]
    fn spans_are_read_and_written_with_units() {
        for (text, ms) in [
            ("10m", 600_000),
            ("90s", 90_000),
            ("1h30m", 5_400_000),
            ("1h 30m", 5_400_000),
            ("500ms", 500),
            ("1m1ms", 60_001),
        ] {
            assert_eq!(Span::parse(text).map(Span::as_ms), Some(ms), "{text}");
        }
        for bad in [
            "",
            "10",
            "m",
            "0s",
            "-1s",
            "1d",
            "1.5h",
            "10 m x",
            "9999999999999999999h",
        ] {
            assert_eq!(Span::parse(bad), None, "{bad:?}");
        }
    }

    #[test]
    fn what_is_written_is_read_back() {
        for ms in [1, 999, 1_000, 61_000, 3_600_000, 3_661_001] {
            let span = Span::from_ms(ms);
            assert_eq!(Span::parse(&span.to_string()), Some(span), "{span}");
        }
    }
}
