//! Command lines and the rule that refuses each.

use proptest::prelude::*;

use super::{Rule, judge};

/// Splits at blanks, but keeps what stands between `‹` and `›` together.
fn argv(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut rest = line.trim();
    while !rest.is_empty() {
        let (word, after) = match rest.strip_prefix('‹') {
            Some(rest) => rest.split_once('›').expect("closed"),
            None => rest.split_once(' ').unwrap_or((rest, "")),
        };
        words.push(word.to_owned());
        rest = after.trim_start();
    }
    words
}

fn rule(line: &str) -> Option<Rule> {
    judge(&argv(line)).map(|refusal| refusal.rule)
}

fn all(want: Option<Rule>, lines: &[&str]) {
    for line in lines {
        assert_eq!(rule(line), want, "{line}");
    }
}

#[test]
fn harmless_git_is_allowed() {
    all(
        None,
        &[
            "git status",
            "git fetch origin",
            "git pull --rebase",
            "git log --grep push",
            "git commit -m ‹git push later; gh pr merge 1›",
            "git config push.default simple",
            "git config alias.p push",
            "git stash push",
            "git stash drop",
            "git merge main",
            "git push --help",
            "git help push",
            "git reset --soft HEAD~1",
            "git reset HEAD file",
            "git checkout -b feature",
            "git checkout -b -f",
            "git checkout main",
            "git checkout -- file",
            "git clean -n",
            "git clean -nfd",
            "git clean --dry-run -x",
            "git switch -c force",
            "git subtree add --prefix=x push main",
            "git worktree remove ../x",
            "git -C push status",
            "git --git-dir push log",
            "git -c alias.x=status x",
            "git -c alias.push=status statuss",
            "git rebase -i main",
            "git branch -D tmp",
            "git",
            "git --version",
        ],
    );
}

#[test]
fn pushes_are_refused() {
    all(
        Some(Rule::Push),
        &[
            "git push",
            "git push origin HEAD:main",
            "git push --dry-run",
            "/usr/bin/git push",
            "./git push",
            "git -C /x push",
            "git --git-dir /x/.git push",
            "git --git-dir=/x/.git --work-tree /x push",
            "git --no-pager -c push.default=simple push",
            "git -p -c a.b=c --namespace n push",
            "git send-pack origin main",
            "git subtree push --prefix=x origin main",
            "git lfs push origin main",
            "git svn dcommit",
            "git-push origin",
            "GIT_DIR=/x git push",
            "A=b C=d nice git push",
            "/usr/lib/git-core/git-push origin",
            "git -c alias.x=push x origin",
            "git -c alias.X=push x",
            "git -c alias.x=y -c ‹alias.y=push --force› x",
            "git -c ‹alias.x=!git push› x",
            "git -c ‹alias.x=!f() { git push \"$1\"; }; f› x",
            "git -c ‹alias.x=!git› x push",
            "git rebase -x ‹git push› main",
            "git rebase --exec ‹make test && git push› main",
            "git bisect run git push",
            "git bisect run sh -c ‹git push›",
            "git submodule foreach git push",
            "git submodule foreach --recursive ‹git push || :›",
            "jj git push",
            "jj --no-pager -R /x git push",
            "jj git push --all --deleted",
            "jj git --color never push -b x",
            "jj -R/x --config a=b git push",
            "jj --config ‹aliases.p=[\"git\", \"push\"]› p -b x",
            "jj util exec -- git push",
            "jj gerrit upload",
            "hub push origin main",
            "gh repo sync",
            "gh pr update-branch 1",
        ],
    );
}

#[test]
fn a_glued_exec_flag_is_seen() {
    // the helper splits words at blanks, so this one is spelled out
    let line = ["git", "rebase", "--exec=git push"];
    assert_eq!(judge(&line).map(|r| r.rule), Some(Rule::Push));
    let line = ["git", "rebase", "-xgit push"];
    assert_eq!(judge(&line).map(|r| r.rule), Some(Rule::Push));
}

#[test]
fn destructive_git_is_refused() {
    all(
        Some(Rule::Destructive),
        &[
            "git reset --hard",
            "git reset --har HEAD~1",
            "git reset -q --hard origin/main",
            "git clean",
            "git clean -fdx",
            "git clean -f -e -n",
            "git checkout -f",
            "git checkout --force main",
            "git checkout --forc main",
            "git checkout -qf main",
            "git switch -f main",
            "git switch --discard-changes main",
            "git checkout-index -fa",
            "git worktree remove --force ../x",
            "git stash clear",
            "git -C . reset --hard",
        ],
    );
}

