//! A fake of the Anthropic Messages API, enough for the real Claude Code.

use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use super::request::ModelRequest;
use super::script::{Failure, Part, Script, Turn};
use super::server::{Server, Wire, failure};
use super::sse::{self, End};

/// A running fake of the Messages API (streaming and not).
#[derive(Debug)]
pub struct Anthropic(Server);

impl Anthropic {
    /// Starts the server on a free loopback port.
    #[must_use]
    pub fn start(script: Script) -> Self {
        Self(Server::start(Messages, script))
    }

    /// The base URL, for `ANTHROPIC_BASE_URL`.
    #[must_use]
    pub fn url(&self) -> String {
        self.0.url()
    }

    /// Every model request so far.
    #[must_use]
    pub fn requests(&self) -> Vec<ModelRequest> {
        self.0.requests()
    }

    /// The environment that makes Claude Code use this server and nothing else on the network.
    #[must_use]
    pub fn claude_env(&self) -> Vec<(String, String)> {
        let url = self.url();
        [
            ("ANTHROPIC_BASE_URL", url.as_str()),
            ("ANTHROPIC_API_KEY", "sk-ant-fake"),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
            ("DISABLE_TELEMETRY", "1"),
            ("DISABLE_AUTOUPDATER", "1"),
            ("DISABLE_ERROR_REPORTING", "1"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into()
    }
}

struct Messages;

impl Wire for Messages {
    fn aside(&self, path: &str) -> Option<Value> {
        path.ends_with("/count_tokens")
            .then(|| json!({"input_tokens": 100}))
    }

    fn is_model_call(&self, path: &str) -> bool {
        path.ends_with("/v1/messages")
    }

    fn render(&self, request: &ModelRequest, turn: Turn) -> Response {
        let message = Message { request };
        match turn {
            Turn::Answer(parts) => message.answer(&parts),
            Turn::Fail(Failure {
                status,
                kind,
                message,
                headers,
            }) => {
                let kind = if kind.is_empty() {
                    usual_type(status)
                } else {
                    &kind
                };
                let body = json!({"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_fake"});
                failure(status, body, &headers)
            }
            Turn::Refuse => message.whole(&[json!({"type": "text", "text": ""})], "refusal"),
            Turn::OutputLimit => {
                message.whole(&[json!({"type": "text", "text": "cut off"})], "max_tokens")
            }
            Turn::Cut => sse::response(message.opening(), End::Cut),
            Turn::Hang => sse::response(message.opening(), End::Never),
            Turn::Silent | Turn::After(..) => {
                unreachable!("the server handles these before it renders")
            }
        }
    }
}

fn usual_type(status: u16) -> &'static str {
    match status {
        400 => "invalid_request_error",
        401 => "authentication_error",
        403 => "permission_error",
        404 => "not_found_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        529 => "overloaded_error",
        _ => "api_error",
    }
}

struct Message<'a> {
    request: &'a ModelRequest,
}

impl Message<'_> {
    fn answer(&self, parts: &[Part]) -> Response {
        let blocks: Vec<Value> = parts
            .iter()
            .enumerate()
            .map(|(i, part)| self.block(i, part))
            .collect();
        let stop = if blocks.iter().any(|b| b["type"] == "tool_use") {
            "tool_use"
        } else {
            "end_turn"
        };
        self.whole(&blocks, stop)
    }

    fn block(&self, at: usize, part: &Part) -> Value {
        let tool = |name: &str, input: Value| {
            let id = format!("toolu_{}_{at}", self.request.index);
            json!({"type": "tool_use", "id": id, "name": name, "input": input})
        };
        match part {
            Part::Text(text) => json!({"type": "text", "text": text}),
            Part::Structured(value) if self.request.tools().contains(&"StructuredOutput") => {
                tool("StructuredOutput", value.clone())
            }
            Part::Structured(value) => json!({"type": "text", "text": value.to_string()}),
            Part::Write { path, content } => {
                let path = match self.request.work_dir() {
                    Some(dir) if !path.starts_with('/') => format!("{dir}/{path}"),
                    _ => path.clone(),
                };
                tool("Write", json!({"file_path": path, "content": content}))
            }
            Part::Run(command) => tool(
                "Bash",
                json!({"command": command, "description": "run a command"}),
            ),
            Part::Tool { name, input } => tool(name, input.clone()),
        }
    }

    /// The message as one JSON body or as a stream, as the client asked.
    fn whole(&self, blocks: &[Value], stop: &str) -> Response {
        let id = format!("msg_{}", self.request.index);
        if self.request.body["stream"] != true {
            return axum::Json(json!({
                "id": id, "type": "message", "role": "assistant", "model": self.request.model(),
                "content": blocks, "stop_reason": stop, "stop_sequence": null,
                "usage": {"input_tokens": 100, "output_tokens": 20},
            }))
            .into_response();
        }
        let mut events = vec![self.start()];
        for (index, block) in blocks.iter().enumerate() {
            events.extend(block_events(index, block));
        }
        events.push(json!({
            "type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": null}, "usage": {"output_tokens": 20},
        }));
        events.push(json!({"type": "message_stop"}));
        sse::response(events, End::Clean)
    }

    fn start(&self) -> Value {
        json!({"type": "message_start", "message": {
            "id": format!("msg_{}", self.request.index), "type": "message", "role": "assistant",
            "model": self.request.model(), "content": [], "stop_reason": null, "stop_sequence": null,
            "usage": {"input_tokens": 100, "output_tokens": 1, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0},
        }})
    }

    /// The beginning of a text answer that will not end.
    fn opening(&self) -> Vec<Value> {
        let mut events = vec![self.start()];
        events.extend(block_events(
            0,
            &json!({"type": "text", "text": "partial answer"}),
        ));
        events.pop();
        events
    }
}

fn block_events(index: usize, block: &Value) -> Vec<Value> {
    let mut empty = block.clone();
    let delta = if block["type"] == "tool_use" {
        empty["input"] = json!({});
        json!({"type": "input_json_delta", "partial_json": block["input"].to_string()})
    } else {
        empty["text"] = json!("");
        json!({"type": "text_delta", "text": block["text"]})
    };
    vec![
        json!({"type": "content_block_start", "index": index, "content_block": empty}),
        json!({"type": "content_block_delta", "index": index, "delta": delta}),
        json!({"type": "content_block_stop", "index": index}),
    ]
}
