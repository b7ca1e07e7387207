//! Watching over one call: time, silence, budget, and the order to stop.
//!
//! The driver owns every timer. When one runs out the call is told to stop and
//! gets a short time to do so; then it is dropped, which ends what it started.

use std::future::Future;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::FutureExt;
use futures::future::{Either, select};

use super::{Driver, Stop};
use crate::flow::{BudgetLimits, StepLimits};
use crate::model::{RunId, StepId, Usage};
use crate::policy::budget::exceeded;
use crate::port::{
    Cancel, CancelReason, Canceller, Clock, Events, Progress, StepContext, StepEvent,
};

/// What bounds one call.
pub(super) struct Bounds {
    /// Time and silence.
    pub(super) limits: StepLimits,
    /// The run's budget and what it has used before this call.
    pub(super) run_budget: (BudgetLimits, Usage),
    /// The step's budget and what it has used before this call.
    pub(super) step_budget: (BudgetLimits, Usage),
}

impl Bounds {
    /// Time alone, for what calls no model.
    pub(super) fn time(limits: StepLimits) -> Self {
        let unlimited = (BudgetLimits::default(), Usage::default());
        Self {
            limits,
            run_budget: unlimited,
            step_budget: unlimited,
        }
    }
}

/// Which budget a call ran over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SpentBudget {
    Run(&'static str),
    Step(&'static str),
}

/// A refusal that was reported while a call ran.
pub(super) type Refusal = (String, Vec<String>);

/// How a call went.
pub(super) struct Supervised<T> {
    /// What it returned; none when it had to be dropped.
    pub(super) result: Option<T>,
    /// Why it was told to stop, if it was.
    pub(super) stopped: Option<CancelReason>,
    /// The budget that it ran over.
    pub(super) spent: Option<SpentBudget>,
    /// What it said that it used.
    pub(super) usage: Usage,
    /// What the guard refused meanwhile.
    pub(super) refusals: Vec<Refusal>,
    /// The conversation, when the agent named it.
    pub(super) session: Option<String>,
}

/// What the sink of a call's events keeps.
#[derive(Debug, Default)]
struct Heard {
    last_ms: AtomicU64,
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    usage: Usage,
    spent: Option<SpentBudget>,
    refusals: Vec<Refusal>,
    session: Option<String>,
}

impl Driver {
    /// Runs a call within its bounds.
    pub(super) async fn supervise<T, F>(
        &self,
        run: &RunId,
        step: &StepId,
        mark: &str,
        bounds: Bounds,
        stop: &Stop,
        call: impl FnOnce(StepContext) -> F,
    ) -> Supervised<T>
    where
        F: Future<Output = T> + Send,
    {
        let (canceller, cancel) = Cancel::new();
        let heard = Arc::new(Heard::default());
        let events = self.sink(run, step, &bounds, &heard, &canceller);
        let cx = self.context(mark, cancel.clone()).with_events(events);
        heard.touch(&*self.ports.clock);
        let watch = self
            .watch(bounds.limits, stop, &heard, &canceller, cancel)
            .boxed();
        let result = match select(call(cx).boxed(), watch).await {
            Either::Left((result, _)) => Some(result),
            Either::Right(((), unfinished)) => {
                let grace = self.ports.clock.sleep(self.options.stop_budget);
                match select(unfinished, grace).await {
                    Either::Left((result, _)) => Some(result),
                    Either::Right(((), dropped)) => {
                        drop(dropped);
                        None
                    }
                }
            }
        };
        let mut kept = heard.kept.lock().unwrap_or_else(PoisonError::into_inner);
        Supervised {
            result,
            stopped: canceller.reason(),
            spent: kept.spent,
            usage: kept.usage,
            refusals: std::mem::take(&mut kept.refusals),
            session: kept.session.take(),
        }
    }

    /// Ends when the call has been told to stop.
    async fn watch(
        &self,
        limits: StepLimits,
        stop: &Stop,
        heard: &Heard,
        canceller: &Canceller,
        told: Cancel,
    ) {
        let clock = &self.ports.clock;
        let total = clock.sleep(Duration::from_millis(limits.total_ms));
        let silence = self.silence(limits.idle_ms, heard);
        let timers = select(total, silence.boxed()).map(|ended| match ended {
            Either::Left(_) => CancelReason::TimedOutTotal,
            Either::Right(_) => CancelReason::TimedOutIdle,
        });
        let orders =
            select(stop.user.clone(), stop.lease_lost.clone()).map(|order| order.factor_first().0);
        let outside = select(timers, orders).map(|reason| reason.factor_first().0);
        // `told` resolves when the sink gives the order: a spent budget
        let reason = select(told, outside).await.factor_first().0;
        canceller.cancel(reason);
    }

    /// Ends when nothing was heard for too long.
    async fn silence(&self, idle_ms: Option<u64>, heard: &Heard) {
        let Some(idle) = idle_ms.map(Duration::from_millis) else {
            return futures::future::pending().await;
        };
        loop {
            let last = Duration::from_millis(heard.last_ms.load(Ordering::Relaxed));
            let quiet = self.ports.clock.elapsed().saturating_sub(last);
            if quiet >= idle {
                return;
            }
            self.ports.clock.sleep(idle.saturating_sub(quiet)).await;
        }
    }

    /// The sink of a call: masks secrets, notes what matters, shows the rest.
    fn sink(
        &self,
        run: &RunId,
        step: &StepId,
        bounds: &Bounds,
        heard: &Arc<Heard>,
        canceller: &Canceller,
    ) -> Events {
        let (clock, observer) = (
            Arc::clone(&self.ports.clock),
            Arc::clone(&self.ports.observer),
        );
        let redactor = Arc::clone(&self.options.redactor);
        let (run, step, heard) = (run.clone(), step.clone(), Arc::clone(heard));
        let (run_budget, step_budget) = (bounds.run_budget, bounds.step_budget);
        let canceller = canceller.clone();
        Events::new(move |event| {
            heard.touch(&*clock);
            let event = masked(event, |text| redactor.redact(text));
            let mut kept = heard.kept.lock().unwrap_or_else(PoisonError::into_inner);
            match &event {
                StepEvent::Usage { usage } => {
                    kept.usage = *usage;
                    let run_over = over(&run_budget, usage).map(SpentBudget::Run);
                    let spent =
                        run_over.or_else(|| over(&step_budget, usage).map(SpentBudget::Step));
                    if kept.spent.is_none() && spent.is_some() {
                        kept.spent = spent;
                        canceller.cancel(CancelReason::Budget);
                    }
                }
                StepEvent::Denied { rule, argv } => {
                    kept.refusals.push((rule.clone(), argv.clone()));
                }
                StepEvent::Started {
                    session: Some(session),
                    ..
                } => {
                    kept.session = Some(session.clone());
                }
                _ => {}
            }
            drop(kept);
            let progress = Progress {
                run: run.clone(),
                step: step.clone(),
                event,
            };
            observer.progress(&progress);
        })
    }
}

impl Heard {
    fn touch(&self, clock: &dyn Clock) {
        let now = u64::try_from(clock.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.last_ms.store(now, Ordering::Relaxed);
    }
}

/// Which limit is passed when this call's use comes on top.
fn over((limits, before): &(BudgetLimits, Usage), call: &Usage) -> Option<&'static str> {
    let mut used = *before;
    used.add(call);
    exceeded(limits, &used)
}

/// The event with every text masked.
fn masked(event: StepEvent, mask: impl Fn(&str) -> String) -> StepEvent {
    match event {
        StepEvent::Activity { tool, target } => StepEvent::Activity {
            tool,
            target: target.map(|t| mask(&t)),
        },
        StepEvent::Text { text } => StepEvent::Text { text: mask(&text) },
        StepEvent::Output { line } => StepEvent::Output { line: mask(&line) },
        StepEvent::Warning { message } => StepEvent::Warning {
            message: mask(&message),
        },
        StepEvent::Denied { rule, argv } => StepEvent::Denied {
            rule,
            argv: argv.iter().map(|a| mask(a)).collect(),
        },
        event @ (StepEvent::Started { .. } | StepEvent::Usage { .. }) => event,
    }
}
