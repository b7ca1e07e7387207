//! Which processes a sweep is about: a pure rule over a process table.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::mark::Place;

/// One row of the process table. Zombies are not in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Process {
    pub(super) pid: u32,
    pub(super) parent: u32,
    /// When it started, in the system's own unit.
    pub(super) start: u64,
    pub(super) place: Place,
}

/// A process by id and start time, which no other process can have.
pub(super) type Identity = (u32, u64);

/// Executables that a sweep spares: build caches and other servers that a
/// step may start but that belong to the machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keep {
    names: Vec<PathBuf>,
}

impl Keep {
    /// Spares executables by file name, or by absolute path.
    #[must_use]
    pub fn new<N: Into<PathBuf>>(names: impl IntoIterator<Item = N>) -> Self {
        Self {
            names: names.into_iter().map(Into::into).collect(),
        }
    }

    /// Whether a process with this executable and this short name is spared.
    /// The short name of a script is the script's, cut at 15 bytes.
    pub(super) fn spares(&self, executable: Option<&Path>, short: Option<&str>) -> bool {
        let file_name = executable.and_then(Path::file_name);
        self.names.iter().any(|name| {
            let bytes = name.as_os_str().as_encoded_bytes();
            let cut = &bytes[..bytes.len().min(15)];
            Some(name.as_path()) == executable
                || Some(name.as_os_str()) == file_name
                || short.is_some_and(|short| short.as_bytes() == cut)
        })
    }
}

impl Default for Keep {
    /// Spares `sccache`.
    fn default() -> Self {
        Self::new([OsStr::new("sccache")])
    }
}

/// What a sweep found.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Targets {
    /// To end now.
    pub(super) plain: Vec<Identity>,
    /// A nested xiv, to be asked first.
    pub(super) nested: Vec<Identity>,
    /// What a nested xiv started, left to it while it lives.
    pub(super) sheltered: Vec<Identity>,
}

impl Targets {
    pub(super) fn is_empty(&self) -> bool {
        self.plain.is_empty() && self.nested.is_empty() && self.sheltered.is_empty()
    }
}

/// What the sweep must know about single processes.
pub(super) trait Facts {
    /// Whether the executable is in the keep list.
    fn is_kept(&self, pid: u32) -> bool;
    /// Whether the executable is xiv.
    fn is_xiv(&self, pid: u32) -> bool;
}

/// Selects every process that carries the mark or is in `known`, with all
/// descendants; less `me`, its ancestors, and kept executables with theirs.
pub(super) fn select(
    table: &[Process],
    known: &[Identity],
    me: u32,
    facts: &impl Facts,
) -> Targets {
    let by_pid: HashMap<u32, &Process> = table.iter().map(|p| (p.pid, p)).collect();
    let mut children: HashMap<u32, Vec<u32>> = HashMap::new();
    for process in table {
        children
            .entry(process.parent)
            .or_default()
            .push(process.pid);
    }
    let mut protected = HashSet::new();
    let mut ancestor = Some(me);
    while let Some(pid) = ancestor.filter(|&pid| pid != 0 && protected.insert(pid)) {
        ancestor = by_pid.get(&pid).map(|process| process.parent);
    }
    let roots = table
        .iter()
        .filter(|p| p.place != Place::Absent || known.contains(&(p.pid, p.start)))
        .map(|p| p.pid);
    let found = closure(roots, &children, |pid| protected.contains(&pid));
    let kept = closure(
        found.iter().copied().filter(|&p| facts.is_kept(p)),
        &children,
        |_| false,
    );
    let found: Vec<u32> = found
        .into_iter()
        .filter(|pid| !kept.contains(pid))
        .collect();
    let nested: HashSet<u32> = found.iter().copied().filter(|&p| facts.is_xiv(p)).collect();
    let under = closure(nested.iter().copied(), &children, |pid| {
        protected.contains(&pid)
    });

    let mut targets = Targets::default();
    for process in found.iter().filter_map(|pid| by_pid.get(pid)) {
        let list = if nested.contains(&process.pid) {
            &mut targets.nested
        } else if !nested.is_empty()
            && (process.place == Place::Outer || under.contains(&process.pid))
        {
            &mut targets.sheltered
        } else {
            &mut targets.plain
        };
        list.push((process.pid, process.start));
    }
    targets
}

/// `roots` and all their descendants, not entering what `closed` refuses.
fn closure(
    roots: impl Iterator<Item = u32>,
    children: &HashMap<u32, Vec<u32>>,
    closed: impl Fn(u32) -> bool,
) -> Vec<u32> {
    let mut found = Vec::new();
    let mut seen = HashSet::new();
    let mut open: Vec<u32> = roots.collect();
    while let Some(pid) = open.pop() {
        if closed(pid) || !seen.insert(pid) {
            continue;
        }
        found.push(pid);
        open.extend(children.get(&pid).into_iter().flatten());
    }
    found
}
