//! A rule of one's own on top of the done gate, and the property that it must
//! have: it may withhold done, and can never grant it.
//!
//! The same property finds the mistake in a rule that looks reasonable.
#![expect(clippy::print_stdout, reason = "an example speaks to its reader")]

use proptest::prelude::{Just, Strategy, any, prop_oneof};
use proptest::test_runner::{Config, TestError, TestRunner};
use proptest::{collection, option, prop_assert};
use xiv_core::flow::PassValidation;
use xiv_core::model::{Finding, LocalReview, Severity, Verdict};
use xiv_core::policy::coherence::{BlockerPolicy, coherence};
use xiv_core::policy::done::done;
use xiv_examples::AnyError;

/// A pass: what its commands said, and its review if it has one.
type Pass = (PassValidation, Option<LocalReview>);

/// The gate that xiv ships.
fn shipped((validation, review): &Pass) -> bool {
    let effective = review
        .as_ref()
        .map(|review| coherence(review, BlockerPolicy::Report).effective);
    done(*validation, effective)
}

/// A stricter team: three findings of weight are too many, whatever the
/// verdict.
fn ours(pass: &Pass) -> bool {
    let weighty =
        |finding: &&Finding| matches!(finding.severity, Severity::Blocker | Severity::High);
    let too_many = pass
        .1
        .as_ref()
        .is_some_and(|review| review.findings.iter().filter(weighty).count() >= 3);
    shipped(pass) && !too_many
}

/// A trusting team: what the reviewer approves cannot be that wrong.
fn trusting(pass: &Pass) -> bool {
    let approved = pass
        .1
        .as_ref()
        .is_some_and(|review| review.verdict == Verdict::Approve);
    shipped(pass) || approved
}

fn passes() -> impl Strategy<Value = Pass> {
    let validation = prop_oneof![
        Just(PassValidation::Passed),
        Just(PassValidation::Failed),
        Just(PassValidation::None),
    ];
    let verdict = prop_oneof![
        Just(Verdict::Approve),
        Just(Verdict::Comment),
        Just(Verdict::RequestChanges),
    ];
    let finding = any::<bool>().prop_map(|weighty| {
        let severity = if weighty {
            Severity::High
        } else {
            Severity::Nit
        };
        Finding::new("f", severity, "title", "body")
    });
    let review = (verdict, collection::vec(finding, 0..6))
        .prop_map(|(verdict, findings)| LocalReview::new(verdict, "s").with_findings(findings));
    (validation, option::of(review))
}

/// Whether the gate opens only where the shipped one does; else the smallest
/// pass that shows the contrary.
fn only_withholds(gate: impl Fn(&Pass) -> bool) -> Result<(), Box<TestError<Pass>>> {
    let config = Config {
        failure_persistence: None,
        ..Config::default()
    };
    TestRunner::new(config)
        .run(&passes(), |pass| {
            prop_assert!(!gate(&pass) || shipped(&pass), "granted what is not done");
            Ok(())
        })
        .map_err(Box::new)
}

fn main() -> Result<(), AnyError> {
    only_withholds(ours)?;
    println!("our gate only withholds");

    let Err(failure) = only_withholds(trusting) else {
        return Err("a gate that grants went unnoticed".into());
    };
    let TestError::Fail(_, (validation, review)) = *failure else {
        return Err("the search was broken off".into());
    };
    println!("the trusting gate opens where it must not:");
    println!("  validation: {validation:?}");
    println!("  verdict: {:?}", review.map(|review| review.verdict));
    Ok(())
}
