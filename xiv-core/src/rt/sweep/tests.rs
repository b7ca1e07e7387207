//! The selection rule over made-up process tables, and both real tables.

use std::path::Path;
use std::process::Command;

use super::mark::Place;
use super::select::{Facts, Process, select};
use super::{Keep, MarkKey, Sweeper, portable, start_time};
use crate::rt::process::Program;

const ME: u32 = 100;

struct Names {
    kept: &'static [u32],
    xiv: &'static [u32],
}

impl Facts for Names {
    fn is_kept(&self, pid: u32) -> bool {
        self.kept.contains(&pid)
    }
    fn is_xiv(&self, pid: u32) -> bool {
        self.xiv.contains(&pid)
    }
}

const NOBODY: Names = Names {
    kept: &[],
    xiv: &[],
};

/// A table of `(pid, parent, place)`; every process started at its own pid.
fn table(rows: &[(u32, u32, Place)]) -> Vec<Process> {
    rows.iter()
        .map(|&(pid, parent, place)| Process {
            pid,
            parent,
            start: pid.into(),
            place,
        })
        .collect()
}

fn pids(identities: &[(u32, u64)]) -> Vec<u32> {
    let mut pids: Vec<u32> = identities.iter().map(|(pid, _)| *pid).collect();
    pids.sort_unstable();
    pids
}

use Place::{Absent, Last, Outer};

#[test]
fn marked_processes_and_their_unmarked_descendants_are_selected() {
    let rows = [
        (1, 0, Absent),
        (ME, 1, Absent),
        (200, ME, Last),
        (201, 200, Absent),
        (300, 1, Last),
    ];
    let targets = select(&table(&rows), &[], ME, &NOBODY);
    assert_eq!(pids(&targets.plain), [200, 201, 300]);
    assert!(targets.nested.is_empty() && targets.sheltered.is_empty());
}

#[test]
fn this_process_and_its_ancestors_are_never_selected() {
    let rows = [
        (1, 0, Last),
        (50, 1, Last),
        (ME, 50, Last),
        (60, 50, Absent),
        (200, ME, Last),
    ];
    let targets = select(&table(&rows), &[], ME, &NOBODY);
    // 60 descends from an ancestor only, which is no reason to end it
    assert_eq!(pids(&targets.plain), [200]);
}

#[test]
fn unrelated_processes_are_left_alone() {
    let rows = [
        (1, 0, Absent),
        (ME, 1, Absent),
        (200, ME, Absent),
        (300, 1, Absent),
    ];
    assert!(select(&table(&rows), &[], ME, &NOBODY).is_empty());
}

#[test]
fn a_known_process_counts_only_with_its_start_time() {
    let rows = [
        (1, 0, Absent),
        (ME, 1, Absent),
        (200, 1, Absent),
        (201, 1, Absent),
    ];
    let targets = select(&table(&rows), &[(200, 200), (201, 7)], ME, &NOBODY);
    assert_eq!(pids(&targets.plain), [200]);
}

#[test]
fn kept_executables_are_spared_with_their_children() {
    let rows = [
        (ME, 1, Absent),
        (200, ME, Last),
        (201, 200, Last),
        (202, 201, Last),
    ];
    let facts = Names {
        kept: &[201],
        xiv: &[],
    };
    assert_eq!(pids(&select(&table(&rows), &[], ME, &facts).plain), [200]);
}

#[test]
fn a_nested_xiv_shelters_what_it_started() {
    let rows = [
        (ME, 1, Absent),
        (200, ME, Last),
        (201, 200, Last),
        (202, 201, Outer),
        (203, 201, Absent),
        (204, 1, Outer),
    ];
    let facts = Names {
        kept: &[],
        xiv: &[201],
    };
    let targets = select(&table(&rows), &[], ME, &facts);
    assert_eq!(pids(&targets.plain), [200]);
    assert_eq!(pids(&targets.nested), [201]);
    assert_eq!(pids(&targets.sheltered), [202, 203, 204]);
    // without a nested xiv alive nobody is left to end them
    let targets = select(&table(&rows[..1]), &[], ME, &facts);
    assert!(targets.is_empty());
    let orphans = [(ME, 1, Absent), (204, 1, Outer)];
    assert_eq!(
        pids(&select(&table(&orphans), &[], ME, &facts).plain),
        [204]
    );
}

