//! Runs and who owns them.

use std::time::Duration;

use jiff::Timestamp;
use rusqlite::{OptionalExtension as _, Row, Transaction, named_params, params};

use super::database::{Database, Moment};
use super::error::{Fault, corrupt, fenced, no_run};
use super::facts_text;
use crate::journal::{Lease, RunFacts, WRITER};
use crate::model::RunId;
use crate::port::{Fence, NewRun, OwnerId, RunSummary};

/// A run's row, as far as its ownership goes.
pub(super) struct Owned {
    /// The fold of its events.
    pub(super) facts: RunFacts,
    token: u64,
    lease: Option<Lease>,
}

/// Reads it.
pub(super) fn owned(tx: &Transaction<'_>, run: &RunId) -> Result<Owned, Fault> {
    let mut statement =
        tx.prepare_cached("SELECT facts, token, owner, lease_until FROM runs WHERE id = ?1")?;
    let row = statement
        .query_row([run.as_str()], |row| {
            let facts: String = row.get("facts")?;
            let token: i64 = row.get("token")?;
            Ok((facts, token, lease_columns(row)?))
        })
        .optional()?;
    let (facts, token, lease) = row.ok_or_else(|| no_run(run))?;
    Ok(Owned {
        facts: parse_facts(&facts)?,
        token: u64::try_from(token).map_err(|_| corrupt("a fence is negative"))?,
        lease: parse_lease(lease)?,
    })
}

/// Reads it for the holder of a fence, and refuses an outdated one.
pub(super) fn fence_checked(tx: &Transaction<'_>, fence: &Fence) -> Result<Owned, Fault> {
    let run = owned(tx, &fence.run)?;
    let owner = run.lease.as_ref().map(|lease| &lease.owner);
    if run.token != fence.token || owner != Some(&fence.owner) {
        return Err(fenced(&fence.run, "another process drives this run now"));
    }
    Ok(run)
}

type LeaseColumns = Option<(String, String)>;

fn lease_columns(row: &Row<'_>) -> rusqlite::Result<LeaseColumns> {
    let owner: Option<String> = row.get("owner")?;
    let until: Option<String> = row.get("lease_until")?;
    Ok(owner.zip(until))
}

fn parse_lease(columns: LeaseColumns) -> Result<Option<Lease>, Fault> {
    let Some((owner, until)) = columns else {
        return Ok(None);
    };
    let owner = serde_json::from_str(&owner)
        .map_err(|source| corrupt("an owner cannot be read").with_source(source))?;
    let until = parse_time(&until)?;
    Ok(Some(Lease { owner, until }))
}

fn parse_facts(text: &str) -> Result<RunFacts, Fault> {
    let facts = serde_json::from_str(text)
        .map_err(|source| corrupt("a run's summary cannot be read").with_source(source))?;
    Ok(facts)
}

/// Reads a stored time.
pub(super) fn parse_time(text: &str) -> Result<Timestamp, Fault> {
    let time = text
        .parse()
        .map_err(|source: jiff::Error| corrupt("a time cannot be read").with_source(source))?;
    Ok(time)
}

/// Reads a stored run id.
pub(super) fn parse_run(text: String) -> Result<RunId, Fault> {
    let id = RunId::parse(text)
        .map_err(|source| corrupt("a run id cannot be read").with_source(source))?;
    Ok(id)
}

/// Whether a living process drives the run.
pub(super) fn is_driven(run: &Owned, moment: Moment<'_>) -> bool {
    run.lease
        .as_ref()
        .is_some_and(|lease| lease.holds(moment.now, moment.processes))
}

/// Writes a run's row, without an owner.
pub(super) fn insert(
    tx: &Transaction<'_>,
    run: &NewRun,
    started_at: Timestamp,
    facts: &RunFacts,
    writer: &str,
) -> Result<(), Fault> {
    let known: bool = tx.query_row(
        "SELECT EXISTS (SELECT 1 FROM runs WHERE id = ?1)",
        [run.id.as_str()],
        |row| row.get(0),
    )?;
    if known {
        let message = format!("there is a run {} already", run.id);
        return Err(fenced(&run.id, message));
    }
    tx.execute(
        "INSERT INTO runs (id, kind, key, repo, parent, started_at, facts, ended, writer)
         VALUES (:id, :kind, :key, :repo, :parent, :started_at, :facts, :ended, :writer)",
        named_params! {
            ":id": run.id.as_str(),
            ":kind": run.kind,
            ":key": run.key,
            ":repo": run.repo,
            ":parent": run.parent.as_ref().map(RunId::as_str),
            ":started_at": started_at.to_string(),
            ":facts": facts_text(facts)?,
            ":ended": facts.is_ended(),
            ":writer": writer,
        },
    )?;
    Ok(())
}

