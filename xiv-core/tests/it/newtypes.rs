//! Every identifier states its form twice: in its parser and in its JSON
//! Schema. These properties hold the two to each other, so that nothing that a
//! schema lets pass is refused later, and nothing that parses is called wrong.

use jsonschema::Validator;
use proptest::prelude::*;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use xiv_core::model::{
    BranchName, ChangeId, CommitId, FindingId, IssueKey, MaxPasses, Pass, PrNumber, RepoPath,
    RunId, StepId, TreeId,
};
use xiv_core::port::BlobId;

/// A type's two judges.
struct Judges {
    name: String,
    schema: Validator,
    parses: fn(&Value) -> bool,
}

fn judges<T: JsonSchema + DeserializeOwned>() -> Judges {
    let schema = schemars::schema_for!(T).to_value();
    Judges {
        name: T::schema_name().into_owned(),
        schema: jsonschema::draft202012::new(&schema).expect("a schema"),
        parses: |value| T::deserialize(value).is_ok(),
    }
}

thread_local! {
    static ALL: Vec<Judges> = vec![
        judges::<BranchName>(),
        judges::<ChangeId>(),
        judges::<CommitId>(),
        judges::<FindingId>(),
        judges::<IssueKey>(),
        judges::<MaxPasses>(),
        judges::<Pass>(),
        judges::<PrNumber>(),
        judges::<RepoPath>(),
        judges::<RunId>(),
        judges::<StepId>(),
        judges::<TreeId>(),
        judges::<BlobId>(),
    ];
}

/// The types that take the value, after both judges agreed on each.
fn accepted(value: &Value) -> Vec<String> {
    ALL.with(|all| {
        let agreed = all.iter().filter(|judges| {
            let parses = (judges.parses)(value);
            let fits = judges.schema.is_valid(value);
            assert_eq!(
                parses, fits,
                "{}: parser {parses}, schema {fits}: {value}",
                judges.name
            );
            parses
        });
        agreed.map(|judges| judges.name.clone()).collect()
    })
}

#[test]
fn the_judges_are_not_blind() {
    for (value, name, taken) in [
        (json!("feat/x"), "BranchName", true),
        (json!("feat//x"), "BranchName", false),
        (json!("XIV-12"), "IssueKey", true),
        (json!("a..b"), "IssueKey", false),
        (json!("a".repeat(40)), "CommitId", true),
        (json!("A".repeat(40)), "CommitId", false),
        (json!("a".repeat(64)), "BlobId", true),
        (json!("review#2"), "StepId", true),
        (json!("review#02"), "StepId", false),
        (json!("0189f7e2-9c3b-7d4e-8f5a-6b7c8d9e0f1a"), "RunId", true),
        (json!("kxyz"), "ChangeId", true),
        (json!(1), "Pass", true),
        (json!(0), "Pass", false),
        (json!(-4), "MaxPasses", true),
        (json!(1e30), "MaxPasses", true),
        (json!(2.5), "MaxPasses", false),
        (json!({"base64": "Yf8="}), "RepoPath", true),
        (json!({"base64": "Yf8"}), "RepoPath", false),
    ] {
        let accepted = accepted(&value);
        assert_eq!(accepted.iter().any(|n| n == name), taken, "{name} {value}");
    }
}

/// Texts that are, or nearly are, identifiers.
fn near_identifiers() -> impl Strategy<Value = String> {
    let valid = prop_oneof![
        "[0-9a-f]{40}",
        "[0-9a-f]{64}",
        "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
        "(feat|fix|a|\\.|@|HEAD|x\\.lock|-)(/[a-zé._@{-]{0,4}){0,3}",
        "[A-Za-z]{1,4}-[0-9]{1,4}",
        "[a-z]{1,9}(#[0-9]{1,5})?",
        "[a-z0-9]{3,65}",
    ];
    let mark = prop_oneof![
        Just(""),
        Just("."),
        Just(".."),
        Just(".lock"),
        Just(".LOCK"),
        Just("/"),
        Just("@{"),
        Just("-"),
        Just("_"),
        Just("#"),
        Just(" "),
        Just("\n"),
        Just("\u{2028}"),
        Just("é"),
        Just("~"),
        Just("\\"),
        Just("["),
        Just("\u{7f}"),
        Just("A"),
        Just("g"),
    ];
    (valid, mark.clone(), mark, 0usize..80).prop_map(|(text, before, inside, at)| {
        let at = text.floor_char_boundary(at.min(text.len()));
        format!("{before}{}{inside}{}", &text[..at], &text[at..])
    })
}

proptest! {
    #[test]
    fn near_identifiers_are_judged_alike(text in near_identifiers()) {
        accepted(&json!(text));
        accepted(&json!({ "base64": text }));
    }

    #[test]
    fn short_texts_are_judged_alike(text in "[aAzZ09._/@{}~^:?*\\[\\\\#\\- \\n\u{e9}\u{2028}]{0,6}") {
        accepted(&json!(text));
    }

    #[test]
    fn numbers_are_judged_alike(
        value in prop_oneof![
            any::<i64>().prop_map(|n| json!(n)),
            any::<u64>().prop_map(|n| json!(n)),
            (-3i64..14).prop_map(|n| json!(n)),
            Just(json!(u64::from(u32::MAX))),
            Just(json!(u64::from(u32::MAX) + 1)),
            Just(json!(1.5)),
            Just(json!(null)),
            Just(json!([])),
        ],
    ) {
        accepted(&value);
    }

    #[test]
    fn base64_is_judged_alike(text in "[AQgwEIMUYc048B/+=]{0,8}") {
        accepted(&json!({ "base64": text }));
        accepted(&json!({ "base64": text, "more": 1 }));
    }
}
