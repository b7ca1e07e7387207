//! A fake of the OpenAI Responses API (streaming), enough for the real Codex.

use axum::response::Response;
use serde_json::{Value, json};

use super::request::ModelRequest;
use super::script::{Failure, Part, Script, Turn};
use super::server::{Server, Wire, failure};
use super::sse::{self, End};

/// The variable that holds the fake provider's key.
const KEY_VARIABLE: &str = "FAKE_OPENAI_KEY";

/// A running fake of the Responses API.
#[derive(Debug)]
pub struct OpenAi(Server);

impl OpenAi {
    /// Starts the server on a free loopback port.
    #[must_use]
    pub fn start(script: Script) -> Self {
        Self(Server::start(Responses, script))
    }

    /// The base URL of the API, with its `/v1`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("{}/v1", self.0.url())
    }

    /// Every model request so far.
    #[must_use]
    pub fn requests(&self) -> Vec<ModelRequest> {
        self.0.requests()
    }

    /// A `config.toml` for a Codex home folder that makes this server the model provider. Retries are few
    /// so that failing tests end soon.
    #[must_use]
    pub fn codex_config(&self) -> String {
        format!(
            "model_provider = \"fake\"\ncheck_for_update_on_startup = false\nanalytics.enabled = false\n\n\
             [model_providers.fake]\nname = \"fake\"\nbase_url = \"{}\"\nwire_api = \"responses\"\n\
             env_key = \"{KEY_VARIABLE}\"\nrequest_max_retries = 1\nstream_max_retries = 1\n",
            self.url()
        )
    }

    /// The same settings as command-line arguments (`-c key=value` pairs).
    #[must_use]
    pub fn codex_args(&self) -> Vec<String> {
        let provider = format!(
            "model_providers.fake={{name=\"fake\",base_url=\"{}\",wire_api=\"responses\",env_key=\"{KEY_VARIABLE}\",\
             request_max_retries=1,stream_max_retries=1}}",
            self.url()
        );
        [
            "model_provider=\"fake\"",
            &provider,
            "check_for_update_on_startup=false",
            "analytics.enabled=false",
        ]
        .iter()
        .flat_map(|setting| ["-c".to_owned(), (*setting).to_owned()])
        .collect()
    }

    /// The environment that goes with either form: the key that the fake provider asks for.
    #[must_use]
    pub fn codex_env(&self) -> Vec<(String, String)> {
        vec![(KEY_VARIABLE.to_owned(), "sk-fake".to_owned())]
    }
}

struct Responses;

impl Wire for Responses {
    fn aside(&self, path: &str) -> Option<Value> {
        path.ends_with("/models")
            .then(|| json!({"object": "list", "data": [], "models": []}))
    }

    fn is_model_call(&self, path: &str) -> bool {
        path.ends_with("/responses")
    }

    fn render(&self, request: &ModelRequest, turn: Turn) -> Response {
        let id = format!("resp_{}", request.index);
        match turn {
            Turn::Answer(parts) => {
                let items: Vec<Value> = parts
                    .iter()
                    .enumerate()
                    .map(|(at, part)| item(request, &format!("{id}_{at}"), part))
                    .collect();
                sse::response(answer(&id, &items), End::Clean)
            }
            Turn::Fail(Failure {
                status,
                kind,
                message,
                headers,
            }) => {
                let kind = if kind.is_empty() {
                    usual_code(status)
                } else {
                    &kind
                };
                failure(
                    status,
                    json!({"error": {"message": message, "type": kind, "param": null, "code": kind}}),
                    &headers,
                )
            }
            Turn::Refuse => {
                let error = json!({"code": "invalid_prompt", "message": "Invalid prompt: your prompt was flagged as potentially violating our usage policy."});
                let response = json!({"id": id, "object": "response", "status": "failed", "error": error, "output": []});
                sse::response(
                    vec![
                        created(&id),
                        json!({"type": "response.failed", "response": response}),
                    ],
                    End::Clean,
                )
            }
            Turn::OutputLimit => {
                let why = json!({"reason": "max_output_tokens"});
                let response = json!({"id": id, "object": "response", "status": "incomplete", "incomplete_details": why, "output": []});
                sse::response(
                    vec![
                        created(&id),
                        json!({"type": "response.incomplete", "response": response}),
                    ],
                    End::Clean,
                )
            }
            Turn::Cut => sse::response(opening(&id), End::Cut),
            Turn::Hang => sse::response(vec![created(&id)], End::Never),
            Turn::Silent | Turn::After(..) => {
                unreachable!("the server handles these before it renders")
            }
        }
    }
}

