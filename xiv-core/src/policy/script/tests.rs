//! The loop's regression cases as scripts, and the whole state space of short
//! scripts against an oracle that is written out by hand.

use serde_json::{Value, json};

use super::{GateOutcome, GateReport, GateScript, play};
use crate::model::Verdict;

fn run(script: Value) -> GateReport {
    let script: GateScript = serde_json::from_value(script).expect("a script");
    play(&script).expect("it plays")
}

fn finding(severity: &str, title: &str) -> Value {
    json!({"id": "a", "severity": severity, "title": title, "body": "why", "path": "x.rs", "line": 7})
}

fn review(verdict: &str, findings: &[Value]) -> Value {
    json!({"verdict": verdict, "summary": "sum", "findings": findings})
}

#[test]
fn an_old_verdict_neither_blocks_nor_grants() {
    let report = run(json!({"cap": 5, "passes": [
        {"validation": "fail", "review": "request_changes"},
        {"validation": "pass", "review": "crashed"},
        {"validation": "pass", "review": "request_changes"},
    ]}));
    assert_eq!((report.outcome, report.passes), (GateOutcome::Done, 2));
    assert_eq!(report.review_verdict, None);
    let report = run(json!({"cap": 2, "passes": [
        {"validation": "fail", "review": "approve"},
        {"validation": "fail", "review": "skipped"},
    ]}));
    assert_eq!((report.outcome, report.passes), (GateOutcome::Capped, 2));
    assert_eq!(report.review_verdict, None);
}

#[test]
fn feedback_is_of_the_pass_before_and_holds_its_findings() {
    let report = run(json!({"cap": 3, "passes": [
        {"validation": "fail", "review": review("comment", &[finding("low", "One")])},
        {"validation": "pass", "review": review("request_changes", &[finding("high", "Two")])},
        {"validation": "pass", "review": "approve"},
    ]}));
    assert_eq!(report.outcome, GateOutcome::Done);
    let [first, second] = report.feedback.as_slice() else {
        panic!("two texts, not {:?}", report.feedback);
    };
    assert!(
        first.contains("[low] One: why (x.rs:7)") && first.contains("exit 1"),
        "{first}"
    );
    assert!(
        second.contains("[high] Two") && !second.contains("One"),
        "{second}"
    );
    assert!(!second.contains("did not pass"), "{second}");
}

#[test]
fn an_approval_with_a_blocker_withholds_only_when_told_to() {
    let script = |withholds: bool, severity: &str| {
        run(json!({"cap": 1, "blockerWithholds": withholds, "passes": [
            {"validation": "pass", "review": review("approve", &[finding(severity, "B")])},
        ]}))
    };
    assert_eq!(script(false, "blocker").outcome, GateOutcome::Done);
    assert_eq!(script(true, "high").outcome, GateOutcome::Done);
    let withheld = script(true, "blocker");
    assert_eq!(withheld.outcome, GateOutcome::Capped);
    assert_eq!(withheld.review_verdict, Some(Verdict::Approve));
    assert_eq!(
        serde_json::to_value(&withheld.known_gaps).expect("serialises"),
        json!([{"severity": "blocker", "title": "B", "detail": "why", "path": "x.rs"}])
    );
}

#[test]
fn a_short_script_is_unfinished_as_far_as_it_went() {
    let report = run(json!({"passes": [
        {"validation": "pass", "review": review("request_changes", &[finding("nit", "N")])},
    ]}));
    assert_eq!(
        (report.outcome, report.passes),
        (GateOutcome::Unfinished, 1)
    );
    assert_eq!(report.review_verdict, Some(Verdict::RequestChanges));
    assert_eq!(report.known_gaps.len(), 1);
    let report = run(json!({"cap": 2, "passes": []}));
    assert_eq!(
        (report.outcome, report.passes),
        (GateOutcome::Unfinished, 0)
    );
    assert_eq!(report.feedback, [""; 0]);
}

