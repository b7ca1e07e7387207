//! The pure rules through the binary: in an empty folder, with an empty
//! environment, and every answer held to its committed schema. What the rules
//! decide is tested where they live; here it is how they are reached.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

/// Runs `xiv plumbing …` and sees to it that nothing was left behind.
fn plumbing(args: &[&str], stdin: &[u8]) -> Output {
    let folder = TempDir::new().expect("a temporary folder");
    let mut child = Command::new(env!("CARGO_BIN_EXE_xiv"))
        .arg("plumbing")
        .args(args)
        .current_dir(folder.path())
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("xiv starts");
    let mut pipe = child.stdin.take().expect("a pipe");
    // a rule that refuses its arguments does not read
    let _unread = pipe.write_all(stdin);
    drop(pipe);
    let output = child.wait_with_output().expect("xiv ends");
    let left = std::fs::read_dir(folder.path()).expect("a folder").count();
    assert_eq!(left, 0, "{args:?} left something behind");
    output
}

/// The answer of a rule, which has to fit its schema.
fn answer(args: &[&str], stdin: &str) -> Value {
    let output = plumbing(args, stdin.as_bytes());
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(
        (output.status.code(), &*error),
        (Some(0), ""),
        "{args:?} {stdin}"
    );
    let answer: Value = serde_json::from_slice(&output.stdout).expect("one JSON document");
    let schema = schema(&format!("plumbing/{}.output.json", args[0]));
    let fits = jsonschema::validate(&schema, &answer);
    assert!(fits.is_ok(), "{args:?}: {fits:?} {answer}");
    answer
}

fn schema(name: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../schemas")
        .join(name);
    serde_json::from_slice(&std::fs::read(path).expect("a committed schema")).expect("JSON")
}

/// Exit code 2, a message on standard error, nothing on standard output.
fn refused(args: &[&str], stdin: &str) {
    let output = plumbing(args, stdin.as_bytes());
    assert_eq!(
        output.status.code(),
        Some(2),
        "{args:?} {stdin}: {output:?}"
    );
    assert!(
        !output.stderr.is_empty() && output.stdout.is_empty(),
        "{output:?}"
    );
}

#[test]
fn parse_review_answers_a_review_or_an_error() {
    let text = "Fine.\n```json\n{\"verdict\":\"comment\",\"summary\":\"s\",\"findings\":[{\"id\":\"\",\
        \"severity\":\"low\",\"title\":\"t\",\"body\":\"b\"}]}\n```\n";
    assert_eq!(
        answer(&["parse-review"], text),
        json!({"review": {"verdict": "comment", "summary": "s", "reviewed": [], "findings": [{
            "id": "f1", "severity": "low", "title": "t", "body": "b", "path": null,
            "startLine": null, "line": null, "inlineable": false,
        }]}})
    );
    for (text, kind) in [
        ("", "empty"),
        ("LGTM", "noJson"),
        ("{\"verdict\":\"approve\",", "invalidJson"),
        ("{\"verdict\":\"\",\"summary\":\"s\"}", "noVerdict"),
        ("{\"verdict\":\"ok\",\"summary\":\"s\"}", "schema"),
    ] {
        let error = answer(&["parse-review"], text);
        assert_eq!(error["error"]["kind"], kind, "{text}");
        assert!(
            error["error"]["message"]
                .as_str()
                .is_some_and(|m| !m.is_empty())
        );
    }
    let bytes = plumbing(
        &["parse-review"],
        b"\xff {\"verdict\":\"approve\",\"summary\":\"\xfe\"}",
    );
    assert_eq!(bytes.status.code(), Some(0));
}

#[test]
fn done_gate_plays_a_script() {
    let script = json!({"cap": 99, "passes": [
        {"validation": "fail", "review": "request_changes"},
        {"validation": "pass", "review": {"verdict": "comment", "summary": "s", "extra": 1, "findings": [
            {"id": "a", "severity": "nit", "title": "t", "body": "b", "path": "x", "line": 3},
        ]}},
        {"validation": "fail", "review": "crashed"},
    ]});
    let report = answer(&["done-gate"], &script.to_string());
    assert_eq!(report["outcome"], "done");
    assert_eq!(report["passes"], 2);
    assert_eq!(report["reviewVerdict"], "comment");
    assert_eq!(
        report["knownGaps"],
        json!([{"severity": "nit", "title": "t", "detail": "b", "path": "x"}])
    );
    assert_eq!(report["feedback"].as_array().map(Vec::len), Some(1));
    for bad in [
        "",
        "[]",
        "{\"passes\": []} x",
        "{\"passes\": [], \"cap\": \"3\"}",
        "{\"passes\": [], \"more\": 1}",
        "{\"passes\": [{\"validation\": \"pass\", \"review\": \"lgtm\"}]}",
        "{\"passes\": [{\"validation\": \"pass\", \"review\": {\"summary\": \"s\"}}]}",
    ] {
        refused(&["done-gate"], bad);
    }
}

