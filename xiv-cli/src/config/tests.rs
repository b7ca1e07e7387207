//! The rules of the configuration, over files in a temporary folder.

use std::path::{Path, PathBuf};

use super::{Config, Layer, Loaded, Origin, REFERENCE, Sources, load, schema::Shape};
use crate::error::CliError;

struct Files {
    dir: tempfile::TempDir,
    sources: Sources,
}

impl Files {
    fn new(user: &str, repo: &str) -> Self {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let put = |name: &str, text: &str| {
            let path = dir.path().join(name);
            std::fs::write(&path, text).expect("a file in it");
            path
        };
        let files = vec![put("user.toml", user), put("xiv.toml", repo)];
        let sources = Sources {
            files,
            ..Sources::default()
        };
        Self { dir, sources }
    }

    fn var(mut self, name: &str, value: &str) -> Self {
        if name == "XIV_TIER" {
            self.sources.tier = Some(value.to_owned());
        }
        self.sources.vars.push((name.to_owned(), value.to_owned()));
        self
    }

    fn load(&self) -> Result<Loaded, CliError> {
        load(&self.sources, Layer::default())
    }

    fn error(&self) -> String {
        let error = self.load().expect_err("a wrong configuration");
        assert_eq!(error.exit.code(), 3, "{error:?}");
        let all = [vec![error.message], error.causes, error.hints].concat();
        all.join("\n")
            .replace(&format!("{}/", self.dir.path().display()), "")
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }
}

#[test]
fn the_reference_file_is_the_default_and_names_every_key() {
    let layer = Layer::from_file(Path::new("xiv.toml"), REFERENCE).expect("valid");
    let config: Config = layer.table.try_into().expect("complete");
    assert_eq!(config, Config::default());

    // with every commented key switched on it is still valid
    let full: String = REFERENCE
        .lines()
        .map(|line| {
            let bare = line.strip_prefix("# ").unwrap_or(line);
            let setting = bare.starts_with('[') && bare.ends_with(']')
                || bare.split_once(" = ").is_some_and(|(key, _)| {
                    !key.contains(' ') && key != "auto" && key != "commands"
                });
            if setting { bare } else { line }.to_owned() + "\n"
        })
        .collect();
    let layer = Layer::from_file(Path::new("full.toml"), &full).expect("valid when uncommented");
    let mut missing = Vec::new();
    keys(Shape::root(), "", &mut missing);
    missing.retain(|key| {
        let steps = ["implement", "review", "fix", "describe"]
            .iter()
            .any(|step| key.starts_with(&format!("steps.{step}.")));
        let optional = key.ends_with(".guidance") || key.contains(".budget.");
        !(layer.origins.contains_key(key) || steps && optional)
    });
    assert!(
        missing.is_empty(),
        "keys that the reference lacks: {missing:?}"
    );
}

fn keys(shape: Shape<'_>, prefix: &str, out: &mut Vec<String>) {
    for name in shape.names() {
        let path = format!("{prefix}{name}");
        let inner = shape.child(name).expect("its own name");
        if inner.is_table() {
            keys(inner, &format!("{path}."), out);
        } else {
            out.push(path);
        }
    }
}

