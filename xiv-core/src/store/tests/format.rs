//! Files of other versions, of other programs, and damaged ones.

use std::fs;

use futures::executor::block_on;
use rusqlite::Connection;

use super::{LEASE, Place, new_run, run_id};
use crate::port::{Journal as _, JournalError, JournalErrorKind};
use crate::store::schema::{APPLICATION_ID, VERSION};

/// A journal with one run of two events, closed again.
fn used() -> Place {
    let place = Place::new();
    block_on(async {
        let store = place.open();
        let fence = place.started(&store, 1).await;
        place.append(&store, &fence, 1).await;
        place.append(&store, &fence, 2).await;
    });
    place
}

fn sql(place: &Place, statements: &str) {
    let connection = Connection::open(place.database()).expect("it opens");
    connection.execute_batch(statements).expect("it works");
}

/// Neither looking nor writing works; both say the same.
fn refusal(place: &Place) -> JournalError {
    block_on(async {
        let error = place.open().list().await.expect_err("refused to look");
        let store = place.open();
        let create = store.create(new_run(9), place.owner(), LEASE).await;
        let other = create.expect_err("refused to write");
        assert_eq!(other.kind, error.kind, "{other}");
        assert_eq!(other.message, error.message);
        error
    })
}

#[test]
fn a_new_file_carries_its_marks() {
    let place = used();
    let connection = Connection::open(place.database()).expect("it opens");
    let pragma = |name: &str| -> i32 {
        connection
            .pragma_query_value(None, name, |row| row.get(0))
            .expect("a number")
    };
    assert_eq!(pragma("application_id"), APPLICATION_ID);
    assert_eq!(pragma("user_version"), VERSION);
    let mode: String = connection
        .pragma_query_value(None, "journal_mode", |row| row.get(0))
        .expect("a word");
    assert_eq!(mode, "wal");
}

#[test]
fn a_newer_format_is_refused_and_left_alone() {
    let place = used();
    sql(&place, "PRAGMA user_version = 1000");
    let before = fs::read(place.database()).expect("read");
    let error = refusal(&place);
    assert_eq!(error.kind, JournalErrorKind::NewerFormat);
    assert!(error.message.contains("format 1000"), "{error}");
    assert_eq!(error.hints.len(), 1);
    let after = fs::read(place.database()).expect("read");
    assert!(before == after, "not a byte has changed");
}

#[test]
fn a_database_of_another_program_is_refused() {
    for statements in [
        "CREATE TABLE notes (id)",
        "PRAGMA application_id = 7; CREATE TABLE runs (id)",
        "PRAGMA user_version = 1",
    ] {
        let place = Place::new();
        fs::create_dir_all(place.state()).expect("made");
        sql(&place, statements);
        let before = fs::read(place.database()).expect("read");
        let error = refusal(&place);
        assert_eq!(error.kind, JournalErrorKind::Corrupt, "{statements}");
        assert!(error.message.contains("another program"), "{error}");
        let after = fs::read(place.database()).expect("read");
        assert!(before == after, "{statements}: not a byte has changed");
    }
}

#[test]
fn what_is_no_database_is_refused_with_a_way_out() {
    let place = Place::new();
    fs::create_dir_all(place.state()).expect("made");
    fs::write(place.database(), "not a database at all\n".repeat(100)).expect("written");
    let error = refusal(&place);
    assert_eq!(error.kind, JournalErrorKind::Corrupt);
    assert!(error.hints[0].contains("xiv.db"), "{:?}", error.hints);
}

#[test]
fn damage_in_the_middle_is_found() {
    let place = used();
    sql(&place, "PRAGMA wal_checkpoint(TRUNCATE)");
    let mut bytes = fs::read(place.database()).expect("read");
    let page = 4096;
    for byte in &mut bytes[page..] {
        *byte = 0xa5;
    }
    fs::write(place.database(), bytes).expect("written");
    let error = refusal(&place);
    assert_eq!(error.kind, JournalErrorKind::Corrupt, "{error}");
}

#[test]
fn an_empty_file_is_no_journal_yet() {
    let place = Place::new();
    fs::create_dir_all(place.state()).expect("made");
    fs::write(place.database(), "").expect("written");
    block_on(async {
        let store = place.open();
        assert_eq!(store.list().await.expect("nothing there"), []);
        place.started(&store, 1).await;
        assert_eq!(store.list().await.expect("listed").len(), 1);
    });
}

#[test]
fn a_missing_event_is_damage() {
    let place = used();
    sql(&place, "DELETE FROM events WHERE seq = 1");
    block_on(async {
        let error = place.open().load(&run_id(1)).await.expect_err("a gap");
        assert_eq!(error.kind, JournalErrorKind::Corrupt);
        assert!(error.message.contains("event 1"), "{error}");
    });
}

#[test]
fn an_event_of_a_newer_version_is_refused_by_name() {
    let place = used();
    sql(
        &place,
        r#"UPDATE runs SET writer = '7.0.0';
           UPDATE events SET kind = 'foretold', body = '{"type":"foretold","a":1}' WHERE seq = 2"#,
    );
    block_on(async {
        let store = place.open();
        let error = store.load(&run_id(1)).await.expect_err("unknown");
        assert_eq!(error.kind, JournalErrorKind::NewerFormat);
        assert!(error.message.contains("xiv 7.0.0"), "{error}");
        let text = store
            .export(&run_id(1))
            .await
            .expect("text needs no meaning");
        assert!(text.contains(r#"{"type":"foretold","a":1}"#), "{text}");
        assert_eq!(store.list().await.expect("listed").len(), 1);
    });
}

#[test]
fn a_file_that_vanished_is_not_written_into_the_void() {
    let place = Place::new();
    block_on(async {
        let store = place.open();
        let fence = place.started(&store, 1).await;
        fs::remove_file(place.database()).expect("removed");
        let event = super::interrupted();
        let lost = store.append(&fence, 1, place.now(), &event).await;
        let lost = lost.expect_err("it would be lost");
        assert_eq!(lost.kind, JournalErrorKind::Io);
        assert!(lost.message.contains("removed or replaced"), "{lost}");
    });
}

#[test]
fn many_processes_may_make_the_file_at_once() {
    let place = Place::new();
    let stores: Vec<_> = (0..8).map(|_| place.open()).collect();
    std::thread::scope(|scope| {
        for (run, store) in (1..).zip(&stores) {
            let place = &place;
            scope.spawn(move || block_on(place.started(store, run)));
        }
    });
    let listed = block_on(place.open().list()).expect("listed");
    assert_eq!(listed.len(), 8);
}
