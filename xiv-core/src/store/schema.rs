//! The tables, and the steps that lead to them. Forward only: a step that was
//! released is never changed, a later one follows it.

/// Marks the file as a journal of xiv: the letters `xivj`.
pub(super) const APPLICATION_ID: i32 = 0x7869_766a;

/// The format that this version writes: the number of steps.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "there are few steps"
)]
pub(super) const VERSION: i32 = STEPS.len() as i32;

/// Step `n` leads from format `n` to format `n + 1`.
///
/// * `runs.facts` is the fold of the run's events, kept for lists.
/// * `runs.token` rises with every change of owner; an append must name it.
/// * `effects` and `gates` are projections of the events of the same name.
pub(super) const STEPS: [&str; 1] = [r"
CREATE TABLE runs (
    num         INTEGER PRIMARY KEY AUTOINCREMENT,
    id          TEXT NOT NULL UNIQUE,
    kind        TEXT NOT NULL,
    key         TEXT NOT NULL,
    repo        TEXT NOT NULL,
    parent      TEXT,
    started_at  TEXT NOT NULL,
    facts       TEXT NOT NULL,
    ended       INTEGER NOT NULL DEFAULT 0,
    writer      TEXT NOT NULL,
    token       INTEGER NOT NULL DEFAULT 0,
    owner       TEXT,
    lease_until TEXT
) STRICT;

CREATE TABLE events (
    run  TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    seq  INTEGER NOT NULL,
    at   TEXT NOT NULL,
    kind TEXT NOT NULL,
    body TEXT NOT NULL,
    UNIQUE (run, seq)
) STRICT;

CREATE TABLE effects (
    run    TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    marker TEXT NOT NULL,
    step   TEXT NOT NULL,
    intent TEXT NOT NULL,
    result TEXT,
    UNIQUE (run, marker)
) STRICT;

CREATE TABLE gates (
    run    TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    gate   TEXT NOT NULL,
    pass   INTEGER NOT NULL,
    raised TEXT NOT NULL,
    answer TEXT,
    UNIQUE (run, gate)
) STRICT;

CREATE TABLE locks (
    resource TEXT NOT NULL PRIMARY KEY,
    run      TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE
) STRICT;

CREATE INDEX locks_by_run ON locks (run);
"];
