//! `xiv issue`: the Markdown tracker from the command line.

use std::io::Read;
use std::path::PathBuf;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;
use xiv_core::model::{ExitCode, Issue, IssueKey};
use xiv_core::port::{IssueSource, IssueSummary, StepContext};
use xiv_core::rt::SystemClock;
use xiv_forge::{MarkdownIssues, NewIssue};

use crate::config::Layer;
use crate::error::CliError;
use crate::implement::issues_of;
use crate::paths::Place;
use crate::runtime::block_on;
use crate::ui::{Ui, style};

/// Make, list and show issues.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum IssueCommand {
    New(NewArgs),
    /// List the issues that can be worked on.
    List,
    /// Show one issue as xiv reads it.
    Show {
        /// The issue's key.
        key: String,
    },
}

/// Write a new issue as a Markdown file.
#[derive(Debug, clap::Args)]
pub(crate) struct NewArgs {
    /// Its key; without one the next of the folder.
    key: Option<String>,
    /// One line that says what is to be done; asked for on a terminal.
    #[arg(short, long)]
    title: Option<String>,
    /// The description in Markdown; `-` reads it from standard input.
    #[arg(short, long, value_name = "MARKDOWN")]
    description: Option<String>,
    /// An acceptance criterion; may be given more than once.
    #[arg(short, long = "criterion", value_name = "TEXT")]
    criteria: Vec<String>,
    /// A label; may be given more than once.
    #[arg(short, long = "label", value_name = "NAME")]
    labels: Vec<String>,
}

/// A new issue.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct NewIssueDocument {
    key: IssueKey,
    path: PathBuf,
}

/// Does it.
///
/// # Errors
/// Outside a repository, or when the tracker says no.
pub(crate) fn run(command: IssueCommand, ui: Ui) -> Result<ExitCode, CliError> {
    let place = Place::here()?;
    let loaded = crate::commands::config::load_here(Layer::default())?;
    let issues = issues_of(&loaded.config, &place)?;
    match command {
        IssueCommand::New(args) => create(args, &issues, ui),
        IssueCommand::List => list(&issues, ui),
        IssueCommand::Show { key } => show(&key, &issues, ui),
    }
}

fn cx() -> StepContext {
    StepContext::new(Arc::new(SystemClock), "issue")
}

fn create(args: NewArgs, issues: &MarkdownIssues, ui: Ui) -> Result<ExitCode, CliError> {
    let title = match args.title {
        Some(title) => title,
        None if ui.is_interactive() => ui.ask("Title:")?,
        None => {
            return Err(CliError::usage("an issue needs a title")
                .with_hint("xiv issue new KEY --title \"what is to be done\""));
        }
    };
    let description = match args.description.as_deref() {
        Some("-") => {
            let mut text = String::new();
            std::io::stdin()
                .read_to_string(&mut text)
                .map_err(|e| CliError::io("standard input could not be read", &e))?;
            text
        }
        Some(text) => text.to_owned(),
        None => String::new(),
    };
    let key = args.key.map(|key| issues.normalise(&key)).transpose()?;
    let new = NewIssue {
        key,
        description,
        criteria: args.criteria,
        labels: args.labels,
        ..NewIssue::new(title)
    };
    let created = issues.create(&new)?;
    if ui.is_json() {
        ui.document(&NewIssueDocument {
            key: created.key,
            path: created.path,
        })?;
    } else {
        ui.result(created.path.display().to_string())?;
        if new.criteria.is_empty() {
            ui.note("add acceptance criteria: the review judges by them");
        }
        ui.note(format!("next: xiv implement {}", created.key));
    }
    Ok(ExitCode::Done)
}

fn list(issues: &MarkdownIssues, ui: Ui) -> Result<ExitCode, CliError> {
    let all = block_on(async { Ok(issues.list(cx()).await?) })?;
    if ui.is_json() {
        ui.document(&all)?;
    } else if all.is_empty() {
        ui.note("no issues; `xiv issue new KEY` makes one");
    } else {
        ui.result(all.iter().map(in_words).collect::<String>())?;
    }
    Ok(ExitCode::Done)
}

fn in_words(issue: &IssueSummary) -> String {
    let status = issue.status.as_deref().unwrap_or("-");
    let labels = if issue.labels.is_empty() {
        String::new()
    } else {
        format!("  [{}]", issue.labels.join(", "))
    };
    format!(
        "{:<12} {status:<12} {}{labels}\n",
        issue.key.as_str(),
        issue.title
    )
}

fn show(key: &str, issues: &MarkdownIssues, ui: Ui) -> Result<ExitCode, CliError> {
    let key = issues.normalise(key)?;
    let issue = block_on(async { Ok(issues.fetch(&key, cx()).await?) })?;
    if ui.is_json() {
        ui.document(&issue)?;
    } else {
        ui.result(page(&issue))?;
    }
    Ok(ExitCode::Done)
}

fn page(issue: &Issue) -> String {
    let head = |text: &str| format!("\n{}\n", style::paint(style::HEAD, text));
    let mut text = style::paint(style::HEAD, format!("{}  {}", issue.key, issue.title)) + "\n";
    for (name, value) in [
        ("url", issue.url.clone()),
        ("labels", issue.labels.join(", ")),
        ("parent", issue.parent.clone().unwrap_or_default()),
        ("children", issue.children.join(", ")),
        ("blocked by", issue.blocked_by.join(", ")),
    ] {
        if !value.is_empty() {
            text.push_str(&format!("{name:<10} {value}\n"));
        }
    }
    if !issue.description.trim().is_empty() {
        text.push_str(&format!("\n{}\n", issue.description.trim()));
    }
    text.push_str(&head("Acceptance criteria, as xiv reads them"));
    for criterion in &issue.acceptance_criteria {
        text.push_str(&format!("- {}\n", criterion.replace('\n', "\n  ")));
    }
    if issue.acceptance_criteria.is_empty() {
        text.push_str("none\n");
    }
    if !issue.comments.is_empty() {
        text.push_str(&head("Comments"));
    }
    for comment in &issue.comments {
        text.push_str(&format!("{}: {}\n", comment.author, comment.body.trim()));
    }
    text
}
