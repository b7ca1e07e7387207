//! Any program as an agent: the escape hatch, and the example to learn the port from.
//!
//! The contract: the prompt comes on standard input, the work folder is the work tree, and these variables
//! are set: `XIV_ROLE`, `XIV_PASS` (from 1, unset outside passes), `XIV_RUN_ID`, `XIV_RESULT_FILE` (where
//! the program may write its JSON result) and `XIV_SCHEMA_FILE` (the JSON Schema of that result, unset
//! when none is wanted). Without a result file the last JSON object on standard output counts. Exit code 0
//! says that it ran; any other is a crash, whatever it wrote.

use std::io::ErrorKind;
use std::path::Path;

use async_trait::async_trait;
use xiv_core::model::Usage;
use xiv_core::port::{
    Agent, AgentCaps, AgentError, AgentErrorKind, AgentInfo, AgentReply, AgentRequest, Login,
    StepContext, StepEvent,
};
use xiv_core::rt::process::{Program, StopSignal};

use crate::engine::runner::{Call, Report, exchange_folder};
use crate::engine::{End, Fed, Identity, Parser, Plan};
use crate::host::Host;

/// How much of the end of standard output is kept, in bytes.
const KEPT_OUTPUT: usize = 8 << 20;

/// Runs a program of the user's as an agent.
#[derive(Debug)]
pub struct CommandAgent {
    host: Host,
    name: String,
    program: String,
    args: Vec<String>,
}

/// A command agent without a command.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("agent `{0}` has an empty command")]
pub struct EmptyCommand(pub String);

impl CommandAgent {
    /// An agent that runs this command line. A program with a slash is relative to the work tree.
    ///
    /// # Errors
    /// [`EmptyCommand`] when there is no program.
    pub fn new(
        host: Host,
        name: impl Into<String>,
        command: Vec<String>,
    ) -> Result<Self, EmptyCommand> {
        let name = name.into();
        let mut words = command.into_iter();
        match words.next() {
            Some(program) if !program.is_empty() => Ok(Self {
                host,
                name,
                program,
                args: words.collect(),
            }),
            _ => Err(EmptyCommand(name)),
        }
    }

    fn plan(&self, request: &AgentRequest, result: &Path, schema: &Path) -> Plan {
        let mut set = vec![
            ("XIV_ROLE", request.role.as_str().into()),
            ("XIV_RESULT_FILE", result.as_os_str().to_owned()),
        ];
        if let Some(pass) = request.pass {
            set.push(("XIV_PASS", pass.to_string().into()));
        }
        if let Some(run) = &request.run {
            set.push(("XIV_RUN_ID", run.as_str().into()));
        }
        let mut files = Vec::new();
        if let Some(wanted) = &request.schema {
            set.push(("XIV_SCHEMA_FILE", schema.as_os_str().to_owned()));
            files.push((schema.to_owned(), wanted.to_string()));
        }
        Plan {
            args: self.args.iter().map(Into::into).collect(),
            stdin: format!("{}\n\n{}", request.rules.as_str(), request.prompt),
            set,
            files,
            signal: StopSignal::Terminate,
        }
    }
}

#[async_trait]
impl Agent for CommandAgent {
    fn id(&self) -> String {
        format!("command:{}", self.name)
    }

    fn caps(&self) -> AgentCaps {
        AgentCaps {
            schema: false,
            resume: false,
            read_only: false,
            cost: false,
        }
    }

    async fn preflight(&self, _cx: StepContext) -> Result<AgentInfo, AgentError> {
        // A path is relative to a work tree that may not exist yet; only names can be looked up now.
        if !self.program.contains('/') {
            let path = self.host.environment().get("PATH").unwrap_or_default();
            Program::find_on(&self.program, path, Path::new("/"))
                .map_err(|error| AgentError::new(AgentErrorKind::Crashed, error.to_string()))?;
        }
        Ok(AgentInfo {
            version: None,
            login: Login::Unknown,
        })
    }

    async fn run(&self, request: AgentRequest, cx: StepContext) -> Result<AgentReply, AgentError> {
        let folder = exchange_folder(&request)?;
        let id = self.id();
        let result = folder.path().join("result.json");
        let plan = self.plan(&request, &result, &folder.path().join("schema.json"));
        let mut output = Output::default();
        let call = Call {
            name: &id,
            host: &self.host,
            request: &request,
            cx: &cx,
        };
        let report = call.execute(&self.program, plan, &mut output).await?;
        let usage = Usage {
            calls: 1,
            cost_complete: false,
            wall_ms: report.wall_ms(),
            ..Usage::default()
        };
        let outcome = written(&result)
            .and_then(|result| classify(&id, &report, result, output.text))
            .map(|reply| AgentReply { usage, ..reply })
            .map_err(|error| AgentError { usage, ..error });
        self.host
            .masked(outcome.map(|reply| report.recorded(reply)))
    }
}

/// What came of a call: how the program ended decides first.
fn classify(
    id: &str,
    report: &Report,
    result: Option<String>,
    output: String,
) -> Result<AgentReply, AgentError> {
    let End { cancel, .. } = report.end;
    if cancel.is_some() || !report.end.is_clean() {
        return Err(report.end.without_result(id));
    }
    // Both are text of the program's own making: whoever looks for the answer in it applies the rules for
    // such text (the last object counts, a doubled key is an error).
    Ok(AgentReply {
        text: result.unwrap_or(output),
        ..AgentReply::default()
    })
}

/// The content of the result file, if the program wrote any.
fn written(file: &Path) -> Result<Option<String>, AgentError> {
    match std::fs::read(file) {
        Ok(bytes) => {
            let text = String::from_utf8_lossy(&bytes).into_owned();
            Ok(Some(text).filter(|text| !text.trim().is_empty()))
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(AgentError::new(
            AgentErrorKind::Unparseable,
            format!("cannot read the result file: {error}"),
        )),
    }
}

/// Keeps the end of standard output and shows every line.
#[derive(Debug, Default)]
struct Output {
    text: String,
}

impl Parser for Output {
    fn feed(&mut self, line: &str) -> Fed {
        self.text.push_str(line);
        self.text.push('\n');
        if self.text.len() > KEPT_OUTPUT * 2 {
            let cut = self.text.ceil_char_boundary(self.text.len() - KEPT_OUTPUT);
            self.text.drain(..cut);
        }
        Fed::one(StepEvent::Output {
            line: line.to_owned(),
        })
    }

    fn identity(&self) -> Identity {
        Identity::default()
    }
}
