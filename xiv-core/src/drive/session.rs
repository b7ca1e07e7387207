//! A run under way: its history, its machine and the right to append.

use super::{DriveError, Ports, Stood};
use crate::flow::{Event, Machine, Recorded};
use crate::model::StepId;
use crate::port::Fence;

/// One run in the hands of one driver.
pub(super) struct RunSession<'a> {
    ports: &'a Ports,
    pub(super) fence: Fence,
    pub(super) machine: Machine,
    next_seq: u64,
}

impl<'a> RunSession<'a> {
    /// Begins a run with its first event.
    pub(super) async fn start(
        ports: &'a Ports,
        fence: Fence,
        started: Event,
    ) -> Result<Self, DriveError> {
        let machine = Machine::start(&started)?;
        let mut session = Self {
            ports,
            fence,
            machine,
            next_seq: 1,
        };
        session.append(&started).await?;
        Ok(session)
    }

    /// Takes up a run with this history.
    pub(super) fn resume(
        ports: &'a Ports,
        fence: Fence,
        history: &[Recorded],
    ) -> Result<Self, DriveError> {
        let machine = Machine::replay(history)?;
        let next_seq = history.last().map_or(1, |last| last.seq + 1);
        Ok(Self {
            ports,
            fence,
            machine,
            next_seq,
        })
    }

    /// Records an event, then lets the machine hear of it.
    pub(super) async fn record(&mut self, event: Event) -> Result<(), DriveError> {
        let mut after = self.machine.clone();
        after.apply(&event)?;
        self.append(&event).await?;
        self.machine = after;
        Ok(())
    }

    /// Records why the run stands still.
    pub(super) async fn suspend(&mut self, stood: Stood) -> Result<(), DriveError> {
        let Stood {
            wait,
            usage,
            session,
        } = stood;
        self.record(Event::Suspended {
            wait,
            usage,
            session,
        })
        .await
    }

    pub(super) async fn release(&self) -> Result<(), DriveError> {
        Ok(self.ports.journal.release(&self.fence).await?)
    }

    /// The key of a step attempt, which every process that it starts carries.
    pub(super) fn mark(&self, step: &StepId, attempt: u32) -> String {
        format!("{}/{step}/{attempt}", self.fence.run)
    }

    async fn append(&mut self, event: &Event) -> Result<(), DriveError> {
        let at = self.ports.clock.now();
        self.ports
            .journal
            .append(&self.fence, self.next_seq, at, event)
            .await?;
        let recorded = Recorded {
            seq: self.next_seq,
            at,
            event: event.clone(),
        };
        self.next_seq += 1;
        self.ports.observer.recorded(&self.fence.run, &recorded);
        Ok(())
    }
}