fn usual_code(status: u16) -> &'static str {
    match status {
        401 => "invalid_api_key",
        403 => "forbidden",
        404 => "model_not_found",
        429 => "rate_limit_exceeded",
        400 => "invalid_request_error",
        _ => "server_error",
    }
}

fn created(id: &str) -> Value {
    json!({"type": "response.created", "response": {"id": id, "object": "response", "status": "in_progress", "output": []}})
}

fn opening(id: &str) -> Vec<Value> {
    let item = json!({"type": "message", "id": "msg_cut", "role": "assistant", "content": []});
    vec![
        created(id),
        json!({"type": "response.output_item.added", "output_index": 0, "item": item}),
        json!({"type": "response.output_text.delta", "output_index": 0, "content_index": 0, "item_id": "msg_cut", "delta": "{\"verd"}),
    ]
}

fn answer(id: &str, items: &[Value]) -> Vec<Value> {
    let mut events = vec![created(id)];
    for (index, item) in items.iter().enumerate() {
        events.push(
            json!({"type": "response.output_item.added", "output_index": index, "item": item}),
        );
        events.push(
            json!({"type": "response.output_item.done", "output_index": index, "item": item}),
        );
    }
    let usage = json!({
        "input_tokens": 100, "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": 20, "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 120,
    });
    events.push(json!({"type": "response.completed", "response": {
        "id": id, "object": "response", "status": "completed", "output": items, "usage": usage,
    }}));
    events
}

fn item(request: &ModelRequest, id: &str, part: &Part) -> Value {
    let message = |text: String| {
        json!({"type": "message", "id": format!("msg_{id}"), "role": "assistant",
               "content": [{"type": "output_text", "text": text, "annotations": []}]})
    };
    match part {
        Part::Text(text) => message(text.clone()),
        Part::Structured(value) => message(value.to_string()),
        Part::Run(command) => shell(request, id, command),
        Part::Write { path, content } => write(request, id, path, content),
        Part::Tool { name, input } => function(id, name, input),
    }
}

fn function(id: &str, name: &str, input: &Value) -> Value {
    json!({"type": "function_call", "id": format!("fc_{id}"), "call_id": format!("call_{id}"), "name": name,
           "arguments": input.to_string()})
}

/// A call of whichever shell tool this Codex offers for this model.
fn shell(request: &ModelRequest, id: &str, command: &str) -> Value {
    let tools = request.tools();
    if runs_scripts(request) {
        let input = json!({"cmd": command});
        script(
            id,
            &format!("text((await tools.exec_command({input})).output)"),
        )
    } else if tools.contains(&"exec_command") {
        function(id, "exec_command", &json!({"cmd": command}))
    } else if tools.contains(&"shell_command") {
        function(id, "shell_command", &json!({"command": command}))
    } else {
        function(id, "shell", &json!({"command": ["bash", "-lc", command]}))
    }
}

/// A new file through `apply_patch`, as a tool where it is offered, else through the shell.
fn write(request: &ModelRequest, id: &str, path: &str, content: &str) -> Value {
    let added: String = content.lines().map(|line| format!("+{line}\n")).collect();
    let patch = format!("*** Begin Patch\n*** Add File: {path}\n{added}*** End Patch\n");
    if runs_scripts(request) {
        let input = Value::String(patch);
        return script(id, &format!("text(await tools.apply_patch({input}))"));
    }
    match request.tool("apply_patch") {
        Some(tool) if tool["type"] == "custom" => custom(id, "apply_patch", &patch),
        Some(_) => function(id, "apply_patch", &json!({"input": patch})),
        None => shell(
            request,
            id,
            &format!("apply_patch <<'END_OF_PATCH'\n{patch}END_OF_PATCH"),
        ),
    }
}

/// Newer models get one tool, `exec`, that runs a script which calls the others.
fn runs_scripts(request: &ModelRequest) -> bool {
    request
        .tool("exec")
        .is_some_and(|tool| tool["type"] == "custom")
}

fn script(id: &str, source: &str) -> Value {
    custom(id, "exec", source)
}

fn custom(id: &str, name: &str, input: &str) -> Value {
    json!({"type": "custom_tool_call", "id": format!("ct_{id}"), "call_id": format!("call_{id}"),
           "name": name, "input": input})
}
