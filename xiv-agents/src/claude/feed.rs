//! Reads the JSON lines of `claude -p --output-format stream-json`.
//!
//! A process may print more than one `init` and `result`; the last result counts. Deltas of partial
//! messages are the sign of life while a long answer streams. A refused login shows first as a retry
//! notice: waiting for the retries costs minutes, so the parser asks for a stop at the first one.

use serde_json::Value;
use xiv_core::model::Usage;
use xiv_core::port::{Denial, StepEvent};
use xiv_core::rt::process::Flow;

use crate::engine::{Fed, Identity, Parser};

/// The parts of a `result` event that decide.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Outcome {
    pub(crate) subtype: String,
    pub(crate) is_error: bool,
    pub(crate) status: Option<u64>,
    pub(crate) terminal_reason: Option<String>,
    pub(crate) stop_reason: Option<String>,
    pub(crate) text: String,
    pub(crate) structured: Option<Value>,
    pub(crate) errors: Vec<String>,
    pub(crate) turns: Option<u64>,
}

/// An API error as an assistant message reports it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ApiError {
    pub(crate) word: String,
    pub(crate) status: Option<u64>,
    pub(crate) text: String,
}

/// What the lines so far amount to.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Claude {
    /// Whether any line was an event.
    pub(crate) any_event: bool,
    pub(crate) session: Option<String>,
    pub(crate) version: Option<String>,
    pub(crate) result: Option<Outcome>,
    pub(crate) api_error: Option<ApiError>,
    /// The login was refused; the process is being stopped.
    pub(crate) auth_refused: bool,
    /// A usage limit was reported; when it is lifted, in seconds since 1970.
    pub(crate) limit_resets: Option<Option<i64>>,
    /// Tool calls other than the one that carries the answer.
    pub(crate) tools: u32,
    /// Something was said.
    pub(crate) spoke: bool,
    /// The last input of the answer tool, valid or not.
    pub(crate) last_answer: Option<Value>,
    pub(crate) usage: Usage,
    pub(crate) denials: Vec<Denial>,
    pub(crate) warnings: Vec<String>,
}

impl Parser for Claude {
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
            "system" => self.system(&event),
            "assistant" => self.assistant(&event).into(),
            "stream_event" => self.partial(&event["event"]).into(),
            "rate_limit_event" => self.limit(&event["rate_limit_info"]),
            "result" => self.result(&event),
            "user" => Fed::one(alive()),
            _ => Fed::nothing(),
        }
    }

    fn identity(&self) -> Identity {
        Identity {
            session: self.session.clone(),
            version: self.version.clone(),
        }
    }
}

impl Claude {
    fn system(&mut self, event: &Value) -> Fed {
        match event["subtype"].as_str().unwrap_or_default() {
            "init" => {
                self.session = text(&event["session_id"]).or_else(|| self.session.take());
                self.version = text(&event["claude_code_version"]).or_else(|| self.version.take());
                Fed::nothing()
            }
            "api_retry" => self.retry(event),
            "permission_denied" => {
                let rule = text(&event["tool_name"]).unwrap_or_default();
                let message = text(&event["message"]).unwrap_or_default();
                self.denials.push(Denial {
                    rule: rule.clone(),
                    what: message.clone(),
                });
                Fed::one(StepEvent::Denied {
                    rule,
                    argv: vec![message],
                })
            }
            _ => Fed::one(alive()),
        }
    }

    fn retry(&mut self, event: &Value) -> Fed {
        let word = event["error"].as_str().unwrap_or("unknown");
        let status = event["error_status"].as_u64();
        if word == "authentication_failed" || matches!(status, Some(401 | 403)) {
            self.auth_refused = true;
            self.api_error = Some(ApiError {
                word: word.to_owned(),
                status,
                text: String::new(),
            });
            return Fed {
                events: Vec::new(),
                flow: Flow::Stop,
            };
        }
        let status = status.map_or_else(String::new, |code| format!(" {code}"));
        let attempt = &event["attempt"];
        let message = format!("the model service failed ({word}{status}), retry {attempt}");
        self.warnings.push(message.clone());
        Fed::one(StepEvent::Warning { message })
    }

