//! Whole runs, out of the journal and into it.

use rusqlite::OptionalExtension as _;

use super::database::Database;
use super::error::{Fault, no_run};
use super::{events, runs};
use crate::flow::Recorded;
use crate::journal::{FormatError, RunExport, RunFacts, decode};
use crate::model::RunId;
use crate::port::JournalError;

/// Reads a whole run as it was written.
pub(super) fn read(db: &mut Database, run: &RunId) -> Result<RunExport, Fault> {
    let found = db.read(|tx, _| {
        let row = tx
            .prepare_cached("SELECT * FROM runs WHERE id = ?1")?
            .query_row([run.as_str()], |row| {
                let started_at: String = row.get("started_at")?;
                let writer: String = row.get("writer")?;
                Ok((runs::new_run(row), started_at, writer))
            })
            .optional()?;
        let (new_run, started_at, writer) = row.ok_or_else(|| no_run(run))?;
        Ok(RunExport {
            run: new_run?,
            started_at: runs::parse_time(&started_at)?,
            writer,
            events: events::read(tx, run)?,
        })
    })?;
    found.ok_or_else(|| no_run(run))
}

/// A run that was read and understood: its events with their meaning.
#[derive(Debug)]
pub(super) struct Checked {
    facts: RunFacts,
    history: Vec<Recorded>,
}

/// Makes sure that this version understands every event.
pub(super) fn check(export: &RunExport) -> Result<Checked, JournalError> {
    let history: Result<Vec<Recorded>, FormatError> = export
        .events
        .iter()
        .map(|raw| decode(raw, &export.writer))
        .collect();
    let history = history?;
    Ok(Checked {
        facts: RunFacts::of(&history),
        history,
    })
}

/// Records a whole run, events and all, as it was written.
pub(super) fn write(db: &mut Database, export: &RunExport, checked: &Checked) -> Result<(), Fault> {
    db.write(|tx, _| {
        let RunExport {
            run,
            started_at,
            writer,
            events,
        } = export;
        runs::insert(tx, run, *started_at, &checked.facts, writer)?;
        for (raw, recorded) in events.iter().zip(&checked.history) {
            events::insert(tx, &run.id, raw, &recorded.event)?;
        }
        Ok(())
    })
}
