//! Which fields of an answer its type did not take.
//!
//! Agents add fields. That is no error, but a misspelt field that is silently
//! dropped is hard to notice, so its name is handed to the caller.

use serde::Serialize;
use serde_json::Value;

/// Paths of the fields that stand in `answer` and not in what was made of it.
pub(super) fn fields<T: Serialize>(answer: &Value, taken: &T) -> Vec<String> {
    let mut unknown = Vec::new();
    if let Ok(taken) = serde_json::to_value(taken) {
        compare(answer, &taken, "", &mut unknown);
    }
    unknown
}

fn compare(answer: &Value, taken: &Value, path: &str, unknown: &mut Vec<String>) {
    match (answer, taken) {
        (Value::Object(answer), Value::Object(taken)) => {
            for (name, value) in answer {
                let path = if path.is_empty() {
                    name.clone()
                } else {
                    format!("{path}.{name}")
                };
                match taken.get(name) {
                    Some(other) => compare(value, other, &path, unknown),
                    // an optional field that is absent is not written back
                    None if value.is_null() => {}
                    None => unknown.push(path),
                }
            }
        }
        (Value::Array(answer), Value::Array(taken)) => {
            for (i, (value, other)) in answer.iter().zip(taken).enumerate() {
                compare(value, other, &format!("{path}[{i}]"), unknown);
            }
        }
        _ => {}
    }
}
