//! An agent that answers from a script and can misbehave in every way that
//! the port knows.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use futures::future::{Either, pending, select};
use serde::Serialize;

use super::{CrashSwitch, FakeVcs, lock};
use crate::model::Usage;
use crate::port::{
    Agent, AgentCaps, AgentError, AgentErrorKind, AgentInfo, AgentReply, AgentRequest, AgentRole,
    Denial, Login, StepContext, StepEvent,
};

type Action = Box<dyn FnOnce(&AgentRequest) + Send>;
type Rule = Arc<dyn Fn(&AgentRequest) -> ScriptedReply + Send + Sync>;

/// What an agent does and says when it is called once.
///
/// In this order: it reports its events, carries out its actions, takes its
/// time, and ends.
pub struct ScriptedReply {
    end: End,
    usage: Usage,
    session: Option<String>,
    events: Vec<StepEvent>,
    actions: Vec<Action>,
    takes: Duration,
}

enum End {
    Reply(AgentReply),
    Fail(AgentError),
    Hang,
    Deaf,
    Crash(CrashSwitch),
}

impl ScriptedReply {
    fn ending(end: End) -> Self {
        Self {
            end,
            usage: Usage {
                calls: 1,
                cost_usd: Some(0.0),
                ..Usage::default()
            },
            session: None,
            events: Vec::new(),
            actions: Vec::new(),
            takes: Duration::ZERO,
        }
    }

    /// Answers with a value on the structured channel.
    ///
    /// # Panics
    /// When the value cannot be written as JSON.
    pub fn json(value: &impl Serialize) -> Self {
        let json = serde_json::to_value(value).expect("a scripted answer is JSON");
        Self::ending(End::Reply(AgentReply {
            text: json.to_string(),
            json: Some(json),
            ..AgentReply::default()
        }))
    }

    /// Answers with text alone.
    pub fn text(text: impl Into<String>) -> Self {
        Self::ending(End::Reply(AgentReply {
            text: text.into(),
            ..AgentReply::default()
        }))
    }

    /// Fails.
    #[must_use]
    pub fn fail(kind: AgentErrorKind) -> Self {
        Self::error(AgentError::new(kind, "the script says so"))
    }

    /// Fails with this very error.
    #[must_use]
    pub fn error(error: AgentError) -> Self {
        Self {
            usage: error.usage,
            session: error.session.clone(),
            ..Self::ending(End::Fail(error))
        }
    }

    /// Falls silent until it is cancelled.
    #[must_use]
    pub fn hang() -> Self {
        Self::ending(End::Hang)
    }

    /// Falls silent and does not listen to the stop signal either.
    #[must_use]
    pub fn ignore_cancel() -> Self {
        Self::ending(End::Deaf)
    }

    /// xiv itself dies during the call.
    #[must_use]
    pub fn crash(switch: &CrashSwitch) -> Self {
        Self::ending(End::Crash(switch.clone()))
    }

    /// Does something during the call.
    #[must_use]
    pub fn doing(mut self, action: impl FnOnce(&AgentRequest) + Send + 'static) -> Self {
        self.actions.push(Box::new(action));
        self
    }

    /// Writes a file into the work tree that the request names.
    ///
    /// # Panics
    /// During the call, when the request names none of the repository's work
    /// trees.
    #[must_use]
    pub fn writing(
        self,
        vcs: &FakeVcs,
        path: impl Into<String>,
        content: impl Into<Vec<u8>>,
    ) -> Self {
        let (vcs, path, content) = (vcs.clone(), path.into(), content.into());
        self.doing(move |request| vcs.work_tree(&request.cwd).write(&path, content))
    }

    /// Reports something while it works.
    #[must_use]
    pub fn reporting(mut self, event: StepEvent) -> Self {
        self.events.push(event);
        self
    }

    /// Takes this long, by the context's clock.
    #[must_use]
    pub const fn taking(mut self, duration: Duration) -> Self {
        self.takes = duration;
        self
    }

    /// Used this much; also when it fails. Default: one call that cost nothing.
    #[must_use]
    pub const fn using(mut self, usage: Usage) -> Self {
        self.usage = usage;
        self
    }

    /// Names the conversation.
    #[must_use]
    pub fn in_session(mut self, session: impl Into<String>) -> Self {
        self.session = Some(session.into());
        self
    }

    /// Was refused something during the call. Without effect on a failure.
    #[must_use]
    pub fn denied(mut self, rule: impl Into<String>, what: impl Into<String>) -> Self {
        if let End::Reply(reply) = &mut self.end {
            reply.denials.push(Denial {
                rule: rule.into(),
                what: what.into(),
            });
        }
        self
    }

    async fn play(
        mut self,
        request: AgentRequest,
        cx: StepContext,
    ) -> Result<AgentReply, AgentError> {
        for event in self.events.drain(..) {
            cx.events.emit(event);
        }
        for action in self.actions.drain(..) {
            action(&request);
        }
        if !self.takes.is_zero() {
            let work = cx.clock.sleep(self.takes);
            if let Either::Right(_) = select(work, cx.cancel.clone()).await {
                return Err(self.cancelled());
            }
        }
        match self.end {
            End::Reply(reply) => Ok(AgentReply {
                usage: self.usage,
                session: self.session,
                ..reply
            }),
            End::Fail(error) => Err(AgentError {
                usage: self.usage,
                session: self.session,
                ..error
            }),
            End::Hang => {
                let _reason = cx.cancel.clone().await;
                Err(self.cancelled())
            }
            End::Deaf => pending().await,
            End::Crash(switch) => switch.crash().await,
        }
    }