/// Gives the run to a new owner; the fence of the one before is outdated.
fn hand_over(
    tx: &Transaction<'_>,
    run: &RunId,
    owner: OwnerId,
    now: Timestamp,
    length: Duration,
) -> Result<Fence, Fault> {
    let lease = Lease::new(owner, now, length);
    let token: i64 = tx.query_row(
        "UPDATE runs SET token = token + 1, owner = ?2, lease_until = ?3, writer = ?4
         WHERE id = ?1 RETURNING token",
        params![
            run.as_str(),
            owner_text(&lease.owner)?,
            lease.until.to_string(),
            WRITER
        ],
        |row| row.get(0),
    )?;
    Ok(Fence {
        run: run.clone(),
        owner: lease.owner,
        token: u64::try_from(token).map_err(|_| corrupt("a fence is negative"))?,
    })
}

fn owner_text(owner: &OwnerId) -> Result<String, Fault> {
    let text = serde_json::to_string(owner)
        .map_err(|source| corrupt("the owner cannot be written").with_source(source))?;
    Ok(text)
}

/// Records a new run.
pub(super) fn create(
    db: &mut Database,
    run: NewRun,
    owner: OwnerId,
    lease: Duration,
) -> Result<Fence, Fault> {
    db.write(|tx, moment| {
        insert(tx, &run, moment.now, &RunFacts::default(), WRITER)?;
        hand_over(tx, &run.id, owner, moment.now, lease)
    })
}

/// Takes a run's ownership, unless another living owner has it.
pub(super) fn acquire(
    db: &mut Database,
    run: &RunId,
    owner: OwnerId,
    lease: Duration,
) -> Result<Fence, Fault> {
    db.write_run(run, |tx, moment| {
        let held = owned(tx, run)?;
        if let Some(lease) = &held.lease
            && lease.owner != owner
            && lease.holds(moment.now, moment.processes)
        {
            let process = &lease.owner.process;
            let message = format!(
                "process {} on {} drives this run",
                process.pid, process.host
            );
            return Err(fenced(run, message));
        }
        hand_over(tx, run, owner, moment.now, lease)
    })
}

/// Prolongs the ownership.
pub(super) fn renew(db: &mut Database, fence: &Fence, length: Duration) -> Result<(), Fault> {
    db.write_run(&fence.run, |tx, moment| {
        fence_checked(tx, fence)?;
        let lease = Lease::new(fence.owner.clone(), moment.now, length);
        tx.execute(
            "UPDATE runs SET lease_until = ?2 WHERE id = ?1",
            params![fence.run.as_str(), lease.until.to_string()],
        )?;
        Ok(())
    })
}

/// Gives the ownership up. An outdated fence has none to give up.
pub(super) fn release(db: &mut Database, fence: &Fence) -> Result<(), Fault> {
    db.write_run(&fence.run, |tx, _| {
        let token = i64::try_from(fence.token).map_err(|_| corrupt("the fence is too large"))?;
        tx.execute(
            "UPDATE runs SET owner = NULL, lease_until = NULL WHERE id = ?1 AND token = ?2",
            params![fence.run.as_str(), token],
        )?;
        Ok(())
    })
}

/// Removes a run with all that hangs on it.
pub(super) fn remove(db: &mut Database, run: &RunId) -> Result<(), Fault> {
    db.write_run(run, |tx, moment| {
        if is_driven(&owned(tx, run)?, moment) {
            return Err(fenced(run, "a living process drives this run"));
        }
        tx.execute("DELETE FROM runs WHERE id = ?1", [run.as_str()])?;
        Ok(())
    })
}

/// Every run, newest first.
pub(super) fn list(db: &mut Database) -> Result<Vec<RunSummary>, Fault> {
    let listed = db.read(|tx, moment| {
        let mut statement = tx.prepare_cached("SELECT * FROM runs ORDER BY num DESC")?;
        let mut rows = statement.query([])?;
        let mut listed = Vec::new();
        while let Some(row) = rows.next()? {
            listed.push(summary(row, moment)?);
        }
        // imported runs are older than their row; the sort keeps ties in order
        listed.sort_by_key(|run| std::cmp::Reverse(run.started_at));
        Ok(listed)
    })?;
    Ok(listed.unwrap_or_default())
}

fn summary(row: &Row<'_>, moment: Moment<'_>) -> Result<RunSummary, Fault> {
    let run = new_run(row)?;
    let started_at = parse_time(&row.get::<_, String>("started_at")?)?;
    let facts = parse_facts(&row.get::<_, String>("facts")?)?;
    let driven = parse_lease(lease_columns(row)?)?
        .is_some_and(|lease| lease.holds(moment.now, moment.processes));
    Ok(facts.summary(&run, started_at, driven))
}

/// The part of a row that was there from the start.
pub(super) fn new_run(row: &Row<'_>) -> Result<NewRun, Fault> {
    let parent: Option<String> = row.get("parent")?;
    Ok(NewRun {
        id: parse_run(row.get("id")?)?,
        kind: row.get("kind")?,
        key: row.get("key")?,
        repo: row.get("repo")?,
        parent: parent.map(parse_run).transpose()?,
    })
}
