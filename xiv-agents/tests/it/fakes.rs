//! The fake model servers against the real programs, driven by hand: the fakes themselves are right.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};
use xiv_agents::fakes::{Anthropic, OpenAi, Part, Script, Turn};

use crate::peers::{Scratch, find};

const SCHEMA: &str = r#"{"type":"object","additionalProperties":false,"required":["verdict"],
    "properties":{"verdict":{"type":"string","enum":["approve","request_changes"]}}}"#;

fn run(mut command: Command, scratch: &Scratch, extra: Vec<(String, String)>) -> Output {
    let mut child = command
        .current_dir(scratch.repo())
        .env_clear()
        .envs(scratch.env())
        .envs(extra)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    child
        .stdin
        .take()
        .expect("a pipe")
        .write_all(b"please do the work")
        .expect("a prompt");
    child.wait_with_output().expect("the program ends")
}

fn claude(scratch: &Scratch, model: &Anthropic) -> Option<Output> {
    let mut command = Command::new(find("claude")?);
    command.args([
        "-p",
        "--output-format",
        "stream-json",
        "--verbose",
        "--permission-mode",
        "acceptEdits",
    ]);
    command.args([
        "--allowedTools",
        "Bash",
        "--setting-sources",
        "",
        "--strict-mcp-config",
    ]);
    command.args(["--model", "claude-sonnet-4-5", "--json-schema", SCHEMA]);
    let mut env = model.claude_env();
    env.push(("CLAUDE_CODE_MAX_RETRIES".into(), "1".into()));
    Some(run(command, scratch, env))
}

fn codex(scratch: &Scratch, model: &OpenAi) -> Option<Output> {
    let schema = scratch.path("schema.json");
    std::fs::write(&schema, SCHEMA).expect("a schema file");
    let mut command = Command::new(find("codex")?);
    command.args([
        "exec",
        "--json",
        "--skip-git-repo-check",
        "-s",
        "workspace-write",
        "-m",
        "fake-model",
    ]);
    command
        .args(model.codex_args())
        .arg("-o")
        .arg(scratch.path("last.txt"));
    command.arg("--output-schema").arg(schema).arg("-");
    Some(run(command, scratch, model.codex_env()))
}

fn lines(output: &Output) -> Vec<Value> {
    output
        .stdout
        .split(|b| *b == b'\n')
        .filter_map(|line| serde_json::from_slice(line).ok())
        .collect()
}

#[test]
fn peer_claude_writes_runs_and_answers() {
    let scratch = Scratch::new();
    let model = Anthropic::start(Script::turns([
        Turn::write("hello.txt", "hello\n"),
        Turn::run("printf 'more\\n' >> hello.txt"),
        Turn::structured(json!({"verdict": "approve"})),
    ]));
    let Some(output) = claude(&scratch, &model) else {
        return;
    };
    let events = lines(&output);
    assert!(output.status.success(), "{events:#?}");
    let result = events
        .iter()
        .rfind(|e| e["type"] == "result")
        .expect("a result event");
    assert_eq!(result["structured_output"], json!({"verdict": "approve"}));
    assert_eq!(
        std::fs::read_to_string(scratch.repo().join("hello.txt")).expect("written"),
        "hello\nmore\n"
    );
    let requests = model.requests();
    assert_eq!(requests.len(), 3);
    assert!(requests[0].user_text().contains("please do the work"));
    assert_eq!(
        requests
            .iter()
            .map(|r| r.tool_results())
            .collect::<Vec<_>>(),
        [0, 1, 2]
    );
}

#[test]
fn peer_claude_sees_failures() {
    let scratch = Scratch::new();
    for (turn, status) in [
        (Turn::status(403), json!(403)),
        (Turn::status(429), json!(429)),
        (Turn::Cut, Value::Null),
    ] {
        let model = Anthropic::start(Script::always(turn.clone()));
        let Some(output) = claude(&scratch, &model) else {
            return;
        };
        let events = lines(&output);
        let result = events
            .iter()
            .rfind(|e| e["type"] == "result")
            .expect("a result event");
        assert_eq!(
            (&result["is_error"], &result["api_error_status"]),
            (&json!(true), &status),
            "{turn:?}"
        );
    }
}

#[test]
fn peer_codex_writes_runs_and_answers() {
    let scratch = Scratch::new();
    let model = OpenAi::start(Script::turns([
        Turn::Answer(vec![
            Part::Structured(json!({"verdict": "approve"})),
            Part::Write {
                path: "hello.txt".into(),
                content: "hello\n".into(),
            },
        ]),
        Turn::run("printf 'more\\n' >> hello.txt"),
        Turn::structured(json!({"verdict": "request_changes"})),
    ]));
    let Some(output) = codex(&scratch, &model) else {
        return;
    };
    let events = lines(&output);
    assert!(
        output.status.success(),
        "{events:#?}\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert_eq!(events.last().expect("events")["type"], "turn.completed");
    let last = std::fs::read_to_string(scratch.path("last.txt")).expect("the last message");
    assert_eq!(last, r#"{"verdict":"request_changes"}"#);
    assert_eq!(
        std::fs::read_to_string(scratch.repo().join("hello.txt")).expect("written"),
        "hello\nmore\n"
    );
    let requests = model.requests();
    assert_eq!(requests.len(), 3);
    assert!(requests[0].user_text().contains("please do the work"));
    assert_eq!(
        requests
            .iter()
            .map(|r| r.tool_results())
            .collect::<Vec<_>>(),
        [0, 1, 2]
    );
}

#[test]
fn peer_codex_sees_failures() {
    let scratch = Scratch::new();
    for (turn, words) in [
        (Turn::status(401), "401 Unauthorized"),
        (Turn::status(429), "429 Too Many Requests"),
        (Turn::OutputLimit, "max_output_tokens"),
        (Turn::Cut, "stream disconnected"),
    ] {
        let model = OpenAi::start(Script::always(turn.clone()));
        let Some(output) = codex(&scratch, &model) else {
            return;
        };
        let last = lines(&output).pop().expect("events");
        assert_eq!(last["type"], "turn.failed", "{turn:?}");
        assert!(
            last["error"]["message"]
                .as_str()
                .is_some_and(|m| m.contains(words)),
            "{turn:?}: {last}"
        );
    }
}

#[test]
fn a_script_that_ran_out_says_so() {
    let model = OpenAi::start(Script::turns([]));
    let host = model
        .url()
        .trim_start_matches("http://")
        .trim_end_matches("/v1")
        .to_owned();
    let mut connection = TcpStream::connect(&host).expect("a loopback connection");
    let request = format!(
        "POST /v1/responses HTTP/1.1\r\nhost: {host}\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{{}}"
    );
    connection.write_all(request.as_bytes()).expect("a request");
    let mut answer = String::new();
    connection.read_to_string(&mut answer).expect("an answer");
    assert!(
        answer.starts_with("HTTP/1.1 400") && answer.contains("no turn left"),
        "{answer}"
    );
}
