//! What a run reserves until it ends.

use rusqlite::{OptionalExtension as _, Transaction, params};

use super::database::Database;
use super::error::{Fault, fenced};
use super::runs;
use crate::model::RunId;
use crate::port::Fence;

/// Reserves a resource for the fence's run.
pub(super) fn lock(db: &mut Database, fence: &Fence, resource: &str) -> Result<(), Fault> {
    db.write_run(&fence.run, |tx, _| {
        if runs::fence_checked(tx, fence)?.facts.is_ended() {
            return Err(fenced(&fence.run, "this run is over"));
        }
        let holder: Option<String> = tx
            .query_row(
                "SELECT run FROM locks WHERE resource = ?1",
                [resource],
                |row| row.get(0),
            )
            .optional()?;
        match holder.map(runs::parse_run).transpose()? {
            Some(holder) if holder == fence.run => Ok(()),
            Some(holder) => Err(fenced(
                &holder,
                format!("run {holder} has reserved {resource}"),
            )),
            None => {
                tx.execute(
                    "INSERT INTO locks (resource, run) VALUES (?1, ?2)",
                    params![resource, fence.run.as_str()],
                )?;
                Ok(())
            }
        }
    })
}

/// Gives up all that the fence's run has reserved.
pub(super) fn unlock_all(db: &mut Database, fence: &Fence) -> Result<(), Fault> {
    db.write_run(&fence.run, |tx, _| {
        runs::fence_checked(tx, fence)?;
        clear(tx, &fence.run)
    })
}

/// Gives up all that a run has reserved.
pub(super) fn clear(tx: &Transaction<'_>, run: &RunId) -> Result<(), Fault> {
    tx.execute("DELETE FROM locks WHERE run = ?1", [run.as_str()])?;
    Ok(())
}
