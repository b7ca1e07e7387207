//! Programs that run another command: what is left of a command line when they
//! are taken away.

use super::words::{UNSEEN, assignment, has_short};
use super::{Call, Refusal, shell};

/// How a program stands before the command that it runs.
struct Wrapper {
    name: &'static str,
    /// Short flags that take a value.
    short: &'static str,
    /// Long flags that take a value as the next word.
    long: &'static [&'static str],
    /// Positional words before the command.
    skip: usize,
    /// Whether `NAME=value` may stand before the command.
    assigns: bool,
}

const fn plain(name: &'static str) -> Wrapper {
    Wrapper {
        name,
        short: "",
        long: &[],
        skip: 0,
        assigns: false,
    }
}

const fn with(name: &'static str, short: &'static str, skip: usize) -> Wrapper {
    Wrapper {
        name,
        short,
        long: &[],
        skip,
        assigns: false,
    }
}

const WRAPPERS: &[Wrapper] = &[
    Wrapper {
        name: "env",
        short: "uC",
        long: &["unset", "chdir"],
        skip: 0,
        assigns: true,
    },
    Wrapper {
        name: "sudo",
        short: "ughpCTDRrtU",
        long: &["user", "group", "host", "prompt", "chdir", "role", "type"],
        skip: 0,
        assigns: true,
    },
    Wrapper {
        name: "nice",
        short: "n",
        long: &["adjustment"],
        skip: 0,
        assigns: false,
    },
    Wrapper {
        name: "timeout",
        short: "ks",
        long: &["kill-after", "signal"],
        skip: 1,
        assigns: false,
    },
    Wrapper {
        name: "time",
        short: "fo",
        long: &["format", "output"],
        skip: 0,
        assigns: false,
    },
    plain("command"),
    plain("builtin"),
    plain("noglob"),
    plain("nocorrect"),
    plain("nohup"),
    plain("setsid"),
    plain("unbuffer"),
    plain("chronic"),
    plain("caffeinate"),
    plain("entr"),
    plain("busybox"),
    plain("toybox"),
    with("exec", "a", 0),
    with("doas", "uCa", 0),
    with("ionice", "cnpPu", 0),
    with("stdbuf", "ioe", 0),
    with("chrt", "TPD", 1),
    with("taskset", "", 1),
    with("chroot", "", 1),
    with("strace", "oepuEsSaIbP", 0),
    with("runuser", "ug", 0),
    with("faketime", "", 1),
    with("flock", "wE", 1),
];

/// Judges a program that is neither git nor a forge's.
pub(super) fn judge(call: &Call<'_>, name: &str, arguments: &[String]) -> Option<Refusal> {
    match name {
        "sh" | "bash" | "dash" | "zsh" | "ksh" | "mksh" | "ash" | "rbash" | "fish" => {
            shell_program(call, arguments)
        }
        "eval" => shell::judge(call, &arguments.join(" "), &[]),
        "trap" => shell::judge(call, arguments.first()?, &[]),
        "alias" => arguments
            .iter()
            .filter_map(|word| word.split_once('='))
            .find_map(|(_, script)| shell::judge(call, script, &[])),
        "find" => find(call, arguments),
        "fd" | "fdfind" => {
            let is_exec =
                |w: &String| matches!(w.as_str(), "-x" | "-X" | "--exec" | "--exec-batch");
            let at = arguments.iter().position(is_exec)?;
            call.with_words(&filled(&arguments[at + 1..])).judge()
        }
        "xargs" => xargs(call, arguments),
        "parallel" => {
            let inner: Vec<String> = arguments
                .iter()
                .skip_while(|word| word.starts_with('-'))
                .take_while(|word| !word.starts_with(":::"))
                .cloned()
                .collect();
            shell::judge(call, &inner.join(" "), &[])
        }
        "command"
            if arguments
                .first()
                .is_some_and(|w| has_short(w, 'v', "") || has_short(w, 'V', "")) =>
        {
            None
        }
        _ => {
            if let Some(text) = runs_text(name, arguments) {
                let refusal = shell::judge(call, &text, &[]);
                if refusal.is_some() {
                    return refusal;
                }
            }
            let wrapper = WRAPPERS.iter().find(|wrapper| wrapper.name == name)?;
            let Wrapper {
                short,
                long,
                skip,
                assigns,
                ..
            } = wrapper;
            let inner = after_options(arguments, short, long, *skip, *assigns);
            call.with_words(inner).judge()
        }
    }
}

