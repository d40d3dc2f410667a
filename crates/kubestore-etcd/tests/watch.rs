//! Watches while the server is well.
#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod common;

use std::time::Duration;

use bytes::Bytes;
use common::{create, done, etcd, events, gather, long, metric, next, prefix, put, quiet};
use etcd_client::{Txn, TxnOp};
use futures_util::{
    StreamExt,
    future::{join, join_all},
};
use kubestore_etcd::EtcdKv;
use kubestore_kv::{
    DeleteRequest, Kv, KvErrorKind, KvEvent, KvEventKind, PutRequest, Revision, WatchGroup, WatchItem,
    WatchRequest, WatchTarget,
};

fn shown(events: &[KvEvent]) -> Vec<(KvEventKind, String, i64)> {
    events
        .iter()
        .map(|event| {
            (event.kind, String::from_utf8_lossy(&event.kv.key).into_owned(), event.kv.mod_revision.0)
        })
        .collect()
}

#[tokio::test]
async fn changes_come_in_order_with_what_they_replaced() {
    let (_etcd, kv) = etcd().await;
    let group = WatchGroup::new();
    let mut all = kv.watch(prefix(group, "/p/").with_previous()).await.unwrap();
    let target = WatchTarget::Key(Bytes::from_static(b"/p/a"));
    let mut one = kv.watch(WatchRequest::new(group, target)).await.unwrap();
    let a = create(&kv, "/p/a", "1").await;
    create(&kv, "/p/ab", "x").await;
    create(&kv, "/q", "x").await;
    let b = done(kv.optimistic_put(PutRequest::update("/p/a", "2", a)).await.unwrap());
    done(kv.optimistic_delete(DeleteRequest::new("/p/a", b)).await.unwrap());

    use KvEventKind::{Delete, Put};
    let owned = String::from;
    let seen = gather(&mut all, 4).await;
    let wanted = [
        (Put, owned("/p/a"), 2),
        (Put, owned("/p/ab"), 3),
        (Put, owned("/p/a"), 5),
        (Delete, owned("/p/a"), 6),
    ];
    assert_eq!(shown(&seen), wanted);
    assert!(seen[0].is_create() && seen[0].previous.is_none());
    assert!(!seen[2].is_create());
    assert_eq!((&seen[2].kv.value[..], seen[2].kv.version), (&b"2"[..], 2));
    assert_eq!(seen[2].previous.as_ref().unwrap().value, "1");
    assert_eq!(seen[3].previous.as_ref().unwrap().value, "2");
    assert_eq!((seen[3].kv.create_revision, seen[3].kv.version, seen[3].kv.value.len()), (Revision(0), 0, 0));

    let seen = gather(&mut one, 3).await;
    assert_eq!(shown(&seen), [(Put, owned("/p/a"), 2), (Put, owned("/p/a"), 5), (Delete, owned("/p/a"), 6)]);
    assert!(seen.iter().all(|event| event.previous.is_none()));
    quiet(&mut all, 100).await;
}

#[tokio::test]
async fn a_watch_begins_exactly_where_it_was_asked_to() {
    let (_etcd, kv) = etcd().await;
    let group = WatchGroup::new();
    for n in 0..9 {
        create(&kv, &format!("/p/{n}"), "").await;
    }
    // Created at 2 to 10.
    for (start, first) in [(1, 2), (2, 2), (5, 5), (10, 10)] {
        let mut watch = kv.watch(prefix(group, "/p/").from(Revision(start))).await.unwrap();
        assert_eq!(events(&mut watch).await[0].kv.mod_revision, Revision(first), "from {start}");
    }
    let mut after = kv.watch(prefix(group, "/p/").from(Revision(11))).await.unwrap();
    let mut now = kv.watch(prefix(group, "/p/")).await.unwrap();
    let mut zero = kv.watch(prefix(group, "/p/").from(Revision(0))).await.unwrap();
    let mut future = kv.watch(prefix(group, "/p/").from(Revision(12))).await.unwrap();
    quiet(&mut after, 100).await;
    create(&kv, "/p/a", "").await;
    assert_eq!(events(&mut after).await[0].kv.mod_revision, Revision(11));
    assert_eq!(events(&mut now).await[0].kv.mod_revision, Revision(11));
    assert_eq!(events(&mut zero).await[0].kv.mod_revision, Revision(11));
    create(&kv, "/p/b", "").await;
    assert_eq!(events(&mut future).await[0].kv.mod_revision, Revision(12));
}

