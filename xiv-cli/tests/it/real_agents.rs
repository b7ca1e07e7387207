//! The main job with the real programs: planned and reviewed by Codex,
//! implemented by Claude Code, both against model servers of this test.

use serde_json::{Value, json};
use xiv_agents::fakes::{Anthropic, ModelRequest, OpenAi, Script, Turn, peer};

use crate::environment::{Ran, TestEnvironment};

const ISSUE: &str = "---\nid: AB-1\ntitle: Greet by name\n---\n\nIt greets nobody.\n\n\
    ## Acceptance Criteria\n\n- [ ] greets the name that is given\n";
const CONFIG: &str =
    "[validate]\ncommands = [ { name = \"test\", run = \"sh test.sh\", timeout = \"1m\" } ]\n";
const TEST: &str = "grep -q 'pass [0-9]' greet.txt\n";

/// The pass that a prompt speaks of.
fn pass_of(request: &ModelRequest) -> u32 {
    (1..=3)
        .find(|n| request.contains(&format!("pass {n} of at most")))
        .unwrap_or(0)
}

/// Claude Code: writes the file, then reports.
fn implementer() -> Script {
    Script::by(|request| {
        let pass = pass_of(request);
        if request.tool_results() == 0 {
            let root = request.work_dir().unwrap_or_default();
            return Turn::write(
                format!("{root}/greet.txt"),
                format!("hello from pass {pass}\n"),
            );
        }
        Turn::structured(json!({
            "summary": format!("greets, pass {pass}"),
            "filesChanged": ["greet.txt"],
            "evidence": [{"criterion": "greets the name that is given", "text": "see it", "paths": ["greet.txt"]}],
        }))
    })
}

/// Codex: plans; asks for changes once, then approves with a remark.
fn planner_and_reviewer() -> Script {
    Script::by(|request| {
        if request.contains("Plan the implementation") {
            return Turn::structured(json!({"summary": "write it", "steps": ["write greet.txt"]}));
        }
        let finding = |title: &str, severity: &str| {
            json!([{
                "id": "f1", "severity": severity, "title": title, "body": "it matters",
                "path": "greet.txt", "startLine": null, "line": 1, "inlineable": true,
            }])
        };
        let review = |verdict: &str, findings: Value| {
            Turn::structured(json!({
                "verdict": verdict, "summary": "looked", "findings": findings,
                "reviewed": ["greet.txt"],
            }))
        };
        if request.contains("hello from pass 1") {
            review("request_changes", finding("The name is missing", "high"))
        } else {
            review("approve", finding("No usage text", "low"))
        }
    })
}

struct Stage {
    world: TestEnvironment,
    claude: Anthropic,
    codex: OpenAi,
}

impl Stage {
    /// None when a real program is missing.
    fn new(implementer: Script, codex: Script) -> Option<Self> {
        let (claude_bin, codex_bin) = (peer("claude")?, peer("codex")?);
        let world = TestEnvironment::with_repo(&[
            ("xiv.toml", CONFIG),
            ("test.sh", TEST),
            (".xiv/issues/AB-1.md", ISSUE),
        ]);
        for (name, binary) in [("claude", claude_bin), ("codex", codex_bin)] {
            let link = world.path(&format!("bin/{name}"));
            std::os::unix::fs::symlink(binary, link).expect("a link to the program");
        }
        let (claude, codex) = (Anthropic::start(implementer), OpenAi::start(codex));
        world.write("home/.codex/config.toml", &codex.codex_config());
        Some(Self {
            world,
            claude,
            codex,
        })
    }

    fn implement(&self) -> Ran {
        let mut command = self.world.command(&["implement", "AB-1", "--json"]);
        command
            .envs(self.claude.claude_env())
            .envs(self.codex.codex_env());
        Ran::of(command.output().expect("the binary starts"))
    }
}

