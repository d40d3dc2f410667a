//! The checker of histories lets a good one pass and finds what is planted.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use bytes::Bytes;
use kubestore_conformance::history::{
    Answer, Asked, Attempt, History, Moment, Told, ViolationKind, WatchEnd, WatchRecord,
};
use kubestore_kv::{
    DeleteRequest, Expect, GetRequest, KeyValue, KvErrorKind, KvEvent, LeaseId, ListRequest, PutRequest,
    Revision, WatchGroup, WatchRequest, WatchTarget, WriteOutcome,
};

fn create(key: &'static str, value: &'static str) -> Asked {
    Asked::Put(PutRequest::create(key, value))
}

fn update(key: &'static str, value: &'static str, revision: i64) -> Asked {
    Asked::Put(PutRequest::update(key, value, Revision(revision)))
}

fn delete(key: &'static str, revision: i64) -> Asked {
    Asked::Delete(DeleteRequest::new(key, Revision(revision)))
}

fn get(key: &'static str) -> Asked {
    Asked::Get(GetRequest::new(key))
}

fn list() -> Asked {
    Asked::List(ListRequest::new("/"))
}

fn done(revision: i64) -> Answer {
    Answer::Written(WriteOutcome::Done { revision: Revision(revision) })
}

fn conflict(current: Option<KeyValue>, head: i64) -> Answer {
    Answer::Written(WriteOutcome::Conflict { current, head: Revision(head) })
}

fn found(kv: Option<KeyValue>, head: i64) -> Answer {
    Answer::Key { kv, head: Revision(head) }
}

fn range(kvs: Vec<KeyValue>, revision: i64) -> Answer {
    let count = Some(i64::try_from(kvs.len()).unwrap());
    Answer::Range { kvs, revision: Revision(revision), more: false, count }
}

fn kv(key: &'static str, value: &'static str, created: i64, modified: i64, version: i64) -> KeyValue {
    let mut kv = KeyValue::new(key, value, Revision(modified));
    kv.create_revision = Revision(created);
    kv.version = version;
    kv
}

fn event(kv: KeyValue, previous: Option<KeyValue>) -> KvEvent {
    KvEvent::put(kv, previous)
}

fn deletion(key: &'static str, revision: i64, previous: KeyValue) -> KvEvent {
    KvEvent::delete(Bytes::from(key), Revision(revision), Some(previous))
}

fn told(events: Vec<KvEvent>) -> Told {
    let through = events.last().unwrap().kv.mod_revision;
    Told::Events { events, through }
}

fn progress(revision: i64) -> Told {
    Told::Progress(Revision(revision))
}

fn watch(start: Option<i64>, begun: Moment) -> WatchRecord {
    let mut request = WatchRequest::new(WatchGroup::new(), WatchTarget::Prefix(Bytes::from("/")));
    request.start = start.map(Revision);
    WatchRecord::new(9, request.with_previous(), begun, begun + 1)
}

fn history(attempts: Vec<Attempt>, watches: Vec<WatchRecord>) -> History {
    let mut history = History::default();
    (history.attempts, history.watches) = (attempts, watches);
    history
}

fn a1() -> KeyValue {
    kv("/a", "1", 2, 2, 1)
}

fn a2() -> KeyValue {
    kv("/a", "2", 2, 3, 2)
}

fn a3() -> KeyValue {
    kv("/a", "3", 2, 5, 3)
}

fn b1() -> KeyValue {
    kv("/b", "x", 4, 4, 1)
}

/// Names of the attempts of the good history.
const UPDATE_A: usize = 1;
const GET_DURING_UPDATE: usize = 2;
const GET_AFTER_UPDATE: usize = 3;
const CREATE_B: usize = 5;
const GET_BEFORE_THE_LOST: usize = 6;
const GET_AFTER_THE_LOST: usize = 7;
const LIST: usize = 9;
const REFUSED_CREATE: usize = 11;
const PAST_GET: usize = 15;

