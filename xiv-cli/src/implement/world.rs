//! One run's surroundings, checked first and made only when every check has
//! passed, so that a refused run leaves nothing behind.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use xiv_agents::Host;
use xiv_core::drive::{DriveError, Driver, DriverOptions, Ports};
use xiv_core::flow::RunConfig;
use xiv_core::model::RunId;
use xiv_core::policy::redact::Redactor;
use xiv_core::port::{
    Agent, AgentRole, Human, IssueSource, Observer, StepContext, Vcs, WorkTreeState,
};
use xiv_core::rt::guard::{Guard, GuardPlan, RemoteUrls};
use xiv_core::rt::process::Environment;
use xiv_core::rt::sweep::Keep;
use xiv_core::rt::validate::ShellValidator;
use xiv_vcs::{GitEngine, GitOptions};

use super::setup::SetUp;
use crate::agents::agent;
use crate::config::{Config, Layer, Loaded, Sources, load};
use crate::error::CliError;
use crate::paths::{Paths, Place};
use crate::records::Records;
use crate::side_files::SideFiles;
use crate::survey::{self, says};
use crate::ui::Ui;

/// The roles that an implement run needs.
const ROLES: [AgentRole; 3] = [AgentRole::Plan, AgentRole::Implement, AgentRole::Review];

/// Folders and settings of one's own, instead of the user's.
pub(crate) type Surroundings = (Paths, Sources);

/// What a run works with.
#[derive(Debug)]
pub(crate) struct World {
    /// The repository's folders.
    pub(crate) place: Place,
    /// The configuration in force.
    pub(crate) loaded: Loaded,
    /// The record of runs.
    pub(crate) records: Records,
    /// The repository.
    pub(crate) vcs: Arc<dyn Vcs>,
}

impl World {
    /// Looks at the repository around a folder and reads the configuration.
    /// Makes nothing.
    ///
    /// # Errors
    /// When there is no repository, or the configuration is wrong.
    pub(crate) async fn open(
        from: &Path,
        flags: Layer,
        own: Option<Surroundings>,
        ui: Ui,
    ) -> Result<Self, CliError> {
        let engine = GitEngine::open(from, GitOptions::default()).await?;
        let place = Place::find(engine.root()).unwrap_or_else(|| Place {
            root: engine.root().to_owned(),
            main: engine.root().to_owned(),
        });
        let (paths, sources) = match own {
            Some(own) => own,
            None => {
                let paths = Paths::from_env()?;
                let sources = Sources::of_process(&paths, Some(&place));
                (paths, sources)
            }
        };
        let loaded = load(&sources, flags)?;
        for warning in &loaded.warnings {
            ui.warn(warning);
        }
        let records = Records::at(paths, keep(&loaded.config))?;
        let engine = match loaded.config.commit.sign {
            Some(_) => GitEngine::open(from, git_options(&loaded.config)).await?,
            None => engine,
        };
        let vcs = SetUp::over(Arc::new(engine), &loaded.config, &place.main);
        Ok(Self {
            place,
            loaded,
            records,
            vcs,
        })
    }

    /// Where the repository stands.
    ///
    /// # Errors
    /// When git fails.
    pub(crate) async fn state(&self) -> Result<WorkTreeState, CliError> {
        let cx = StepContext::new(Arc::clone(&self.records.clock), "preflight");
        Ok(self.vcs.state(cx).await?)
    }

