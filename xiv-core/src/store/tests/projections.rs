//! The tables that follow from the events, and long histories.

use std::time::{Duration, Instant};

use futures::executor::block_on;
use rusqlite::Connection;

use super::{Place, run_id};
use crate::flow::{EffectResult, Event, Intent};
use crate::model::{BranchName, CommitId, Pass, StepId, TreeId};
use crate::port::{CommitPlan, GateAnswer, Journal as _};

fn step(id: &str) -> StepId {
    StepId::parse(id).expect("a step")
}

fn rows(place: &Place, query: &str) -> Vec<(String, Option<String>)> {
    let connection = Connection::open(place.database()).expect("it opens");
    let mut statement = connection.prepare(query).expect("a query");
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)));
    rows.expect("rows").collect::<Result<_, _>>().expect("text")
}

fn intent() -> Intent {
    let commit = CommitId::parse("c".repeat(40)).expect("a commit");
    Intent::Commit {
        plan: CommitPlan {
            branch: BranchName::parse("feat/key-1").expect("a branch"),
            parent: commit.clone(),
            tree: TreeId::parse("a".repeat(40)).expect("a tree"),
            message: "feat: it".to_owned(),
            date: jiff::Timestamp::UNIX_EPOCH,
            expected: commit,
            backup_ref: None,
        },
    }
}

#[test]
fn effects_and_gates_follow_from_the_events() {
    let place = Place::new();
    let tree = TreeId::parse("a".repeat(40)).expect("a tree");
    let commit = CommitId::parse("c".repeat(40)).expect("a commit");
    block_on(async {
        let store = place.open();
        let fence = place.started(&store, 1).await;
        let effects = "SELECT marker, result FROM effects ORDER BY marker";
        let gates = "SELECT gate, answer FROM gates ORDER BY gate";
        let mut seq = 0;
        let mut append = async |event: Event| {
            seq += 1;
            let appended = store.append(&fence, seq, place.now(), &event).await;
            appended.expect("appended");
        };
        let intended = |marker: &str| Event::Intended {
            step: step("finalize"),
            marker: marker.to_owned(),
            intent: intent(),
        };
        append(intended("m1")).await;
        append(intended("m2")).await;
        append(intended("m1")).await;
        append(Event::EffectDone {
            step: step("finalize"),
            marker: "m1".to_owned(),
            result: EffectResult::Commit { commit },
        })
        .await;
        let found = rows(&place, effects);
        assert_eq!(found.len(), 2);
        assert!(found[0].1.as_deref().is_some_and(|r| r.contains("ccc")));
        assert_eq!(found[1], ("m2".to_owned(), None));

        let raised = |pass| Event::GateRaised {
            gate: format!("implement#{pass}"),
            pass: Pass::new(pass).expect("a pass"),
            tree: tree.clone(),
        };
        append(raised(1)).await;
        append(raised(2)).await;
        append(Event::GateAnswered {
            gate: "implement#1".to_owned(),
            answer: GateAnswer {
                notes: Vec::new(),
                tree: tree.clone(),
                patch: "+x".to_owned(),
            },
        })
        .await;
        let found = rows(&place, gates);
        assert!(found[0].1.as_deref().is_some_and(|a| a.contains("+x")));
        assert_eq!(found[1], ("implement#2".to_owned(), None));

        // an imported run has them too
        let text = store.export(&run_id(1)).await.expect("exported");
        let there = Place::new();
        there.open().import(&text).await.expect("imported");
        assert_eq!(rows(&there, effects), rows(&place, effects));
        assert_eq!(rows(&there, gates), rows(&place, gates));

        store.release(&fence).await.expect("released");
        store.remove(&run_id(1)).await.expect("removed");
    });
    for table in ["events", "effects", "gates", "locks", "runs"] {
        let left = rows(
            &place,
            &format!("SELECT '{table}', count(*) || '' FROM {table}"),
        );
        assert_eq!(left[0].1.as_deref(), Some("0"), "{table}");
    }
}

#[test]
fn ten_thousand_events_are_read_in_a_moment() {
    const EVENTS: u64 = 10_000;
    let place = Place::new();
    block_on(async {
        let store = place.open();
        let fence = place.started(&store, 1).await;
        place.append(&store, &fence, 1).await;
        // the fast way to a long history
        let text = store.export(&run_id(1)).await.expect("exported");
        let (header, line) = text.trim_end().split_once('\n').expect("two lines");
        let mut long = header.replace(r#""events":1"#, &format!(r#""events":{EVENTS}"#));
        let padded = format!(r#""event":{{"padding":"{}","#, "x".repeat(2000));
        for seq in 1..=EVENTS {
            let line = line.replace(r#""seq":1,"#, &format!(r#""seq":{seq},"#));
            long.push('\n');
            long.push_str(&line.replace(r#""event":{"#, &padded));
        }
        let there = Place::new();
        let other = there.open();
        other.import(&long).await.expect("imported");
        let before = Instant::now();
        let history = other.load(&run_id(1)).await.expect("loaded");
        let took = before.elapsed();
        assert_eq!(history.len() as u64, EVENTS);
        assert_eq!(history.last().map(|last| last.seq), Some(EVENTS));
        // an unoptimised build on a busy machine; a plan without the index
        // would take minutes
        assert!(took < Duration::from_secs(10), "{took:?}");
        let fence = other
            .acquire(&run_id(1), there.owner(), super::LEASE)
            .await
            .expect("resumed");
        there.append(&other, &fence, EVENTS + 1).await;
    });
}
