//! Reviews and what is in them.

use proptest::option;
use proptest::prelude::*;

use super::{line, markdown};
use crate::model::{Finding, KnownGap, LocalReview, Severity, Verdict};

/// Every verdict.
pub fn verdict() -> impl Strategy<Value = Verdict> {
    prop::sample::select(vec![
        Verdict::Approve,
        Verdict::RequestChanges,
        Verdict::Comment,
    ])
}

/// Every severity.
pub fn severity() -> impl Strategy<Value = Severity> {
    prop::sample::select(vec![
        Severity::Blocker,
        Severity::High,
        Severity::Medium,
        Severity::Low,
        Severity::Nit,
    ])
}

/// Findings with and without a place; ids may be blank or repeat.
pub fn finding() -> impl Strategy<Value = Finding> {
    let id = prop_oneof![
        "f[1-4]",
        Just(String::new()),
        "[a-z]{1,6}",
        Just(" ".to_owned())
    ];
    let place = option::of((
        "[a-z]{1,6}(/[a-z]{1,6}){0,2}\\.rs",
        option::of(1..500u32),
        0..20u32,
    ));
    (id, severity(), line(), markdown(), place, any::<bool>()).prop_map(
        |(id, severity, title, body, place, inlineable)| {
            let mut finding = Finding::new(id, severity, title, body);
            if let Some((path, line, length)) = place {
                finding.path = Some(path);
                finding.line = line;
                finding.start_line = line
                    .filter(|_| length > 0)
                    .map(|l| l.saturating_sub(length).max(1));
                finding.inlineable = inlineable && line.is_some();
            }
            finding
        },
    )
}

/// Reviews with up to five findings, whose ids are unique as in every review.
pub fn local_review() -> impl Strategy<Value = LocalReview> {
    let findings = prop::collection::vec(finding(), 0..5);
    let reviewed = prop::collection::vec("[a-z]{1,6}\\.rs", 0..3);
    (verdict(), markdown(), findings, reviewed).prop_map(
        |(verdict, summary, findings, reviewed)| LocalReview {
            reviewed,
            ..LocalReview::new(verdict, summary).with_findings(findings)
        },
    )
}

/// Known gaps.
pub fn known_gap() -> impl Strategy<Value = KnownGap> {
    finding().prop_map(|finding| KnownGap::from(&finding))
}