    fn cancelled(&self) -> AgentError {
        AgentError {
            usage: self.usage,
            session: self.session.clone(),
            ..AgentError::new(AgentErrorKind::Cancelled, "it was told to stop")
        }
    }
}

impl fmt::Debug for ScriptedReply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = match &self.end {
            End::Reply(_) => "reply",
            End::Fail(_) => "fail",
            End::Hang => "hang",
            End::Deaf => "ignore cancel",
            End::Crash(_) => "crash",
        };
        f.debug_tuple("ScriptedReply").field(&end).finish()
    }
}

/// An agent with a script: a queue of replies per role, and a rule for when
/// the queue is empty. Clones share script and record.
#[derive(Clone)]
pub struct FakeAgent {
    id: String,
    caps: AgentCaps,
    info: Result<AgentInfo, AgentError>,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    queues: BTreeMap<AgentRole, VecDeque<ScriptedReply>>,
    rules: BTreeMap<AgentRole, Rule>,
    requests: Vec<AgentRequest>,
}

impl FakeAgent {
    /// An agent without a script: logged in and able to do everything.
    pub fn new(id: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            caps: AgentCaps {
                schema: true,
                resume: true,
                read_only: true,
                cost: true,
            },
            info: Ok(AgentInfo {
                version: Some("1.0".to_owned()),
                login: Login::Yes,
            }),
            state: Arc::default(),
        }
    }

    /// Sets what it can do.
    #[must_use]
    pub const fn with_caps(mut self, caps: AgentCaps) -> Self {
        self.caps = caps;
        self
    }

    /// Sets what preflight finds.
    #[must_use]
    pub fn with_preflight(mut self, info: Result<AgentInfo, AgentError>) -> Self {
        self.info = info;
        self
    }

    /// Queues a reply for one call in a role.
    #[must_use]
    pub fn then(self, role: AgentRole, reply: ScriptedReply) -> Self {
        self.push(role, reply);
        self
    }

    /// Queues a reply for one call in a role.
    pub fn push(&self, role: AgentRole, reply: ScriptedReply) {
        let mut state = lock(&self.state);
        state.queues.entry(role).or_default().push_back(reply);
    }

    /// Answers every call in a role for which no reply is queued.
    #[must_use]
    pub fn always(
        self,
        role: AgentRole,
        rule: impl Fn(&AgentRequest) -> ScriptedReply + Send + Sync + 'static,
    ) -> Self {
        self.answer_by(role, rule);
        self
    }

    /// Answers every call in a role for which no reply is queued.
    pub fn answer_by(
        &self,
        role: AgentRole,
        rule: impl Fn(&AgentRequest) -> ScriptedReply + Send + Sync + 'static,
    ) {
        lock(&self.state).rules.insert(role, Arc::new(rule));
    }

    /// Every request so far, in order.
    #[must_use]
    pub fn requests(&self) -> Vec<AgentRequest> {
        lock(&self.state).requests.clone()
    }

    /// The prompts of one role so far, in order.
    #[must_use]
    pub fn prompts(&self, role: AgentRole) -> Vec<String> {
        let state = lock(&self.state);
        let of_role = state.requests.iter().filter(|r| r.role == role);
        of_role.map(|r| r.prompt.clone()).collect()
    }

    /// How often it was called in a role.
    #[must_use]
    pub fn calls(&self, role: AgentRole) -> usize {
        self.prompts(role).len()
    }

    /// How many queued replies of a role were not used.
    #[must_use]
    pub fn unused(&self, role: AgentRole) -> usize {
        lock(&self.state).queues.get(&role).map_or(0, VecDeque::len)
    }

    /// Notes the request and finds its reply.
    fn take(&self, request: &AgentRequest) -> ScriptedReply {
        let mut state = lock(&self.state);
        state.requests.push(request.clone());
        let queue = state.queues.entry(request.role).or_default();
        if let Some(reply) = queue.pop_front() {
            return reply;
        }
        let rule = state.rules.get(&request.role).cloned();
        drop(state);
        let Some(rule) = rule else {
            panic!(
                "agent {} has no reply left for another call in the role {}",
                self.id, request.role
            );
        };
        rule(request)
    }
}

impl fmt::Debug for FakeAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FakeAgent")
            .field("id", &self.id)
            .field("calls", &lock(&self.state).requests.len())
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl Agent for FakeAgent {
    fn id(&self) -> String {
        self.id.clone()
    }

    fn caps(&self) -> AgentCaps {
        self.caps
    }

    async fn preflight(&self, _cx: StepContext) -> Result<AgentInfo, AgentError> {
        self.info.clone()
    }

    /// # Panics
    /// When the script has no reply for the call.
    async fn run(&self, request: AgentRequest, cx: StepContext) -> Result<AgentReply, AgentError> {
        self.take(&request).play(request, cx).await
    }
}