/// Two keys; one write whose answer was lost was applied after a read that followed it, another never.
fn good() -> History {
    let past = Asked::Get(GetRequest::new("/a").at(Revision(4)));
    let attempts = vec![
        Attempt::new(0, 1, 2, create("/a", "1"), done(2)),
        Attempt::new(0, 3, 6, update("/a", "2", 2), done(3)),
        Attempt::new(1, 4, 5, get("/a"), found(Some(a1()), 2)),
        Attempt::new(1, 7, 8, get("/a"), found(Some(a2()), 3)),
        Attempt::unanswered(0, 9, update("/a", "3", 3)),
        Attempt::new(1, 10, 11, create("/b", "x"), done(4)),
        Attempt::new(1, 12, 13, get("/a"), found(Some(a2()), 4)),
        Attempt::new(1, 14, 15, get("/a"), found(Some(a3()), 5)),
        Attempt::new(1, 16, 17, delete("/a", 5), done(6)),
        Attempt::new(1, 18, 19, list(), range(vec![b1()], 6)),
        Attempt::new(1, 20, 21, create("/a", "4"), done(7)),
        Attempt::new(0, 22, 23, create("/a", "5"), conflict(None, 7)),
        Attempt::unanswered(0, 24, update("/b", "y", 4)),
        Attempt::new(1, 25, 26, delete("/b", 4), done(8)),
        Attempt::new(1, 27, 28, delete("/b", 4), conflict(None, 8)),
        Attempt::new(1, 29, 30, past, found(Some(a2()), 8)),
    ];
    let from_the_start = watch(Some(2), 31)
        .with(33, told(vec![event(a1(), None)]))
        .with(34, told(vec![event(a2(), Some(a1())), event(b1(), None)]))
        .with(35, progress(4))
        .with(36, told(vec![event(a3(), Some(a2()))]))
        .with(37, told(vec![deletion("/a", 6, a3()), event(kv("/a", "4", 7, 7, 1), None)]))
        .with(38, told(vec![deletion("/b", 8, b1())]))
        .with(39, progress(8));
    let from_now =
        watch(None, 17).with(40, told(vec![event(kv("/a", "4", 7, 7, 1), None), deletion("/b", 8, b1())]));
    let mut history = history(attempts, vec![from_the_start, from_now]);
    history.settled = Some(Revision(8));
    history
}

fn events(history: &mut History, watch: usize, item: usize) -> &mut Vec<KvEvent> {
    match &mut history.watches[watch].told[item].1 {
        Told::Events { events, .. } => events,
        other => panic!("{other:?} has no events"),
    }
}

#[test]
fn a_good_history_is_clean() {
    let report = good().check();
    assert!(report.is_clean(), "{report}");
    assert_eq!((report.operations, report.unknown, report.applied), (16, 2, 1));
    assert_eq!((report.keys, report.watches, report.events), (2, 2, 9));
    assert_eq!(
        report.to_string(),
        "16 operations on 2 keys, 2 writes of unknown outcome of which at least 1 were applied, 2 watches with 9 \
         events: all in order"
    );
}

/// Whether the good history with `change` is found to be wrong in this way.
fn finds(kind: ViolationKind, change: fn(&mut History)) {
    let mut history = good();
    change(&mut history);
    let report = history.check();
    assert!(report.has(kind), "{kind:?} was planted, and this found: {report}");
    let mut text = report.violations.iter().map(ToString::to_string);
    assert!(text.any(|text| text.starts_with(&format!("{kind:?}: "))), "{report}");
}

macro_rules! planted {
    ($($test:ident: $kind:ident, $change:expr;)*) => {$(
        #[test]
        fn $test() {
            finds(ViolationKind::$kind, $change);
        }
    )*};
}

