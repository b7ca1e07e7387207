//! The record of runs as commands use it: opened on first need, and runs found
//! by what people type.

use std::path::Path;
use std::sync::Arc;

use xiv_core::model::RunId;
use xiv_core::port::{Clock, Journal, Processes, RunSummary};
use xiv_core::rt::sweep::Keep;
use xiv_core::rt::{SystemClock, SystemProcesses};
use xiv_core::store::SqliteStore;

use crate::error::CliError;
use crate::paths::{Paths, Place};

/// The record and what it needs.
#[derive(Debug, Clone)]
pub(crate) struct Records {
    /// The user's folders.
    pub(crate) paths: Paths,
    /// The database; its file is made when something is first recorded.
    pub(crate) store: Arc<SqliteStore>,
    /// The system's clock.
    pub(crate) clock: Arc<dyn Clock>,
    /// The system's processes.
    pub(crate) processes: Arc<dyn Processes>,
}

impl Records {
    /// The record of this user. Touches nothing yet.
    ///
    /// # Errors
    /// When there is no home folder.
    pub(crate) fn of_user() -> Result<Self, CliError> {
        Self::at(Paths::from_env()?, Keep::default())
    }

    /// The record below these folders, whose sweeps spare `keep`.
    ///
    /// # Errors
    /// When no thread can be started.
    pub(crate) fn at(paths: Paths, keep: Keep) -> Result<Self, CliError> {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let processes: Arc<dyn Processes> = Arc::new(SystemProcesses::new(keep));
        let store = SqliteStore::open(&paths.state, Arc::clone(&clock), Arc::clone(&processes))?;
        Ok(Self {
            paths,
            store: Arc::new(store),
            clock,
            processes,
        })
    }

    /// The run that a person means: its id, the beginning or the end of it, or
    /// nothing for the newest one (of this repository, inside of one).
    ///
    /// # Errors
    /// When there is no such run, or more than one.
    pub(crate) async fn find(&self, wanted: Option<&str>) -> Result<RunSummary, CliError> {
        let all = self.store.list().await?;
        match wanted {
            None => newest(all, here().as_deref()),
            Some(wanted) => matching(all, wanted),
        }
    }

    /// The id of a run that a person means.
    ///
    /// # Errors
    /// As [`Records::find`].
    pub(crate) async fn find_id(&self, wanted: Option<&str>) -> Result<RunId, CliError> {
        Ok(self.find(wanted).await?.run_id)
    }
}

fn here() -> Option<String> {
    let place = Place::find(&std::env::current_dir().ok()?)?;
    Some(place.main.display().to_string())
}

fn newest(all: Vec<RunSummary>, repo: Option<&str>) -> Result<RunSummary, CliError> {
    let inside = |run: &&RunSummary| {
        repo.is_some_and(|repo| Path::new(&run.repo).starts_with(repo) || run.repo == repo)
    };
    let found = all.iter().find(inside).cloned();
    let found = if repo.is_some() {
        found
    } else {
        all.into_iter().next()
    };
    found.ok_or_else(|| {
        CliError::new(
            xiv_core::model::ExitCode::Usage,
            "noSuchRun",
            "there is no run here yet",
        )
        .with_hint("`xiv runs` lists every run; `xiv implement KEY` starts one")
    })
}

fn matching(all: Vec<RunSummary>, wanted: &str) -> Result<RunSummary, CliError> {
    let no = |message: String| {
        CliError::new(xiv_core::model::ExitCode::Usage, "noSuchRun", message)
            .with_hint("`xiv runs` lists every run")
    };
    let mut found = all.into_iter().filter(|run| {
        let id = run.run_id.as_str();
        wanted.len() >= 4 && (id.starts_with(wanted) || id.ends_with(wanted)) || id == wanted
    });
    match (found.next(), found.next()) {
        (Some(run), None) => Ok(run),
        (None, _) => Err(no(format!("there is no run {wanted:?}"))),
        (Some(_), Some(_)) => Err(no(format!("more than one run is called {wanted:?}"))),
    }
}
