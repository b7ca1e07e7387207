//! Shows a run while it goes on: JSON lines for programs, permanent lines and
//! one live line for people.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use schemars::JsonSchema;
use serde::Serialize;
use xiv_core::flow::{Event, Recorded};
use xiv_core::model::{RunId, StepId, Usage};
use xiv_core::port::{Observer, Progress, StepEvent};

use crate::story::{Teller, first_line};
use crate::ui::{Ui, Verbosity, style};

/// The most progress lines per second are ten.
const INTERVAL: Duration = Duration::from_millis(100);
/// A step that ends sooner than this has no live line.
const DELAY: Duration = Duration::from_millis(250);

/// Does something with each recorded event, besides showing it.
pub(crate) type Hook = Box<dyn Fn(&RunId, &Recorded) + Send + Sync>;

/// Watches a run for the terminal.
pub(crate) struct Reporter {
    ui: Ui,
    hook: Hook,
    state: Arc<Mutex<State>>,
}

struct State {
    teller: Teller,
    bar: Option<ProgressBar>,
    step: Option<Step>,
    usage: Usage,
    last: Option<Instant>,
}

struct Step {
    id: StepId,
    began: Instant,
    doing: String,
    usage: Usage,
}

/// A line of a running command's JSON; the last line is another one, a result
/// or an error.
#[derive(Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "camelCase")]
pub(crate) enum StreamLine<'a> {
    /// An event was recorded. Complete and in order.
    Event {
        /// The run.
        run: &'a RunId,
        /// Its number in the run; the first is 1.
        seq: u64,
        /// When it was recorded.
        at: String,
        /// What happened.
        event: &'a Event,
    },
    /// The step under way did something. At most ten a second.
    Progress {
        /// The run.
        run: &'a RunId,
        /// The step.
        step: &'a StepId,
        /// What it did.
        progress: &'a StepEvent,
    },
}

impl std::fmt::Debug for Reporter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reporter")
            .field("ui", &self.ui)
            .finish_non_exhaustive()
    }
}

impl Reporter {
    /// A reporter for this terminal.
    pub(crate) fn new(ui: Ui, hook: Hook) -> Self {
        let bar = (ui.is_live() && !ui.is_json()).then(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(10));
            let style = ProgressStyle::with_template("{spinner} {wide_msg}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
            bar.finish_and_clear();
            bar
        });
        let is_live = bar.is_some();
        let state = State {
            teller: Teller::default(),
            bar,
            step: None,
            usage: Usage::default(),
            last: None,
        };
        let state = Arc::new(Mutex::new(state));
        if is_live {
            let watched = Arc::downgrade(&state);
            std::thread::spawn(move || keep_drawing(&watched));
        }
        Self { ui, hook, state }
    }

    /// Takes earlier events in without showing them, for a run that goes on.
    pub(crate) fn catch_up(&self, history: &[Recorded]) {
        let mut state = self.state();
        for recorded in history {
            let _shown_before = state.teller.tell(recorded);
            state.add_usage(&recorded.event);
        }
    }

    /// Takes the live line away.
    pub(crate) fn finish(&self) {
        let mut state = self.state();
        state.step = None;
        state.clear();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        locked(&self.state)
    }
}

fn locked(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Draws the live line until the reporter is gone.
fn keep_drawing(state: &Weak<Mutex<State>>) {
    while let Some(state) = state.upgrade() {
        locked(&state).draw();
        drop(state);
        std::thread::sleep(INTERVAL);
    }
}

impl Observer for Reporter {
    fn recorded(&self, run: &RunId, recorded: &Recorded) {
        (self.hook)(run, recorded);
        let mut state = self.state();
        state.add_usage(&recorded.event);
        if self.ui.is_json() {
            // a reader that went away stops no run
            let _unwritable = self.ui.line(&StreamLine::Event {
                run,
                seq: recorded.seq,
                at: recorded.at.to_string(),
                event: &recorded.event,
            });
            return;
        }
        state.clear();
        for line in state.teller.tell(recorded) {
            state.print(self.ui, &line.shown());
        }
        match &recorded.event {
            Event::StepStarted { step, .. } => {
                state.step = Some(Step {
                    id: step.clone(),
                    began: Instant::now(),
                    doing: String::new(),
                    usage: Usage::default(),
                });
            }
            Event::RunFinished { .. } | Event::Suspended { .. } => state.step = None,
            _ => {}
        }
    }

    fn progress(&self, progress: &Progress) {
        let mut state = self.state();
        if let StepEvent::Warning { message } = &progress.event
            && !self.ui.is_json()
        {
            let warning = style::paint(style::WARN, "warning:");
            state.print(self.ui, &format!("{warning} {message}"));
        }
        if let (StepEvent::Output { line } | StepEvent::Text { text: line }, Verbosity::Verbose) =
            (&progress.event, self.ui.verbosity())
            && !self.ui.is_json()
        {
            state.print(self.ui, &style::paint(style::DIM, format!("  {line}")));
        }
        state.follow(&progress.event);
        let due = state.last.is_none_or(|last| last.elapsed() >= INTERVAL);
        if due && self.ui.is_json() {
            state.last = Some(Instant::now());
            let _unwritable = self.ui.line(&StreamLine::Progress {
                run: &progress.run,
                step: &progress.step,
                progress: &progress.event,
            });
        }
    }
}

impl State {
    fn add_usage(&mut self, event: &Event) {
        match event {
            Event::PlanMade { usage, .. }
            | Event::Implemented { usage, .. }
            | Event::Reviewed { usage, .. }
            | Event::ReviewFailed { usage, .. }
            | Event::Suspended { usage, .. } => self.usage.add(usage),
            _ => {}
        }
    }

    fn print(&self, ui: Ui, line: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| ui.note(line)),
            None => ui.note(line),
        }
    }

    fn follow(&mut self, event: &StepEvent) {
        let Some(step) = &mut self.step else { return };
        match event {
            StepEvent::Activity { tool, target } => {
                let words: Vec<&str> = [tool, target]
                    .into_iter()
                    .flatten()
                    .map(String::as_str)
                    .collect();
                step.doing = first_line(&words.join(" "), 60);
            }
            StepEvent::Output { line } => step.doing = first_line(line, 60),
            StepEvent::Usage { usage } => step.usage = *usage,
            _ => {}
        }
    }

    /// Takes the live line away until it is drawn again.
    fn clear(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    /// Draws the live line, once its step has taken long enough to have one.
    fn draw(&self) {
        let (Some(bar), Some(step)) = (&self.bar, &self.step) else {
            return;
        };
        let elapsed = step.began.elapsed();
        if elapsed < DELAY {
            return;
        }
        bar.set_message(self.message(step, elapsed));
        if bar.is_finished() {
            bar.reset();
        }
        bar.tick();
    }

    /// `implement#1  pass 1 of 3  12s  Edit greet.sh  3200 tokens  $0.12`
    fn message(&self, step: &Step, elapsed: Duration) -> String {
        let mut used = self.usage;
        used.add(&step.usage);
        let mut parts = vec![step.id.name().to_owned()];
        if let Some(pass) = step.id.pass() {
            parts.push(format!("pass {pass} of {}", self.teller.max()));
        }
        parts.push(format!("{}s", elapsed.as_secs()));
        if !step.doing.is_empty() {
            parts.push(step.doing.clone());
        }
        if used.tokens() > 0 {
            parts.push(format!("{} tokens", used.tokens()));
        }
        if let Some(cost) = used.cost_usd {
            parts.push(format!("${cost:.2}"));
        }
        parts.join("  ")
    }
}