planted! {
    a_lost_write: NotLinearizable, |history| {
        // A reader after the acknowledged update sees what was before it, at the right revision.
        history.attempts[GET_AFTER_UPDATE].answer = found(Some(a1()), 3);
    };
    a_stale_read: RevisionsBack, |history| {
        history.attempts[GET_AFTER_UPDATE].answer = found(Some(a1()), 2);
    };
    a_read_of_another_key_that_is_stale: RevisionsBack, |history| {
        history.attempts[LIST].answer = range(vec![kv("/a", "3", 2, 5, 3), b1()], 5);
    };
    a_read_before_its_write: RevisionsBack, |history| {
        history.attempts[GET_DURING_UPDATE].answer = found(Some(a3()), 5);
    };
    a_write_applied_twice: NotLinearizable, |history| {
        // The lost update is seen as if it had been made on top of itself.
        history.attempts[GET_AFTER_THE_LOST].answer = found(Some(kv("/a", "3", 2, 5, 4)), 5);
    };
    a_refused_write_that_happened: NotLinearizable, |history| {
        history.attempts[4].answer = Answer::Refused(KvErrorKind::Unavailable);
    };
    a_lost_write_applied_before_it_was_sent: NotLinearizable, |history| {
        history.attempts[4].begun = 16;
    };
    a_value_nobody_wrote: NotLinearizable, |history| {
        history.attempts[GET_BEFORE_THE_LOST].answer = found(Some(kv("/a", "?", 2, 3, 2)), 4);
    };
    two_values_at_one_revision: Contradiction, |history| {
        history.attempts[GET_BEFORE_THE_LOST].answer = found(Some(kv("/a", "?", 2, 3, 2)), 4);
    };
    a_write_on_a_wrong_condition: NotLinearizable, |history| {
        history.attempts[UPDATE_A].asked = update("/a", "2", 1);
    };
    a_create_over_what_exists: NotLinearizable, |history| {
        history.attempts[REFUSED_CREATE].answer = done(9);
        history.attempts[REFUSED_CREATE].ended = None;
        history.watches.clear();
    };
    a_conflict_without_a_rival: NotLinearizable, |history| {
        history.attempts[CREATE_B].answer = conflict(None, 3);
        history.watches.clear();
    };
    a_deletion_that_did_not_delete: NotLinearizable, |history| {
        history.attempts[LIST].answer = range(vec![a3(), b1()], 6);
    };
    a_list_that_misses_a_key: NotLinearizable, |history| {
        history.attempts[LIST].answer = range(vec![], 6);
    };
    a_list_of_two_revisions: NotLinearizable, |history| {
        history.attempts[LIST].answer = range(vec![kv("/a", "4", 7, 7, 1), b1()], 6);
    };
    a_list_out_of_order: ListMalformed, |history| {
        let kvs = vec![b1(), a3()];
        history.attempts[LIST].answer = range(kvs, 6);
    };
    a_list_that_hides_what_follows: ListMalformed, |history| {
        history.attempts[LIST].answer =
            Answer::Range { kvs: vec![b1()], revision: Revision(6), more: false, count: Some(2) };
    };
    a_past_revision_that_changed: NotLinearizable, |history| {
        history.attempts[PAST_GET].answer = found(Some(a3()), 8);
    };
    a_revision_of_two_writes: RevisionShared, |history| {
        history.attempts[CREATE_B].answer = done(3);
    };
    revisions_that_go_back: RevisionsBack, |history| {
        history.attempts[CREATE_B].answer = done(9);
    };
    a_version_that_was_not_counted: NotLinearizable, |history| {
        history.attempts[GET_AFTER_UPDATE].answer = found(Some(kv("/a", "2", 2, 3, 1)), 3);
    };
    a_gap_in_a_watch: EventMissing, |history| {
        history.watches[0].told.remove(3);
    };
    a_gap_within_an_item: EventMissing, |history| {
        events(history, 0, 1).remove(0);
    };
    a_watch_that_begins_late: EventMissing, |history| {
        history.watches[0].told.remove(0);
    };
    a_watch_from_now_that_begins_late: EventMissing, |history| {
        events(history, 1, 0).remove(0);
    };
    a_watch_that_falls_silent: EventMissing, |history| {
        history.watches[0].told.truncate(5);
    };
    a_repeated_event: EventTwice, |history| {
        let again = history.watches[0].told[3].1.clone();
        history.watches[0].told.insert(4, (36, again));
    };
    events_out_of_order: EventTooLate, |history| {
        history.watches[0].told.swap(0, 1);
    };
    events_out_of_order_in_an_item: ItemMalformed, |history| {
        events(history, 0, 1).swap(0, 1);
    };
    an_item_of_a_wrong_last_revision: ItemMalformed, |history| {
        if let Told::Events { through, .. } = &mut history.watches[0].told[3].1 {
            *through = Revision(6);
        }
    };
    a_bookmark_too_early: EventTooLate, |history| {
        history.watches[0].told[2].1 = progress(5);
    };
    a_bookmark_of_the_future: RevisionsBack, |history| {
        history.watches[0].told.insert(0, (3, progress(9)));
        history.watches[0].told.pop();
    };
    a_bookmark_that_goes_back: ProgressBack, |history| {
        history.watches[0].told.push((41, progress(7)));
    };
    an_event_before_its_write: RevisionsBack, |history| {
        history.watches[0].told[0].0 = 0;
    };
    an_event_nobody_made: EventInvented, |history| {
        let one = kv("/a", "9", 9, 9, 1);
        history.watches[0].told.push((41, told(vec![event(one, None)])));
    };
    a_deletion_nobody_made: EventInvented, |history| {
        let last = kv("/a", "4", 7, 7, 1);
        history.watches[0].told.push((41, told(vec![deletion("/a", 9, last)])));
    };
    an_event_with_another_value: Contradiction, |history| {
        events(history, 0, 0)[0].kv.value = Bytes::from("other");
    };
    an_event_from_outside: EventForeign, |history| {
        history.watches[1].request.target = WatchTarget::Key(Bytes::from("/a"));
    };
    an_event_from_before_the_start: EventTooEarly, |history| {
        history.watches[0].request.start = Some(Revision(3));
    };
    an_event_from_before_now: EventTooEarly, |history| {
        events(history, 1, 0).insert(0, event(b1(), None));
    };
    a_previous_value_that_is_missing: PreviousWrong, |history| {
        events(history, 0, 3)[0].previous = None;
    };
    a_previous_value_that_is_too_old: PreviousWrong, |history| {
        events(history, 0, 3)[0].previous = Some(a1());
    };
    a_previous_value_of_a_created_key: PreviousWrong, |history| {
        events(history, 0, 4)[1].previous = Some(a3());
    };
    a_previous_value_unasked: PreviousWrong, |history| {
        history.watches[0].request.previous = false;
    };
    a_watch_that_ends_without_an_error: SilentEnd, |history| {
        history.watches[1].end = Some(WatchEnd::Silent);
    };
}

