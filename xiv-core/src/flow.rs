//! The flows as pure machines: events in, commands out.
//!
//! [`Machine::replay`] folds a run's history, [`Machine::next`] says what to do.
//! There is no clock, no randomness, no environment and no file in here; what
//! a decision depends on enters as an event. So a run can be replayed, checked
//! and moved to another driver, and the same rules can be model-checked.

mod command;
mod event;
mod implement;
mod machine;
mod output;
mod pass;

pub use command::{
    Command, Feedback, FinalizeCommand, ImplementCommand, Next, PlanCommand, PrepareCommand,
    ReviewCommand, ValidateCommand, Wait,
};
pub use event::{
    AgentSettings, BudgetLimits, CORE_VERSION, CoreVersion, EffectResult, Event, EventKind,
    FetchOutcome, GuardStatus, Intent, JudgeReason, PassValidation, Recorded, ReviewFailure,
    ReviewFailureKind, RunConfig, RunSpec, StepLimits,
};
pub use machine::{Divergence, Machine};
