//! Tables and properties of the redaction rule.

use proptest::prelude::*;

use super::Redactor;

fn redact(text: &str) -> String {
    Redactor::default().redact(text)
}

/// `unit` repeated until it has `length` characters.
fn fill(unit: &str, length: usize) -> String {
    unit.chars().cycle().take(length).collect()
}

/// A secret of every form with the mask that it gets.
fn secrets() -> Vec<(String, &'static str)> {
    let jwt = format!(
        "{}.{}.{}",
        "eyJhbGciOiJIUzI1NiJ9",
        "eyJzdWIiOiIxMjM0NSJ9",
        fill("aB3-_x", 43)
    );
    vec![
        (format!("ghp_{}", fill("A", 36)), "github"),
        (format!("gho_{}", fill("aB1", 36)), "github"),
        (format!("ghu_{}", fill("z9", 40)), "github"),
        (format!("ghs_{}", fill("A1b2", 36)), "github"),
        (format!("ghr_{}", fill("q7Z", 76)), "github"),
        (format!("ghs_12345_{jwt}"), "github"),
        (
            format!("github_pat_{}_{}", fill("11A", 22), fill("xY3", 59)),
            "github",
        ),
        (format!("lin_api_{}", fill("aZ4", 40)), "linear"),
        (format!("lin_oauth_{}", fill("ab12", 64)), "linear"),
        (
            format!("sk-ant-api03-{}-AA", fill("a-B_3c", 90)),
            "anthropic",
        ),
        (format!("sk-ant-oat01-{}", fill("Zx9_", 40)), "anthropic"),
        (format!("sk-{}", fill("aB3d", 48)), "openai"),
        (format!("sk-{}", fill("A", 48)), "openai"),
        (format!("sk-proj-{}", fill("a_B-3dE", 120)), "openai"),
        (format!("sk-svcacct-{}", fill("xY7", 40)), "openai"),
        ("AKIAIOSFODNN7EXAMPLE".to_owned(), "aws"),
        (format!("ASIA{}", fill("Q7", 16)), "aws"),
        ("xoxb-123456789012-1234567890123-AbCdEf".to_owned(), "slack"),
        ("xoxp-2-abcdefghijkl".to_owned(), "slack"),
        (jwt, "jwt"),
    ]
}