#[test]
fn diff_files_lists_what_changed() {
    let diff = "diff --git a/a b/a\nindex 1..2 100644\n--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n x\n-y\n+z\n\
        diff --git a/m b/m\nold mode 100644\nnew mode 100755\n";
    assert_eq!(
        answer(&["diff-files"], diff),
        json!([
            {"oldPath": "a", "newPath": "a", "status": "modified", "binary": false,
             "hunks": [{"newStart": 1, "newLines": 2, "commentable": [1, 2]}]},
            {"oldPath": "m", "newPath": "m", "status": "modeChanged", "binary": false, "hunks": []},
        ])
    );
    assert_eq!(answer(&["diff-files"], ""), json!([]));
    refused(&["diff-files"], "no diff");
    refused(&["diff-files"], "diff --cc a\n@@@ -1 -1 +1 @@@\n");
    refused(&["diff-files"], &diff[..diff.find("-y").expect("the line")]);
}

#[test]
fn place_findings_reads_the_diff_from_a_file() {
    let folder = TempDir::new().expect("a temporary folder");
    let file: PathBuf = folder.path().join("a.diff");
    let diff = "diff --git a/a b/a\nindex 1..2\n--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n x\n-y\n+z\n";
    std::fs::write(&file, diff).expect("a diff");
    let file = file.to_str().expect("a plain path");
    let finding = |id: &str, line: u32, inlineable: bool| {
        json!({"id": id, "severity": "low", "title": "t", "body": "b", "path": "a",
            "startLine": 1, "line": line, "inlineable": inlineable})
    };
    let review = json!({"verdict": "comment", "summary": "s", "findings": [
        finding("in", 2, true), finding("clamped", 9, true), finding("not", 2, false),
    ]});
    assert_eq!(
        answer(&["place-findings", "--diff", file], &review.to_string()),
        json!({
            "inline": [
                {"id": "in", "path": "a", "startLine": 1, "line": 2, "side": "RIGHT"},
                {"id": "clamped", "path": "a", "startLine": 1, "line": 2, "side": "RIGHT"},
            ],
            "body": [{"id": "not", "reason": "notClaimed"}],
        })
    );
    refused(&["place-findings", "--diff", file], "{\"summary\": \"s\"}");
    refused(
        &["place-findings", "--diff", file],
        "{\"verdict\":\"comment\",\"summary\":\"s\",\"x\":1}",
    );
    refused(
        &["place-findings", "--diff", "/nowhere/a.diff"],
        &review.to_string(),
    );
    refused(&["place-findings"], &review.to_string());
}

#[test]
fn criteria_come_with_their_provenance() {
    assert_eq!(
        answer(&["criteria"], "## AC\r\n- [x] `a`\r\n  - b\r\n"),
        json!({"criteria": [{"text": "`a`\n- b", "checked": true}], "provenance": "heading"})
    );
    assert_eq!(
        answer(&["criteria"], ""),
        json!({"criteria": [], "provenance": "none"})
    );
}

#[test]
fn order_issues_answers_an_order_or_a_cycle() {
    let issues = json!({"issues": [
        {"key": "A-1", "blockedBy": ["A-9"], "title": "more"}, {"key": "A-9"}, {"key": "A-2"},
    ]});
    assert_eq!(
        answer(&["order-issues"], &issues.to_string()),
        json!({"order": ["A-2", "A-9", "A-1"]})
    );
    let selfish = r#"{"issues":[{"key":"A-1","blockedBy":["A-1"]}]}"#;
    assert_eq!(
        answer(&["order-issues"], selfish),
        json!({"cycle": ["A-1"]})
    );
    for bad in [
        "{}",
        r#"{"issues":[{"key":""}]}"#,
        r#"{"issues":[{"blockedBy":[]}]}"#,
        r#"{"issues":[],"more":1}"#,
        r#"{"issues":[{"key":1}]}"#,
    ] {
        refused(&["order-issues"], bad);
    }
}

#[test]
fn redact_returns_every_other_byte() {
    let token = format!("ghp_{}", "a1".repeat(18));
    let text = [b"\xff\x00 ", token.as_bytes(), b" \xfe\r\nend"].concat();
    let output = plumbing(&["redact"], &text);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(output.stdout, b"\xff\x00 [redacted:github] \xfe\r\nend");
}

#[test]
fn guard_judges_the_words_behind_the_dashes() {
    assert_eq!(
        answer(&["guard", "--", "gh", "pr", "merge", "12"], ""),
        json!({"allowed": false, "rule": "merge"})
    );
    assert_eq!(
        answer(&["guard", "--", "git", "log", "--help"], ""),
        json!({"allowed": true, "rule": null})
    );
    refused(&["guard"], "");
    refused(&["guard", "--"], "");
}

#[test]
fn help_lists_every_rule() {
    let output = plumbing(&["--help"], b"");
    let help = String::from_utf8_lossy(&output.stdout);
    for rule in [
        "parse-review",
        "done-gate",
        "diff-files",
        "place-findings",
        "criteria",
        "order-issues",
        "redact",
        "guard",
    ] {
        assert!(help.contains(rule), "{rule} is not in:\n{help}");
    }
    refused(&["no-such-rule"], "");
    refused(&[], "");
}
