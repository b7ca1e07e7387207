//! curl, wget and httpie: requests by hand.

use super::Rule;
use super::options::{Piece, pieces, words};
use super::route::{self, Field, Request};
use super::words::is_unseen;

/// curl's short options that take a value.
const CURL_SHORT: &str = "AbcCdDeEFhHKmoPQrtTuUwxXyYz";

/// Long options that take a value, of all three programs.
const LONG: &[&str] = &[
    "aws-sigv4",
    "body-data",
    "body-file",
    "ca-certificate",
    "cacert",
    "cert",
    "config",
    "connect-timeout",
    "connect-to",
    "cookie",
    "cookie-jar",
    "data",
    "data-ascii",
    "data-binary",
    "data-raw",
    "data-urlencode",
    "dump-header",
    "form",
    "form-string",
    "header",
    "interface",
    "json",
    "key",
    "limit-rate",
    "max-time",
    "method",
    "netrc-file",
    "oauth2-bearer",
    "output",
    "output-document",
    "output-file",
    "post-data",
    "post-file",
    "proxy",
    "range",
    "referer",
    "request",
    "resolve",
    "retry",
    "retry-delay",
    "retry-max-time",
    "timeout",
    "tries",
    "unix-socket",
    "upload-file",
    "url",
    "user",
    "user-agent",
    "write-out",
];

pub(super) fn judge(program: &str, arguments: &[String]) -> Option<Rule> {
    match program {
        "curl" => curl(arguments),
        "wget" => wget(arguments),
        _ => httpie(arguments),
    }
}

fn curl(arguments: &[String]) -> Option<Rule> {
    let pieces = pieces(arguments, CURL_SHORT, LONG);
    let mut sent = Sent::default();
    for piece in &pieces {
        let Piece::Flag(name, value) = *piece else {
            if let Piece::Word(word) = *piece {
                sent.urls.push(word);
            }
            continue;
        };
        let text = value.unwrap_or_default();
        match name {
            "X" => sent.method = Some(text.to_owned()),
            _ if starts("--request", name, 5) => sent.method = Some(text.to_owned()),
            "d" | "--data" | "--data-ascii" | "--data-binary" | "--json" | "--data-urlencode" => {
                sent.body(Field::maybe_file(text));
            }
            "--data-raw" => sent.body(Field::literal(text)),
            "F" | "--form" => {
                let file = text.contains("=@") || text.contains("=<");
                sent.body(if file {
                    Field::Unseen
                } else {
                    Field::literal(text)
                });
            }
            "--form-string" => sent.body(Field::literal(text)),
            "T" | "--upload-file" => {
                sent.default_method = "PUT";
                sent.bodies.push(Field::Unseen);
            }
            "G" | "--get" => sent.is_get = true,
            "I" | "--head" => sent.default_method = "HEAD",
            "--url" => sent.urls.push(text),
            // addresses, methods and bodies may all be in there
            "K" | "--config" => return Some(Rule::Unseen),
            _ => {}
        }
    }
    sent.judge()
}

fn wget(arguments: &[String]) -> Option<Rule> {
    let pieces = pieces(arguments, "aABDeiIlNoOPQRtTUwX", LONG);
    let mut sent = Sent::default();
    for piece in &pieces {
        match *piece {
            Piece::Word(word) => sent.urls.push(word),
            Piece::Flag("--method", Some(method)) => sent.method = Some(method.to_owned()),
            Piece::Flag("--post-data" | "--body-data", Some(text)) => {
                sent.body(Field::literal(text));
            }
            Piece::Flag("--post-file" | "--body-file", _) => sent.body(Field::Unseen),
            Piece::Flag(..) => {}
        }
    }
    sent.judge()
}

fn httpie(arguments: &[String]) -> Option<Rule> {
    let pieces = pieces(arguments, "aAos", LONG);
    let mut words = words(&pieces).into_iter().peekable();
    let mut sent = Sent::default();
    let is_method = |word: &&str| !word.is_empty() && word.chars().all(|c| c.is_ascii_uppercase());
    sent.method = words.next_if(is_method).map(str::to_owned);
    sent.urls.extend(words.next());
    for item in words {
        let file = item.contains("=@");
        sent.body(if file {
            Field::Unseen
        } else {
            Field::literal(item)
        });
    }
    sent.judge()
}

/// What a program sends, and where to.
#[derive(Debug)]
struct Sent<'a> {
    method: Option<String>,
    default_method: &'static str,
    is_get: bool,
    urls: Vec<&'a str>,
    bodies: Vec<Field>,
}

impl Default for Sent<'_> {
    fn default() -> Self {
        Self {
            method: None,
            default_method: "GET",
            is_get: false,
            urls: Vec::new(),
            bodies: Vec::new(),
        }
    }
}

impl Sent<'_> {
    fn body(&mut self, body: Field) {
        self.default_method = "POST";
        self.bodies.push(body);
    }

    fn judge(self) -> Option<Rule> {
        let method = match self.method {
            Some(method) if is_unseen(&method) => None,
            Some(method) => Some(method.to_ascii_uppercase()),
            None if self.is_get => Some("GET".to_owned()),
            None => Some(self.default_method.to_owned()),
        };
        self.urls.iter().find_map(|url| {
            let own_server = is_loopback(url);
            let request = Request {
                method: method.clone(),
                url: (*url).to_owned(),
                fields: Vec::new(),
                bodies: self.bodies.clone(),
            };
            // a body from a file is what tests of one's own server send
            route::judge(&request).filter(|rule| !(own_server && *rule == Rule::Unseen))
        })
    }
}

/// Whether the address is on this machine.
fn is_loopback(url: &str) -> bool {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let host = rest.split(['/', '?']).next().unwrap_or_default();
    let host = host.rsplit('@').next().unwrap_or_default();
    ["localhost", "127.0.0.1", "[::1]", "0.0.0.0"]
        .iter()
        .any(|own| {
            host == *own
                || host
                    .strip_prefix(own)
                    .is_some_and(|port| port.starts_with(':'))
        })
}

/// Whether `word` is `long` or a beginning of it of at least `least` bytes.
fn starts(long: &str, word: &str, least: usize) -> bool {
    word.len() >= least && long.starts_with(word)
}
