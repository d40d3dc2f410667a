//! Writers and listers at once.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod common;

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
};

use common::{Fixture, Form, done};
use futures_util::{StreamExt, future::join_all};
use kubestore_embedded::Embedded;
use kubestore_kv::{GetRequest, Kv, ListRequest, PutRequest, Revision, WriteOutcome};

on_every_form! {
    a_list_holds_every_write_acknowledged_at_or_below_its_head,
    sixteen_writers_of_one_key_lose_no_update,
    a_list_in_parts_is_of_one_revision_beside_writers,
}

/// The last acknowledged revision of each key.
type Acknowledged = BTreeMap<String, i64>;

const WRITERS: usize = 16;
const LISTERS: usize = 4;
const WRITES: usize = 150;

async fn a_list_holds_every_write_acknowledged_at_or_below_its_head(form: Form) {
    let Fixture { kv, dir: _dir } = Fixture::new(form).await;
    let acknowledged = Arc::new(Mutex::new(Acknowledged::new()));
    let running = Arc::new(AtomicBool::new(true));
    let listers = (0..LISTERS).map(|_| {
        tokio::spawn(list_over_and_over(kv.clone(), Arc::clone(&acknowledged), Arc::clone(&running)))
    });
    let listers: Vec<_> = listers.collect();
    let writers = (0..WRITERS).map(|writer| {
        let (kv, acknowledged) = (kv.clone(), Arc::clone(&acknowledged));
        tokio::spawn(async move {
            let key = format!("k/{writer}");
            let mut at = 0;
            for number in 0..WRITES {
                let request = PutRequest::update(key.clone(), number.to_string(), Revision(at));
                at = done(kv.optimistic_put(request).await);
                acknowledged.lock().unwrap().insert(key.clone(), at);
                let read = kv.get(GetRequest::new(key.clone())).await.unwrap();
                assert!(read.head.0 >= at);
                let read = read.kv.unwrap();
                assert_eq!(
                    (read.mod_revision.0, common::text(&read.value)),
                    (at, number.to_string()),
                    "own writes"
                );
            }
        })
    });
    for writer in join_all(writers).await {
        writer.unwrap();
    }
    running.store(false, Ordering::Release);
    for lists in join_all(listers).await {
        assert!(lists.unwrap() > 0);
    }
    assert_eq!(common::head(&kv).await, 1 + i64::try_from(WRITERS * WRITES).unwrap());
}

/// Lists and compares with what is acknowledged; tells how often.
async fn list_over_and_over(
    kv: Embedded,
    acknowledged: Arc<Mutex<Acknowledged>>,
    running: Arc<AtomicBool>,
) -> usize {
    let mut lists = 0;
    while running.load(Ordering::Acquire) {
        let before = acknowledged.lock().unwrap().clone();
        let list = kv.list(ListRequest::new("k/")).await.unwrap();
        let newest = before.values().max().copied().unwrap_or(0);
        assert!(list.head.0 >= newest, "a list sees what was acknowledged before it began");
        for (key, revision) in &before {
            let found = list.kvs.iter().find(|kv| kv.key == key.as_bytes());
            let found = found.unwrap_or_else(|| panic!("{key} of {revision} is missing at {}", list.head));
            assert!(found.mod_revision.0 >= *revision);
        }
        for kv in &list.kvs {
            assert!(kv.mod_revision <= list.head);
            assert_eq!(common::text(&kv.value), (kv.version - 1).to_string(), "a value and its version fit");
        }
        let again = kv.list(ListRequest::new("k/").at(list.head)).await.unwrap();
        assert_eq!(again.kvs, list.kvs, "the state at a revision does not change");
        lists += 1;
    }
    lists
}

async fn sixteen_writers_of_one_key_lose_no_update(form: Form) {
    let Fixture { kv, dir: _dir } = Fixture::new(form).await;
    common::create(&kv, "counter", "0").await;
    let writers = (0..WRITERS).map(|_| {
        let kv = kv.clone();
        tokio::spawn(async move {
            let mut current = kv.get(GetRequest::new("counter")).await.unwrap().kv.unwrap();
            let mut left = 25;
            while left > 0 {
                let next: u32 = common::text(&current.value).parse::<u32>().unwrap() + 1;
                let request = PutRequest::update("counter", next.to_string(), current.mod_revision);
                current = match kv.optimistic_put(request).await.unwrap() {
                    WriteOutcome::Done { revision } => {
                        left -= 1;
                        let mut kv = current;
                        kv.mod_revision = revision;
                        kv.value = next.to_string().into();
                        kv
                    }
                    WriteOutcome::Conflict { current, .. } => current.unwrap(),
                    other => panic!("unexpected {other:?}"),
                };
            }
        })
    });
    for writer in join_all(writers).await {
        writer.unwrap();
    }
    assert_eq!(common::value(&kv, "counter").await.unwrap(), (WRITERS * 25).to_string());
    let last = kv.get(GetRequest::new("counter")).await.unwrap().kv.unwrap();
    assert_eq!(last.version, 1 + i64::try_from(WRITERS * 25).unwrap());
}

async fn a_list_in_parts_is_of_one_revision_beside_writers(form: Form) {
    let Fixture { kv, dir: _dir } = Fixture::new(form).await;
    let creates = (0..1500).map(|number| {
        let kv = kv.clone();
        async move { common::create(&kv, &format!("k/{number:04}"), "0").await }
    });
    join_all(creates).await;
    let running = Arc::new(AtomicBool::new(true));
    let writer = tokio::spawn({
        let (kv, running) = (kv.clone(), Arc::clone(&running));
        async move {
            let mut number = 0;
            while running.load(Ordering::Acquire) {
                common::put(&kv, &format!("k/{:04}", number % 1500), "1").await;
                common::create(&kv, &format!("k/{:04}/new", number % 1500), "1").await;
                common::delete(&kv, &format!("k/{:04}/new", number % 1500)).await;
                number += 7;
            }
        }
    });
    for _ in 0..20 {
        let mut parts = kv.list_chunks(ListRequest::new("k/"));
        let (mut seen, mut end) = (Vec::new(), None);
        while let Some(part) = parts.next().await {
            let part = part.unwrap();
            seen.extend(part.kvs);
            end = part.end;
            tokio::task::yield_now().await;
        }
        let end = end.unwrap();
        let whole = kv.list(ListRequest::new("k/").at(end.revision)).await.unwrap();
        assert_eq!(seen, whole.kvs);
        assert_eq!(end.count, whole.count);
    }
    running.store(false, Ordering::Release);
    writer.await.unwrap();
}