#[test]
fn a_lost_write_may_be_applied_at_any_later_time() {
    let late = |seen: Vec<Attempt>| {
        let mut attempts = vec![
            Attempt::new(0, 1, 2, create("/a", "1"), done(2)),
            Attempt::unanswered(0, 3, update("/a", "2", 2)),
            Attempt::unanswered(0, 4, delete("/a", 2)),
        ];
        attempts.extend(seen);
        history(attempts, Vec::new()).check()
    };
    let never = Attempt::new(1, 50, 51, get("/a"), found(Some(a1()), 2));
    let put = Attempt::new(1, 52, 53, get("/a"), found(Some(a2()), 3));
    let deleted = Attempt::new(1, 52, 53, get("/a"), found(None, 3));
    assert!(late(vec![never.clone()]).is_clean());
    assert!(late(vec![never.clone(), put.clone()]).is_clean());
    assert!(late(vec![never, deleted.clone()]).is_clean());
    // One of them, not the other on top of it.
    let after = Attempt::new(1, 54, 55, get("/a"), found(None, 4));
    assert!(late(vec![put, after]).has(ViolationKind::NotLinearizable));
    let back = Attempt::new(1, 54, 55, get("/a"), found(Some(a2()), 3));
    assert!(late(vec![deleted, back]).has(ViolationKind::NotLinearizable));
}

