//! Every adapter keeps the rules of the agent port.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use serde_json::Value;
use xiv_agents::fakes::{Anthropic, ModelRequest, OpenAi, Script, Turn};
use xiv_agents::{Claude, ClaudeOptions, Codex, CodexOptions, CommandAgent, Host, ScriptedAgent};
use xiv_core::port::{Agent, Clock};
use xiv_core::rt::SystemClock;
use xiv_core::rt::process::Environment;
use xiv_core::test_support::conformance::{AgentBench, AgentScript, agent};

use crate::peers::{Scratch, find};
use crate::support::left_behind;

/// The adapters, each with what makes its next call go as scripted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Command,
    Scripted,
    Claude,
    Codex,
}

struct Bench {
    kind: Kind,
    scratch: Scratch,
    /// Fakes live as long as the bench.
    models: Mutex<Vec<Box<dyn Send>>>,
}

impl Bench {
    fn new(kind: Kind) -> Self {
        Self {
            kind,
            scratch: Scratch::new(),
            models: Mutex::default(),
        }
    }

    fn host(&self, extra: Vec<(String, String)>) -> Host {
        Host::new(
            self.scratch
                .env()
                .into_iter()
                .chain(extra)
                .collect::<Environment>(),
        )
    }

    fn keep(&self, model: impl Send + 'static) {
        self.models.lock().expect("models").push(Box::new(model));
    }

    fn claude(&self, script: Script) -> Option<Arc<dyn Agent>> {
        let model = Anthropic::start(script);
        let options = ClaudeOptions {
            program: Some(find("claude")?),
            ..ClaudeOptions::default()
        };
        let agent = Claude::new(self.host(model.claude_env()), options);
        self.keep(model);
        Some(Arc::new(agent))
    }

    fn codex(&self, script: Script) -> Option<Arc<dyn Agent>> {
        let model = OpenAi::start(script);
        let options = CodexOptions {
            program: Some(find("codex")?),
            extra_args: model.codex_args(),
        };
        let agent = Codex::new(self.host(model.codex_env()), options);
        self.keep(model);
        Some(Arc::new(agent))
    }
}

#[async_trait]
impl AgentBench for Bench {
    async fn agent(&self, script: AgentScript) -> Option<Arc<dyn Agent>> {
        let host = || self.host(Vec::new());
        match self.kind {
            Kind::Command => {
                let command = vec!["sh".into(), "-c".into(), shell(&script)];
                Some(Arc::new(
                    CommandAgent::new(host(), "bench", command).expect("a command"),
                ))
            }
            Kind::Scripted => {
                let file = toml_script(&script);
                Some(Arc::new(
                    ScriptedAgent::parse(host(), "bench.toml", &file).expect("a script"),
                ))
            }
            Kind::Claude => self.claude(model(script)?),
            Kind::Codex => self.codex(model(script)?),
        }
    }

    async fn missing(&self) -> Option<Arc<dyn Agent>> {
        let host = self.host(Vec::new());
        let program = Some(PathBuf::from("/nowhere/at/all"));
        match self.kind {
            Kind::Command => {
                let command = vec!["no-such-program-anywhere".into()];
                Some(Arc::new(
                    CommandAgent::new(host, "bench", command).expect("a command"),
                ))
            }
            Kind::Scripted => None,
            Kind::Claude => Some(Arc::new(Claude::new(
                host,
                ClaudeOptions {
                    program,
                    ..ClaudeOptions::default()
                },
            ))),
            Kind::Codex => Some(Arc::new(Codex::new(
                host,
                CodexOptions {
                    program,
                    ..CodexOptions::default()
                },
            ))),
        }
    }

    fn clock(&self) -> Arc<dyn Clock> {
        Arc::new(SystemClock)
    }

    fn cwd(&self) -> PathBuf {
        self.scratch.repo()
    }

    fn read(&self, path: &str) -> Option<String> {
        std::fs::read_to_string(self.scratch.repo().join(path)).ok()
    }

    fn left_behind(&self, mark: &str) -> usize {
        left_behind(mark).len()
    }
}

/// The script as a model's turns. A program that crashes is another matter.
fn model(script: AgentScript) -> Option<Script> {
    Some(match script {
        AgentScript::Answers(value) => Script::always(Turn::structured(value)),
        AgentScript::Says(text) => Script::always(Turn::text(text)),
        AgentScript::Writes {
            path,
            content,
            answer,
        } => Script::by(move |request: &ModelRequest| {
            if request.tool_results() == 0 {
                Turn::write(path, content)
            } else {
                Turn::structured(with_every_field(answer.clone()))
            }
        }),
        AgentScript::Hangs => Script::always(Turn::Hang),
        AgentScript::Crashes => return None,
    })
}

/// The engines hold their model to every field of the schema.
fn with_every_field(mut answer: Value) -> Value {
    answer["evidence"] = Value::Array(Vec::new());
    answer
}

fn shell(script: &AgentScript) -> String {
    match script {
        AgentScript::Answers(value) => format!("cat > \"$XIV_RESULT_FILE\" <<'END'\n{value}\nEND"),
        AgentScript::Says(text) => format!("echo '{text}'"),
        AgentScript::Writes {
            path,
            content,
            answer,
        } => {
            format!("printf '%s' '{content}' > {path}; echo '{answer}'; setsid sleep 300 &")
        }
        AgentScript::Hangs => "setsid sleep 300 & sleep 301".into(),
        AgentScript::Crashes => "exit 3".into(),
    }
}

fn toml_script(script: &AgentScript) -> String {
    // TOML has no null: such an answer is said as text
    let reply = |value: &Value| format!("text = '''{value}'''");
    let ending = match script {
        AgentScript::Answers(value) => reply(value),
        AgentScript::Says(text) => format!("text = {text:?}"),
        AgentScript::Writes {
            path,
            content,
            answer,
        } => {
            format!("write = {{ {path:?} = {content:?} }}\n{}", reply(answer))
        }
        AgentScript::Hangs => "fail = \"hang\"".into(),
        AgentScript::Crashes => "fail = \"crash\"".into(),
    };
    let turn = |role: &str| format!("[[turn]]\nrole = \"{role}\"\n{ending}\n");
    turn("review") + &turn("implement") + &turn("plan")
}

#[tokio::test]
async fn the_command_agent_conforms() {
    agent(&Bench::new(Kind::Command)).await;
}

#[tokio::test]
async fn the_scripted_agent_conforms() {
    agent(&Bench::new(Kind::Scripted)).await;
}

#[tokio::test]
async fn peer_claude_conforms() {
    agent(&Bench::new(Kind::Claude)).await;
}

#[tokio::test]
async fn peer_codex_conforms() {
    agent(&Bench::new(Kind::Codex)).await;
}
