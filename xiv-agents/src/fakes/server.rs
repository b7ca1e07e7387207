//! The HTTP side that both fakes share: a loopback listener on its own thread that records requests.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::request::ModelRequest;
use super::script::{Script, Turn};

/// A provider's wire format.
pub(super) trait Wire: Send + Sync + 'static {
    /// Answers requests that no script is asked for (model lists, token counts), or `None`.
    fn aside(&self, path: &str) -> Option<Value>;

    /// Says whether the path is the one that scripts answer.
    fn is_model_call(&self, path: &str) -> bool;

    /// Renders a turn. `After` and `Silent` never arrive here.
    fn render(&self, request: &ModelRequest, turn: Turn) -> Response;
}

struct Shared {
    wire: Box<dyn Wire>,
    script: Script,
    requests: Mutex<Vec<ModelRequest>>,
}

/// A running fake; dropping it stops the thread.
pub(super) struct Server {
    address: SocketAddr,
    shared: Arc<Shared>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server")
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}

impl Server {
    pub(super) fn start(wire: impl Wire, script: Script) -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free loopback port");
        listener
            .set_nonblocking(true)
            .expect("a non-blocking listener");
        let address = listener
            .local_addr()
            .expect("a bound listener has an address");
        let shared = Arc::new(Shared {
            wire: Box::new(wire),
            script,
            requests: Mutex::new(Vec::new()),
        });
        let (stop, stopped) = oneshot::channel();
        let app = Router::new()
            .fallback(serve)
            .with_state(Arc::clone(&shared));
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .expect("a runtime");
            runtime.block_on(async move {
                let listener =
                    tokio::net::TcpListener::from_std(listener).expect("a tokio listener");
                // No graceful shutdown: a scripted hang would keep the test waiting for ever.
                tokio::select! {
                    _ = axum::serve(listener, app) => {}
                    _ = stopped => {}
                }
            });
        });
        Self {
            address,
            shared,
            stop: Some(stop),
            thread: Some(thread),
        }
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(super) fn requests(&self) -> Vec<ModelRequest> {
        self.shared.requests.lock().expect("request log").clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A handler closure that panicked has already failed its own request.
            let _ = thread.join();
        }
    }
}

async fn serve(State(shared): State<Arc<Shared>>, request: Request<Body>) -> Response {
    let (head, body) = request.into_parts();
    let path = head.uri.path().to_owned();
    if head.method == Method::HEAD {
        return StatusCode::OK.into_response();
    }
    if let Some(answer) = shared.wire.aside(&path) {
        return axum::Json(answer).into_response();
    }
    if head.method != Method::POST || !shared.wire.is_model_call(&path) {
        let body = json!({"error": {"type": "not_found_error", "message": "no such route"}});
        return (StatusCode::NOT_FOUND, axum::Json(body)).into_response();
    }
    let bytes = to_bytes(body, 64 << 20).await.unwrap_or_default();
    let headers = head
        .headers
        .iter()
        .map(|(k, v)| {
            (
                k.to_string(),
                String::from_utf8_lossy(v.as_bytes()).into_owned(),
            )
        })
        .collect();
    let body = serde_json::from_slice(&bytes).unwrap_or(Value::Null);
    let request = {
        let mut log = shared.requests.lock().expect("request log");
        let request = ModelRequest {
            index: log.len(),
            path,
            headers,
            body,
        };
        log.push(request.clone());
        request
    };
    let mut turn = shared.script.next(&request);
    loop {
        turn = match turn {
            Turn::After(pause, inner) => {
                tokio::time::sleep(pause).await;
                *inner
            }
            Turn::Silent => std::future::pending().await,
            other => return shared.wire.render(&request, other),
        };
    }
}

/// An error response with a JSON body and extra headers.
pub(super) fn failure(status: u16, body: Value, headers: &[(String, String)]) -> Response {
    let status = StatusCode::from_u16(status).expect("the script names a real status");
    let mut response = (status, axum::Json(body)).into_response();
    for (name, value) in headers {
        let name: axum::http::HeaderName = name.parse().expect("a valid header name");
        response
            .headers_mut()
            .insert(name, value.parse().expect("a valid header value"));
    }
    response
}
