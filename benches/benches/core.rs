//! What the core costs: decisions, texts, and the record.

use std::cell::Cell;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use futures::executor::block_on;
use xiv_benches::{Dry, answer, command, diff, run_id};
use xiv_core::flow::{Command, Event, Machine};
use xiv_core::model::{Diff, LocalReview, StepId};
use xiv_core::policy::extract;
use xiv_core::port::{Clock as _, Journal, NewRun, OwnerId, Processes as _, TreeDiff};
use xiv_core::prompt::{self, DiffView, PromptContext};
use xiv_core::store::SqliteStore;
use xiv_core::test_support::{FakeProcesses, ManualClock, MemoryJournal};

fn decisions(c: &mut Criterion) {
    let history = Dry::new(10).history();
    let mut group = c.benchmark_group("machine");
    group.throughput(Throughput::Elements(history.len() as u64));
    group.bench_function("replay of ten passes", |b| {
        b.iter(|| Machine::replay(black_box(&history)).expect("it was recorded by these rules"));
    });
    group.finish();
}

fn texts(c: &mut Criterion) {
    let history = Dry::new(2).history();
    let context = PromptContext {
        seed: 7,
        guidance: None,
    };
    let implement = command(&history, |command| match command {
        Command::Implement(c) if !c.feedback.is_empty() => Some(c),
        _ => None,
    });
    let review = command(&history, |command| match command {
        Command::Review(c) => Some(c),
        _ => None,
    });
    let tree_diff = TreeDiff {
        patch: diff(100),
        files: Vec::new(),
    };
    let view = DiffView {
        diff: &tree_diff,
        path: "/state/runs/1/pass-1/review.diff",
    };
    let mut group = c.benchmark_group("prompt");
    group.bench_function("implement with feedback", |b| {
        b.iter(|| prompt::implement(black_box(&implement), context).expect("a prompt"));
    });
    group.bench_function("review of 100 files", |b| {
        b.iter(|| prompt::review(black_box(&review), view, context).expect("a prompt"));
    });
    group.finish();

    let answer = answer();
    let mut group = c.benchmark_group("extract");
    group.throughput(Throughput::Bytes(answer.len() as u64));
    group.bench_function("a review from prose", |b| {
        b.iter(|| extract::from_reply::<LocalReview>(None, black_box(&answer)).expect("a review"));
    });
    group.finish();

    let patch = diff(1000);
    let mut group = c.benchmark_group("diff");
    group.throughput(Throughput::Bytes(patch.len() as u64));
    group.bench_function("parse 1000 files", |b| {
        b.iter(|| Diff::parse(black_box(&patch)).expect("a diff"));
    });
    group.finish();
}

/// An event of about two kilobytes.
fn event() -> Event {
    Event::Denied {
        step: StepId::parse("implement#1").expect("a step"),
        rule: "push".to_owned(),
        argv: vec!["x".repeat(2000)],
    }
}

fn record(c: &mut Criterion) {
    let (clock, processes) = (ManualClock::new(), FakeProcesses::new());
    let dir = tempfile::tempdir().expect("a temporary folder");
    let memory = MemoryJournal::new(clock.clone(), processes.clone());
    let store = SqliteStore::open(
        dir.path(),
        Arc::new(clock.clone()),
        Arc::new(processes.clone()),
    )
    .expect("the thread starts");
    let mut group = c.benchmark_group("journal");
    group
        .sample_size(20)
        .measurement_time(Duration::from_secs(5));
    let journals: [(&str, &dyn Journal); 2] = [("memory", &memory), ("sqlite, durable", &store)];
    for (name, journal) in journals {
        let owner = OwnerId {
            process: processes.current(),
            driver: run_id(0xd),
        };
        let run = NewRun {
            id: run_id(1),
            kind: "implement".to_owned(),
            key: "AB-1".to_owned(),
            repo: "/repo".to_owned(),
            parent: None,
        };
        let fence = block_on(journal.create(run, owner, Duration::from_secs(30)));
        let fence = fence.expect("a new run");
        let (seq, event, now) = (Cell::new(0), event(), clock.now());
        group.bench_function(format!("append 2 KB ({name})"), |b| {
            b.iter(|| {
                seq.set(seq.get() + 1);
                block_on(journal.append(&fence, seq.get(), now, &event)).expect("appended");
            });
        });
    }
    group.finish();
}

fn passes(c: &mut Criterion) {
    let mut group = c.benchmark_group("driver");
    group.bench_function("one trivial pass with fakes", |b| {
        b.iter_batched(|| Dry::new(1), Dry::run, BatchSize::SmallInput);
    });
    let dir = tempfile::tempdir().expect("a temporary folder");
    let (clock, processes) = (ManualClock::new(), FakeProcesses::new());
    let store: Arc<dyn Journal> = Arc::new(
        SqliteStore::open(
            dir.path(),
            Arc::new(clock.clone()),
            Arc::new(processes.clone()),
        )
        .expect("the thread starts"),
    );
    let runs = Cell::new(0x1000);
    group.bench_function("one trivial pass, durable", |b| {
        b.iter_batched(
            || {
                runs.set(runs.get() + 1);
                Dry::over(Arc::clone(&store), clock.clone(), processes.clone(), 1)
                    .with_run(run_id(runs.get()))
            },
            Dry::run,
            BatchSize::SmallInput,
        );
    });
    group.finish();
}

criterion_group!(benches, decisions, texts, record, passes);
criterion_main!(benches);
