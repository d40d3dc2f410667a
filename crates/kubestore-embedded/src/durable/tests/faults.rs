//! What the writer makes of a slow or failing disk.

use std::time::{Duration, Instant};

use futures_util::{FutureExt, StreamExt, future::join_all};
use kubestore_kv::{
    GetRequest, Kv, KvErrorKind, PutRequest, Revision, WatchGroup, WatchItem, WatchRequest, WatchTarget,
};

use super::{
    super::fake::Fault,
    rig::{Rig, create, spawn_create},
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_visible_before_it_is_durable() {
    let rig = Rig::new().await;
    create(&rig.kv, "before").await.unwrap();
    let everything = WatchRequest::new(WatchGroup::new(), WatchTarget::Prefix("".into()));
    let mut watch = rig.kv.watch(everything.from(Revision(3))).await.unwrap();
    let writes = rig.disk.begun();
    rig.disk.hold();
    let first = spawn_create(&rig.kv, "a");
    rig.disk.wait_for_writes(writes + 1);
    let others: Vec<_> = ["b", "c", "d"].iter().map(|key| spawn_create(&rig.kv, key)).collect();

    // Reads do not wait for the commit in progress, and see nothing of it.
    assert_eq!(rig.head().await, 2);
    assert_eq!(rig.keys().await, ["before"]);
    assert_eq!(rig.kv.get(GetRequest::new("a")).await.unwrap().kv, None);
    assert_eq!(
        rig.kv.get(GetRequest::new("a").at(Revision(3))).await.unwrap_err().kind(),
        KvErrorKind::FutureRevision
    );
    assert!(watch.next().now_or_never().is_none());
    assert!(!first.is_finished() && others.iter().all(|other| !other.is_finished()));

    rig.disk.release();
    assert_eq!(first.await.unwrap().unwrap(), 3);
    let mut revisions: Vec<_> =
        join_all(others).await.into_iter().map(|other| other.unwrap().unwrap()).collect();
    revisions.sort_unstable();
    assert_eq!(revisions, [4, 5, 6]);
    let mut seen = 0;
    while seen < 4 {
        let Some(Ok(WatchItem::Events { events, .. })) = watch.next().await else {
            panic!("expected events")
        };
        seen += events.len();
    }
    assert_eq!(rig.keys().await, ["a", "b", "before", "c", "d"]);
}

#[tokio::test]
async fn writes_that_wait_share_a_commit() {
    let rig = Rig::new().await;
    rig.disk.hold();
    let (begun, syncs) = (rig.disk.begun(), rig.disk.syncs());
    let first = spawn_create(&rig.kv, "first");
    tokio::task::yield_now().await;
    rig.disk.wait_for_writes(begun + 1);
    let others: Vec<_> = (0..20).map(|key| spawn_create(&rig.kv, &format!("k{key}"))).collect();
    tokio::task::yield_now().await;
    rig.disk.release();
    first.await.unwrap().unwrap();
    for other in others {
        other.await.unwrap().unwrap();
    }
    assert_eq!(rig.disk.syncs() - syncs, 2, "one for the first, one for all others");
    assert_eq!(rig.head().await, 22);
}

#[tokio::test]
async fn a_full_disk_refuses_writes_until_there_is_room() {
    let rig = Rig::new().await;
    create(&rig.kv, "a").await.unwrap();
    rig.disk.fail(Fault::Refused { full: true, lands: false });
    let error = create(&rig.kv, "b").await.unwrap_err();
    assert_eq!(error.kind(), KvErrorKind::NoSpace);
    assert!(
        error.message().contains("make room") && std::error::Error::source(&error).is_some(),
        "{error:?}"
    );
    assert_eq!((rig.keys().await, rig.head().await), (vec!["a".to_owned()], 2));
    let begun = rig.disk.begun();
    assert_eq!(create(&rig.kv, "b").await.unwrap_err().kind(), KvErrorKind::NoSpace);
    assert_eq!(rig.disk.begun(), begun, "the disk is left alone for a while");
    let started = Instant::now();
    let revision = loop {
        match create(&rig.kv, "b").await {
            Ok(revision) => break revision,
            Err(error) => assert_eq!(error.kind(), KvErrorKind::NoSpace),
        }
        assert!(started.elapsed() < Duration::from_secs(20));
        tokio::time::sleep(Duration::from_millis(10)).await;
    };
    assert_eq!(revision, 3);
    let rig = rig.reopen().await;
    assert_eq!(rig.keys().await, ["a", "b"]);
}

#[tokio::test]
async fn a_base_that_refuses_is_opened_again_and_asked_once_more() {
    let rig = Rig::new().await;
    rig.disk.fail(Fault::Refused { full: false, lands: false });
    assert_eq!(create(&rig.kv, "a").await.unwrap(), 2);
    rig.disk.fail(Fault::Refused { full: false, lands: false });
    rig.disk.fail(Fault::Refused { full: false, lands: false });
    assert_eq!(create(&rig.kv, "b").await.unwrap_err().kind(), KvErrorKind::Internal);
    let rig = rig.reopen().await;
    assert_eq!(rig.keys().await, ["a"]);
    assert_eq!(create(&rig.kv, "b").await.unwrap(), 3);
}

#[tokio::test]
async fn a_refused_write_that_is_there_all_the_same_is_acknowledged() {
    let rig = Rig::new().await;
    rig.disk.fail(Fault::Refused { full: false, lands: true });
    assert_eq!(create(&rig.kv, "a").await.unwrap(), 2);
    assert_eq!(create(&rig.kv, "b").await.unwrap(), 3);
    let rig = rig.reopen().await;
    assert_eq!(rig.keys().await, ["a", "b"]);
}

#[tokio::test]
async fn after_a_failed_sync_nothing_more_is_written() {
    for fault in [Fault::NotSynced, Fault::RefusedForGood] {
        let rig = Rig::new().await;
        create(&rig.kv, "a").await.unwrap();
        let mut watch =
            rig.kv.watch(WatchRequest::new(WatchGroup::new(), WatchTarget::Prefix("".into()))).await.unwrap();
        rig.disk.fail(fault);
        let error = create(&rig.kv, "b").await.unwrap_err();
        assert_eq!(error.kind(), KvErrorKind::OutcomeUnknown, "{fault:?}");
        assert!(error.message().contains("open it again"), "{error}");
        let error = create(&rig.kv, "c").await.unwrap_err();
        assert_eq!(error.kind(), KvErrorKind::ReadOnly, "{fault:?}");
        assert!(std::error::Error::source(&error).is_some(), "it has its cause");
        assert_eq!(rig.kv.compact(Revision(2)).await.unwrap_err().kind(), KvErrorKind::ReadOnly);
        assert_eq!((rig.keys().await, rig.head().await), (vec!["a".to_owned()], 2));
        assert!(watch.next().now_or_never().is_none());
    }
}

#[tokio::test]
async fn a_writer_that_panics_leaves_nobody_waiting() {
    let rig = Rig::new().await;
    create(&rig.kv, "a").await.unwrap();
    rig.disk.fail(Fault::Panics);
    assert_eq!(create(&rig.kv, "b").await.unwrap_err().kind(), KvErrorKind::OutcomeUnknown);
    assert!(create(&rig.kv, "c").await.is_err());
    assert_eq!(rig.keys().await, ["a"]);
    let rig = rig.reopen().await;
    assert_eq!(create(&rig.kv, "b").await.unwrap(), 3);
}

#[tokio::test]
async fn leases_end_once_the_disk_takes_it() {
    let rig = Rig::new().await;
    let lease = rig.kv.grant_lease(Duration::from_secs(10)).await.unwrap().id;
    rig.kv.optimistic_put(PutRequest::create("a", "x").with_lease(Some(lease))).await.unwrap();
    let mut watch =
        rig.kv.watch(WatchRequest::new(WatchGroup::new(), WatchTarget::Prefix("".into()))).await.unwrap();
    rig.disk.fail(Fault::Refused { full: true, lands: false });
    let begun = rig.disk.begun();
    rig.clock.advance(Duration::from_secs(10));
    let failed = rig.disk.clone();
    tokio::task::spawn_blocking(move || failed.wait_for_writes(begun + 1)).await.unwrap();
    let started = Instant::now();
    let event = loop {
        if let Some(Some(Ok(WatchItem::Events { events, .. }))) = watch.next().now_or_never() {
            break events;
        }
        assert!(started.elapsed() < Duration::from_secs(20));
        rig.clock.advance(Duration::from_secs(1));
        tokio::time::sleep(Duration::from_millis(10)).await;
    };
    assert_eq!((event.len(), event[0].kv.mod_revision), (1, Revision(3)));
    assert!(rig.disk.begun() >= begun + 2, "the disk was asked again");
    assert_eq!(rig.keys().await, Vec::<String>::new());
}

#[tokio::test]
async fn a_commit_in_progress_is_finished_by_closing() {
    let rig = Rig::new().await;
    let begun = rig.disk.begun();
    rig.disk.hold();
    let first = spawn_create(&rig.kv, "a");
    tokio::task::yield_now().await;
    rig.disk.wait_for_writes(begun + 1);
    let second = spawn_create(&rig.kv, "b");
    tokio::task::yield_now().await;
    let mut closing = Box::pin(rig.kv.close());
    assert!((&mut closing).now_or_never().is_none());
    assert_eq!(create(&rig.kv, "c").await.unwrap_err().kind(), KvErrorKind::Unavailable);
    rig.disk.release();
    closing.await;
    assert_eq!((first.await.unwrap().unwrap(), second.await.unwrap().unwrap()), (2, 3));
    let rig = rig.reopen().await;
    assert_eq!(rig.keys().await, ["a", "b"]);
}
