//! proptest strategies for xiv's values and for whole legal histories.
//!
//! ```
//! use proptest::prelude::*;
//! use xiv_core::model::LocalReview;
//! use xiv_core::test_support::strategies;
//!
//! proptest!(|(review in strategies::local_review())| {
//!     let json = serde_json::to_string(&review).expect("a review is JSON");
//!     prop_assert_eq!(serde_json::from_str::<LocalReview>(&json).expect("it reads back"), review);
//! });
//! ```

mod history;
mod ids;
mod review;
mod work;

pub use history::{HistoryScript, PassScript, ReviewScript, history, history_script, pass_script};
pub use ids::{
    branch_name, commit_id, issue_key, pass, pr_number, repo_path, run_id, step_id, timestamp,
    tree_id,
};
pub use review::{finding, known_gap, local_review, severity, verdict};
pub use work::{
    command_exit, command_result, comment, implement_input, implement_report, issue, line,
    markdown, plan, usage, validation, validation_command, validation_that,
};