#[test]
fn any_cap_is_brought_into_range() {
    for (cap, want) in [
        ("-1", 1),
        ("0", 1),
        ("4", 4),
        ("99", 10),
        ("18446744073709551615", 10),
        ("-9e99", 1),
        ("1e99", 10),
        ("7.0", 7),
    ] {
        let passes = vec![json!({"validation": "fail", "review": "skipped"}); 12];
        let script = format!("{{\"cap\": {cap}, \"passes\": {}}}", json!(passes));
        let script: GateScript = serde_json::from_str(&script).expect("a script");
        assert_eq!(play(&script).expect("it plays").passes, want, "{cap}");
    }
}

#[test]
fn what_is_not_of_the_form_is_refused() {
    for bad in [
        json!({"passes": [{"validation": "pass", "review": "lgtm"}]}),
        json!({"passes": [{"validation": "pass", "review": {"summary": "s"}}]}),
        json!({"passes": [{"validation": "pass", "review": {"verdict": "", "summary": "s"}}]}),
        json!({"passes": [{"validation": "ok", "review": "approve"}]}),
        json!({"passes": [{"validation": "pass"}]}),
        json!({"passes": [{"review": "approve"}]}),
        json!({"cap": "3", "passes": []}),
        json!({"cap": 2.5, "passes": []}),
        json!({"cap": 3}),
        json!({"passes": [], "extra": 1}),
        json!({"passes": [{"validation": "pass", "review": null}]}),
        json!([]),
    ] {
        let parsed = serde_json::from_value::<GateScript>(bad.clone());
        assert!(parsed.is_err(), "{bad} was taken");
    }
}

/// Every script of three passes over all words, caps and settings.
#[test]
fn the_gate_is_its_formula_in_every_short_script() {
    const VALIDATION: [&str; 3] = ["pass", "fail", "none"];
    let reviews = [
        json!("approve"),
        json!("comment"),
        json!("request_changes"),
        json!("crashed"),
        json!("skipped"),
        review("approve", &[finding("blocker", "B")]),
    ];
    let words = VALIDATION.len() * reviews.len();
    for script in 0..words.pow(3) {
        // settings rotate through the scripts instead of multiplying them
        let (skip, withholds) = (script % 2 == 1, script % 3 == 1);
        let cap = 1 + script % 4;
        let pass = |n: u32| {
            let word = script / words.pow(n) % words;
            (VALIDATION[word % 3], &reviews[word / 3])
        };
        let passes: Vec<_> = (0..3).map(pass).collect();
        let report = run(json!({
            "cap": cap, "skipReview": skip, "blockerWithholds": withholds,
            "passes": passes.iter()
                .map(|(validation, review)| json!({"validation": validation, "review": review}))
                .collect::<Vec<_>>(),
        }));
        let done = |(validation, review): &(&str, &Value)| {
            let blocker = review.is_object() && withholds;
            let withheld = !skip && (*review == "request_changes" || blocker);
            *validation == "pass" && !withheld
        };
        let limit = cap.min(3);
        let (outcome, ran) = match passes.iter().take(limit).position(done) {
            Some(at) => (GateOutcome::Done, at + 1),
            None if cap <= 3 => (GateOutcome::Capped, cap),
            None => (GateOutcome::Unfinished, 3),
        };
        let context = format!("{passes:?} cap {cap} skip {skip} withholds {withholds}");
        assert_eq!(
            (report.outcome, report.passes as usize),
            (outcome, ran),
            "{context}"
        );
        let last = passes[ran - 1].1;
        let verdict = match last.as_str() {
            _ if skip => None,
            Some("crashed" | "skipped") => None,
            Some(word) => Some(word),
            None => Some("approve"),
        };
        assert_eq!(
            report.review_verdict.map(Verdict::as_str),
            verdict,
            "{context}"
        );
        assert_eq!(
            report.known_gaps.len(),
            usize::from(!skip && last.is_object()),
            "{context}"
        );
    }
}
