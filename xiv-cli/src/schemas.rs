//! The JSON Schemas under `schemas/`: of everything that xiv writes for other
//! programs or reads from them. They are generated from the types; the test in
//! here fails when the committed files are not what it generates.
//!
//! `XIV_BLESS=1 cargo test -p xiv-cli schemas` writes them anew.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use xiv_core::flow::{Event, Recorded};
use xiv_core::model::{
    AddressReport, Diff, ImplementInput, ImplementOutput, ImplementReport, Issue, LocalReview,
    Plan, PrReview, PrSignals, StackMap, Validation,
};
use xiv_core::policy::order::Order;
use xiv_core::policy::place::Placement;
use xiv_core::policy::script::{GateReport, GateScript};
use xiv_core::port::{IssueSummary, RunSummary};
use xiv_forge::criteria::Criteria;

use crate::commands::config::ShownConfig;
use crate::commands::doctor::Check;
use crate::commands::init::InitReport;
use crate::commands::issue::NewIssueDocument;
use crate::commands::run::{Removed, ShownRun};
use crate::config::Config;
use crate::error::ErrorDocument;
use crate::implement::{Detached, ResultLine, StreamLine};
use crate::plumbing::{GuardAnswer, OrderIssuesInput, ParsedReview, PlaceFindingsInput};
use crate::story::Explanation;

/// Schemas by the name of their file.
#[derive(Default)]
struct Schemas(BTreeMap<&'static str, String>);

impl Schemas {
    /// Of what is read: fields with a default may be left out.
    fn read<T: JsonSchema>(self, name: &'static str) -> Self {
        self.add::<T>(name, SchemaSettings::draft2020_12().for_deserialize())
    }

    /// Of what is written: what is always there is required.
    fn written<T: JsonSchema>(self, name: &'static str) -> Self {
        self.add::<T>(name, SchemaSettings::draft2020_12().for_serialize())
    }

    fn add<T: JsonSchema>(mut self, name: &'static str, settings: SchemaSettings) -> Self {
        let schema = settings.into_generator().into_root_schema_for::<T>();
        let text = serde_json::to_string_pretty(&schema).expect("a schema is JSON");
        let before = self.0.insert(name, format!("{text}\n"));
        assert!(before.is_none(), "{name} is there twice");
        self
    }
}

/// Every schema that is committed.
fn all() -> BTreeMap<&'static str, String> {
    let schemas = Schemas::default()
        // what agents and scripts hand to xiv
        .read::<LocalReview>("local-review")
        .read::<Plan>("plan")
        .read::<ImplementReport>("implement-report")
        .read::<Issue>("issue")
        .read::<ImplementInput>("implement-input")
        .read::<Config>("config")
        // the record of a run and its results
        .written::<Event>("event")
        .written::<Recorded>("recorded")
        .written::<Validation>("validation")
        .written::<ImplementOutput>("implement-output")
        .written::<RunSummary>("run-summary")
        .written::<PrSignals>("pr-signals")
        .written::<AddressReport>("address-report")
        .written::<PrReview>("pr-review")
        .written::<StackMap>("stack-map")
        // what the commands print
        .written::<ResultLine<'_>>("cli/result")
        .written::<ErrorDocument<'_>>("cli/error")
        .written::<ShownRun>("cli/run-show")
        .written::<Explanation>("cli/run-explain")
        .written::<Vec<RunSummary>>("cli/runs")
        .written::<StreamLine<'_>>("cli/stream")
        .written::<Vec<Recorded>>("cli/run-log")
        .written::<Removed>("cli/run-rm")
        .written::<ShownConfig>("cli/config-show")
        .written::<Vec<Check>>("cli/doctor")
        .written::<InitReport>("cli/init")
        .written::<NewIssueDocument>("cli/issue-new")
        .written::<Vec<IssueSummary>>("cli/issue-list")
        .written::<Detached>("cli/detached")
        // the rules
        .written::<ParsedReview>("plumbing/parse-review.output")
        .read::<GateScript>("plumbing/done-gate.input")
        .written::<GateReport>("plumbing/done-gate.output")
        .written::<Diff>("plumbing/diff-files.output")
        .read::<PlaceFindingsInput>("plumbing/place-findings.input")
        .written::<Placement>("plumbing/place-findings.output")
        .written::<Criteria>("plumbing/criteria.output")
        .read::<OrderIssuesInput>("plumbing/order-issues.input")
        .written::<Order>("plumbing/order-issues.output")
        .written::<GuardAnswer>("plumbing/guard.output");
    schemas.0
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../schemas")
}

