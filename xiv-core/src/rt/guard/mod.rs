//! Keeps the programs of a run from merging and pushing, by taking the means
//! away.
//!
//! Two layers. The *environment* holds no forge or tracker token, no credential
//! helper and no ssh agent, and every remote of the repository is rewritten to
//! an address that leads nowhere when something pushes to it. The *shims*,
//! links named `git`, `gh` and `jj` that stand first on `PATH` and lead to the
//! running executable, refuse what [`policy::guard`](crate::policy::guard)
//! refuses, write the try down, and become the real program for all else.
//!
//! This stops accidents, not adversaries: an absolute path, `env -u` or
//! `git -c` gets past it. What holds then is that no credential can be reached.

mod environment;
mod folder;
mod pairs;
mod reach;
mod secrets;
mod shim;
mod tries;

#[cfg(test)]
mod tests;

pub use folder::{Guard, GuardError, GuardPlan, RemoteUrls};
pub use shim::{Intercepted, intercept};
pub use tries::Try;

pub(crate) use tries::TryLog;
