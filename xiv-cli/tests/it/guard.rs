//! An agent and a test that try to push and to merge: nothing is pushed, no
//! token is visible, and every try that a shim sees is in the record.

use serde_json::Value;

use crate::environment::{ISSUE, Ran, TestEnvironment, config};

/// What the agent and the repository's test both try.
const TRIES: &str = r#"
command -v git >> "$OUT/which"
env >> "$OUT/env"
git push origin HEAD:refs/heads/stolen
bash -c 'git push origin HEAD:refs/heads/stolen'
git -c alias.x=push x origin HEAD:refs/heads/stolen
git -C . reset --har
gh pr merge 1 --squash
gh pr merge 1 --auto
sh -c "gh api -X PUT repos/o/r/pulls/1/merge"
jj git push
/usr/bin/env git push "$REMOTE" HEAD:refs/heads/stolen
"$REAL_GIT" push origin HEAD:refs/heads/stolen
"$REAL_GIT" push "$REMOTE" HEAD:refs/heads/stolen
git status --short >> "$OUT/status"
git init -q "$OUT/scratch-$$" && cd "$OUT/scratch-$$" && git reset --hard && echo own >> "$OUT/own"
"#;

fn world() -> TestEnvironment {
    let world = TestEnvironment::with_repo(&[("test.sh", "sh \"$OUT/../tries.sh\"\ntrue\n")]);
    world.git_in("", &["init", "-q", "--bare", "remote.git"]);
    let remote = world.path("remote.git").display().to_string();
    world.git(&["remote", "add", "origin", &remote]);
    world.write("out/.keep", "");
    world.write("repo/.xiv/issues/T-1.md", ISSUE);
    world.write("tries.sh", TRIES);
    world.write(
        "agent.sh",
        "cat > /dev/null\n\
         case $XIV_ROLE in\n\
         plan) echo '{\"summary\": \"s\", \"steps\": [\"one\"]}' ;;\n\
         implement) echo hello > hello.txt; sh \"$OUT/../tries.sh\"; echo '{\"summary\": \"done\"}' ;;\n\
         review) echo '{\"verdict\": \"approve\", \"summary\": \"fine\"}' ;;\n\
         esac\n",
    );
    let script = world.path("agent.sh").display().to_string();
    world.write(
        "repo/xiv.toml",
        &format!(
            "{}[agents.tester]\ncommand = [\"sh\", \"{script}\"]\n",
            config("command:tester")
        ),
    );
    world
}

fn run(world: &TestEnvironment) -> Ran {
    let real = world.path("bin/git").canonicalize().expect("git");
    let output = world
        .command(&["implement", "T-1", "--json"])
        .env("OUT", world.path("out"))
        .env("REMOTE", world.path("remote.git"))
        .env("REAL_GIT", real)
        .env("GH_TOKEN", "visible-secret-1")
        .env("LINEAR_API_KEY", "visible-secret-2")
        .env("HARMLESS", "ghp_0123456789abcdefghijABCDEFGHIJ012345")
        .env("SSH_AUTH_SOCK", "/run/visible-secret-3")
        .output();
    Ran::of(output.expect("the binary starts"))
}

#[test]
fn nothing_is_pushed_and_every_try_is_recorded() {
    let world = world();
    let ran = run(&world).exits(0);
    assert_eq!(
        world.git_in("remote.git", &["for-each-ref"]),
        "",
        "nothing arrived"
    );

    let which = world.read("out/which");
    assert_eq!(which.lines().count(), 2, "agent and test: {which}");
    let guard = world.path("xiv/guard").display().to_string();
    assert!(
        which.lines().all(|path| path.starts_with(&guard)),
        "{which}"
    );

    let env = world.read("out/env");
    for secret in ["visible-secret", "ghp_0123456789"] {
        assert!(!env.contains(secret), "{secret} is visible");
    }

    assert_eq!(
        world.read("out/own"),
        "own\nown\n",
        "their own repositories are theirs"
    );
    assert!(
        world.read("out/status").contains("hello.txt"),
        "harmless git works"
    );

    let denied: Vec<Value> = ran
        .lines()
        .into_iter()
        .map(|line| line["event"].clone())
        .filter(|event| event["type"] == "denied")
        .collect();
    for step in ["implement#1", "validate#1"] {
        let mut rules: Vec<&str> = denied
            .iter()
            .filter(|event| event["step"] == step)
            .map(|event| event["rule"].as_str().expect("a rule"))
            .collect();
        rules.sort_unstable();
        let expected = [
            "autoMerge",
            "destructive",
            "merge",
            "merge",
            "push",
            "push",
            "push",
            "push",
            "push",
        ];
        assert_eq!(rules, expected, "of {step}: {denied:#?}");
    }
}

#[test]
fn a_commit_hook_sees_what_agents_see() {
    let world = world();
    // an agent may have written it: this one lies in the work tree
    world.git(&["config", "core.hooksPath", "hooks"]);
    world.write(
        "repo/hooks/commit-msg",
        "#!/bin/sh\nenv > \"$OUT/hook-env\"\n\
         setsid sleep 300 &\ngit push origin HEAD:refs/heads/stolen\ntrue\n",
    );
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    let hook = world.path("repo/hooks/commit-msg");
    std::fs::set_permissions(hook, executable).expect("executable");
    world.git(&["add", "--all", "hooks"]);
    world.git(&["commit", "--quiet", "--no-verify", "--message=hooks"]);
    run(&world).exits(0);
    let env = world.read("out/hook-env");
    assert!(!env.contains("visible-secret"), "a token is visible");
    assert!(
        env.contains("XIV_MARK="),
        "what it leaves behind can be swept"
    );
    // git puts its own folder before the shims, so the redirection must hold
    assert_eq!(world.git_in("remote.git", &["for-each-ref"]), "");
}
