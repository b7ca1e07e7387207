//! Telling a value from the place where one goes.
//!
//! Documentation and scripts are full of `Bearer <token>` and
//! `https://user:${PASSWORD}@host`. Masking those hides nothing and makes the
//! text worse.

/// Whether this stands for a value instead of being one.
pub(super) fn is_placeholder(value: &str) -> bool {
    is_expansion(value) || is_filler(value) || is_name(value)
}

/// `${X}`, `$X`, `{x}`, `<x>`, `[x]`, `#{x}`, `%s`, `%X%`, `%(x)s`.
fn is_expansion(value: &str) -> bool {
    let enclosed = [
        ("${", "}"),
        ("$(", ")"),
        ("#{", "}"),
        ("{", "}"),
        ("<", ">"),
        ("[", "]"),
    ]
    .iter()
    .any(|(open, close)| {
        value.len() >= open.len() + close.len() && value.starts_with(open) && value.ends_with(close)
    });
    let variable = value.strip_prefix('$').is_some_and(|name| {
        let mut bytes = name.bytes();
        bytes
            .next()
            .is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
            && bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_')
    });
    let format = matches!(value, "%s" | "%d" | "%v" | "%q" | "%@")
        || (value.starts_with("%(") && value.ends_with(")s"))
        || (value.len() > 2 && value.starts_with('%') && value.ends_with('%'));
    enclosed || variable || format
}

/// `***`, `xxxx`, `...`, a few characters cut short by dots, a mask.
fn is_filler(value: &str) -> bool {
    const SHORT: usize = 16;
    let cut = value.len() < SHORT && (value.ends_with("...") || value.ends_with('…'));
    let mut chars = value.chars();
    let Some(first) = chars.next() else {
        return true;
    };
    cut || value.contains("[redacted:")
        || ("*xX.•-_?".contains(first) && chars.all(|c| c == first || c == '-'))
}

/// `YOUR_TOKEN`, `API_KEY`, `your-token-here`.
fn is_name(value: &str) -> bool {
    const NOUNS: [&str; 10] = [
        "TOKEN",
        "KEY",
        "SECRET",
        "PASS",
        "PWD",
        "JWT",
        "YOUR",
        "CREDENTIAL",
        "PORT",
        "VALUE",
    ];
    let only = |class: fn(&u8) -> bool| {
        value
            .bytes()
            .all(|b| class(&b) || matches!(b, b'-' | b'_' | b'.'))
    };
    let constant = only(u8::is_ascii_uppercase) && NOUNS.iter().any(|noun| value.contains(noun));
    let advice = only(u8::is_ascii_lowercase)
        && ["your-", "your_", "my-", "my_", "the-", "the_"]
            .iter()
            .any(|start| value.starts_with(start));
    constant || advice
}
