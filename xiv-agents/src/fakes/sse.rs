//! Server-sent events as response bodies: complete, cut in the middle, or silent after a start.

use std::convert::Infallible;
use std::io;

use axum::body::{Body, Bytes};
use axum::http::header::CONTENT_TYPE;
use axum::response::Response;
use futures::{StreamExt, stream};
use serde_json::Value;

/// How the stream ends after its last event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// Properly.
    Clean,
    /// The connection is dropped.
    Cut,
    /// It never ends.
    Never,
}

/// Builds a `text/event-stream` response from events that carry their name in `type`.
pub(super) fn response(events: Vec<Value>, end: End) -> Response {
    let frames: Vec<Bytes> = events.iter().map(frame).collect();
    let body = match end {
        End::Clean => Body::from_stream(stream::iter(frames.into_iter().map(Ok::<_, Infallible>))),
        End::Cut => Body::from_stream(stream::iter(frames.into_iter().map(Ok)).chain(
            stream::once(async { Err(io::Error::other("cut by the script")) }),
        )),
        End::Never => Body::from_stream(
            stream::iter(frames.into_iter().map(Ok::<_, Infallible>)).chain(stream::pending()),
        ),
    };
    let mut response = Response::new(body);
    response.headers_mut().insert(
        CONTENT_TYPE,
        "text/event-stream".parse().expect("a valid header value"),
    );
    response
}

fn frame(event: &Value) -> Bytes {
    let name = event["type"].as_str().unwrap_or("message");
    Bytes::from(format!("event: {name}\ndata: {event}\n\n"))
}
