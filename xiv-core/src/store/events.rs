//! Appending events, and the tables that follow from them.

use rusqlite::{ErrorCode, Transaction, params};

use super::database::Database;
use super::error::{Fault, corrupt, fenced};
use super::{facts_text, locks, runs};
use crate::flow::{Event, Recorded};
use crate::journal::RawEvent;
use crate::model::RunId;
use crate::port::Fence;

/// Appends one event under a fence. `body` is its written form.
pub(super) fn append(
    db: &mut Database,
    fence: &Fence,
    recorded: &Recorded,
    body: &str,
) -> Result<(), Fault> {
    db.write_run(&fence.run, |tx, _| {
        let mut facts = runs::fence_checked(tx, fence)?.facts;
        if facts.is_ended() {
            return Err(fenced(&fence.run, "this run is over"));
        }
        let next = last_seq(tx, &fence.run)? + 1;
        if recorded.seq != next {
            let message = format!("event {} was to be appended as {next}", recorded.seq);
            return Err(fenced(&fence.run, message));
        }
        let raw = RawEvent {
            seq: recorded.seq,
            at: recorded.at,
            body: body.to_owned(),
        };
        insert(tx, &fence.run, &raw, &recorded.event)?;
        facts.apply(recorded.at, &recorded.event);
        tx.prepare_cached("UPDATE runs SET facts = ?2, ended = ?3 WHERE id = ?1")?
            .execute(params![
                fence.run.as_str(),
                facts_text(&facts)?,
                facts.is_ended()
            ])?;
        if facts.is_ended() {
            locks::clear(tx, &fence.run)?;
        }
        Ok(())
    })
}

fn last_seq(tx: &Transaction<'_>, run: &RunId) -> Result<u64, Fault> {
    let last: Option<i64> = tx
        .prepare_cached("SELECT max(seq) FROM events WHERE run = ?1")?
        .query_row([run.as_str()], |row| row.get(0))?;
    u64::try_from(last.unwrap_or_default())
        .map_err(|_| corrupt("an event's number is negative").into())
}

/// Writes one event and what follows from it.
pub(super) fn insert(
    tx: &Transaction<'_>,
    run: &RunId,
    raw: &RawEvent,
    event: &Event,
) -> Result<(), Fault> {
    let seq = i64::try_from(raw.seq).map_err(|_| corrupt("an event's number is too large"))?;
    let inserted = tx
        .prepare_cached(
            "INSERT INTO events (run, seq, at, kind, body) VALUES (?1, ?2, ?3, ?4, ?5)",
        )?
        .execute(params![
            run.as_str(),
            seq,
            raw.at.to_string(),
            event.kind(),
            raw.body
        ]);
    match inserted {
        Ok(_) => project(tx, run, raw, event),
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation) => {
            let message = format!("event {} is there already", raw.seq);
            Err(fenced(run, message))
        }
        Err(error) => Err(error.into()),
    }
}

/// Keeps `effects` and `gates` in step with the events.
fn project(tx: &Transaction<'_>, run: &RunId, raw: &RawEvent, event: &Event) -> Result<(), Fault> {
    let run = run.as_str();
    match event {
        Event::Intended {
            step,
            marker,
            intent,
        } => {
            tx.execute(
                "INSERT INTO effects (run, marker, step, intent) VALUES (?1, ?2, ?3, ?4)
                 ON CONFLICT (run, marker) DO UPDATE SET intent = excluded.intent",
                params![run, marker, step.as_str(), text(intent)?],
            )?;
        }
        Event::EffectDone { marker, result, .. } => {
            tx.execute(
                "UPDATE effects SET result = ?3 WHERE run = ?1 AND marker = ?2",
                params![run, marker, text(result)?],
            )?;
        }
        Event::GateRaised { gate, pass, .. } => {
            tx.execute(
                "INSERT INTO gates (run, gate, pass, raised) VALUES (?1, ?2, ?3, ?4)
                 ON CONFLICT (run, gate) DO UPDATE SET raised = excluded.raised, answer = NULL",
                params![run, gate, pass.get(), raw.at.to_string()],
            )?;
        }
        Event::GateAnswered { gate, answer } => {
            tx.execute(
                "UPDATE gates SET answer = ?3 WHERE run = ?1 AND gate = ?2",
                params![run, gate, text(answer)?],
            )?;
        }
        _ => {}
    }
    Ok(())
}

fn text(value: &impl serde::Serialize) -> Result<String, Fault> {
    serde_json::to_string(value).map_err(|source| {
        corrupt("an event cannot be written")
            .with_source(source)
            .into()
    })
}

/// Every event of a run, in order, none missing.
pub(super) fn read(tx: &Transaction<'_>, run: &RunId) -> Result<Vec<RawEvent>, Fault> {
    let mut statement =
        tx.prepare_cached("SELECT seq, at, body FROM events WHERE run = ?1 ORDER BY seq")?;
    let mut rows = statement.query([run.as_str()])?;
    let mut events = Vec::new();
    while let Some(row) = rows.next()? {
        let seq: i64 = row.get(0)?;
        let at: String = row.get(1)?;
        let expected = events.len() as u64 + 1;
        if u64::try_from(seq) != Ok(expected) {
            return Err(corrupt(format!("event {expected} of run {run} is missing")).into());
        }
        events.push(RawEvent {
            seq: expected,
            at: runs::parse_time(&at)?,
            body: row.get(2)?,
        });
    }
    Ok(events)
}