    /// Looks whether the agents can be used. A missing planner or implementer
    /// refuses the run, a missing reviewer leaves the decision to validation.
    ///
    /// # Errors
    /// Naming the agent and how to mend it.
    pub(crate) async fn agents_are_ready(
        &self,
        config: &RunConfig,
        skips_review: bool,
        ui: Ui,
    ) -> Result<(), CliError> {
        let mut seen: BTreeMap<&str, survey::FoundAgent> = BTreeMap::new();
        for role in ROLES {
            if role == AgentRole::Review && skips_review {
                continue;
            }
            let Some(settings) = config.steps.get(&role) else {
                continue;
            };
            let engine = settings.engine.as_str();
            if !seen.contains_key(engine) {
                // a script or a program that is not configured is a wrong setting
                agent(
                    engine,
                    &self.loaded.config,
                    &self.place.main,
                    &Host::default(),
                )?;
                let found = survey::look_at(engine, &self.loaded.config, &self.place.main).await;
                seen.insert(engine, found);
            }
            let found = &seen[engine];
            if found.installed && found.logged_in != Some(false) {
                continue;
            }
            let problem = found.problem.as_deref().unwrap_or("it cannot be used");
            let message = format!("{engine}, the agent of the {role} step: {problem}");
            if role == AgentRole::Review {
                let fix = found
                    .fix
                    .as_deref()
                    .map_or(String::new(), |fix| format!(" ({fix})"));
                ui.warn(format!("{message}{fix}; validation alone will decide"));
                continue;
            }
            let kind = if found.installed {
                "notAuthenticated"
            } else {
                "agentMissing"
            };
            let error = CliError::refused(kind, message);
            return Err(match &found.fix {
                Some(fix) => error.with_hint(fix),
                None => error,
            }
            .with_hint(format!("or choose another agent: --engine {role}=NAME")));
        }
        Ok(())
    }

    /// Makes the guard, the agents and the driver over them.
    ///
    /// # Errors
    /// When the guard's folder cannot be made, or an agent cannot be built.
    pub(crate) async fn driver(
        &self,
        run: &RunId,
        config: &RunConfig,
        issues: Arc<dyn IssueSource>,
        observer: Arc<dyn Observer>,
        human: Option<Arc<dyn Human>>,
    ) -> Result<Driver, CliError> {
        let guard = Arc::new(self.guard(run).await?);
        let keep = keep(&self.loaded.config);
        let base = Environment::inherited().without_git();
        let host = Host::new(guard.environment(base.clone())).with_keep(keep.clone());
        let validator = ShellValidator::new(Arc::clone(&guard), base.clone()).with_keep(keep);
        let options = DriverOptions {
            guard: guard.status(),
            redactor: Arc::new(Redactor::new(secrets())),
            ..DriverOptions::default()
        };
        let records = &self.records;
        let ports = Ports {
            issues,
            vcs: self.guarded_vcs(&guard, &base).await?,
            agents: self.agents(config, &host)?,
            validator: Arc::new(validator),
            journal: Arc::clone(&records.store) as _,
            clock: Arc::clone(&records.clock),
            processes: Arc::clone(&records.processes),
            files: Arc::new(SideFiles::new(records.paths.clone())),
            human,
            observer,
        };
        Ok(Driver::new(ports, options, xiv_core::rt::new_run_id()))
    }

    fn agents(
        &self,
        config: &RunConfig,
        host: &Host,
    ) -> Result<BTreeMap<AgentRole, Arc<dyn Agent>>, CliError> {
        let mut made: BTreeMap<&str, Arc<dyn Agent>> = BTreeMap::new();
        let mut agents = BTreeMap::new();
        for role in ROLES {
            let Some(settings) = config.steps.get(&role) else {
                continue;
            };
            let engine = settings.engine.as_str();
            if !made.contains_key(engine) {
                let agent = agent(engine, &self.loaded.config, &self.place.main, host)?;
                made.insert(engine, agent);
            }
            agents.insert(role, Arc::clone(&made[engine]));
        }
        Ok(agents)
    }

    /// The repository, whose hooks an agent may have written by now: they see
    /// what agents see.
    async fn guarded_vcs(
        &self,
        guard: &Guard,
        base: &Environment,
    ) -> Result<Arc<dyn Vcs>, CliError> {
        let config = &self.loaded.config;
        let options = git_options(config).with_hook_environment(guard.environment(base.clone()));
        let engine = GitEngine::open(self.vcs.root(), options).await?;
        Ok(SetUp::over(Arc::new(engine), config, &self.place.main))
    }

    async fn guard(&self, run: &RunId) -> Result<Guard, CliError> {
        let folder = self.records.paths.guard().join(run.as_str());
        let config = &self.loaded.config;
        let tokens = [&config.github.token_env, &config.linear.token_env].map(Clone::clone);
        let plan =
            GuardPlan::new(self.vcs.common_dir(), self.remotes().await).with_token_names(tokens);
        let state = &self.records.paths.state;
        crate::files::make_private(&self.records.paths.guard())
            .map(|()| Guard::install(folder, plan))
            .map_err(|e| {
                CliError::io(
                    format!("the state folder {} cannot be written", state.display()),
                    &e,
                )
                .with_hint("name another one with XIV_HOME")
            })?
            .map_err(|e| CliError::io(e.to_string(), &e.source))
    }

