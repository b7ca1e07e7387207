//! From values to the text that an agent reads.
//!
//! Templates are files under `assets/prompts`, filled in one pass: a value is
//! never scanned for placeholders. Whatever comes from an issue, a diff or an
//! agent is data and stands inside a [`Fence`] whose delimiter it cannot guess.

mod fence;
mod render;
mod template;

pub use fence::Fence;
pub use render::{
    DiffView, PromptContext, feedback_text, implement, plan, repair, review, system_rules,
};
pub use template::{TemplateError, fill};

/// The most bytes of a diff that a review prompt holds; above that it names
/// the files and the path of the diff instead.
pub const MAX_INLINE_DIFF: usize = 200 * 1024;
