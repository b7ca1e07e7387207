//! `criteria`: the acceptance criteria in the text of an issue.

use xiv_forge::criteria::{Criteria, parse};

pub(super) fn answer(markdown: &str) -> Criteria {
    parse(markdown)
}
