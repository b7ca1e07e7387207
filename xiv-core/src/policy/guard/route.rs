//! What a request to a forge's API does, whoever sends it.

use super::Rule;
use super::words::is_unseen;

/// A request, as far as the command line shows it.
#[derive(Debug, Default)]
pub(super) struct Request {
    /// The method in upper case; `None` when it cannot be seen.
    pub(super) method: Option<String>,
    /// Address or path.
    pub(super) url: String,
    /// Named fields of the body.
    pub(super) fields: Vec<(String, Field)>,
    /// Bodies given as a whole.
    pub(super) bodies: Vec<Field>,
}

/// A value in a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Field {
    Seen(String),
    /// From a file, standard input or a variable.
    Unseen,
}

impl Field {
    /// A value that stands on the command line.
    pub(super) fn literal(text: &str) -> Self {
        if is_unseen(text) {
            Self::Unseen
        } else {
            Self::Seen(text.to_owned())
        }
    }

    /// A value that names a file when it begins with `@`.
    pub(super) fn maybe_file(text: &str) -> Self {
        if text.starts_with('@') {
            Self::Unseen
        } else {
            Self::literal(text)
        }
    }
}

/// GraphQL mutations, and what each does.
const MUTATIONS: &[(&str, Rule)] = &[
    ("mergePullRequest", Rule::Merge),
    ("mergeBranch", Rule::Merge),
    ("mergeRequestAccept", Rule::Merge),
    ("enablePullRequestAutoMerge", Rule::AutoMerge),
    ("enqueuePullRequest", Rule::AutoMerge),
    ("closePullRequest", Rule::Close),
    ("closeIssue", Rule::Close),
    ("createCommitOnBranch", Rule::Push),
    ("createRef", Rule::Push),
    ("deleteRef", Rule::Push),
    ("updateRef", Rule::Push),
    ("updateRefs", Rule::Push),
    ("updatePullRequestBranch", Rule::Push),
    ("deleteIssue", Rule::Destructive),
    ("deleteRepository", Rule::Destructive),
];

/// Mutations that close when they set the state to closed.
const UPDATES: &[&str] = &[
    "updatePullRequest",
    "updateIssue",
    "mergeRequestUpdate",
    "mergeRequestSetState",
];

/// The rule that the request breaks.
pub(super) fn judge(request: &Request) -> Option<Rule> {
    let path = segments(&request.url);
    let path: Vec<&str> = path.iter().map(String::as_str).collect();
    if path.last() == Some(&"graphql") {
        return graphql(request);
    }
    let method = request.method.as_deref();
    let writes = !matches!(method, Some("GET" | "HEAD" | "OPTIONS"));
    if !writes {
        return None;
    }
    let in_repository = path.contains(&"repos") || path.contains(&"projects");
    let auto = request.mentions("merge_when_pipeline_succeeds") || request.mentions("auto_merge");
    match path.as_slice() {
        [.., "pulls" | "merge_requests", _, "merge"] if auto => Some(Rule::AutoMerge),
        [.., "pulls" | "merge_requests", _, "merge"] | [.., "merges"] => Some(Rule::Merge),
        [.., "merge_trains", _, _] => Some(Rule::AutoMerge),
        [.., "merge-upstream"] | [.., "pulls", _, "update-branch"] => Some(Rule::Push),
        [.., "git", "refs"] | [.., "git-receive-pack"] => Some(Rule::Push),
        [.., "pulls" | "issues" | "merge_requests", _] => request.closes(),
        _ if !in_repository => None,
        _ if path.windows(2).any(|pair| pair == ["git", "refs"]) => Some(Rule::Push),
        _ if path.contains(&"contents") => Some(Rule::Push),
        [.., "repos", _, _] | [.., "projects", _] if method == Some("DELETE") => {
            Some(Rule::Destructive)
        }
        _ => None,
    }
}

impl Request {
    /// Whether the word stands anywhere in the request.
    fn mentions(&self, word: &str) -> bool {
        let in_field = |(name, value): &(String, Field)| {
            name.contains(word) || matches!(value, Field::Seen(text) if text.contains(word))
        };
        let in_body = |body: &Field| matches!(body, Field::Seen(text) if text.contains(word));
        self.url.contains(word)
            || self.fields.iter().any(in_field)
            || self.bodies.iter().any(in_body)
    }

    /// Whether an update of a pull request or an issue closes it.
    fn closes(&self) -> Option<Rule> {
        let state = |name: &str| matches!(name, "state" | "state_event");
        for (name, value) in &self.fields {
            match value {
                Field::Unseen if state(name) => return Some(Rule::Unseen),
                Field::Seen(text) if state(name) && is_closed(text) => return Some(Rule::Close),
                _ => {}
            }
        }
        for body in &self.bodies {
            match body {
                Field::Unseen => return Some(Rule::Unseen),
                Field::Seen(text) if text.contains("state") && is_closed(text) => {
                    return Some(Rule::Close);
                }
                Field::Seen(_) => {}
            }
        }
        None
    }
}

/// Whether a state, or a body with one, says closed.
fn is_closed(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    identifiers(&text).any(|word| matches!(word, "close" | "closed"))
}

/// The rule that a GraphQL request breaks: by the mutations that it names.
fn graphql(request: &Request) -> Option<Rule> {
    let queries = request
        .fields
        .iter()
        .filter(|(name, _)| name == "query")
        .map(|(_, v)| v);
    for query in queries.chain(&request.bodies) {
        let Field::Seen(text) = query else {
            return Some(Rule::Unseen);
        };
        let named = |wanted: &str| identifiers(text).any(|word| word == wanted);
        if let Some((_, rule)) = MUTATIONS.iter().find(|(mutation, _)| named(mutation)) {
            return Some(*rule);
        }
        if UPDATES.iter().any(|update| named(update)) {
            let values = request
                .fields
                .iter()
                .map(|(_, value)| value)
                .chain(&request.bodies);
            for value in values {
                match value {
                    Field::Seen(text) if is_closed(text) => return Some(Rule::Close),
                    Field::Seen(_) => {}
                    Field::Unseen => return Some(Rule::Unseen),
                }
            }
        }
    }
    None
}

/// The words of a text.
fn identifiers(text: &str) -> impl Iterator<Item = &str> {
    // in JSON a line break is written `\n`, and would stick to the next word
    text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
        .flat_map(|word| [word, word.strip_prefix('n').unwrap_or(word)])
}

/// The parts of the path in lower case, without host, query and empty parts.
fn segments(url: &str) -> Vec<String> {
    let path = match url.split_once("://") {
        Some((_, rest)) => rest.split_once('/').map_or("", |(_, path)| path),
        None => url,
    };
    let path = path.split(['?', '#']).next().unwrap_or_default();
    decode(path)
        .split('/')
        .filter(|part| !part.is_empty() && *part != ".")
        .map(str::to_ascii_lowercase)
        .collect()
}

/// Resolves `%41`.
fn decode(path: &str) -> String {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let code = (first == b'%')
            .then(|| after.get(..2).and_then(|hex| std::str::from_utf8(hex).ok()))
            .flatten()
            .and_then(|hex| u8::from_str_radix(hex, 16).ok());
        bytes.push(code.unwrap_or(first));
        rest = if code.is_some() { &after[2..] } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