/// The text that some wrappers hand to a shell: `su -c TEXT`, `env -S TEXT`.
fn runs_text(name: &str, arguments: &[String]) -> Option<String> {
    if !matches!(
        name,
        "watch" | "flock" | "su" | "script" | "runuser" | "env"
    ) {
        return None;
    }
    if name == "watch" {
        let words = after_options(arguments, "n", &["interval"], 0, false);
        return Some(words.join(" "));
    }
    let (flag, long) = if name == "env" {
        ('S', "--split-string")
    } else {
        ('c', "--command")
    };
    arguments.iter().enumerate().find_map(|(at, word)| {
        if let Some(text) = word
            .strip_prefix(long)
            .and_then(|rest| rest.strip_prefix('='))
        {
            return Some(text.to_owned());
        }
        let rest = || arguments[at + 1..].join(" ");
        let cluster = word.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
        match cluster.and_then(|cluster| cluster.split_once(flag)) {
            Some((_, "")) => Some(rest()),
            Some((before, glued)) if name == "env" && !before.contains(['u', 'C']) => {
                Some(format!("{glued} {}", rest()))
            }
            _ if word == long => Some(rest()),
            _ => None,
        }
    })
}

/// A shell: its `-c` script, else what it reads from a known input.
fn shell_program(call: &Call<'_>, arguments: &[String]) -> Option<Refusal> {
    let mut has_script = false;
    let mut rest = arguments;
    while let Some((word, after)) = rest.split_first() {
        if word == "--" {
            rest = after;
            break;
        }
        if !word.starts_with(['-', '+']) || word.len() < 2 {
            break;
        }
        rest = after;
        let is_short = !word.starts_with("--");
        has_script |= is_short && word.starts_with('-') && word.contains('c');
        let takes_value = (is_short && word.ends_with(['o', 'O']))
            || matches!(word.as_str(), "--rcfile" | "--init-file");
        if takes_value {
            rest = rest.get(1..).unwrap_or_default();
        }
    }
    match (has_script, rest.split_first()) {
        (true, Some((script, parameters))) => {
            // with no word after the script, `$1` and on are known to be empty
            let zero = [String::new()];
            let parameters = if parameters.is_empty() {
                &zero
            } else {
                parameters
            };
            shell::judge(call, script, parameters)
        }
        (false, None) => shell::judge(call, call.stdin?, &[]),
        // a script file: what it runs meets the shims
        _ => None,
    }
}

/// The commands of `-exec` and its kin.
fn find(call: &Call<'_>, arguments: &[String]) -> Option<Refusal> {
    let is_exec = |w: &String| matches!(w.as_str(), "-exec" | "-execdir" | "-ok" | "-okdir");
    let mut rest = arguments;
    while let Some(at) = rest.iter().position(is_exec) {
        rest = &rest[at + 1..];
        let end = rest
            .iter()
            .position(|word| word == ";" || word == "+")
            .unwrap_or(rest.len());
        if let Some(refusal) = call.with_words(&filled(&rest[..end])).judge() {
            return Some(refusal);
        }
        rest = &rest[end..];
    }
    None
}

/// Words in which `{}` stands for something that cannot be known.
fn filled(words: &[String]) -> Vec<String> {
    words
        .iter()
        .map(|word| word.replace("{}", &UNSEEN.to_string()))
        .collect()
}

/// `xargs`: the command, with what it reads put where it goes.
fn xargs(call: &Call<'_>, arguments: &[String]) -> Option<Refusal> {
    let long = [
        "arg-file",
        "delimiter",
        "max-args",
        "max-lines",
        "max-procs",
        "max-chars",
        "process-slot-var",
    ];
    let command = after_options(arguments, "adEILnPs", &long, 0, false);
    let options = &arguments[..arguments.len() - command.len()];
    let placeholder = options.iter().enumerate().find_map(|(at, word)| {
        match word
            .strip_prefix("-I")
            .or_else(|| word.strip_prefix("--replace="))
        {
            Some("") => options.get(at + 1).map(String::as_str),
            Some(glued) => Some(glued),
            None => matches!(word.as_str(), "-i" | "--replace").then_some("{}"),
        }
    });
    let input = call
        .stdin
        .map_or_else(|| UNSEEN.to_string(), |text| text.trim().to_owned());
    let mut words = command.to_vec();
    match placeholder {
        Some(placeholder) => {
            for word in &mut words {
                *word = word.replace(placeholder, &input);
            }
        }
        None => words.extend(input.split_whitespace().map(str::to_owned)),
    }
    Call {
        words: &words,
        stdin: None,
        depth: call.depth + 1,
    }
    .judge()
}

/// What is left after options, assignments and `skip` positional words.
fn after_options<'a>(
    arguments: &'a [String],
    short: &str,
    long: &[&str],
    skip: usize,
    assigns: bool,
) -> &'a [String] {
    let mut rest = arguments;
    while let Some((word, after)) = rest.split_first() {
        if word == "--" {
            rest = after;
            break;
        }
        let takes_next = if let Some(name) = word.strip_prefix("--") {
            long.contains(&name)
        } else if let Some(cluster) = word.strip_prefix('-').filter(|c| !c.is_empty()) {
            // the value is glued on unless the flag ends the word
            cluster
                .find(|c| short.contains(c))
                .is_some_and(|at| at + 1 == cluster.len())
        } else if assigns && (word == "-" || assignment(word).is_some()) {
            false
        } else {
            break;
        };
        rest = if takes_next {
            after.get(1..).unwrap_or_default()
        } else {
            after
        };
    }
    rest.get(skip..).unwrap_or_default()
}
