//! The thread that owns the connection.

use std::sync::mpsc;
use std::thread::{self, JoinHandle};

use futures::channel::oneshot;

use super::database::Database;
use super::error::Fault;
use crate::port::{JournalError, JournalErrorKind};

type Job = Box<dyn FnOnce(&mut Database) + Send>;

/// A thread that carries out one request after the other. Dropping it waits
/// for those that were sent.
#[derive(Debug)]
pub(super) struct Worker {
    jobs: Option<mpsc::Sender<Job>>,
    thread: Option<JoinHandle<()>>,
}

impl Worker {
    /// Starts the thread.
    pub(super) fn start(mut database: Database) -> Result<Self, JournalError> {
        let (jobs, requests) = mpsc::channel::<Job>();
        let thread = thread::Builder::new()
            .name("xiv-journal".to_owned())
            .spawn(move || {
                for job in requests {
                    job(&mut database);
                }
            })
            .map_err(|source| {
                JournalError::new(JournalErrorKind::Io, "the journal's thread cannot start")
                    .with_source(source)
            })?;
        Ok(Self {
            jobs: Some(jobs),
            thread: Some(thread),
        })
    }

    /// Has the thread do something and waits for what it says. Once sent, it is
    /// done also when nobody waits any more.
    pub(super) async fn call<T, F>(&self, work: F) -> Result<T, JournalError>
    where
        T: Send + 'static,
        F: FnOnce(&mut Database) -> Result<T, Fault> + Send + 'static,
    {
        let (answer, answered) = oneshot::channel();
        let job: Job = Box::new(move |database| {
            let result = work(database).map_err(|fault| fault.at(database.dir()));
            // whoever asked may have gone
            let _gone = answer.send(result);
        });
        let sent = self
            .jobs
            .as_ref()
            .is_some_and(|jobs| jobs.send(job).is_ok());
        let result = if sent { answered.await.ok() } else { None };
        result.unwrap_or_else(|| {
            Err(JournalError::new(
                JournalErrorKind::Io,
                "the journal's thread has stopped",
            ))
        })
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        drop(self.jobs.take());
        if let Some(thread) = self.thread.take() {
            // it only fails by a panic, which has been reported where it was
            let _panicked = thread.join();
        }
    }
}
