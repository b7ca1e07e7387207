//! What a driver is given: the world, and how to behave in it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use crate::flow::GuardStatus;
use crate::policy::redact::Redactor;
use crate::port::{
    Agent, AgentRole, Clock, Human, IssueSource, Journal, Observer, Processes, RunFiles, Validator,
    Vcs,
};

/// Everything that a driver reaches the world through.
#[derive(Debug, Clone)]
pub struct Ports {
    /// Where the issue comes from.
    pub issues: Arc<dyn IssueSource>,
    /// The repository, seen from the user's work tree.
    pub vcs: Arc<dyn Vcs>,
    /// One agent per role that the flow needs.
    pub agents: BTreeMap<AgentRole, Arc<dyn Agent>>,
    /// Runs the repository's commands.
    pub validator: Arc<dyn Validator>,
    /// The durable record.
    pub journal: Arc<dyn Journal>,
    /// The only clock.
    pub clock: Arc<dyn Clock>,
    /// What earlier attempts may have left running.
    pub processes: Arc<dyn Processes>,
    /// Side files.
    pub files: Arc<dyn RunFiles>,
    /// Who can be asked, if anybody.
    pub human: Option<Arc<dyn Human>>,
    /// Who watches.
    pub observer: Arc<dyn Observer>,
}

/// How a driver behaves.
#[derive(Debug, Clone)]
pub struct DriverOptions {
    /// How long an ownership lasts without renewal. Default: 30 s.
    pub lease: Duration,
    /// How often it is renewed. Default: 10 s.
    pub renew_every: Duration,
    /// How long a cancelled step may take to end before it is dropped.
    /// Default: 15 s.
    pub stop_budget: Duration,
    /// How programs are guarded; recorded in the run. Default: environment only.
    pub guard: GuardStatus,
    /// Masks secrets in everything that is stored or shown.
    pub redactor: Arc<Redactor>,
}

impl Default for DriverOptions {
    fn default() -> Self {
        Self {
            lease: Duration::from_secs(30),
            renew_every: Duration::from_secs(10),
            stop_budget: Duration::from_secs(15),
            guard: GuardStatus::EnvironmentOnly,
            redactor: Arc::new(Redactor::new(Vec::<String>::new())),
        }
    }
}