    fn assistant(&mut self, event: &Value) -> Vec<StepEvent> {
        let blocks = event["message"]["content"]
            .as_array()
            .map_or(&[][..], Vec::as_slice);
        if let Some(word) = event["error"].as_str() {
            let said: Vec<&str> = blocks
                .iter()
                .filter_map(|block| block["text"].as_str())
                .collect();
            self.api_error = Some(ApiError {
                word: word.to_owned(),
                status: event["api_error_status"].as_u64(),
                text: said.join("\n"),
            });
            return vec![StepEvent::Warning {
                message: said.join("\n"),
            }];
        }
        blocks
            .iter()
            .filter_map(|block| self.block(block))
            .collect()
    }

    fn block(&mut self, block: &Value) -> Option<StepEvent> {
        match block["type"].as_str()? {
            "text" => {
                self.spoke = true;
                text(&block["text"]).map(|text| StepEvent::Text { text })
            }
            "tool_use" => {
                let name = block["name"].as_str().unwrap_or("tool");
                if name == "StructuredOutput" {
                    self.last_answer = Some(block["input"].clone());
                } else {
                    self.tools += 1;
                }
                let target = ["file_path", "path", "command", "pattern", "notebook_path"]
                    .iter()
                    .find_map(|key| text(&block["input"][key]));
                Some(StepEvent::Activity {
                    tool: Some(name.to_owned()),
                    target,
                })
            }
            _ => Some(alive()),
        }
    }

    /// Pieces of a message that is still being written: signs of life, and the token counts.
    fn partial(&mut self, event: &Value) -> Vec<StepEvent> {
        match event["type"].as_str().unwrap_or_default() {
            "message_start" => {
                let usage = input_usage(&event["message"]["usage"]);
                self.usage.calls = 1;
                self.usage.input_tokens += usage.input_tokens;
                self.usage.cached_input_tokens += usage.cached_input_tokens;
                self.usage.cost_complete = false;
                vec![alive()]
            }
            "message_delta" => {
                self.usage.output_tokens += event["usage"]["output_tokens"].as_u64().unwrap_or(0);
                vec![StepEvent::Usage { usage: self.usage }]
            }
            _ => vec![alive()],
        }
    }

    fn limit(&mut self, info: &Value) -> Fed {
        if info["status"] != "rejected" {
            return Fed::nothing();
        }
        self.limit_resets = Some(info["resetsAt"].as_i64());
        Fed::one(StepEvent::Warning {
            message: "the usage limit is reached".into(),
        })
    }

    fn result(&mut self, event: &Value) -> Fed {
        self.session = text(&event["session_id"]).or_else(|| self.session.take());
        self.result = Some(Outcome {
            subtype: text(&event["subtype"]).unwrap_or_default(),
            is_error: event["is_error"] != false,
            status: event["api_error_status"].as_u64(),
            terminal_reason: text(&event["terminal_reason"]),
            stop_reason: text(&event["stop_reason"]),
            text: text(&event["result"]).unwrap_or_default(),
            structured: event
                .get("structured_output")
                .filter(|value| value.is_object())
                .cloned(),
            errors: event["errors"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(text)
                .collect(),
            turns: event["num_turns"].as_u64(),
        });
        let denials = event["permission_denials"]
            .as_array()
            .map_or(&[][..], Vec::as_slice);
        if !denials.is_empty() {
            self.denials = denials.iter().map(denial).collect();
        }
        let usage = input_usage(&event["usage"]);
        let cost = event["total_cost_usd"].as_f64();
        self.usage = Usage {
            calls: 1,
            output_tokens: event["usage"]["output_tokens"].as_u64().unwrap_or(0),
            cost_usd: cost,
            cost_complete: cost.is_some(),
            ..usage
        };
        Fed {
            events: vec![StepEvent::Usage { usage: self.usage }],
            flow: Flow::Terminal,
        }
    }
}

/// A refused tool call, with the command where there was one.
fn denial(event: &Value) -> Denial {
    let what =
        text(&event["tool_input"]["command"]).unwrap_or_else(|| event["tool_input"].to_string());
    Denial {
        rule: text(&event["tool_name"]).unwrap_or_default(),
        what,
    }
}

/// The tokens read, where the engine counts cached ones apart.
fn input_usage(usage: &Value) -> Usage {
    let count = |name: &str| usage[name].as_u64().unwrap_or(0);
    let cached = count("cache_read_input_tokens");
    Usage {
        input_tokens: count("input_tokens") + cached + count("cache_creation_input_tokens"),
        cached_input_tokens: cached,
        ..Usage::default()
    }
}

const fn alive() -> StepEvent {
    StepEvent::Activity {
        tool: None,
        target: None,
    }
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}
