//! The rewrite over real schemars output and over arbitrary schemas.

use proptest::prelude::*;
use schemars::{JsonSchema, schema_for};
use serde_json::{Value, json};

use super::strict;

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct Report {
    /// Documented.
    verdict: Word,
    #[schemars(range(min = 1))]
    line: Option<u32>,
    inner: Option<Inner>,
    #[serde(default)]
    list: Vec<Inner>,
    plain: Undocumented,
    tagged: Tagged,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
#[serde(rename_all = "snake_case")]
enum Word {
    /// Fine.
    Approve,
    /// Not fine.
    RequestChanges,
    Comment,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
enum Undocumented {
    A,
    B,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
#[serde(tag = "type")]
enum Tagged {
    One { a: String },
    Two,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct Inner {
    #[schemars(length(min = 1), regex(pattern = "^x"))]
    text: String,
}

#[test]
fn a_real_type_becomes_strict() {
    let schema = strict(schema_for!(Report).as_value());
    insta::assert_json_snapshot!(schema);
}

#[test]
fn an_optional_reference_stays_nullable() {
    let schema = strict(schema_for!(Report).as_value());
    assert_eq!(
        schema["properties"]["inner"],
        json!({"anyOf": [{"$ref": "#/$defs/Inner"}, {"type": "null"}]})
    );
    assert_eq!(
        schema["properties"]["line"]["type"],
        json!(["integer", "null"])
    );
}

#[test]
fn property_names_that_look_like_schema_words_survive() {
    let schema = json!({"type": "object", "properties": {"title": {"type": "string", "title": "T"}, "format": {"const": 1}}});
    assert_eq!(
        strict(&schema),
        json!({
            "type": "object",
            "properties": {"title": {"type": "string"}, "format": {"enum": [1]}},
            "required": ["title", "format"],
            "additionalProperties": false,
        })
    );
}

/// Checks the dialect on every subschema.
fn violations(schema: &Value, found: &mut Vec<String>) {
    let Some(map) = schema.as_object() else {
        return;
    };
    for word in [
        "$schema", "oneOf", "const", "allOf", "format", "title", "default",
    ] {
        if map.contains_key(word) {
            found.push(format!("{word} in {schema}"));
        }
    }
    if map.get("type") == Some(&json!("object")) {
        let names: Vec<&String> = map["properties"]
            .as_object()
            .expect("properties")
            .keys()
            .collect();
        if map["required"] != json!(names) || map["additionalProperties"] != json!(false) {
            found.push(format!("open object {schema}"));
        }
    }
    for word in ["properties", "$defs"] {
        map.get(word)
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
            .for_each(|(_, s)| violations(s, found));
    }
    map.get("items")
        .into_iter()
        .for_each(|s| violations(s, found));
    map.get("anyOf")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .for_each(|s| violations(s, found));
}

fn schemas() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!({"type": "string", "format": "x", "title": "T"})),
        Just(json!({"type": ["integer", "null"], "minimum": 0})),
        Just(
            json!({"oneOf": [{"type": "string", "const": "a"}, {"type": "string", "enum": ["b", "c"]}]})
        ),
        Just(json!({"$ref": "#/$defs/X", "description": "d"})),
        Just(json!({"type": "object", "additionalProperties": {"type": "string"}})),
        Just(json!(true)),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 1..3).prop_map(|list| json!({"oneOf": list})),
            proptest::collection::vec(inner.clone(), 1..3).prop_map(|list| json!({"allOf": list})),
            inner.clone().prop_map(|s| json!({"type": "array", "items": s})),
            proptest::collection::vec(("[a-c]|title|default", inner), 0..3)
                .prop_map(|fields| json!({"type": "object", "properties": fields.into_iter().collect::<serde_json::Map<_, _>>()})),
        ]
    })
}

proptest! {
    #[test]
    fn the_result_is_strict_and_stable(schema in schemas()) {
        let once = strict(&schema);
        let mut found = Vec::new();
        violations(&once, &mut found);
        prop_assert!(found.is_empty(), "{found:?}");
        prop_assert_eq!(strict(&once), once);
    }
}