#[tokio::test]
async fn a_compacted_start_is_one_error_and_the_end() {
    let (_etcd, kv) = etcd().await;
    let group = WatchGroup::new();
    for n in 0..9 {
        create(&kv, &format!("/p/{n}"), "").await;
    }
    kv.compact(Revision(6)).await.unwrap();
    let mut legal = kv.watch(prefix(group, "/p/").from(Revision(6))).await.unwrap();
    for start in [1, 5] {
        let mut watch = kv.watch(prefix(group, "/p/").from(Revision(start))).await.unwrap();
        let error = next(&mut watch).await.unwrap_err();
        assert_eq!((error.kind(), error.revision()), (KvErrorKind::Compacted, Some(Revision(6))));
        assert_eq!((error.operation(), error.key()), ("watch", Some(&b"/p/"[..])));
        assert!(watch.next().await.is_none());
    }
    assert_eq!(gather(&mut legal, 5).await[0].kv.mod_revision, Revision(6));
}

#[tokio::test]
async fn large_transactions_are_seen_whole_from_the_first_revision() {
    let (etcd, kv) = etcd().await;
    let mut client = etcd_client::Client::connect([etcd.endpoint()], None).await.unwrap();
    for txn in 0..4 {
        let puts: Vec<_> =
            (0..12).map(|n| TxnOp::put(format!("/p/{txn}-{n:02}"), vec![b'x'; 100_000], None)).collect();
        client.txn(Txn::new().and_then(puts)).await.unwrap();
    }
    let mut watch = kv.watch(prefix(WatchGroup::new(), "/p/").from(Revision(1))).await.unwrap();
    let mut seen = Vec::new();
    while seen.len() < 48 {
        let mut item = events(&mut watch).await;
        // Whole revisions: twelve events each.
        for revision in item.chunk_by(|a, b| a.kv.mod_revision == b.kv.mod_revision) {
            assert_eq!(revision.len(), 12);
        }
        seen.append(&mut item);
    }
    assert!(seen.is_sorted_by_key(|event| event.kv.mod_revision));
    assert!(seen.iter().all(|event| event.kv.value.len() == 100_000));
    assert_eq!(
        seen.iter().map(|event| event.kv.mod_revision.0).collect::<std::collections::BTreeSet<_>>().len(),
        4
    );
}

#[tokio::test]
async fn five_thousand_writes_are_caught_up_with_from_the_middle() {
    let (_etcd, kv) = etcd().await;
    write_many(&kv, 5000).await;
    let mut watch = kv.watch(prefix(WatchGroup::new(), "/p/").from(Revision(2501))).await.unwrap();
    let mut revisions = Vec::new();
    let mut items = 0;
    while revisions.len() < 2501 {
        revisions.extend(events(&mut watch).await.iter().map(|event| event.kv.mod_revision.0));
        items += 1;
    }
    assert_eq!(revisions, (2501..=5001).collect::<Vec<_>>());
    assert!(items <= 50, "{items} items for 2,501 events");
}

/// Creates `count` keys, by several writers.
async fn write_many(kv: &EtcdKv, count: usize) {
    let writers = (0..20).map(|writer| {
        let kv = kv.clone();
        async move {
            for n in 0..count / 20 {
                create(&kv, &format!("/p/{writer:02}-{n:05}"), "value").await;
            }
        }
    });
    join_all(writers).await;
}