#[test]
fn peer_implements_by_claude_and_is_reviewed_by_codex() {
    let Some(stage) = Stage::new(implementer(), planner_and_reviewer()) else {
        return;
    };
    let ran = stage.implement().exits(0);
    let last = ran.last();
    let output = &last["output"];
    assert_eq!(output["outcome"], "done", "{ran:?}");
    assert_eq!(output["passes"], 2);
    assert_eq!(output["reviewVerdict"], "approve");
    assert_eq!(
        output["knownGaps"],
        json!([{
            "severity": "low", "title": "No usage text", "detail": "it matters", "path": "greet.txt",
        }])
    );
    assert_eq!(output["branch"], "feat/ab-1");
    assert_eq!(
        stage.world.git(&["show", "feat/ab-1:greet.txt"]),
        "hello from pass 2"
    );
    assert_eq!(
        stage
            .world
            .git(&["rev-list", "--count", "main..feat/ab-1"])
            .trim(),
        "1",
        "one commit on the branch"
    );
    let told = |pass: u32, text: &str| {
        stage
            .claude
            .requests()
            .iter()
            .any(|r| pass_of(r) == pass && r.contains(text))
    };
    assert!(
        told(2, "The name is missing"),
        "pass 2 hears what pass 1's review said"
    );
    assert!(!told(1, "The name is missing"));
    let verdicts: Vec<Value> = ran
        .lines()
        .iter()
        .filter(|line| line["event"]["type"] == "passJudged")
        .map(|line| line["event"]["verdict"].clone())
        .collect();
    assert_eq!(verdicts, [json!("request_changes"), json!("approve")]);
    assert_eq!(
        marked(output["runId"].as_str().expect("a run id")),
        Vec::<String>::new()
    );
}

#[test]
fn peer_reviewer_that_is_refused_leaves_the_decision_to_validation() {
    let refused = Script::by(|request| {
        if request.contains("Plan the implementation") {
            return Turn::structured(json!({"summary": "write it", "steps": ["write greet.txt"]}));
        }
        Turn::status(401)
    });
    let Some(stage) = Stage::new(implementer(), refused) else {
        return;
    };
    let ran = stage.implement().exits(0);
    let output = &ran.last()["output"];
    assert_eq!(output["outcome"], "done", "{ran:?}");
    assert_eq!(output["reviewVerdict"], Value::Null);
    let failed: Vec<Value> = ran
        .lines()
        .iter()
        .filter(|line| line["event"]["type"] == "reviewFailed")
        .map(|line| line["event"]["reason"]["kind"].clone())
        .collect();
    assert_eq!(failed, [json!("auth")]);
}

/// Processes that carry the run's mark.
fn marked(run: &str) -> Vec<String> {
    let processes = std::fs::read_dir("/proc").expect("a /proc file system");
    processes
        .filter_map(|entry| {
            let path = entry.ok()?.path();
            let environ = std::fs::read(path.join("environ")).ok()?;
            let marked = environ.split(|b| *b == 0).any(|var| {
                var.starts_with(b"XIV_MARK=") && String::from_utf8_lossy(var).contains(run)
            });
            marked.then(|| path.display().to_string())
        })
        .collect()
}

#[test]
fn peer_that_is_not_logged_in_refuses_the_run_with_the_way_to_log_in() {
    let (Some(claude), Some(codex)) = (peer("claude"), peer("codex")) else {
        return;
    };
    let world = TestEnvironment::with_repo(&[("test.sh", TEST)]);
    for (name, program) in [("claude", claude), ("codex", codex)] {
        let program = program.canonicalize().expect("the peer exists");
        std::os::unix::fs::symlink(program, world.path("bin").join(name)).expect("a link");
    }
    world.write("repo/.xiv/issues/AB-1.md", ISSUE);
    world.write("repo/xiv.toml", CONFIG);
    let ran = world.xiv(&["implement", "AB-1"]).exits(4);
    assert!(ran.stderr.contains("codex login"), "{ran:?}");
    assert!(!world.path("xiv").exists(), "no state was made");
    assert_eq!(world.git(&["branch", "--list", "feat/*"]), "");
}