#[test]
fn every_form_is_masked_in_every_surrounding() {
    let surroundings = [
        ("", ""),
        ("token ", " here"),
        ("X=", "\n"),
        ("\"", "\","),
        (r#"{"out":"line\n"#, r#"\nnext"}"#),
        ("%3D", "&x=1"),
        ("\x1b[32m", "\x1b[0m"),
        (r"\u0022", r"\u0022"),
        ("(", ")"),
        ("`", "`"),
        ("é", "é"),
        ("key:", ";"),
        ("https://", "@github.com/o/r"),
    ];
    for (secret, kind) in secrets() {
        for (before, after) in surroundings {
            assert_eq!(
                redact(&format!("{before}{secret}{after}")),
                format!("{before}[redacted:{kind}]{after}"),
            );
        }
    }
}

#[test]
fn what_only_resembles_a_secret_stays() {
    for text in [
        "",
        "9f2c4e1d0b8a7f6e5d4c3b2a190807f6e5d4c3b2",
        "sha512-3Kz7Qm9XcYh2mJq3u0VdA1bZp8yTtW6rGsLkNvEoFxIhUjPqRsTu==",
        "0189f7e2-9c3b-7d4e-8f5a-6b7c8d9e0f1a",
        "ghp_tooShort1234",
        &format!("ghp_{}", fill("A", 35)),
        "ghp_this_is_a_very_long_identifier_of_some_kind",
        "github_pat_from_environment_variable",
        "lin_api_key_of_the_workspace_settings",
        "sk-fading-circle-with-a-long-class-name",
        "sk-ant-api03-your-api-key-goes-here",
        "sk-ant-...",
        "sk-proj-settings-panel-wrapper-element",
        "task-0123456789abcdef0123456789abcdef",
        "risk-assessment-2026 and disk-0a1b2c3d4e5f6a7b8c9d0a1b",
        "XAKIAIOSFODNN7EXAMPLE AKIAIOSFODNN7EXAMPLEX AKIA_IOSFODNN7EXAMPLE",
        "ASIAPACIFIC and AKIA",
        "xoxb-your-token-here",
        "eyJ2ZXJzaW9uIjozLCJmaWxlIjoiYS5qcyIsInNvdXJjZXMiOltdfQ",
        "https://host:8080/path@v2 http://localhost:4873/@scope/pkg",
        "https://git@github.com/o/r ssh://git@host:22/x git@github.com:o/r.git",
        "https://user:${PASSWORD}@h https://user:$PW@h https://%s:%s@%s https://{u}:{p}@{h}",
        "https://user:***@h https://user:xxxx@h https://user:YOUR_TOKEN@h https://u:<pw>@h",
        "http://a:8080,me@b mongodb://h1:27017,h2:27017/db?x=a:b@c",
        "docker://alpine:3.8@sha256:9f2c4e1d0b8a7f6e5d4c3b2a190807f6e5d4c3b2a1908070",
        "http://[::1]:8080/@x https://cdn.example/npm/vue@3 https://h/a:b@c",
        "Authorization: Bearer ${TOKEN}",
        "-H 'Authorization: Bearer $TOKEN'",
        "Authorization: Bearer <token>",
        "Authorization: Bearer YOUR_TOKEN_HERE, Authorization: Bearer your-token-here",
        "an `Authorization: Bearer` header; Authorization: Bearer tokens are used",
        "Authorization: Bearer tokens",
        "-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA\n-----END PUBLIC KEY-----",
        "between -----BEGIN RSA PRIVATE KEY----- and -----END RSA PRIVATE KEY----- it is secret",
        "look for `-----BEGIN PRIVATE KEY-----` in the file\nand then go on",
        "fn long_identifier_with_Many_Words_and_4_digits_in_it() {}",
        "Bearer of news",
        "naïve • text ✓",
    ] {
        assert_eq!(redact(text), text);
    }
}

#[test]
fn a_password_goes_and_its_url_stays() {
    for (text, want) in [
        ("postgres://u:s3cretpw@db/x", "postgres://u:*@db/x"),
        ("redis://:hunter2@h:6379/0", "redis://:*@h:6379/0"),
        ("https://a@b.c:p@ss@h/", "https://a@b.c:*@h/"),
        ("https://u:p@h,https://u:q@h", "https://u:*@h,https://u:*@h"),
        (r"https:\/\/u:pw@h\/x", r"https:\/\/u:*@h\/x"),
        ("postgres://u:pa/ss@db/x", "postgres://u:*@db/x"),
        ("amqp://u:p%40ss#1@h", "amqp://u:*@h"),
        ("(https://u:pw@h)", "(https://u:*@h)"),
    ] {
        assert_eq!(redact(text), want.replace('*', "[redacted:password]"));
    }
    let tokens = format!("https://ghs_{}:x-oauth-basic@h", fill("A1", 36));
    assert_eq!(
        redact(&tokens),
        "https://[redacted:github]:[redacted:password]@h"
    );
}

#[test]
fn the_credential_of_a_header_goes_in_every_notation() {
    for (text, want) in [
        (
            "> Authorization: Bearer Zx9_Zx9_Zx9_\n< HTTP/1.1",
            "> Authorization: Bearer *\n< HTTP/1.1",
        ),
        (
            r#"{"Authorization":"Bearer abc123def"}"#,
            r#"{"Authorization":"Bearer *"}"#,
        ),
        (
            r#"{\"authorization\": \"bearer abc123def\"}"#,
            r#"{\"authorization\": \"bearer *\"}"#,
        ),
        (
            "('Authorization', 'Bearer abc|123')",
            "('Authorization', 'Bearer *')",
        ),
        (
            "Authorization:[Bearer q1w2e3] Host:[x]",
            "Authorization:[Bearer *] Host:[x]",
        ),
        ("AUTHORIZATION=Bearer  q1w2e3.", "AUTHORIZATION=Bearer  *."),
        (
            "Proxy-Authorization: Bearer secret-value",
            "Proxy-Authorization: Bearer *",
        ),
    ] {
        assert_eq!(redact(text), want.replace('*', "[redacted:bearer]"));
    }
}

const KEY: &str = "-----BEGIN OPENSSH PRIVATE KEY-----\n\
    b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZW\n\
    QyNTUxOQAAACDx\n\
    -----END OPENSSH PRIVATE KEY-----";

#[test]
fn a_private_key_goes_whole_however_it_is_written() {
    let mask = "[redacted:privateKey]";
    for (text, want) in [
        (format!("a\n{KEY}\nb"), format!("a\n{mask}\nb")),
        (
            format!("{{\"key\":\"{}\\n\",\"x\":1}}", KEY.replace('\n', "\\n")),
            format!("{{\"key\":\"{mask}\\n\",\"x\":1}}"),
        ),
        (
            format!("+{}", KEY.replace('\n', "\r\n+")),
            format!("+{mask}"),
        ),
        (format!("{KEY}{KEY}"), format!("{mask}{mask}")),
        // cut: goes as far as it looks like a key
        (
            format!(
                "{}\nand prose",
                KEY.split_once("\n-----END").expect("an end").0
            ),
            format!("{mask}\nand prose"),
        ),
    ] {
        assert_eq!(redact(&text), want);
    }
}

#[test]
fn a_private_key_goes_line_by_line() {
    let mut lines = Redactor::default().lines();
    let text = format!("$ cat id\n{KEY}\nPlain again\n-----BEGIN PRIVATE KEY-----\nprose");
    let out: Vec<_> = text.lines().map(|line| lines.redact(line)).collect();
    assert_eq!(
        out,
        [
            "$ cat id",
            "-----BEGIN OPENSSH PRIVATE KEY-----",
            "[redacted:privateKey]",
            "[redacted:privateKey]",
            "-----END OPENSSH PRIVATE KEY-----",
            "Plain again",
            "-----BEGIN PRIVATE KEY-----",
            "prose",
        ]
    );
}

#[test]
fn known_values_go_in_every_spelling() {
    let redactor = Redactor::new(["pa\"ss/w0rd", "short", "", "first line\nsecond line"]);
    assert_eq!(
        redactor.redact(r#"pa"ss/w0rd pa\"ss/w0rd pa%22ss%2Fw0rd xpa"ss/w0rdx short"#),
        "[redacted:secret] [redacted:secret] [redacted:secret] x[redacted:secret]x short",
    );
    assert_eq!(redactor.redact("> second line"), "> [redacted:secret]");
    assert_eq!(
        redactor.redact(r"first line\nsecond line"),
        "[redacted:secret]"
    );
    assert_eq!(format!("{redactor:?}"), "Redactor { .. }");
}

#[test]
fn overlapping_secrets_leave_no_rest() {
    let token = format!("ghp_{}", fill("A1", 36));
    let redactor = Redactor::new([format!("{token}-and-more"), "inner-value".to_owned()]);
    assert_eq!(
        redactor.redact(&format!("{token}-and-more")),
        "[redacted:secret]"
    );
    let url = "https://u:inner-value-plus@h";
    assert_eq!(redactor.redact(url), "https://u:[redacted:secret]@h");
}

#[test]
fn hostile_repetition_takes_linear_time() {
    for unit in [
        "ghp_",
        "sk-",
        "eyJ.",
        "a://",
        "a:b@://",
        "authorization:",
        "-----BEGIN ",
        "-----BEGIN PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\\n",
        "AKIA",
        "xoxb-",
        "a:",
    ] {
        let text = unit.repeat(20_000);
        assert!(!redact(&text).is_empty(), "{unit}");
    }
}

#[test]
fn a_masked_user_is_left_alone_and_its_password_is_not() {
    let masked = "http://[redacted:github]@host";
    assert_eq!(redact(masked), masked);
    assert_eq!(
        redact("http://[redacted:github]:s3cret-word@host"),
        "http://[redacted:github]:[redacted:password]@host"
    );
}

proptest! {
    #[test]
    fn secret_free_text_is_returned_as_it_is(
        words in prop::collection::vec("[a-zA-Z]{1,12}|[0-9a-f]{40}|[0-9]{1,9}|[ \\n\\t(){}.,:/@-]", 0..40),
    ) {
        // no word can begin a form without one of these marks
        let text = words.concat().replace("://", ":").replace("-----", "-");
        prop_assume!(!text.to_lowercase().contains("authorization"));
        prop_assume!(!["sk-", "xox", "AKIA", "ASIA", "eyJ"].iter().any(|mark| text.contains(mark)));
        prop_assert_eq!(redact(&text), text);
    }

    #[test]
    fn any_text_passes_and_a_second_time_changes_nothing(
        text in "(ghp_[A-Za-z0-9_]{30,40}|https?://|:|@|/|Authorization: Bearer |eyJ[a-zA-Z0-9.]{5,40}|-----BEGIN PRIVATE KEY-----|-----END PRIVATE KEY-----|\\PC{0,8}|\\n|\\\\n){0,12}",
    ) {
        let once = redact(&text);
        prop_assert_eq!(redact(&once), once);
    }

    #[test]
    fn a_secret_never_survives(before in "[ -~]{0,12}[ =\"]", after in "[ \"][ -~]{0,12}", which in 0usize..20) {
        let (secret, _) = &secrets()[which];
        let redacted = redact(&format!("{before}{secret}{after}"));
        prop_assert!(!redacted.contains(secret.as_str()), "{}", redacted);
    }

    #[test]
    fn a_known_value_never_survives(
        value in "\\PC{6,20}",
        text in "\\PC{0,20}",
        at in 0usize..20,
    ) {
        prop_assume!(value.trim().len() >= 6 && !"[redacted:secret]".contains(value.trim()));
        let mut chars: Vec<char> = text.chars().collect();
        let at = at.min(chars.len());
        chars.splice(at..at, value.chars());
        let text: String = chars.into_iter().collect();
        let redacted = Redactor::new([&value]).redact(&text);
        prop_assert!(redacted.contains("[redacted:"), "{}", redacted);
    }
}
