//! The arguments of `xiv implement`, as a layer over the configuration.

use std::path::{Path, PathBuf};

use xiv_core::port::AgentRole;

use crate::config::{Layer, Origin};
use crate::error::CliError;

/// Implement an issue: plan, then implement, validate and review until done.
///
/// The work is on the branch `feat/KEY` (in lower case), committed once at the
/// end and never pushed. Ctrl-C stops cleanly; `xiv run resume` goes on.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct ImplementArgs {
    /// The issue's key.
    pub(crate) key: String,
    /// Plan and write tests first.
    #[arg(long)]
    pub(crate) tdd: bool,
    /// Leave the review out; nothing can switch it on again.
    #[arg(long)]
    skip_acceptance_review: bool,
    /// The most passes, 1 to 10.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    max_iterations: Option<i64>,
    /// Work in a work tree of its own and leave this one alone.
    #[arg(long)]
    pub(crate) worktree: bool,
    /// The branch, tag or commit that a new branch starts from.
    #[arg(long, value_name = "REF")]
    base: Option<String>,
    /// Stop for a person after each implement step.
    #[arg(long)]
    gate: bool,
    /// Take the issue from a file (Markdown or JSON); `-` means standard input.
    #[arg(long, value_name = "FILE")]
    pub(crate) issue_file: Option<PathBuf>,
    /// The engine of a step, such as `review=claude`; may be given more than once.
    #[arg(long = "engine", value_name = "STEP=NAME", value_parser = step_value)]
    engines: Vec<StepValue>,
    /// The model of a step; may be given more than once.
    #[arg(long = "model", value_name = "STEP=MODEL", value_parser = step_value)]
    models: Vec<StepValue>,
    /// The effort of a step; may be given more than once.
    #[arg(long = "effort", value_name = "STEP=EFFORT", value_parser = step_value)]
    efforts: Vec<StepValue>,
    /// Go on in the background and print the run's id.
    #[arg(long)]
    pub(crate) detach: bool,
    /// The id of the run, chosen by the process that detached this one.
    #[arg(long, hide = true, value_name = "ID")]
    pub(crate) detached_as: Option<String>,
}

/// A step and what it gets.
#[derive(Debug, Clone)]
pub(crate) struct StepValue {
    step: AgentRole,
    value: String,
}

fn step_value(text: &str) -> Result<StepValue, String> {
    let (step, value) = text
        .split_once('=')
        .ok_or_else(|| "expected STEP=VALUE".to_owned())?;
    let known = AgentRole::ALL.map(AgentRole::as_str).join(", ");
    let step = AgentRole::ALL
        .into_iter()
        .find(|role| role.as_str() == step)
        .ok_or_else(|| format!("{step:?} is no step: {known}"))?;
    if value.trim().is_empty() {
        return Err("the value is empty".to_owned());
    }
    Ok(StepValue {
        step,
        value: value.to_owned(),
    })
}

impl ImplementArgs {
    /// The arguments of a run that only names its issue.
    pub(crate) fn of_key(key: impl Into<String>) -> Self {
        Self {
            key: key.into(),
            tdd: false,
            skip_acceptance_review: false,
            max_iterations: None,
            worktree: false,
            base: None,
            gate: false,
            issue_file: None,
            engines: Vec::new(),
            models: Vec::new(),
            efforts: Vec::new(),
            detach: false,
            detached_as: None,
        }
    }

    /// Whether the issue comes from standard input.
    pub(crate) fn reads_stdin(&self) -> bool {
        self.issue_file.as_deref() == Some(Path::new("-"))
    }

    /// The settings among the arguments. A script named here lies relative to
    /// `cwd`, one named in a file relative to the repository.
    ///
    /// # Errors
    /// When a step is given two engines, models or efforts.
    pub(crate) fn layer(&self, cwd: &Path) -> Result<Layer, CliError> {
        let mut layer = Layer::default();
        let flag = |name: &str| Origin::Flag {
            name: name.to_owned(),
        };
        for (name, key, values) in [
            ("--engine", "engine", &self.engines),
            ("--model", "model", &self.models),
            ("--effort", "effort", &self.efforts),
        ] {
            for (at, StepValue { step, value }) in values.iter().enumerate() {
                if values[..at].iter().any(|earlier| earlier.step == *step) {
                    return Err(CliError::usage(format!("{name} {step}=… is given twice")));
                }
                let value = match value.strip_prefix("scripted:") {
                    Some(file) if key == "engine" => {
                        format!("scripted:{}", cwd.join(file).display())
                    }
                    _ => value.clone(),
                };
                layer.set(&["steps", step.as_str(), key], value, flag(name));
            }
        }
        if let Some(max) = self.max_iterations {
            layer.set(&["loop", "max_iterations"], max, flag("--max-iterations"));
        }
        if self.skip_acceptance_review {
            let name = "--skip-acceptance-review";
            layer.set(&["loop", "skip_acceptance_review"], true, flag(name));
        }
        if self.gate {
            layer.set(&["gate", "implement"], true, flag("--gate"));
        }
        if let Some(base) = &self.base {
            layer.set(&["base"], base.clone(), flag("--base"));
        }
        Ok(layer)
    }
}
