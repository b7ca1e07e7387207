//! The done gate over its whole state space, held against an oracle that is
//! written from the rules in prose and shares no code with the machine.

use xiv_core::model::{Outcome, Verdict};

use crate::script::{PassScript, Planted, Played, REVIEWS, Reviews, VALIDATIONS, Validates, play};

/// What should come of a script.
#[derive(Debug, PartialEq)]
struct Expected {
    ended: Option<Outcome>,
    passes: usize,
    verdict: Option<Verdict>,
    /// Titles of the gaps.
    gaps: Vec<String>,
    incoherent: bool,
    told: Vec<(bool, bool)>,
}

/// The rules once more, as a person would check them by hand.
fn oracle(script: &[PassScript], cap: usize, blocker_withholds: bool) -> Expected {
    let said = |review: Reviews| match review {
        Reviews::Approve | Reviews::ApproveWithBlocker => Some(Verdict::Approve),
        Reviews::Comment => Some(Verdict::Comment),
        Reviews::RequestChanges => Some(Verdict::RequestChanges),
        Reviews::Failed | Reviews::Skipped => None,
    };
    let objects = |review: Reviews| {
        review == Reviews::RequestChanges
            || (review == Reviews::ApproveWithBlocker && blocker_withholds)
    };
    let opens =
        |&(validation, review): &PassScript| validation == Validates::Pass && !objects(review);
    let first_open = script.iter().take(cap).position(opens);
    let (ended, passes) = match first_open {
        Some(index) => (Some(Outcome::Done), index + 1),
        None if script.len() >= cap => (Some(Outcome::Capped), cap),
        None => (None, script.len()),
    };
    let last = script[passes - 1].1;
    let heard = if ended.is_some() { passes - 1 } else { passes };
    let told = script[..heard]
        .iter()
        .map(|&(validation, review)| {
            let says = matches!(review, Reviews::Comment | Reviews::RequestChanges);
            (validation != Validates::Pass, says || objects(review))
        })
        // what the last scripted pass says is heard only by a pass that the script lacks
        .take(passes - 1)
        .collect();
    Expected {
        ended,
        passes,
        verdict: said(last),
        gaps: said(last)
            .map(|_| format!("of pass {passes}"))
            .into_iter()
            .collect(),
        incoherent: last == Reviews::ApproveWithBlocker,
        told,
    }
}

/// What came of it, in the oracle's terms; without an end only the passes and
/// what they were told count.
fn seen(played: &Played) -> Expected {
    let output = played.output.as_ref();
    Expected {
        ended: output.map(|o| o.outcome),
        passes: played.passes,
        verdict: output.and_then(|o| o.review_verdict),
        gaps: output
            .map(|o| o.known_gaps.iter().map(|g| g.title.clone()).collect())
            .unwrap_or_default(),
        incoherent: output.is_some_and(|o| o.incoherent),
        told: played.told.clone(),
    }
}

fn agrees(script: &[PassScript], cap: usize, withholds: bool, bug: Option<Planted>) -> bool {
    let expected = oracle(script, cap, withholds);
    let played = play(script, i64::try_from(cap).expect("small"), withholds, bug);
    let seen = seen(&played);
    if expected.ended.is_none() {
        return seen.ended.is_none()
            && seen.passes == expected.passes
            && seen.told == expected.told;
    }
    assert!(
        played.commands <= 4 + 4 * played.passes,
        "too many commands"
    );
    seen == expected
}

/// Calls with every script of this many passes.
fn every_script(passes: usize, mut check: impl FnMut(&[PassScript])) {
    let kinds: Vec<PassScript> = VALIDATIONS
        .iter()
        .flat_map(|v| REVIEWS.iter().map(move |r| (*v, *r)))
        .collect();
    let total = kinds.len().pow(u32::try_from(passes).expect("small"));
    for mut n in 0..total {
        let mut script = Vec::with_capacity(passes);
        for _ in 0..passes {
            script.push(kinds[n % kinds.len()]);
            n /= kinds.len();
        }
        check(&script);
    }
}

#[test]
fn the_machine_agrees_with_the_oracle_everywhere() {
    for withholds in [false, true] {
        for passes in 1..=4 {
            every_script(passes, |script| {
                // a pass that opens the gate makes the rest of a script idle:
                // such scripts are covered by their shorter beginnings
                let idle = oracle(script, passes, withholds).passes < passes;
                if !idle || passes <= 2 {
                    assert!(
                        agrees(script, passes, withholds, None),
                        "cap {passes}, withholds {withholds}: {script:?}\n{:?}\n{:?}",
                        oracle(script, passes, withholds),
                        seen(&play(
                            script,
                            i64::try_from(passes).expect("small"),
                            withholds,
                            None
                        )),
                    );
                }
            });
        }
    }
}

#[test]
fn caps_below_and_above_the_script_agree_too() {
    for cap in 1..=4 {
        for passes in 1..=2 {
            every_script(passes, |script| {
                assert!(agrees(script, cap, false, None), "cap {cap}: {script:?}");
            });
        }
    }
}

#[test]
fn each_planted_bug_is_found() {
    let bugs = [
        Planted::StaleVerdict,
        Planted::ApprovalDemanded,
        Planted::FeedbackDropped,
        Planted::CapOffByOne,
    ];
    for bug in bugs {
        let mut found = false;
        for passes in 1..=2 {
            every_script(passes, |script| {
                found |= !agrees(script, passes, false, Some(bug))
            });
        }
        assert!(found, "{bug:?} was not found");
    }
}
