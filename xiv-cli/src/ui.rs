//! The only module that writes to the terminal. Standard output gets the
//! result, standard error everything else, and a reader that went away is no
//! error.

use std::io::{self, ErrorKind, IsTerminal, Write};

use anstyle::{AnsiColor, Style};
use serde::Serialize;
use xiv_core::model::ExitCode;

use crate::cli::{ColorWhen, GlobalArgs};
use crate::error::CliError;

/// How much is said on standard error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Verbosity {
    /// Errors only.
    Quiet,
    /// What happened.
    Normal,
    /// What programs print, too.
    Verbose,
}

/// Whether results are words or JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    /// For people.
    Text,
    /// For programs.
    Json,
}

/// The terminal as a command sees it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ui {
    format: Format,
    verbosity: Verbosity,
}

/// Styles of the words that stand out.
pub(crate) mod style {
    use super::{AnsiColor, Style};

    /// Something succeeded.
    pub(crate) const GOOD: Style = AnsiColor::Green.on_default().bold();
    /// Something failed.
    pub(crate) const BAD: Style = AnsiColor::Red.on_default().bold();
    /// Something needs a look.
    pub(crate) const WARN: Style = AnsiColor::Yellow.on_default().bold();
    /// A hint.
    pub(crate) const HINT: Style = AnsiColor::Cyan.on_default();
    /// A heading.
    pub(crate) const HEAD: Style = Style::new().bold();
    /// Something that may be skipped.
    pub(crate) const DIM: Style = Style::new().dimmed();

    /// Wraps a text in a style. The stream takes it out where it must not be.
    pub(crate) fn paint(style: Style, text: impl std::fmt::Display) -> String {
        format!("{style}{text}{style:#}")
    }
}

impl Ui {
    /// Sets colours up for the whole process.
    pub(crate) fn new(global: &GlobalArgs) -> Self {
        match global.color {
            ColorWhen::Auto => anstream::ColorChoice::Auto,
            ColorWhen::Always => anstream::ColorChoice::Always,
            ColorWhen::Never => anstream::ColorChoice::Never,
        }
        .write_global();
        Self {
            format: if global.json {
                Format::Json
            } else {
                Format::Text
            },
            verbosity: match (global.quiet, global.verbose) {
                (true, _) => Verbosity::Quiet,
                (false, 0) => Verbosity::Normal,
                (false, _) => Verbosity::Verbose,
            },
        }
    }

    /// A terminal for errors that come before the arguments are understood.
    pub(crate) const fn early(format: Format) -> Self {
        Self {
            format,
            verbosity: Verbosity::Normal,
        }
    }

    /// Whether results are JSON.
    pub(crate) fn is_json(self) -> bool {
        self.format == Format::Json
    }

    /// How much is said.
    pub(crate) const fn verbosity(self) -> Verbosity {
        self.verbosity
    }

    /// Whether a person sits at both ends, so that a question makes sense.
    pub(crate) fn is_interactive(self) -> bool {
        self.format == Format::Text && io::stdin().is_terminal() && io::stderr().is_terminal()
    }

    /// Whether moving progress makes sense on standard error.
    pub(crate) fn is_live(self) -> bool {
        self.verbosity > Verbosity::Quiet && io::stderr().is_terminal()
    }

    /// Writes a result for people, ended by a line break.
    ///
    /// # Errors
    /// When standard output cannot be written, unless its reader went away.
    pub(crate) fn result(self, text: impl AsRef<str>) -> Result<(), CliError> {
        let text = text.as_ref();
        let end = if text.is_empty() || text.ends_with('\n') {
            ""
        } else {
            "\n"
        };
        let mut out = anstream::stdout().lock();
        written(write!(out, "{text}{end}").and_then(|()| out.flush()))
    }

    /// Writes bytes to standard output as they are.
    ///
    /// # Errors
    /// As [`Ui::result`].
    pub(crate) fn raw(self, bytes: &[u8]) -> Result<(), CliError> {
        let mut out = io::stdout().lock();
        written(out.write_all(bytes).and_then(|()| out.flush()))
    }

