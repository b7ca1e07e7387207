//! The reference in the documentation, made from the command line's own
//! definition and the configuration's, so that it cannot say something else.

use std::fmt::Write;

use clap::{Arg, Command, CommandFactory};
use xiv_core::port::AgentRole;

use crate::cli::Cli;
use crate::config::{RESERVED, SHORT, environment_keys};

/// The file in `docs/`.
const FILE: &str = "cli.md";

/// `docs/cli.md`.
fn markdown() -> String {
    let mut command = Cli::command();
    command.build();
    let mut text = String::from(
        "# The command line\n\nMade from `xiv --help`; every command also takes the global options.\n",
    );
    section(&mut text, &command, 2, true);
    for inner in visible(&command) {
        commands(&mut text, inner, 2);
    }
    environment(&mut text);
    text
}

fn visible(command: &Command) -> impl Iterator<Item = &Command> {
    command
        .get_subcommands()
        .filter(|inner| !inner.is_hide_set() && inner.get_name() != "help")
}

fn commands(text: &mut String, command: &Command, level: usize) {
    section(text, command, level, false);
    for inner in visible(command) {
        commands(text, inner, level + 1);
    }
}

fn section(text: &mut String, command: &Command, level: usize, global: bool) {
    let name = command.get_bin_name().unwrap_or("xiv");
    put(text, &format!("\n{} `{name}`\n", "#".repeat(level)));
    let about = command.get_long_about().or_else(|| command.get_about());
    if let Some(about) = about {
        put(text, &about.to_string());
    }
    let aliases: Vec<&str> = command.get_visible_aliases().collect();
    if !aliases.is_empty() {
        put(text, &format!("\nAlias: `{}`.", aliases.join("`, `")));
    }
    let usage = command.clone().render_usage().to_string();
    put(
        text,
        &format!("\n```\n{}\n```", usage.trim_start_matches("Usage: ")),
    );
    let mut lines: Vec<String> = command
        .get_arguments()
        .filter(|arg| !arg.is_hide_set() && arg.is_global_set() == global)
        .filter(|arg| !["help", "version"].contains(&arg.get_id().as_str()))
        .map(argument)
        .collect();
    if !lines.is_empty() {
        lines.insert(0, String::new());
        put(text, &lines.join("\n"));
    }
}

fn argument(arg: &Arg) -> String {
    let values: Vec<String> = arg
        .get_value_names()
        .unwrap_or_default()
        .iter()
        .map(|name| format!("<{name}>"))
        .collect();
    let takes = arg.get_action().takes_values();
    let value = if takes {
        values.join(" ")
    } else {
        String::new()
    };
    let mut names = Vec::new();
    names.extend(arg.get_short().map(|short| format!("-{short}")));
    names.extend(arg.get_long().map(|long| format!("--{long}")));
    let name = if names.is_empty() {
        value
    } else {
        format!("{} {value}", names.join(", ")).trim().to_owned()
    };
    let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
    let choices: Vec<String> = arg
        .get_possible_values()
        .iter()
        .filter(|_| takes)
        .map(|choice| format!("`{}`", choice.get_name()))
        .collect();
    let choices = if choices.is_empty() {
        String::new()
    } else {
        format!(" One of {}.", choices.join(", "))
    };
    format!("- `{name}`: {help}.{choices}").replace("..", ".")
}

fn environment(text: &mut String) {
    put(
        text,
        "\n## Environment\n\nA variable goes before the configuration files, a flag before the \
         variable. Lists are written\nas TOML arrays.\n\n| variable | setting |\n|---|---|",
    );
    for (name, key) in environment_keys() {
        put(text, &format!("| `{name}` | `{key}` |"));
    }
    for role in AgentRole::ALL {
        for key in SHORT {
            let name = format!("XIV_{role}_{key}").to_uppercase();
            put(text, &format!("| `{name}` | `steps.{role}.{key}` |"));
        }
    }
    put(
        text,
        "\nThese are no settings:\n\n| variable | meaning |\n|---|---|",
    );
    for (name, meaning) in RESERVED {
        put(text, &format!("| `{name}` | {meaning} |"));
    }
    put(
        text,
        "\n`NO_COLOR`, `CLICOLOR` and `CLICOLOR_FORCE` are honoured. Any other variable that begins \
         with\n`XIV_` is warned of.",
    );
}

fn put(text: &mut String, line: &str) {
    // writing to a string does not fail
    let _infallible = writeln!(text, "{line}");
}

#[test]
fn the_reference_in_the_documentation_is_up_to_date() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../docs")
        .join(FILE);
    let text = markdown();
    if std::env::var_os("XIV_BLESS").is_some() {
        std::fs::write(&path, &text).expect("a writable file");
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == text,
        "docs/{FILE} is stale; run this test once with XIV_BLESS=1"
    );
}

#[test]
fn there_is_a_man_page_for_every_command() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    crate::commands::man::write_pages(dir.path()).expect("written pages");
    let mut command = Cli::command();
    command.build();
    fn check(dir: &std::path::Path, command: &Command) {
        let name = command.get_bin_name().unwrap_or("xiv").replace(' ', "-");
        let page = std::fs::read_to_string(dir.join(format!("{name}.1"))).expect(&name);
        assert!(page.contains(".SH SYNOPSIS"), "{name}");
        visible(command).for_each(|inner| check(dir, inner));
    }
    check(dir.path(), &command);
}
