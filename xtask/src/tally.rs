//! Adds up what `cargo test` reports. It prints one summary for each test
//! program; where cargo-nextest is absent, this gives the one line that says how
//! the whole run went.

/// The counts of a whole run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    passed: u64,
    failed: u64,
    skipped: u64,
}

impl Tally {
    /// Takes in one line of output; lines that are no summary change nothing.
    pub(crate) fn add(&mut self, line: &str) {
        let Some(counts) = line.trim().strip_prefix("test result: ") else {
            return;
        };
        for part in counts.split(['.', ';']) {
            let mut words = part.split_whitespace();
            let (Some(Ok(count)), Some(word)) = (words.next().map(str::parse::<u64>), words.next())
            else {
                continue;
            };
            match word {
                "passed" => self.passed += count,
                "failed" => self.failed += count,
                "ignored" => self.skipped += count,
                _ => {}
            }
        }
    }
}

impl std::fmt::Display for Tally {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            passed,
            failed,
            skipped,
        } = self;
        write!(f, "{passed} passed, {failed} failed, {skipped} skipped")
    }
}

#[cfg(test)]
mod tests {
    use super::Tally;

    #[test]
    fn summaries_of_several_programs_add_up() {
        let mut tally = Tally::default();
        for line in [
            "test gate::opens ... ok",
            "test result: ok. 7 passed; 0 failed; 1 ignored; 0 measured; 3 filtered out; finished in 0.26s",
            "test result: FAILED. 2 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out",
            "running 12 tests",
        ] {
            tally.add(line);
        }
        assert_eq!(tally.to_string(), "9 passed, 1 failed, 1 skipped");
    }
}
