//! The command line: every argument, its help and its checks. Help, completions,
//! man pages and the reference in the documentation all come from here.

use clap::{ArgAction, Parser, Subcommand, ValueEnum};

use crate::commands::{completions, config, demo, doctor, init, issue, man, run, runs};
use crate::implement::ImplementArgs;
use crate::plumbing::PlumbingCommand;

/// Local-first code review for changes that agents write.
///
/// An agent implements an issue, your own commands validate the result, a second
/// agent reviews the diff against the acceptance criteria; the remarks go back
/// to the first agent until the gate opens or the cap is reached. xiv commits on
/// a branch of its own; it never pushes and never merges.
#[derive(Debug, Parser)]
#[command(
    name = "xiv",
    version,
    arg_required_else_help = true,
    max_term_width = 100
)]
#[command(
    after_help = "Exit codes: 0 done, 1 finished but not done, 2 usage, 3 configuration, \
    4 refused, 5 an agent or program failed, 6 waiting for a person, 7 paused, 70 a bug, \
    130 interrupted."
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: GlobalArgs,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Arguments that every command takes.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct GlobalArgs {
    /// Say nothing but errors on standard error.
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Say more on standard error.
    #[arg(short, long, global = true, action = ArgAction::Count)]
    pub(crate) verbose: u8,
    /// When to use colours; NO_COLOR is honoured, too.
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: ColorWhen,
    /// Write the result as JSON.
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

/// When to use colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorWhen {
    /// On a terminal.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Init(init::InitArgs),
    Doctor(doctor::DoctorArgs),
    Demo(demo::DemoArgs),
    #[command(visible_alias = "li")]
    Implement(ImplementArgs),
    #[command(subcommand)]
    Issue(issue::IssueCommand),
    Runs(runs::RunsArgs),
    #[command(subcommand)]
    Run(run::RunCommand),
    #[command(subcommand)]
    Config(config::ConfigCommand),
    #[command(subcommand)]
    Plumbing(PlumbingCommand),
    Completions(completions::CompletionsArgs),
    #[command(hide = true)]
    Man(man::ManArgs),
}
