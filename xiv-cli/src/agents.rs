//! Making the agent that an engine's name stands for.

use std::path::Path;
use std::sync::Arc;

use xiv_agents::tiers::Engine;
use xiv_agents::{Claude, ClaudeOptions, Codex, CodexOptions, CommandAgent, Host, ScriptedAgent};
use xiv_core::port::Agent;

use crate::config::Config;
use crate::error::CliError;

/// The agent of an engine. Files of scripts lie relative to `root`.
///
/// # Errors
/// [`CliError::configuration`] when the name says nothing, or its program or
/// script is not configured.
pub(crate) fn agent(
    engine: &str,
    config: &Config,
    root: &Path,
    host: &Host,
) -> Result<Arc<dyn Agent>, CliError> {
    let parsed: Engine = engine
        .parse()
        .map_err(|e: xiv_agents::tiers::UnknownEngine| CliError::configuration(e.to_string()))?;
    Ok(match parsed {
        Engine::Codex => Arc::new(Codex::new(host.clone(), CodexOptions::default())),
        Engine::Claude => Arc::new(Claude::new(host.clone(), ClaudeOptions::default())),
        Engine::Command(name) => {
            let Some(agent) = config.agents.get(&name) else {
                return Err(CliError::configuration(format!(
                    "engine `{engine}` needs `[agents.{name}]` in the configuration"
                )));
            };
            let agent = CommandAgent::new(host.clone(), name, agent.command.clone())
                .map_err(|e| CliError::configuration(e.to_string()))?;
            Arc::new(agent)
        }
        Engine::Scripted(file) => {
            let script = ScriptedAgent::from_file(host.clone(), root.join(file)).map_err(|e| {
                let error = CliError::configuration(e.to_string());
                match std::error::Error::source(&e) {
                    Some(cause) => error.with_cause(cause.to_string()),
                    None => error,
                }
            })?;
            Arc::new(script)
        }
    })
}