#[tokio::test]
async fn progress_answers_for_the_group_when_all_of_it_is_in_step() {
    let (_etcd, kv) = etcd().await;
    let group = WatchGroup::new();
    let mut first = kv.watch(prefix(group, "/p/")).await.unwrap();
    let mut second = kv.watch(prefix(group, "/none/").from(Revision(2))).await.unwrap();
    let mut other = kv.watch(prefix(WatchGroup::new(), "/p/")).await.unwrap();
    // The second starts above the head, which etcd takes for not in step.
    kv.request_progress(group).await.unwrap();
    quiet(&mut first, 200).await;
    let written = create(&kv, "/p/a", "").await;
    assert_eq!(events(&mut first).await.len(), 1);
    kv.request_progress(group).await.unwrap();
    for watch in [&mut first, &mut second] {
        match next(watch).await.unwrap() {
            WatchItem::Progress(revision) => assert_eq!(revision, written),
            other => panic!("not progress: {other:?}"),
        }
        quiet(watch, 50).await;
    }
    assert_eq!(events(&mut other).await.len(), 1);
    quiet(&mut other, 50).await;
    kv.request_progress(WatchGroup::new()).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn progress_never_overtakes_a_hot_writer_and_never_goes_back() {
    let (_etcd, kv) = etcd().await;
    let group = WatchGroup::new();
    let mut watch = kv.watch(prefix(group, "/p/")).await.unwrap();
    let writer = {
        let kv = kv.clone();
        tokio::spawn(async move {
            for n in 0_u64.. {
                put(&kv, if n.is_multiple_of(3) { "/elsewhere" } else { "/p/hot" }, n.to_string()).await;
            }
        })
    };
    let requester = {
        let kv = kv.clone();
        tokio::spawn(async move {
            let mut ticks = tokio::time::interval(Duration::from_millis(20));
            loop {
                ticks.tick().await;
                kv.request_progress(group).await.unwrap();
            }
        })
    };
    let (mut progressed, mut delivered, mut bookmarks, mut seen) = (Revision(0), Revision(0), 0, 0);
    let until = tokio::time::Instant::now() + long(5);
    while tokio::time::Instant::now() < until {
        match next(&mut watch).await.unwrap() {
            WatchItem::Events { events, through } => {
                assert!(
                    events[0].kv.mod_revision > progressed,
                    "an event at or below the progress {progressed}"
                );
                assert!(events[0].kv.mod_revision > delivered);
                delivered = through;
                seen += events.len();
            }
            WatchItem::Progress(revision) => {
                assert!(revision >= progressed && revision >= delivered);
                progressed = revision;
                bookmarks += 1;
            }
            other => panic!("{other:?}"),
        }
    }
    writer.abort();
    requester.abort();
    assert!(bookmarks > 20 && seen > 200, "{bookmarks} bookmarks, {seen} events");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn watches_dropped_at_any_moment_leave_nothing_behind() {
    let (etcd, kv) = etcd().await;
    let watchers = "etcd_debugging_mvcc_watcher_total";
    let streams = "etcd_debugging_mvcc_watch_stream_total";
    let tasks = || tokio::runtime::Handle::current().metrics().num_alive_tasks();
    let groups: Vec<_> = (0..10).map(|_| WatchGroup::new()).collect();
    // Connections are made, with their tasks, by the first watch.
    drop(kv.watch(prefix(groups[0], "/p/")).await.unwrap());
    settled(&etcd, watchers, 0.0).await;
    let before = tasks();
    let mut opened = Vec::new();
    for n in 0..1000_usize {
        let (watching, group) = (kv.clone(), groups[n % groups.len()]);
        opened.push(tokio::spawn(async move {
            let creation = watching.watch(prefix(group, "/p/").from(Revision(1)));
            match n % 4 {
                // Dropped while it is created, after so many microseconds.
                0 | 1 => {
                    let _ = tokio::time::timeout(Duration::from_micros(n as u64 * 20), creation).await;
                }
                2 => drop(creation.await.unwrap()),
                _ => {
                    let mut watch = creation.await.unwrap();
                    let _ = tokio::time::timeout(Duration::from_millis(n as u64 % 50), watch.next()).await;
                }
            }
        }));
        if n % 50 == 0 {
            put(&kv, "/p/a", n.to_string()).await;
        }
    }
    for task in opened {
        task.await.unwrap();
    }
    settled(&etcd, watchers, 0.0).await;
    settled(&etcd, streams, 0.0).await;
    let until = tokio::time::Instant::now() + Duration::from_secs(5);
    while tasks() > before && tokio::time::Instant::now() < until {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(tasks(), before);
}

/// Waits until a metric of the server has a value.
async fn settled(etcd: &kubestore_etcd::testing::EtcdProcess, name: &str, wanted: f64) {
    let until = tokio::time::Instant::now() + Duration::from_secs(5);
    loop {
        let found = metric(etcd, name).await;
        if (found - wanted).abs() < 0.5 {
            return;
        }
        assert!(tokio::time::Instant::now() < until, "{name} is {found}, not {wanted}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn the_last_watch_of_a_group_takes_the_stream_with_it() {
    let (etcd, kv) = etcd().await;
    let group = WatchGroup::new();
    let first = kv.watch(prefix(group, "/p/")).await.unwrap();
    let second = kv.watch(prefix(group, "/q/")).await.unwrap();
    let elsewhere = kv.watch(prefix(WatchGroup::new(), "/q/")).await.unwrap();
    settled(&etcd, "etcd_debugging_mvcc_watch_stream_total", 2.0).await;
    settled(&etcd, "etcd_debugging_mvcc_watcher_total", 3.0).await;
    drop(first);
    settled(&etcd, "etcd_debugging_mvcc_watcher_total", 2.0).await;
    assert!((metric(&etcd, "etcd_debugging_mvcc_watch_stream_total").await - 2.0).abs() < 0.5);
    drop(second);
    settled(&etcd, "etcd_debugging_mvcc_watch_stream_total", 1.0).await;
    drop(elsewhere);
    settled(&etcd, "etcd_debugging_mvcc_watch_stream_total", 0.0).await;
    // And the group can be used again.
    let mut again = kv.watch(prefix(group, "/p/")).await.unwrap();
    create(&kv, "/p/a", "").await;
    assert_eq!(events(&mut again).await.len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_consumer_holds_up_nobody_and_misses_nothing() {
    let (etcd, _) = etcd().await;
    let kv =
        EtcdKv::builder().endpoints([etcd.endpoint()]).watch_buffer(50, 1024 * 1024).connect().await.unwrap();
    let group = WatchGroup::new();
    let mut slow = kv.watch(prefix(group, "/p/").from(Revision(1))).await.unwrap();
    let mut fast = kv.watch(prefix(group, "/p/").from(Revision(1))).await.unwrap();
    let writer = {
        let kv = kv.clone();
        tokio::spawn(async move { write_many(&kv, 1000).await })
    };
    let seen = gather(&mut fast, 1000).await;
    assert!(seen.iter().map(|event| event.kv.mod_revision.0).eq(2..=1001));
    writer.await.unwrap();
    // The slow one was taken off, and is not in step: no progress for the group.
    settled(&etcd, "etcd_debugging_mvcc_watcher_total", 1.0).await;
    kv.request_progress(group).await.unwrap();
    quiet(&mut fast, 100).await;
    let mut late = Vec::new();
    while late.len() < 1000 {
        late.append(&mut events(&mut slow).await);
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    assert!(late.iter().map(|event| event.kv.mod_revision.0).eq(2..=1001));
    settled(&etcd, "etcd_debugging_mvcc_watcher_total", 2.0).await;
    kv.request_progress(group).await.unwrap();
    for watch in [&mut fast, &mut slow] {
        assert!(matches!(next(watch).await.unwrap(), WatchItem::Progress(Revision(1001))));
    }
}

#[tokio::test]
async fn keys_that_end_with_a_lease_come_in_one_item() {
    let (_etcd, kv) = etcd().await;
    let lease = kv.grant_lease(Duration::from_secs(100)).await.unwrap();
    for key in ["/p/c", "/p/a", "/p/b"] {
        let put = PutRequest::create(key, "x").with_lease(Some(lease.id));
        done(kv.optimistic_put(put).await.unwrap());
    }
    let mut watch = kv.watch(prefix(WatchGroup::new(), "/p/").with_previous()).await.unwrap();
    kv.revoke_lease(lease.id).await.unwrap();
    let seen = events(&mut watch).await;
    let keys: Vec<_> = seen.iter().map(|event| event.kv.key.clone()).collect();
    assert_eq!(keys, ["/p/a", "/p/b", "/p/c"]);
    assert!(
        seen.iter().all(|event| event.kind == KvEventKind::Delete && event.kv.mod_revision == Revision(5))
    );
    assert!(seen.iter().all(|event| event.previous.as_ref().unwrap().lease == Some(lease.id)));
}

#[tokio::test]
async fn a_burst_of_creations_and_drops_mixes_up_no_watches() {
    let (etcd, kv) = etcd().await;
    let group = WatchGroup::new();
    let keep = kv.watch(prefix(group, "/keep/")).await.unwrap();
    let watch = |number: usize| {
        kv.watch(WatchRequest::new(group, WatchTarget::Prefix(format!("/k/{number:03}").into())))
    };
    for _ in 0..5 {
        let first: Vec<_> = join_all((0..300).map(watch)).await.into_iter().map(Result::unwrap).collect();
        let (_, second) = join(async { drop(first) }, join_all((300..600).map(watch))).await;
        for (number, watch) in second.into_iter().enumerate().step_by(29) {
            let (mut watch, key) = (watch.unwrap(), format!("/k/{:03}", 300 + number));
            put(&kv, &key, "v").await;
            assert_eq!(events(&mut watch).await[0].kv.key, key);
        }
    }
    settled(&etcd, "etcd_debugging_mvcc_watcher_total", 1.0).await;
    drop(keep);
}
