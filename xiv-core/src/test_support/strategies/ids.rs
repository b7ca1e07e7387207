//! Identifiers, paths and times.

use jiff::Timestamp;
use proptest::prelude::*;

use crate::model::{
    BranchName, CommitId, IssueKey, Pass, PrNumber, RepoPath, RunId, StepId, TreeId,
};

/// Commit ids of both lengths.
pub fn commit_id() -> impl Strategy<Value = CommitId> {
    "[0-9a-f]{40}|[0-9a-f]{64}".prop_map(|hex| CommitId::parse(hex).expect("hex digits"))
}

/// Tree ids of both lengths.
pub fn tree_id() -> impl Strategy<Value = TreeId> {
    "[0-9a-f]{40}|[0-9a-f]{64}".prop_map(|hex| TreeId::parse(hex).expect("hex digits"))
}

/// Keys as trackers give them, and odd ones that are still keys.
pub fn issue_key() -> impl Strategy<Value = IssueKey> {
    let usual = "[A-Z]{2,5}-[1-9][0-9]{0,4}";
    let odd = "[A-Za-z0-9_][A-Za-z0-9._-]{0,12}";
    prop_oneof![3 => usual, 1 => odd]
        .prop_filter_map("not a key", |text: String| IssueKey::parse(text).ok())
}

/// Branch names, those of issues and others.
pub fn branch_name() -> impl Strategy<Value = BranchName> {
    let of_issue = issue_key().prop_map(|key| BranchName::for_issue(&key));
    let other = "[a-z0-9]{1,8}(/[a-zA-Z0-9_.-]{1,8}){0,2}"
        .prop_filter_map("not a branch name", |text: String| {
            BranchName::parse(text).ok()
        });
    prop_oneof![of_issue, other]
}

/// Run ids.
pub fn run_id() -> impl Strategy<Value = RunId> {
    any::<u128>()
        .prop_map(|number| RunId::parse(uuid::Uuid::from_u128(number).to_string()).expect("a UUID"))
}

/// Step ids of the implement flow.
pub fn step_id() -> impl Strategy<Value = StepId> {
    let once = prop::sample::select(vec!["fetch", "prepare", "plan", "finalize"]);
    let of_pass = (
        prop::sample::select(vec!["implement", "validate", "review"]),
        pass(),
    )
        .prop_map(|(name, pass)| format!("{name}#{pass}"));
    prop_oneof![once.prop_map(str::to_owned), of_pass]
        .prop_map(|text| StepId::parse(text).expect("a step id"))
}

/// Passes that a run can have: 1 to 10.
pub fn pass() -> impl Strategy<Value = Pass> {
    (1..=10u32).prop_map(|number| Pass::new(number).expect("not 0"))
}

/// Pull request numbers.
pub fn pr_number() -> impl Strategy<Value = PrNumber> {
    (1..=u64::MAX).prop_map(|number| PrNumber::new(number).expect("not 0"))
}

/// Paths: plain ones, ones with odd characters, and ones that are no UTF-8.
pub fn repo_path() -> impl Strategy<Value = RepoPath> {
    let plain = "[a-z]{1,6}(/[a-z_]{1,6}){0,3}(\\.[a-z]{1,3})?".prop_map(String::into_bytes);
    let odd = "[a-zé \"'\\\\\t]{1,8}(/[a-zü ]{1,8}){0,2}".prop_map(String::into_bytes);
    let bytes = prop::collection::vec(1..=u8::MAX, 1..12).prop_map(|mut bytes| {
        bytes.retain(|&b| b != b'/');
        bytes.push(b'x');
        bytes
    });
    prop_oneof![4 => plain, 2 => odd, 1 => bytes].prop_map(RepoPath::new)
}

/// Times between 2000 and 2100, in whole milliseconds.
pub fn timestamp() -> impl Strategy<Value = Timestamp> {
    (946_684_800_000..4_102_444_800_000i64)
        .prop_map(|ms| Timestamp::from_millisecond(ms).expect("in range"))
}
