//! The part of the configuration that a run keeps: what it started with is what
//! it ends with, whatever is changed meanwhile.

use xiv_core::flow::{AgentSettings, RunConfig, StepLimits};
use xiv_core::model::ValidationCommand;
use xiv_core::port::AgentRole;

use super::keys::{Config, Step};

/// The snapshot for a run with these validation commands.
pub(crate) fn run_config(config: &Config, commands: Vec<ValidationCommand>) -> RunConfig {
    let mut run = RunConfig::new(commands);
    run.env_allow = config.validate.env_allow.clone();
    run.steps = AgentRole::ALL
        .into_iter()
        .map(|role| (role, settings(role, config.steps.of(role))))
        .collect();
    run.blocker_withholds = config.r#loop.blocker_withholds;
    run.stop_on_no_progress = config.r#loop.stop_on_no_progress;
    run.gate_implement = config.gate.implement;
    run.budget = config.budget.into();
    run.commit_trailers = config.commit.trailers;
    run.base = config.base.clone();
    run
}

/// The configured validation commands.
pub(crate) fn configured_commands(config: &Config) -> Vec<ValidationCommand> {
    config
        .validate
        .commands
        .iter()
        .map(|command| ValidationCommand {
            name: command.name.clone(),
            run: command.run.clone(),
            timeout_ms: command.timeout.map(super::duration::Span::as_ms),
        })
        .collect()
}

fn settings(role: AgentRole, step: &Step) -> AgentSettings {
    let default = StepLimits::for_role(role);
    AgentSettings {
        engine: step.engine.clone(),
        model: step.model.clone(),
        effort: step.effort.clone(),
        guidance: step.guidance.clone(),
        limits: StepLimits {
            total_ms: step.timeout.map_or(default.total_ms, |span| span.as_ms()),
            idle_ms: step.idle.map(|span| span.as_ms()).or(default.idle_ms),
        },
        budget: step.budget.into(),
    }
}
