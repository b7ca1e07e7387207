//! Rewrites a schemars schema into the strict dialect that both engines accept.
//!
//! schemars emits JSON Schema 2020-12 in its full breadth. Claude Code refuses the 2020-12 `$schema` word,
//! and OpenAI's strict mode accepts only closed objects whose properties are all required, knows no
//! `oneOf`, and wants a `$ref` to stand alone. The rewrite keeps the shape and drops what only validates
//! or documents for people: serde judges the answer anyway, so nothing is accepted that the type refuses.

use serde_json::{Map, Value, json};

/// Words that strict mode refuses or that carry nothing for a model.
const DROPPED: &[&str] = &[
    "$schema",
    "$id",
    "$comment",
    "title",
    "default",
    "examples",
    "format",
    "pattern",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "uniqueItems",
    "minProperties",
    "maxProperties",
    "propertyNames",
    "patternProperties",
    "unevaluatedProperties",
    "unevaluatedItems",
    "deprecated",
    "readOnly",
    "writeOnly",
];

/// Returns the schema in the strict dialect: closed objects, every property required, `oneOf` of constants
/// as `enum`, no `$schema`. Applying it twice changes nothing.
#[must_use]
pub(crate) fn strict(schema: &Value) -> Value {
    match schema {
        Value::Object(map) => object(map),
        other => other.clone(),
    }
}

fn object(map: &Map<String, Value>) -> Value {
    let mut out = Map::new();
    for (word, value) in map {
        if DROPPED.contains(&word.as_str()) {
            continue;
        }
        match word.as_str() {
            "const" => {
                out.insert("enum".into(), json!([value]));
            }
            "oneOf" | "anyOf" => alternatives(value, &mut out),
            "allOf" => {}
            "properties" | "$defs" => {
                out.insert(word.clone(), each(value));
            }
            "items" | "not" => {
                out.insert(word.clone(), strict(value));
            }
            "prefixItems" => {
                out.insert(word.clone(), list(value));
            }
            _ => {
                out.insert(word.clone(), value.clone());
            }
        }
    }
    if let Some(branches) = map.get("allOf") {
        all_of(branches, &mut out);
    }
    if let Some(reference) = out.get("$ref")
        && !out.contains_key("$defs")
    {
        return json!({ "$ref": reference });
    }
    if is_object(&out) {
        close(&mut out);
    }
    Value::Object(out)
}

fn is_object(schema: &Map<String, Value>) -> bool {
    let kind = schema.get("type");
    schema.contains_key("properties")
        || kind.is_some_and(|t| {
            t == "object"
                || t.as_array()
                    .is_some_and(|list| list.contains(&json!("object")))
        })
}

/// Requires every property and allows no other.
fn close(schema: &mut Map<String, Value>) {
    let properties = schema.entry("properties").or_insert_with(|| json!({}));
    let names: Vec<Value> = properties
        .as_object()
        .into_iter()
        .flat_map(Map::keys)
        .map(|name| json!(name))
        .collect();
    schema.insert("required".into(), Value::Array(names));
    schema.insert("additionalProperties".into(), json!(false));
}

/// `oneOf` and `anyOf` alike: all constants make one `enum`, anything else an `anyOf`.
fn alternatives(value: &Value, out: &mut Map<String, Value>) {
    let branches: Vec<Value> = value.as_array().into_iter().flatten().map(strict).collect();
    match constants(&branches) {
        Some(values) => {
            if let Some(kind) = branches.first().and_then(|b| b.get("type")) {
                out.insert("type".into(), kind.clone());
            }
            out.insert("enum".into(), Value::Array(values));
        }
        None => {
            out.insert("anyOf".into(), Value::Array(branches));
        }
    }
}

/// The values of the branches if each is an `enum` of the same type and nothing else matters.
fn constants(branches: &[Value]) -> Option<Vec<Value>> {
    let first = branches.first()?.get("type");
    let mut values = Vec::new();
    for branch in branches {
        if branch.get("type") != first {
            return None;
        }
        values.extend(branch.get("enum")?.as_array()?.iter().cloned());
    }
    Some(values)
}

/// Merges the branches: strict mode has no `allOf`, and schemars uses it only to decorate one branch.
fn all_of(value: &Value, out: &mut Map<String, Value>) {
    for branch in value.as_array().into_iter().flatten() {
        let Value::Object(branch) = strict(branch) else {
            continue;
        };
        for (word, value) in branch {
            match (out.get_mut(&word), value) {
                (Some(Value::Object(own)), Value::Object(more)) if word == "properties" => {
                    own.extend(more)
                }
                (_, value) => {
                    out.insert(word, value);
                }
            }
        }
    }
}

fn each(value: &Value) -> Value {
    let map = value.as_object().into_iter().flatten();
    Value::Object(
        map.map(|(name, schema)| (name.clone(), strict(schema)))
            .collect(),
    )
}

fn list(value: &Value) -> Value {
    Value::Array(value.as_array().into_iter().flatten().map(strict).collect())
}

#[cfg(test)]
mod tests;
