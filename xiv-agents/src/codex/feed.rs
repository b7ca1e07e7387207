//! Reads the JSON lines of `codex exec --json`.
//!
//! Three habits shape this parser. Items of type `error` and `Reconnecting…` notices are not failures.
//! Several agent messages may come, and an early one can already look like the answer, so only the last
//! one before the turn's end counts. And nothing else is certain: unknown types and words are passed over.

use serde_json::Value;
use xiv_core::model::Usage;
use xiv_core::port::{Denial, StepEvent};
use xiv_core::rt::process::Flow;

use crate::engine::{Fed, Identity, Parser};

/// How a turn ended, as Codex says it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Terminal {
    /// `turn.completed`.
    Completed,
    /// `turn.failed` with its message.
    Failed(String),
}

/// Item types that are work.
const WORK: &[&str] = &[
    "command_execution",
    "file_change",
    "mcp_tool_call",
    "collab_tool_call",
    "web_search",
];

/// What the lines so far amount to.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Codex {
    /// Whether any line was an event.
    pub(crate) any_event: bool,
    pub(crate) thread: Option<String>,
    pub(crate) terminal: Option<Terminal>,
    /// The last agent message before the end of the turn.
    pub(crate) message: Option<String>,
    /// The last top-level error that was not a notice.
    pub(crate) error: Option<String>,
    /// Tool calls of any kind.
    pub(crate) tools: u32,
    /// Tokens; of the whole thread when it was resumed.
    pub(crate) usage: Option<Usage>,
    pub(crate) denials: Vec<Denial>,
    pub(crate) warnings: Vec<String>,
}

impl Parser for Codex {
    fn feed(&mut self, line: &str) -> Fed {
        let Ok(Value::Object(event)) = serde_json::from_str::<Value>(line) else {
            return match line.trim() {
                "" => Fed::nothing(),
                text => Fed::one(StepEvent::Output {
                    line: text.to_owned(),
                }),
            };
        };
        let event = Value::Object(event);
        let Some(kind) = event["type"].as_str() else {
            return Fed::nothing();
        };
        self.any_event = true;
        match kind {
            "thread.started" => {
                self.thread = text(&event["thread_id"]);
                Fed::nothing()
            }
            "turn.started" => {
                self.terminal = None;
                Fed::one(StepEvent::Activity {
                    tool: None,
                    target: None,
                })
            }
            "item.started" | "item.updated" | "item.completed" => {
                self.item(kind, &event["item"]).into()
            }
            "turn.completed" => self.completed(&event["usage"]),
            "turn.failed" => {
                let message = text(&event["error"]["message"]).or_else(|| self.error.take());
                self.terminal = Some(Terminal::Failed(
                    message.unwrap_or_else(|| "the turn failed".into()),
                ));
                Fed {
                    events: Vec::new(),
                    flow: Flow::Terminal,
                }
            }
            "error" => self.error(&event["message"]),
            _ => Fed::nothing(),
        }
    }

    fn identity(&self) -> Identity {
        Identity {
            session: self.thread.clone(),
            version: None,
        }
    }
}

impl Codex {
    fn item(&mut self, kind: &str, item: &Value) -> Vec<StepEvent> {
        let stage = Stage::of(kind);
        let done = stage == Stage::Completed;
        let kind = item["type"].as_str().unwrap_or_default();
        if stage == Stage::Started && WORK.contains(&kind) {
            // Whatever was said before more work was a draft. (The end of work says nothing: a command
            // that runs on in the background can end after the answer.)
            self.message = None;
        }
        match kind {
            "agent_message" if done => {
                let said = text(&item["text"]).unwrap_or_default();
                if self.terminal.is_none() {
                    self.message = Some(said.clone());
                }
                vec![StepEvent::Text { text: said }]
            }
            "command_execution" => self.command(stage, item),
            "file_change" if done => {
                self.tools += 1;
                let paths: Vec<&str> = item["changes"]
                    .as_array()
                    .into_iter()
                    .flatten()
                    .filter_map(|change| change["path"].as_str())
                    .collect();
                vec![activity("edit", Some(paths.join(" ")))]
            }
            "mcp_tool_call" | "collab_tool_call" | "web_search" if done => {
                self.tools += 1;
                let name = item["tool"]
                    .as_str()
                    .or(item["type"].as_str())
                    .unwrap_or("tool");
                vec![activity(name, text(&item["query"]))]
            }
            "error" if done => self.warn(text(&item["message"]).unwrap_or_default()),
            _ => vec![alive()],
        }
    }

    fn command(&mut self, stage: Stage, item: &Value) -> Vec<StepEvent> {
        let command = text(&item["command"]);
        match stage {
            Stage::Completed if item["status"] == "declined" => {
                let what = command.unwrap_or_default();
                self.denials.push(Denial {
                    rule: "codex".into(),
                    what: what.clone(),
                });
                vec![StepEvent::Denied {
                    rule: "codex".into(),
                    argv: vec![what],
                }]
            }
            Stage::Completed => {
                self.tools += 1;
                vec![alive()]
            }
            Stage::Started => vec![activity("shell", command)],
            Stage::Between => vec![alive()],
        }
    }

    fn completed(&mut self, usage: &Value) -> Fed {
        self.terminal = Some(Terminal::Completed);
        let count = |name: &str| usage[name].as_u64().unwrap_or(0);
        let total = Usage {
            calls: 1,
            input_tokens: count("input_tokens"),
            cached_input_tokens: count("cached_input_tokens"),
            output_tokens: count("output_tokens"),
            cost_usd: None,
            cost_complete: false,
            wall_ms: 0,
        };
        self.usage = Some(total);
        Fed {
            events: vec![StepEvent::Usage { usage: total }],
            flow: Flow::Terminal,
        }
    }

    fn error(&mut self, message: &Value) -> Fed {
        let message = text(message).unwrap_or_default();
        if message.starts_with("Reconnecting") {
            return self.warn(message).into();
        }
        self.error = Some(message);
        Fed::nothing()
    }

    /// A notice, once: "waiting for network" repeats for ever and must not look like life.
    fn warn(&mut self, message: String) -> Vec<StepEvent> {
        if self.warnings.contains(&message) {
            return Vec::new();
        }
        self.warnings.push(message.clone());
        vec![StepEvent::Warning { message }]
    }
}

/// Where an item stands when it is reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Started,
    Between,
    Completed,
}

impl Stage {
    fn of(kind: &str) -> Self {
        match kind {
            "item.started" => Self::Started,
            "item.completed" => Self::Completed,
            _ => Self::Between,
        }
    }
}

/// A sign of life without a name.
fn alive() -> StepEvent {
    StepEvent::Activity {
        tool: None,
        target: None,
    }
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

fn activity(tool: &str, target: Option<String>) -> StepEvent {
    StepEvent::Activity {
        tool: Some(tool.to_owned()),
        target,
    }
}