    /// Writes one JSON document over several lines.
    ///
    /// # Errors
    /// As [`Ui::result`].
    pub(crate) fn document(self, value: &impl Serialize) -> Result<(), CliError> {
        self.raw(format!("{}\n", json(value, true)?).as_bytes())
    }

    /// Writes one JSON document as one line.
    ///
    /// # Errors
    /// As [`Ui::result`].
    pub(crate) fn line(self, value: &impl Serialize) -> Result<(), CliError> {
        self.raw(format!("{}\n", json(value, false)?).as_bytes())
    }

    /// Says what happens, on standard error.
    pub(crate) fn note(self, text: impl AsRef<str>) {
        if self.verbosity > Verbosity::Quiet {
            say(text.as_ref());
        }
    }

    /// Says what needs a look, on standard error.
    pub(crate) fn warn(self, text: impl AsRef<str>) {
        if self.verbosity > Verbosity::Quiet {
            say(&format!(
                "{} {}",
                style::paint(style::WARN, "warning:"),
                text.as_ref()
            ));
        }
    }

    /// Says what may be done next, on standard error.
    pub(crate) fn hint(self, text: impl AsRef<str>) {
        if self.verbosity > Verbosity::Quiet {
            say(&format!(
                "{} {}",
                style::paint(style::HINT, "hint:"),
                text.as_ref()
            ));
        }
    }

    /// Reports a failed command: for people the chain once, numbered, then the
    /// hints; for programs the error object.
    pub(crate) fn error(self, error: &CliError) -> ExitCode {
        match self.format {
            Format::Json => {
                // nothing is left to report a failure of this very report to
                let _unwritable = self.line(&error.document());
            }
            Format::Text => say(&in_words(error)),
        }
        error.exit
    }

    /// Asks a yes-or-no question; an empty answer is `default`.
    ///
    /// # Errors
    /// When standard input cannot be read.
    pub(crate) fn confirm(self, question: &str, default: bool) -> Result<bool, CliError> {
        let choice = if default { "[Y/n]" } else { "[y/N]" };
        let answer = self.ask(&format!("{question} {choice}"))?;
        Ok(match answer.to_ascii_lowercase().as_str() {
            "" => default,
            word => word.starts_with('y'),
        })
    }

    /// Asks for a line, without the blanks around it.
    ///
    /// # Errors
    /// When standard input cannot be read.
    pub(crate) fn ask(self, question: &str) -> Result<String, CliError> {
        let mut err = anstream::stderr().lock();
        // an unwritable standard error only hides the question
        let _unwritable = write!(err, "{question} ").and_then(|()| err.flush());
        drop(err);
        let mut answer = String::new();
        io::stdin()
            .read_line(&mut answer)
            .map_err(|e| CliError::io("the answer could not be read", &e))?;
        Ok(answer.trim().to_owned())
    }
}

/// Writes a line to standard error.
pub(crate) fn say(text: &str) {
    let mut err = anstream::stderr().lock();
    // standard error is the last resort; without it there is nobody to tell
    let _unwritable = writeln!(err, "{text}");
}

fn in_words(error: &CliError) -> String {
    let mut text = format!("{} {}", style::paint(style::BAD, "error:"), error.message);
    for (number, cause) in error.causes.iter().enumerate() {
        text.push_str(&format!("\n  {}: {cause}", number + 1));
    }
    for hint in &error.hints {
        text.push_str(&format!("\n{} {hint}", style::paint(style::HINT, "hint:")));
    }
    text
}

fn json(value: &impl Serialize, pretty: bool) -> Result<String, CliError> {
    let text = if pretty {
        serde_json::to_string_pretty(value)
    } else {
        serde_json::to_string(value)
    };
    text.map_err(|e| {
        CliError::new(ExitCode::Bug, "bug", "the result has no JSON form").with_cause(e.to_string())
    })
}

fn written(result: io::Result<()>) -> Result<(), CliError> {
    match result {
        Err(e) if e.kind() != ErrorKind::BrokenPipe => {
            Err(CliError::io("standard output could not be written", &e))
        }
        _ => Ok(()),
    }
}
