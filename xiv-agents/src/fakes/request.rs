//! The model request that an agent sent, with the few questions that scripts ask about it.
//!
//! Scripts answer by content ("is this the review prompt?", "did the tool run yet?"). The two providers
//! lay that out differently; this view hides the difference.

use serde_json::Value;

/// One recorded request to a fake model.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelRequest {
    /// Counts from 0 over the server's life.
    pub index: usize,
    /// The request path without its query.
    pub path: String,
    /// Request headers, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The JSON body; `null` when it was not JSON.
    pub body: Value,
}

impl ModelRequest {
    /// Says whether the text occurs in any message or system prompt of the request.
    #[must_use]
    pub fn contains(&self, text: &str) -> bool {
        let mut found = false;
        for key in ["system", "instructions", "messages", "input"] {
            each_text(&self.body[key], &mut |t| found |= t.contains(text));
        }
        found
    }

    /// All texts of user messages, in order, joined by blank lines. For Codex this includes the context
    /// messages that it adds itself.
    #[must_use]
    pub fn user_text(&self) -> String {
        let mut texts = Vec::new();
        for message in self.conversation() {
            if message["role"] == "user" {
                each_text(&message["content"], &mut |t| texts.push(t.to_owned()));
            }
        }
        texts.join("\n\n")
    }

    /// How many tool results the conversation holds so far. 0 means that the agent has not worked yet.
    #[must_use]
    pub fn tool_results(&self) -> usize {
        self.conversation()
            .iter()
            .map(|message| {
                let direct = message["type"]
                    .as_str()
                    .is_some_and(|t| t.ends_with("_output"));
                let nested = message["content"].as_array().map_or(0, |blocks| {
                    blocks.iter().filter(|b| b["type"] == "tool_result").count()
                });
                usize::from(direct) + nested
            })
            .sum()
    }

    /// The text of the last tool result, if any.
    #[must_use]
    pub fn last_tool_result(&self) -> Option<String> {
        let mut last = None;
        for message in self.conversation() {
            if message["type"]
                .as_str()
                .is_some_and(|t| t.ends_with("_output"))
            {
                last = Some(flatten(&message["output"]));
            }
            for block in message["content"].as_array().into_iter().flatten() {
                if block["type"] == "tool_result" {
                    last = Some(flatten(&block["content"]));
                }
            }
        }
        last
    }

    /// The names of the tools that the agent offers, wherever it lists them.
    #[must_use]
    pub fn tools(&self) -> Vec<&str> {
        let mut names = Vec::new();
        self.each_tool(&mut |tool| {
            names.extend(tool["name"].as_str().or_else(|| tool["type"].as_str()));
        });
        names
    }

    /// The definition of a tool that the agent offers.
    #[must_use]
    pub fn tool(&self, name: &str) -> Option<&Value> {
        let mut found = None;
        self.each_tool(&mut |tool| {
            if tool["name"] == name {
                found = Some(tool);
            }
        });
        found
    }

    /// Visits plain tools and, in Codex's newer form, those inside namespaces of an input item.
    fn each_tool<'a>(&'a self, f: &mut impl FnMut(&'a Value)) {
        let added = self
            .conversation()
            .iter()
            .filter(|item| item["type"] == "additional_tools");
        let lists = std::iter::once(&self.body["tools"]).chain(added.map(|item| &item["tools"]));
        for tool in lists.filter_map(Value::as_array).flatten() {
            match tool["tools"].as_array() {
                Some(inner) if tool["type"] == "namespace" => inner.iter().for_each(&mut *f),
                _ => f(tool),
            }
        }
    }

    /// The model that the agent asked for.
    #[must_use]
    pub fn model(&self) -> &str {
        self.body["model"].as_str().unwrap_or("fake-model")
    }

    /// The agent's work folder as its own prompt states it, if it does.
    #[must_use]
    pub fn work_dir(&self) -> Option<String> {
        let mut found = None;
        for key in ["system", "messages", "input", "instructions"] {
            each_text(&self.body[key], &mut |text| {
                if found.is_none() {
                    found = stated_dir(text);
                }
            });
        }
        found
    }

    fn conversation(&self) -> &[Value] {
        let list = self.body.get("messages").or_else(|| self.body.get("input"));
        list.and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }
}

/// Calls `f` with every string under a `text`/`content`/`output` key, and with a bare string.
fn each_text(value: &Value, f: &mut impl FnMut(&str)) {
    match value {
        Value::String(text) => f(text),
        Value::Array(items) => items.iter().for_each(|item| each_text(item, f)),
        Value::Object(map) => {
            for key in ["text", "content", "output"] {
                if let Some(inner) = map.get(key) {
                    each_text(inner, f);
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn flatten(value: &Value) -> String {
    let mut texts = Vec::new();
    each_text(value, &mut |t| texts.push(t.to_owned()));
    texts.join("\n")
}

/// Finds the folder in "working directory: /x" (Claude) or "<cwd>/x</cwd>" (Codex).
fn stated_dir(text: &str) -> Option<String> {
    let rest = ["<cwd>", "orking directory: ", "orking directory is "]
        .iter()
        .find_map(|marker| text.split_once(marker).map(|(_, rest)| rest))?;
    let path: String = rest
        .chars()
        .take_while(|c| !c.is_whitespace() && *c != '<')
        .collect();
    path.starts_with('/').then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn request(body: Value) -> ModelRequest {
        ModelRequest {
            index: 0,
            path: "/".into(),
            headers: Vec::new(),
            body,
        }
    }

    #[test]
    fn reads_both_providers_alike() {
        let claude = request(json!({
            "system": [{"type": "text", "text": "Primary working directory: /tmp/repo\nmore"}],
            "messages": [
                {"role": "user", "content": [{"type": "text", "text": "do it"}]},
                {"role": "user", "content": [{"type": "tool_result", "content": "ran"}]},
            ],
        }));
        let codex = request(json!({
            "instructions": "be good",
            "input": [
                {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "<cwd>/tmp/repo</cwd>"}]},
                {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "do it"}]},
                {"type": "function_call_output", "call_id": "1", "output": "ran"},
            ],
        }));
        for r in [claude, codex] {
            assert!(r.contains("do it") && !r.contains("review"));
            assert!(r.user_text().contains("do it"));
            assert_eq!(r.tool_results(), 1);
            assert_eq!(r.last_tool_result().as_deref(), Some("ran"));
            assert_eq!(r.work_dir().as_deref(), Some("/tmp/repo"));
        }
    }
}
