//! The command line, by hand: three tasks do not need a parser library, and
//! `cargo xtask` should be built in a blink.

use crate::failure::Failure;

/// What `cargo xtask --help` prints.
pub(crate) const USAGE: &str = "\
Developer tasks of the xiv workspace.

cargo xtask test [--slow] [--no-peers] [--] [NEXTEST ARGS…]
    Install the pinned agent programs that the tests talk to, run the doctests,
    then every test. With further arguments (a filter, --no-capture, …) only
    what they select is run, and no doctests.
      --slow      the big numbers: long kill loops, many generated cases
      --no-peers  install nothing; tests with real agent programs are skipped
cargo xtask peers
    Install those programs and print where they are.
cargo xtask examples
    Build and run every program of the examples package.";

/// What the caller asked for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Task {
    /// Print the usage.
    Help,
    /// Run the tests.
    Test(Plan),
    /// Install the agent programs and print their paths.
    Peers,
    /// Run the example programs.
    Examples,
}

/// How to run the tests.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Plan {
    /// How much to run.
    pub(crate) size: Size,
    /// Whether the real agent programs take part.
    pub(crate) peers: Peers,
    /// Handed to the test runner as they are.
    pub(crate) extra: Vec<String>,
}

/// How much the suite does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Size {
    /// What a change needs before it lands.
    #[default]
    Normal,
    /// The big numbers as well.
    Slow,
}

/// Whether the real agent programs take part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Peers {
    /// Installed when absent.
    #[default]
    Wanted,
    /// Left out; their tests say that they were skipped.
    Skipped,
}

/// Reads the arguments after the program's name.
pub(crate) fn parse(arguments: impl IntoIterator<Item = String>) -> Result<Task, Failure> {
    let mut arguments = arguments.into_iter();
    let Some(task) = arguments.next() else {
        return Err(Failure::Usage("which task?".to_owned()));
    };
    match task.as_str() {
        "help" | "--help" | "-h" => Ok(Task::Help),
        "test" => plan(arguments).map(Task::Test),
        "peers" => alone(&task, arguments).map(|()| Task::Peers),
        "examples" => alone(&task, arguments).map(|()| Task::Examples),
        other => Err(Failure::Usage(format!("no task is called {other:?}"))),
    }
}

fn plan(arguments: impl Iterator<Item = String>) -> Result<Plan, Failure> {
    let mut plan = Plan::default();
    let mut arguments = arguments.peekable();
    while let Some(argument) = arguments.next_if(|next| is_ours(next)) {
        match argument.as_str() {
            "--slow" => plan.size = Size::Slow,
            "--no-peers" => plan.peers = Peers::Skipped,
            _ => break,
        }
    }
    plan.extra.extend(arguments);
    match plan.extra.iter().find(|later| is_ours(later)) {
        Some(late) => Err(Failure::Usage(format!(
            "{late} goes before the runner's arguments"
        ))),
        None => Ok(plan),
    }
}

fn is_ours(argument: &str) -> bool {
    matches!(argument, "--slow" | "--no-peers" | "--")
}

fn alone(task: &str, mut arguments: impl Iterator<Item = String>) -> Result<(), Failure> {
    arguments.next().map_or(Ok(()), |more| {
        Err(Failure::Usage(format!(
            "{task} takes no arguments, got {more:?}"
        )))
    })
}

#[cfg(test)]
mod tests {
    use super::{Peers, Plan, Size, Task, parse};

    fn parsed(line: &str) -> Result<Task, String> {
        parse(line.split_whitespace().map(str::to_owned)).map_err(|failure| failure.to_string())
    }

    #[test]
    fn our_flags_come_first_and_the_rest_is_the_runners() {
        let plan = Plan {
            size: Size::Slow,
            peers: Peers::Skipped,
            extra: vec!["-p".to_owned(), "xiv-core".to_owned(), "gate".to_owned()],
        };
        assert_eq!(
            parsed("test --no-peers --slow -p xiv-core gate"),
            Ok(Task::Test(plan))
        );
        assert_eq!(parsed("test"), Ok(Task::Test(Plan::default())));
    }

    #[test]
    fn a_separator_ends_our_flags() {
        let plan = Plan {
            extra: vec!["--no-capture".to_owned()],
            ..Plan::default()
        };
        assert_eq!(parsed("test -- --no-capture"), Ok(Task::Test(plan)));
    }

    #[test]
    fn nonsense_is_refused() {
        for line in [
            "",
            "tset",
            "peers now",
            "examples --slow",
            "test gate --slow",
        ] {
            assert!(parsed(line).is_err(), "{line:?} was accepted");
        }
    }
}