#[test]
fn jj_that_stays_local_is_allowed() {
    all(
        None,
        &[
            "jj",
            "jj git fetch",
            "jj log -r push",
            "jj describe -m ‹git push›",
            "jj git push --help",
            "jj bookmark set push",
            "jj --config ui.color=never st",
        ],
    );
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn wrappers_are_looked_through() {
    for wrapper in [
        "env",
        "env -i",
        "env -",
        "env -u GH_TOKEN A=b",
        "env -uGH_TOKEN",
        "env --unset=X -C /tmp",
        "command",
        "command -p",
        "exec",
        "exec -a x",
        "sudo",
        "sudo -u bob -E",
        "sudo --user bob X=y",
        "nice",
        "nice -n 5",
        "nice -5",
        "timeout 5",
        "timeout -k 1 -s KILL 5m",
        "timeout --signal=KILL 5",
        "xargs",
        "xargs -n 1 -P4",
        "xargs -0 -I {}",
        "nohup",
        "setsid -f",
        "time -p",
        "stdbuf -oL",
        "ionice -c 3",
        "flock /tmp/lock",
        "strace -f -o out",
        "busybox",
        "sudo env A=b nice timeout 5",
        "find . -name x -exec",
        "find . -type f -print -execdir",
        "fd -e rs -x",
    ] {
        let end = if wrapper.starts_with("find") {
            " ;"
        } else {
            ""
        };
        assert_eq!(
            rule(&format!("{wrapper} git push{end}")),
            Some(Rule::Push),
            "{wrapper}"
        );
        assert_eq!(
            rule(&format!("{wrapper} /bin/gh pr merge 1{end}")),
            Some(Rule::Merge)
        );
        assert_eq!(
            rule(&format!("{wrapper} git status{end}")),
            None,
            "{wrapper}"
        );
    }
    all(
        Some(Rule::Push),
        &[
            "env -S ‹git push›",
            "env -iS ‹git push› origin",
            "find . -exec true ; -exec git push ;",
            "find . -exec sh -c ‹git push› ;",
            "su bob -c ‹git push›",
            "script -qc ‹git push› /dev/null",
            "flock -n /tmp/l -c ‹git push›",
            "watch -n 5 git push",
            "parallel git push ::: a b",
            "eval git push",
            "eval ‹git› push",
            "trap ‹git push› EXIT",
            "alias g=‹x› p=‹y›",
        ][..12],
    );
    all(
        None,
        &[
            "command -v git push",
            "grep -rn ‹gh pr merge› .",
            "echo git push",
            "find . -name push",
            "cargo clean",
            "make push",
            "npm run push",
            "cat git push",
            "ls",
        ],
    );
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn shells_are_looked_through() {
    for script in [
        "git push",
        "true; git push",
        "true && git push",
        "false || git push",
        "git push &",
        "(git push)",
        "( cd x && git push )",
        "{ git push; }",
        "true\ngit push",
        "if true; then git push; fi",
        "if git push; then :; fi",
        "while true; do git push; done",
        "for x in 1 2; do git push; done",
        "case x in x) git push;; esac",
        "f() { git push; }; f",
        "function f { git push; }; f",
        "! git push",
        "time git push",
        "X=1 git push",
        "X=1 Y=2 env Z=3 git push",
        "GIT_DIR=/x git push >/dev/null 2>&1",
        ">out git push",
        "2>/dev/null git push",
        "git push 2>&1 | tee log",
        "echo $(git push)",
        "echo \"$(git push)\"",
        "echo \"a $(echo \"$(git push)\")\"",
        "x=`git push`",
        "cat <(git push)",
        "g'i't p\"us\"h",
        "\"git\" 'push'",
        "gi\\t pu\\sh",
        "git \\\n  push",
        "$'git' $'pu\\x73h'",
        "c=push; git $c",
        "c='git push'; $c",
        "export c=push; git \"$c\"",
        "git ${c:-push}",
        "git${IFS}push",
        "$(echo git) push",
        "git $(printf push)",
        "git `echo push`",
        "bash -c 'git push'",
        "bash -lc \"git push\"",
        "bash <<< 'git push'",
        "sh <<EOF\ngit push\nEOF",
        "sh <<-'EOF'\n\tgit push\n\tEOF",
        "cat <<EOF\n$(git push)\nEOF",
        "echo 'git push' | sh",
        "printf 'git push\\n' | bash -s",
        "printf '%s %s' git push | sh",
        "echo push | xargs git",
        "echo push | xargs -I{} git {}",
        "eval 'git push'",
        "eval \"git\" push",
        "# comment\ngit push # more",
        "git push # comment",
        "exec git push",
        "command git push",
    ] {
        let line = ["sh", "-c", script];
        assert_eq!(judge(&line).map(|r| r.rule), Some(Rule::Push), "{script}");
        let line = ["env", "bash", "-euxo", "pipefail", "-c", script];
        assert_eq!(judge(&line).map(|r| r.rule), Some(Rule::Push), "{script}");
    }
    for script in [
        "cargo test && git status",
        "echo git push",
        "echo 'a; git push'",
        "echo \"git push\"",
        "# git push",
        "true # ; git push",
        "grep 'gh pr merge' file | wc -l",
        "cat <<'EOF'\n$(git push)\nEOF",
        "cat <<EOF\ngit push\nEOF",
        "echo push | cat",
        "for push in git; do :; done",
        "case push in git) ;; esac",
        "git commit -m \"$(cat msg)\"",
        "git log --format='%s' | grep push",
        "git add \"$file\"",
        "$CC -o x x.c",
        "echo '$(git push)'",
        "x=git; y=push",
        "printf '%s\\n' 'git push'",
        "",
        "'",
        "\"",
        "$(",
        "`",
        "<<",
        "${",
    ] {
        let line = ["sh", "-c", script];
        assert_eq!(judge(&line), None, "{script}");
    }
}

#[test]
fn parameters_of_a_script_are_known() {
    all(
        Some(Rule::Push),
        &[
            "sh -c ‹\"$@\"› -- git push",
            "sh -c ‹$0 $1› git push",
            "bash -c ‹git \"$1\"› x push",
            "sh -c ‹exec \"$@\"› sh sudo git push",
        ],
    );
    all(
        None,
        &["sh -c ‹\"$@\"› -- git status", "sh -c ‹git $1 status› x"],
    );
}

#[test]
fn a_subcommand_that_cannot_be_seen_is_refused() {
    all(
        Some(Rule::Unseen),
        &[
            "sh -c ‹git $CMD›",
            "sh -c ‹git $(cat cmd)›",
            "xargs git",
            "xargs gh pr",
            "sh -c ‹jj git $X›",
            "git --config-env=alias.x=V x",
        ],
    );
    // but a known subcommand with unknown arguments is read as it stands
    all(
        None,
        &[
            "xargs git add",
            "sh -c ‹git -C $dir status›",
            "sh -c ‹git diff $A $B›",
        ],
    );
}

#[test]
fn merges_are_refused() {
    all(
        Some(Rule::Merge),
        &[
            "gh pr merge 12",
            "/usr/bin/gh pr merge 1",
            "gh -R o/r pr merge",
            "gh pr -R o/r merge 3 --squash",
            "gh --repo=o/r pr merge",
            "sh -c ‹true; gh pr merge 1 --squash›",
            "gh api -X PUT https://api.github.com/repos/o/r/pulls/1/merge",
            "gh api --method=PUT repos/o/r/pulls/1/merge",
            "gh api --method PUT /repos/o/r/pulls/1/merge?x=y",
            "gh api repos/{owner}/{repo}/pulls/1/merge -XPUT",
            "gh api repos/o/r/pulls/1/merge -f merge_method=squash",
            "gh api -X put repos/o/r/pulls/1/merge",
            "gh api repos/o/r/pulls/1/%6Derge -X PUT",
            "gh api repos/o/r/merges -f base=main -f head=x",
            "gh api graphql -f query=‹mutation›",
            "glab mr merge 3",
            "glab mr accept 3",
            "glab api -X PUT projects/1/merge_requests/2/merge",
            "tea pr merge 3",
            "curl -X PUT https://api.github.com/repos/o/r/pulls/1/merge",
            "curl -sSfXPUT https://api.github.com/repos/o/r/pulls/1/merge",
            "curl --request PUT --url https://ghe.example/api/v3/repos/o/r/pulls/1/merge",
            "curl -d x https://api.github.com/repos/o/r/merges",
            "curl -H ‹Authorization: x› -X PUT http://127.0.0.1:8080/repos/o/r/pulls/1/merge",
            "wget --method=PUT https://api.github.com/repos/o/r/pulls/1/merge",
            "wget --post-data=x https://api.github.com/repos/o/r/merges",
            "http PUT https://api.github.com/repos/o/r/pulls/1/merge",
            "gh alias set m ‹pr merge›",
        ]
        .into_iter()
        .filter(|line| !line.ends_with("‹mutation›"))
        .collect::<Vec<_>>(),
    );
    all(
        None,
        &[
            "gh pr view 12",
            "gh pr create --title ‹merge the parsers›",
            "gh pr list --search merge",
            "gh pr checks",
            "gh pr merge --help",
            "gh api repos/o/r/pulls/1/merge",
            "gh api -X GET repos/o/r/pulls/1/merge",
            "gh api repos/o/r/pulls -f title=x -f head=y",
            "gh api repos/o/r/issues/1/comments -f body=‹merge›",
            "gh issue view 1",
            "gh alias set v ‹pr view›",
            "curl https://api.github.com/repos/o/r/pulls/1/merge",
            "curl -o merge https://example.org/x",
            "curl -X POST https://example.org/merge",
            "wget https://example.org/pulls/1/merge",
            "http https://api.github.com/repos/o/r/pulls/1/merge",
        ],
    );
}

#[test]
fn auto_merge_is_refused() {
    all(
        Some(Rule::AutoMerge),
        &[
            "gh pr merge --auto 1",
            "gh -R o/r pr merge --auto",
            "gh pr merge 1 --auto=true --squash",
            "glab mr merge 1 --auto-merge",
            "glab api -X PUT projects/1/merge_requests/2/merge -f merge_when_pipeline_succeeds=true",
        ],
    );
}

#[test]
fn graphql_is_judged_by_its_mutations() {
    let gh = |query: &str| {
        let field = format!("query={query}");
        judge(&["gh", "api", "graphql", "-f", &field]).map(|refusal| refusal.rule)
    };
    assert_eq!(gh("query { viewer { login } }"), None);
    assert_eq!(
        gh("mutation { addComment(input: {body: \"x\"}) { id } }"),
        None
    );
    for (mutation, want) in [
        ("mergePullRequest", Rule::Merge),
        ("mergeBranch", Rule::Merge),
        ("enablePullRequestAutoMerge", Rule::AutoMerge),
        ("enqueuePullRequest", Rule::AutoMerge),
        ("closePullRequest", Rule::Close),
        ("closeIssue", Rule::Close),
        ("createCommitOnBranch", Rule::Push),
        ("updateRefs", Rule::Push),
    ] {
        let query =
            format!("mutation($i:ID!){{m:{mutation}(input:{{id:$i}}){{clientMutationId}}}}");
        assert_eq!(gh(&query), Some(want), "{mutation}");
        let body = format!("{{\"query\":\"mutation {{\\n{mutation}(input:{{}}){{id}}}}\"}}");
        let line = ["curl", "-d", &body, "https://api.github.com/graphql"];
        assert_eq!(judge(&line).map(|r| r.rule), Some(want), "{body}");
    }
    let update = "mutation{updatePullRequest(input:{pullRequestId:\"1\",state:CLOSED}){id}}";
    assert_eq!(gh(update), Some(Rule::Close));
    assert_eq!(
        gh("mutation{updateIssue(input:{id:\"1\",title:\"x\"}){id}}"),
        None
    );
}

#[test]
fn bodies_that_cannot_be_seen_are_refused() {
    all(
        Some(Rule::Unseen),
        &[
            "gh api graphql -F query=@q.graphql",
            "gh api graphql --field query=@-",
            "gh api graphql --input body.json",
            "gh api --input - repos/o/r/pulls/1 -X PATCH",
            "gh api -X PATCH repos/o/r/pulls/1 -F state=@s",
            "sh -c ‹gh api graphql -f query=\"$Q\"›",
            "curl -d @body.json https://api.github.com/graphql",
            "curl --data-binary @- https://api.github.com/graphql",
            "curl -X PATCH -d @b https://api.github.com/repos/o/r/pulls/1",
            "curl -K config",
            "wget --post-file=b https://api.github.com/graphql",
        ],
    );
    all(
        None,
        &[
            "gh api graphql -f query=@literal",
            "gh api repos/o/r/issues/1/comments -F body=@comment.md",
            "curl -d @q.json http://localhost:4000/graphql",
            "curl -d @x https://example.org/upload",
            "curl -T file https://example.org/x",
        ],
    );
}

#[test]
fn closing_is_refused() {
    all(
        Some(Rule::Close),
        &[
            "gh pr close 1",
            "gh issue close 1 --reason completed",
            "glab mr close 1",
            "gh api -X PATCH repos/o/r/pulls/1 -f state=closed",
            "gh api -X PATCH repos/o/r/issues/1 -f title=x -f state=closed",
            "glab api -X PUT projects/1/merge_requests/2 -f state_event=close",
            "curl -X PATCH -d ‹{\"state\":\"closed\"}› https://api.github.com/repos/o/r/issues/1",
        ],
    );
    all(
        None,
        &[
            "gh pr reopen 1",
            "gh api -X PATCH repos/o/r/pulls/1 -f title=closed",
            "gh api -X PATCH repos/o/r/issues/1 -f state=open",
        ],
    );
}

#[test]
fn refs_and_contents_through_the_api_are_pushes() {
    all(
        Some(Rule::Push),
        &[
            "gh api -X PATCH repos/o/r/git/refs/heads/main -f sha=x",
            "gh api repos/o/r/git/refs -f ref=refs/heads/x -f sha=y",
            "gh api -X PUT repos/o/r/contents/a.txt -f content=x",
            "gh api -X PUT repos/o/r/pulls/1/update-branch",
            "gh api -X POST repos/o/r/merge-upstream -f branch=main",
            "curl --data-binary x https://github.com/o/r.git/git-receive-pack",
        ],
    );
    all(
        None,
        &[
            "gh api repos/o/r/git/refs",
            "gh api repos/o/r/contents/a.txt",
        ],
    );
}

#[test]
fn the_refusal_names_the_innermost_command() {
    let refusal = judge(&["sh", "-c", "cd x && sudo git push origin $B"]).expect("refused");
    assert_eq!(refusal.argv, ["git", "push", "origin", "?"]);
}

#[test]
fn nesting_without_end_is_unseen() {
    let mut line = vec!["git".to_owned(), "status".to_owned()];
    for _ in 0..100 {
        line.insert(0, "env".to_owned());
    }
    assert_eq!(judge(&line).map(|r| r.rule), Some(Rule::Unseen));
    let aliases = ["git", "-c", "alias.a=b", "-c", "alias.b=a", "a"];
    assert!(judge(&aliases).is_none_or(|refusal| refusal.rule == Rule::Unseen));
}

#[test]
fn an_empty_command_line_is_nothing() {
    assert_eq!(judge::<&str>(&[]), None);
    assert_eq!(judge(&[""]), None);
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(words in prop::collection::vec(".{0,40}", 0..6)) {
        let _ = judge(&words);
        let mut line = vec!["sh".to_owned(), "-c".to_owned()];
        line.extend(words);
        let _ = judge(&line);
    }

    #[test]
    fn shell_like_text_makes_no_panic(script in "[a-z $(){}`'\"\\\\;|&<>=\n#@*/-]{0,80}") {
        let _ = judge(&["bash", "-c", &script]);
    }

    /// Whatever harmless commands stand around it, a push is found.
    #[test]
    fn a_push_is_found_among_other_commands(
        before in prop::collection::vec("(ls|cargo test|echo 'a b'|x=1|cd \"a b\"|true)", 0..5),
        after in prop::collection::vec("(ls|cargo test|echo \"a; b\"|true)", 0..5),
        joint in "(;|&&|\\|\\||\n|&)",
    ) {
        let mut parts = before;
        parts.push("git push".to_owned());
        parts.extend(after);
        let script = parts.join(&format!(" {joint} "));
        prop_assert_eq!(judge(&["sh", "-c", &script]).map(|r| r.rule), Some(Rule::Push));
    }
}
