//! Git settings that are handed on through the environment.
//!
//! `GIT_CONFIG_COUNT` and its numbered pairs are appended to what is there:
//! git reads them after every file, and later values win.

use super::folder::RemoteUrls;
use crate::rt::process::Environment;

/// Where pushes are sent. No program speaks this scheme.
const NOWHERE: &str = "xiv-never-pushes://refused/";

/// The pairs that turn credentials off and pushes away.
pub(super) fn guard_pairs(remotes: &[RemoteUrls]) -> Vec<(String, String)> {
    let mut pairs: Vec<(String, String)> = [
        ("credential.helper", ""),
        ("credential.interactive", "false"),
        ("core.askPass", ""),
        ("gc.auto", "0"),
        ("maintenance.auto", "false"),
    ]
    .map(|(key, value)| (key.to_owned(), value.to_owned()))
    .into();
    let push_instead = format!("url.{NOWHERE}.pushInsteadOf");
    let instead = format!("url.{NOWHERE}.insteadOf");
    let mut add = |key: &str, value: &str| {
        let pair = (key.to_owned(), value.to_owned());
        if !value.is_empty() && !pairs.contains(&pair) {
            pairs.push(pair);
        }
    };
    for remote in remotes {
        for url in &remote.fetch {
            add(&push_instead, url);
        }
        for url in &remote.push {
            // an address that is also fetched from must stay readable; for it
            // there is the pair above
            if remotes.iter().any(|other| other.fetch.contains(url)) {
                add(&push_instead, url);
            } else {
                add(&instead, url);
            }
        }
    }
    for url in remotes
        .iter()
        .flat_map(|remote| remote.fetch.iter().chain(&remote.push))
    {
        for scope in http_scopes(url) {
            // an empty value forgets headers that hold a token
            let pair = (format!("http.{scope}.extraHeader"), String::new());
            if !pairs.contains(&pair) {
                pairs.push(pair);
            }
        }
    }
    pairs
}

/// The address itself and its host's root, for addresses over HTTP.
fn http_scopes(url: &str) -> Vec<String> {
    let Some((scheme, rest)) = url.split_once("://") else {
        return Vec::new();
    };
    if !matches!(scheme, "http" | "https") {
        return Vec::new();
    }
    let host = rest.split('/').next().unwrap_or_default();
    let host = host.rsplit('@').next().unwrap_or_default();
    vec![format!("{scheme}://{host}/"), url.to_owned()]
}

/// Appends `pairs` to those that `env` holds. A count that is no number counts
/// as none, as git would refuse it.
pub(super) fn append(env: &mut Environment, pairs: &[(String, String)]) {
    let count = env.get("GIT_CONFIG_COUNT").and_then(|count| count.to_str());
    let count: usize = count.and_then(|count| count.parse().ok()).unwrap_or(0);
    for (index, (key, value)) in pairs.iter().enumerate() {
        env.set(format!("GIT_CONFIG_KEY_{}", count + index), key);
        env.set(format!("GIT_CONFIG_VALUE_{}", count + index), value);
    }
    env.set("GIT_CONFIG_COUNT", (count + pairs.len()).to_string());
}
