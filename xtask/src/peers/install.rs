//! Fetches a peer from npm into an empty folder.

use std::path::Path;
use std::process::{Command, Stdio};

use super::Peer;

/// Installs the pinned version below `into`, or says in one line why not.
///
/// Install scripts are not run: the native program comes as a plain file of an
/// optional dependency, nothing has to be built.
pub(super) fn npm(peer: &Peer, into: &Path) -> Result<(), String> {
    eprintln!(
        "peer {}: installing from npm, this may take a minute",
        peer.folder()
    );
    std::fs::create_dir_all(into).map_err(|error| error.to_string())?;
    let output = Command::new("npm")
        .args(["install", "--prefix"])
        .arg(into)
        .args([
            "--ignore-scripts",
            "--include=optional",
            "--no-audit",
            "--no-fund",
        ])
        .args(["--loglevel=error", "--fetch-retries=2"])
        .arg(format!("{}@{}", peer.package, peer.version))
        .current_dir(into)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("npm does not start: {error}"))?;
    if output.status.success() {
        Ok(())
    } else {
        Err(format!(
            "npm install failed: {}",
            reason(&String::from_utf8_lossy(&output.stderr))
        ))
    }
}

/// The lines of npm's complaint that a person would read out.
fn reason(stderr: &str) -> String {
    let told: Vec<&str> = stderr
        .lines()
        .map(|line| line.trim_start_matches("npm").trim_start())
        .map(|line| {
            line.strip_prefix("error")
                .or(line.strip_prefix("ERR!"))
                .unwrap_or(line)
                .trim()
        })
        .filter(|line| !line.is_empty() && !line.starts_with("A complete log"))
        .take(3)
        .collect();
    if told.is_empty() {
        "it gave no reason".to_owned()
    } else {
        told.join("; ")
    }
}

#[cfg(test)]
mod tests {
    use super::reason;

    #[test]
    fn the_complaint_is_told_in_one_line() {
        let stderr = "npm error code ENOTFOUND\nnpm error network request failed\n\nnpm error A complete log of this run can be found in: x\n";
        assert_eq!(reason(stderr), "code ENOTFOUND; network request failed");
        assert_eq!(reason("\n"), "it gave no reason");
    }
}
