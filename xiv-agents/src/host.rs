//! Where agents run: the environment that the host prepared and the programs that sweeps spare.

use xiv_core::policy::redact::Redactor;
use xiv_core::port::{AgentError, AgentReply, AgentRequest};
use xiv_core::rt::process::Environment;
use xiv_core::rt::sweep::Keep;

/// Variables of the agent contract. Those of an outer run never reach an agent.
const CONTRACT: &[&str] = &[
    "XIV_ROLE",
    "XIV_PASS",
    "XIV_RUN_ID",
    "XIV_RESULT_FILE",
    "XIV_SCHEMA_FILE",
];

/// What an adapter needs to know about the machine to start a program.
#[derive(Debug, Clone, Default)]
pub struct Host {
    environment: Environment,
    keep: Keep,
    redactor: Redactor,
}

impl Host {
    /// A host whose agents see this environment. It should be a guarded one: no forge tokens, no way to push.
    #[must_use]
    pub fn new(environment: Environment) -> Self {
        Self {
            environment,
            keep: Keep::default(),
            redactor: Redactor::default(),
        }
    }

    /// Names executables that sweeps leave running.
    #[must_use]
    pub fn with_keep(mut self, keep: Keep) -> Self {
        self.keep = keep;
        self
    }

    /// Sets what masks secrets in transcripts and error messages. Default: known forms only.
    #[must_use]
    pub fn with_redactor(mut self, redactor: Redactor) -> Self {
        self.redactor = redactor;
        self
    }

    pub(crate) const fn redactor(&self) -> &Redactor {
        &self.redactor
    }

    /// The outcome with secrets masked in what people read of it.
    pub(crate) fn masked(
        &self,
        outcome: Result<AgentReply, AgentError>,
    ) -> Result<AgentReply, AgentError> {
        match outcome {
            Ok(mut reply) => {
                for warning in &mut reply.warnings {
                    *warning = self.redactor.redact(warning);
                }
                Ok(reply)
            }
            Err(error) => Err(AgentError {
                message: self.redactor.redact(&error.message),
                ..error
            }),
        }
    }

    /// The environment, for finding programs and for preflight.
    pub(crate) const fn environment(&self) -> &Environment {
        &self.environment
    }

    /// The environment of one call: the host's and what the request adds, nothing of an outer call.
    pub(crate) fn environment_for(&self, request: &AgentRequest) -> Environment {
        let mut environment = self.environment.clone();
        for name in CONTRACT {
            environment.remove(name);
        }
        for (name, value) in &request.env {
            environment.set(name, value);
        }
        // Bash at its first level may take itself for a remote login and read `~/.bashrc`, which can put
        // other folders before the guard's.
        let level = environment
            .get("SHLVL")
            .and_then(|level| level.to_str()?.parse::<u32>().ok());
        if level.is_none_or(|level| level == 0) {
            environment.set("SHLVL", "1");
        }
        environment
    }

    pub(crate) const fn keep(&self) -> &Keep {
        &self.keep
    }
}