/// The schema files below a folder, by name.
fn committed(folder: &Path, prefix: &str, names: &mut BTreeSet<String>) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    for entry in entries {
        let path = entry.expect("a folder entry").path();
        let name = path.file_stem().and_then(|stem| stem.to_str());
        let name = format!("{prefix}{}", name.expect("a plain name"));
        if path.is_dir() {
            committed(&path, &format!("{name}/"), names);
        } else if path
            .extension()
            .is_some_and(|extension| extension == "json")
        {
            names.insert(name);
        }
    }
}

#[test]
fn the_committed_files_are_what_the_types_say() {
    let bless = std::env::var_os("XIV_BLESS").is_some();
    let mut stale = Vec::new();
    let mut surplus = BTreeSet::new();
    committed(&folder(), "", &mut surplus);
    for (name, text) in all() {
        surplus.remove(name);
        let path = folder().join(format!("{name}.json"));
        if std::fs::read_to_string(&path).is_ok_and(|there| there == text) {
            continue;
        }
        if bless {
            let parent = path.parent().expect("a folder");
            std::fs::create_dir_all(parent).expect("the folder");
            std::fs::write(&path, text).expect("the schema is written");
        } else {
            stale.push(name);
        }
    }
    assert!(
        stale.is_empty() && surplus.is_empty(),
        "schemas/ is stale: {stale:?} differ, {surplus:?} are too many. Run \
         `XIV_BLESS=1 cargo test -p xiv-cli schemas` and look at the difference."
    );
}

#[test]
fn every_schema_is_a_schema() {
    for (name, text) in all() {
        let schema = serde_json::from_str(&text).expect("JSON");
        jsonschema::draft202012::new(&schema).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

/// Values that the parser and the schema have to judge alike.
#[test]
fn what_a_review_may_be_is_the_same_for_schema_and_parser() {
    let schema = serde_json::from_str(&all()["local-review"]).expect("JSON");
    let schema = jsonschema::draft202012::new(&schema).expect("a schema");
    for (value, fits) in [
        (r#"{"verdict":"approve","summary":"s"}"#, true),
        (r#"{"verdict":"approve","summary":"s","more":1}"#, true),
        (
            r#"{"verdict":"approve","summary":"s","findings":[{"id":"","severity":"nit","title":"t","body":"b","line":3,"path":null}]}"#,
            true,
        ),
        (r#"{"verdict":"approve"}"#, false),
        (r#"{"verdict":"","summary":"s"}"#, false),
        (r#"{"verdict":null,"summary":"s"}"#, false),
        (r#"{"verdict":"Approve","summary":"s"}"#, false),
        (
            r#"{"verdict":"approve","summary":"s","findings":[{"id":"a"}]}"#,
            false,
        ),
        (
            r#"{"verdict":"approve","summary":"s","findings":[{"id":"a","severity":"nit","title":"t","body":"b","line":-3}]}"#,
            false,
        ),
    ] {
        let json = serde_json::from_str(value).expect("JSON");
        assert_eq!(schema.is_valid(&json), fits, "the schema on {value}");
        let parsed = serde_json::from_str::<LocalReview>(value);
        assert_eq!(parsed.is_ok(), fits, "the parser on {value}");
    }
}
