//! A JSON value that remembers when an object named a field twice.
//!
//! `serde_json::Value` silently keeps the last of two equal keys. A verdict
//! that is given twice is none, so this must not go unseen.

use std::cell::RefCell;
use std::fmt;

use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// A value and the first field that was given twice anywhere in it.
#[derive(Debug)]
pub(super) struct Checked {
    pub(super) value: Value,
    pub(super) doubled: Option<String>,
}

impl<'de> de::Deserialize<'de> for Checked {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let doubled = RefCell::new(None);
        let value = Watch(&doubled).deserialize(deserializer)?;
        Ok(Self {
            value,
            doubled: doubled.into_inner(),
        })
    }
}

/// Builds a value and notes a doubled key.
#[derive(Clone, Copy)]
struct Watch<'a>(&'a RefCell<Option<String>>);

impl<'de> DeserializeSeed<'de> for Watch<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Watch<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element_seed(self)? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Value, A::Error> {
        let mut fields = Map::new();
        while let Some(name) = object.next_key::<String>()? {
            let value = object.next_value_seed(self)?;
            if fields.insert(name.clone(), value).is_some() {
                self.0.borrow_mut().get_or_insert(name);
            }
        }
        Ok(Value::Object(fields))
    }
}