    async fn remotes(&self) -> Vec<RemoteUrls> {
        let args = ["config", "--get-regexp", r"^remote\..*\.(url|pushurl)$"];
        let listed = says("git", &args, self.vcs.root())
            .await
            .unwrap_or_default();
        let mut remotes: BTreeMap<String, RemoteUrls> = BTreeMap::new();
        for line in listed.lines() {
            let Some((key, url)) = line.split_once(' ') else {
                continue;
            };
            if let Some(name) = key.strip_suffix(".pushurl") {
                remotes
                    .entry(name.to_owned())
                    .or_default()
                    .push
                    .push(url.to_owned());
            } else if let Some(name) = key.strip_suffix(".url") {
                remotes
                    .entry(name.to_owned())
                    .or_default()
                    .fetch
                    .push(url.to_owned());
            }
        }
        remotes.into_values().collect()
    }

    /// Where `--worktree` checks a branch out.
    pub(crate) fn worktree_for(&self, branch: &str) -> PathBuf {
        let repo = self
            .place
            .main
            .file_name()
            .unwrap_or_default()
            .to_string_lossy();
        let name = format!("{repo}-{}", branch.replace('/', "-"));
        match &self.loaded.config.worktree.dir {
            Some(dir) => self.place.main.join(dir).join(name),
            None => self.records.paths.worktrees().join(name),
        }
    }
}

/// How git is reached: signing as configured, else as its own configuration says.
fn git_options(config: &Config) -> GitOptions {
    let Some(sign) = config.commit.sign else {
        return GitOptions::default();
    };
    let mut environment = Environment::inherited().without_git();
    let number = environment
        .get("GIT_CONFIG_COUNT")
        .and_then(|count| count.to_str()?.parse::<u32>().ok())
        .unwrap_or(0);
    environment.set(format!("GIT_CONFIG_KEY_{number}"), "commit.gpgsign");
    environment.set(format!("GIT_CONFIG_VALUE_{number}"), sign.to_string());
    environment.set("GIT_CONFIG_COUNT", (number + 1).to_string());
    GitOptions::default().with_environment(environment)
}

fn keep(config: &Config) -> Keep {
    Keep::new(config.runner.keep.iter().map(String::as_str))
}

/// The values of variables whose name says that they are secret.
fn secrets() -> Vec<String> {
    const ENDS: [&str; 5] = ["TOKEN", "API_KEY", "SECRET", "PASSWORD", "ACCESS_KEY"];
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .filter(|(name, value)| ENDS.iter().any(|end| name.ends_with(end)) && value.len() >= 8)
        .map(|(_, value)| value)
        .collect()
}

impl From<DriveError> for CliError {
    fn from(error: DriveError) -> Self {
        let exit = error.exit();
        let message = error.to_string();
        match error {
            DriveError::Vcs(vcs) => Self::from(vcs),
            DriveError::Journal(journal) => Self::from(journal).context(message),
            DriveError::Locked { holder, resource } => {
                let error = Self::refused("runLocked", message)
                    .with_hint(format!("go on with that run: xiv run resume {holder}"))
                    .with_hint(format!("or cancel it: xiv run cancel {holder}"));
                // a branch can only be in one work tree
                if resource.starts_with("the branch") {
                    error
                } else {
                    error.with_hint("or work beside it: xiv implement KEY --worktree")
                }
            }
            DriveError::NoValidation => no_validation(),
            other => {
                let cause = std::error::Error::source(&other).map(ToString::to_string);
                let error = Self::new(exit, "drive", message);
                match cause {
                    Some(cause) => error.with_cause(cause),
                    None => error,
                }
            }
        }
    }
}

/// There is nothing to validate with.
pub(crate) fn no_validation() -> CliError {
    CliError::configuration("no validation command is known, so nothing could tell when it is done")
        .with_hint(
            "add one to xiv.toml: [validate] commands = [ { name = \"test\", run = \"…\" } ]",
        )
        .with_hint("`xiv init` looks for commands and writes the file")
}