#[test]
fn a_loop_in_the_table_ends() {
    let rows = [(ME, 7, Absent), (7, ME, Last), (8, 9, Last), (9, 8, Absent)];
    assert_eq!(pids(&select(&table(&rows), &[], ME, &NOBODY).plain), [8, 9]);
}

#[test]
fn the_mark_is_a_path_and_matches_by_whole_segments() {
    let key = MarkKey::new("run/review/1").expect("valid");
    for (path, place) in [
        ("run/review/1", Last),
        ("a:run/review/1", Last),
        ("run/review/1:b", Outer),
        ("a:run/review/1:b:c", Outer),
        ("run/review/10", Absent),
        ("xrun/review/1", Absent),
        ("a:b", Absent),
        ("", Absent),
    ] {
        assert_eq!(key.place_in(path.as_bytes()), place, "{path}");
    }
}

#[test]
fn a_key_is_appended_once() {
    let key = MarkKey::new("k").expect("valid");
    let appended = |outer: Option<&str>| key.appended_to(outer.map(AsRef::as_ref));
    assert_eq!(appended(None), "k");
    assert_eq!(appended(Some("")), "k");
    assert_eq!(appended(Some("a")), "a:k");
    assert_eq!(appended(Some("a:k")), "a:k");
    assert_eq!(appended(Some("k:a")), "k:a:k");
    for bad in ["", "a:b", "a\nb", "a\0b"] {
        assert!(MarkKey::new(bad).is_err(), "{bad:?}");
    }
}

#[test]
fn keep_knows_names_paths_and_scripts() {
    let keep = Keep::new(["sccache", "/opt/tools/server", "a-name-of-many-letters"]);
    let spares = |exe: Option<&str>, short: Option<&str>| keep.spares(exe.map(Path::new), short);
    assert!(spares(Some("/usr/bin/sccache"), None));
    assert!(spares(Some("/opt/tools/server"), None));
    assert!(!spares(Some("/usr/bin/server"), None));
    assert!(!spares(Some("/usr/bin/sccache-not"), Some("sccache-not")));
    assert!(spares(Some("/usr/bin/python3"), Some("sccache")));
    assert!(spares(None, Some("a-name-of-many-")));
    assert!(!spares(None, None));
    assert!(Keep::default().spares(Some(Path::new("/usr/bin/sccache")), None));
}

#[test]
fn a_sweep_without_findings_is_quick_and_empty() {
    let key = MarkKey::new(format!("none-{}", std::process::id())).expect("valid");
    assert!(Sweeper::new(key, Keep::default()).finish().is_empty());
}

#[test]
fn a_start_time_tells_the_living_from_the_dead() {
    let me = std::process::id();
    assert!(start_time(me).is_some());
    assert_eq!(start_time(me), start_time(me));
    let mut child = Command::new("true").spawn().expect("starts");
    let pid = child.id();
    child.wait().expect("ends");
    assert_eq!(start_time(pid), None);
}

#[test]
fn the_portable_table_reads_ps() {
    let text = "    1     0 Ss   Mon Nov 30 10:00:00 2026\n  42     1 Z+   Mon Nov 30 10:00:01 2026\n\
                  43    1 S    Mon Nov 30 10:00:02 2026\nrubbish\n";
    let parsed = portable::parse(text);
    let rows: Vec<_> = parsed.iter().map(|p| (p.pid, p.parent)).collect();
    assert_eq!(rows, [(1, 0), (43, 1)]);
    assert_ne!(parsed[0].start, parsed[1].start);
}

#[test]
fn the_portable_table_sees_this_process() {
    if Program::find("ps").is_err() {
        return;
    }
    let me = std::process::id();
    let table = portable::table(None);
    let own = table.iter().find(|p| p.pid == me).expect("in the table");
    assert_eq!(own.parent, std::os::unix::process::parent_id());
    assert_eq!(portable::start_time(me), Some(own.start));
    assert!(portable::short_name(me).is_some());
    assert!(!portable::runs_own_executable(own.parent));
    let mut child = Command::new("sleep").arg("300").spawn().expect("starts");
    let identity = (child.id(), portable::start_time(child.id()).expect("runs"));
    assert!(!portable::signal(
        (identity.0, 1),
        rustix::process::Signal::KILL
    ));
    assert!(portable::signal(identity, rustix::process::Signal::KILL));
    child.wait().expect("ends");
}