#[test]
fn the_repository_goes_before_the_user_and_the_environment_before_both() {
    let files = Files::new(
        "base = 'trunk'\n[loop]\nmax_iterations = 5\nblocker_withholds = true\n",
        "\n[loop]\nmax_iterations = 7\n",
    )
    .var("XIV_BASE", "other");
    let loaded = files.load().expect("valid");
    assert_eq!(loaded.config.base.as_deref(), Some("other"));
    assert_eq!(loaded.config.r#loop.max_iterations, 7);
    assert!(loaded.config.r#loop.blocker_withholds);
    assert_eq!(
        loaded.origin("loop.max_iterations"),
        Origin::File {
            path: files.path("xiv.toml"),
            line: 3
        }
    );
    assert_eq!(
        loaded.origin("loop.blocker_withholds"),
        Origin::File {
            path: files.path("user.toml"),
            line: 4
        }
    );
    assert_eq!(
        loaded.origin("base"),
        Origin::Env {
            name: "XIV_BASE".to_owned()
        }
    );
    assert_eq!(loaded.origin("tracker"), Origin::Default);

    let mut flags = Layer::default();
    let flag = Origin::Flag {
        name: "--max-iterations".to_owned(),
    };
    flags.set(&["loop", "max_iterations"], 2, flag.clone());
    let loaded = load(&files.sources, flags).expect("valid");
    assert_eq!(loaded.config.r#loop.max_iterations, 2);
    assert_eq!(loaded.origin("loop.max_iterations"), flag);
}

#[test]
fn a_skipped_review_stays_skipped_whoever_said_so() {
    let skip = |user, repo, var| {
        Files::new(user, repo)
            .var("XIV_LOOP__SKIP_ACCEPTANCE_REVIEW", var)
            .load()
            .expect("valid")
            .config
            .r#loop
            .skip_acceptance_review
    };
    let (on, off) = (
        "[loop]\nskip_acceptance_review = true\n",
        "[loop]\nskip_acceptance_review = false\n",
    );
    assert!(!skip(off, off, "false"));
    assert!(skip(on, off, "false"));
    assert!(skip(off, on, "false"));
    assert!(skip(off, off, "true"));
}

#[test]
fn another_engine_drops_what_was_chosen_for_the_old_one() {
    let loaded = Files::new(
        "[steps.review]\nengine = 'claude'\nmodel = 'm'\n",
        "[steps.plan]\nengine = 'codex'\n",
    )
    .var("XIV_IMPLEMENT_ENGINE", "scripted:x.toml")
    .load()
    .expect("valid");
    let steps = &loaded.config.steps;
    assert_eq!(steps.review.model.as_deref(), Some("m"));
    assert_eq!(steps.review.effort, None);
    // naming the same engine changes nothing
    assert_eq!(steps.plan.model.as_deref(), Some("gpt-5.6-sol"));
    assert_eq!(steps.implement.model, None);
    assert_eq!(steps.implement.engine, "scripted:x.toml");
}

#[test]
fn short_names_and_the_tier_come_from_the_environment() {
    let loaded = Files::new("", "")
        .var("XIV_TIER", "quality")
        .var("XIV_REVIEW_EFFORT", "low")
        .var("XIV_STEPS__PLAN__TIMEOUT", "1m")
        .var("XIV_VALIDATE__COMMANDS", "[{ name = 't', run = 'true' }]")
        .var("XIV_RUN_ID", "reserved")
        .var("XIV_LOOP__MAX_ITERATION", "4")
        .load()
        .expect("valid");
    let steps = &loaded.config.steps;
    assert_eq!(steps.implement.model.as_deref(), Some("claude-opus-5"));
    assert_eq!(steps.review.effort.as_deref(), Some("low"));
    assert_eq!(steps.plan.timeout.map(|t| t.as_ms()), Some(60_000));
    assert_eq!(loaded.config.validate.commands[0].run, "true");
    assert_eq!(
        loaded.warnings,
        ["the environment variable XIV_LOOP__MAX_ITERATION is not known to xiv"]
    );
}

#[test]
fn an_unknown_key_is_named_with_its_place_and_a_suggestion() {
    insta::assert_snapshot!(Files::new("", "[loop]\nmax_iteration = 3\n").error(), @r"
    xiv.toml:2: unknown key `loop.max_iteration`
    did you mean `max_iterations` instead of `max_iteration`?
    `xiv config schema` lists every key
    ");
    insta::assert_snapshot!(
        Files::new("", "trackr = 'files'\n[step.plan]\nengine = 'codex'\n").error(), @r"
    xiv.toml has unknown keys
    xiv.toml:2: `step`
    xiv.toml:1: `trackr`
    did you mean `steps` instead of `step`?
    did you mean `tracker` instead of `trackr`?
    `xiv config schema` lists every key
    ");
    insta::assert_snapshot!(
        Files::new("", "[validate]\ncommands = [\n  { name = 't', runs = 'true' },\n]\n").error(), @r"
    xiv.toml:3: unknown key `validate.commands.0.runs`
    did you mean `run` instead of `runs`?
    `xiv config schema` lists every key
    ");
}

#[test]
fn a_wrong_value_is_named_with_its_place() {
    for (text, wanted) in [
        (
            "[loop]\nmax_iterations = 'abc'\n",
            "xiv.toml:2: key `loop.max_iterations` has a wrong value",
        ),
        (
            "\ntracker = 'jira'\n",
            "xiv.toml:2: key `tracker` has a wrong value",
        ),
        ("loop = 3\n", "xiv.toml:1: key `loop` has a wrong value"),
        (
            "[steps.plan]\nidle = '10'\n",
            "xiv.toml:2: key `steps.plan.idle` has a wrong value",
        ),
        (
            "[agents.x]\n",
            "xiv.toml:1: key `agents.x` has a wrong value",
        ),
        (
            "[[validate.commands]]\nname = 't'\n",
            "xiv.toml:1: key `validate.commands` has a wrong value",
        ),
        ("a = \n", "xiv.toml:1 is not valid"),
        (
            "[steps.plan]\nengine = 'gpt'\n",
            "key `steps.plan.engine` (from xiv.toml:2) has a wrong value",
        ),
        (
            "[steps.plan]\nengine = 'command:x'\n",
            "key `steps.plan.engine` (from xiv.toml:2) has a wrong value",
        ),
        (
            "[agents.x]\ncommand = []\n",
            "key `agents.x.command` (from xiv.toml:2) has a wrong value",
        ),
        (
            "[budget]\nusd = -1.0\n",
            "key `budget.usd` (from xiv.toml:2) has a wrong value",
        ),
    ] {
        let error = Files::new("", text).error();
        assert_eq!(error.lines().next(), Some(wanted), "{text}\n{error}");
    }
    for (name, value) in [
        ("XIV_LOOP__MAX_ITERATIONS", "abc"),
        ("XIV_GATE__IMPLEMENT", "maybe"),
        ("XIV_TRACKER", "jira"),
        ("XIV_BUDGET__USD", "much"),
        ("XIV_VALIDATE__ENV_ALLOW", "A"),
        ("XIV_STEPS__PLAN__IDLE", "10"),
        ("XIV_TIER", "best"),
    ] {
        let error = Files::new("", "").var(name, value).error();
        assert!(
            error.starts_with(&format!("{name} has a wrong value")),
            "{error}"
        );
    }
}