#[test]
fn a_chain_of_lost_writes_is_found() {
    let attempts = vec![
        Attempt::unanswered(0, 1, create("/a", "1")),
        Attempt::unanswered(1, 2, create("/a", "other")),
        Attempt::unanswered(2, 3, update("/a", "2", 2)),
        Attempt::unanswered(3, 4, update("/a", "3", 3)),
        Attempt::new(4, 5, 6, get("/a"), found(Some(kv("/a", "3", 2, 4, 3)), 4)),
    ];
    let report = history(attempts.clone(), Vec::new()).check();
    assert!(report.is_clean(), "{report}");
    assert_eq!((report.unknown, report.applied), (4, 3));
    let mut wrong = attempts;
    wrong[4].answer = found(Some(kv("/a", "3", 2, 4, 2)), 4);
    assert!(history(wrong, Vec::new()).check().has(ViolationKind::NotLinearizable));
}

#[test]
fn a_key_with_a_lease_may_end() {
    let run = |lease: Option<LeaseId>| {
        let put = Asked::Put(PutRequest::create("/a", "1").with_lease(lease));
        let attempts = vec![
            Attempt::new(0, 1, 2, put, done(2)),
            Attempt::new(0, 3, 4, get("/a"), found(None, 3)),
            Attempt::new(0, 5, 6, create("/a", "2"), done(4)),
        ];
        history(attempts, Vec::new()).check()
    };
    assert!(run(Some(LeaseId(7))).is_clean());
    assert!(run(None).has(ViolationKind::NotLinearizable));
}

#[test]
fn a_version_is_a_condition_too() {
    let put = |value: &'static str, version| {
        Asked::Put(PutRequest::create("/a", value).with_expect(Expect::Version(version)))
    };
    let attempts = vec![
        Attempt::new(0, 1, 2, put("1", 0), done(2)),
        Attempt::new(0, 3, 4, put("2", 1), done(3)),
        Attempt::new(0, 5, 6, put("3", 1), conflict(None, 3)),
    ];
    let report = history(attempts.clone(), Vec::new()).check();
    assert!(report.is_clean(), "{report}");
    let mut wrong = attempts;
    wrong[2].answer = done(4);
    assert!(history(wrong, Vec::new()).check().has(ViolationKind::NotLinearizable));
}

#[test]
fn previous_values_may_be_compacted() {
    let mut history = good();
    events(&mut history, 0, 3)[0].previous = None;
    history.attempts.push(Attempt::new(2, 30, 31, Asked::Compact(Revision(5)), Answer::Compacted));
    assert!(history.check().is_clean(), "{}", history.check());
}

#[test]
fn many_lost_writes_on_one_key_are_placed() {
    // Each round two clients try to write on the same state and neither is answered; a reader sees which of them did.
    let values: Vec<String> = (0..400).map(|number| number.to_string()).collect();
    let mut attempts = vec![Attempt::new(0, 1, 2, create("/a", "first"), done(2))];
    let mut now = 3;
    for round in 1..=200 {
        let value =
            |client: i64| Bytes::from(values[usize::try_from(2 * (round - 1) + client).unwrap()].clone());
        for client in 0..2 {
            let request = PutRequest::update("/a", value(client), Revision(round + 1));
            attempts.push(Attempt::unanswered(1, now, Asked::Put(request)));
            now += 1;
        }
        let mut seen = KeyValue::new("/a", value(round % 2), Revision(round + 2));
        (seen.create_revision, seen.version) = (Revision(2), round + 1);
        attempts.push(Attempt::new(2, now, now + 1, get("/a"), found(Some(seen), round + 2)));
        now += 2;
    }
    let report = history(attempts, Vec::new()).check();
    assert!(report.is_clean(), "{report}");
    assert_eq!((report.unknown, report.applied), (400, 200));
}
