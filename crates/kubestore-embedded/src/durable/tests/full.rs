//! A disk that is full: what makes room goes on, the rest is refused until there is some again.

use std::time::{Duration, Instant};

use futures_util::future::join_all;
use kubestore_kv::{DeleteRequest, GetRequest, Kv, KvErrorKind, LeaseId, PutRequest, Revision, WriteOutcome};

use super::rig::{RESERVE, Rig, create};

const VALUE: usize = 4 << 10;

/// Fills the disk up with `full/…`, and tells how many keys it took.
async fn fill(rig: &Rig) -> usize {
    for number in 0.. {
        let put = PutRequest::create(format!("full/{number:04}"), vec![b'x'; VALUE]);
        match rig.kv.optimistic_put(put).await {
            Ok(_) => {}
            Err(error) => {
                assert_eq!(error.kind(), KvErrorKind::NoSpace, "{error:?}");
                assert!(error.message().contains("delete and compact, which still works"), "{error}");
                return number;
            }
        }
    }
    unreachable!("the disk has a limit")
}

async fn full() -> (Rig, usize, LeaseId) {
    let rig = Rig::new().await;
    let lease = rig.kv.grant_lease(Duration::from_secs(30)).await.unwrap().id;
    let leased = PutRequest::create("leased", "x").with_lease(Some(lease));
    assert!(matches!(rig.kv.optimistic_put(leased).await, Ok(WriteOutcome::Done { .. })));
    let reserve = usize::try_from(RESERVE).unwrap();
    rig.disk.limit(reserve + 100 * VALUE, rig.dir.path().join("reserve"));
    let count = fill(&rig).await;
    assert!((90..100).contains(&count), "{count}");
    (rig, count, lease)
}

async fn delete(rig: &Rig, key: String) {
    let at = rig.kv.get(GetRequest::new(key.clone())).await.unwrap().kv.unwrap().mod_revision;
    let outcome = rig.kv.optimistic_delete(DeleteRequest::new(key, at)).await;
    assert!(matches!(outcome, Ok(WriteOutcome::Done { .. })), "{outcome:?}");
}

#[tokio::test]
async fn on_a_full_disk_deletions_leases_and_compaction_make_room() {
    let (rig, count, lease) = full().await;
    assert!(!rig.dir.path().join("reserve").exists(), "it was given up");
    // Revoking takes, granting does not.
    assert_eq!(rig.kv.grant_lease(Duration::from_secs(5)).await.unwrap_err().kind(), KvErrorKind::NoSpace);
    rig.kv.revoke_lease(lease).await.unwrap();
    assert_eq!(rig.kv.get(GetRequest::new("leased")).await.unwrap().kv, None);
    for number in 0..count / 2 {
        delete(&rig, format!("full/{number:04}")).await;
    }
    let head = rig.head().await;
    assert_eq!(create(&rig.kv, "b").await.unwrap_err().kind(), KvErrorKind::NoSpace);
    assert_eq!(rig.head().await, head);
    rig.kv.compact(Revision(head)).await.unwrap();
    let started = Instant::now();
    let revision = loop {
        match create(&rig.kv, "b").await {
            Ok(revision) => break revision,
            Err(error) => assert_eq!(error.kind(), KvErrorKind::NoSpace),
        }
        assert!(started.elapsed() < Duration::from_secs(20), "there is room, but nobody looks");
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    assert_eq!(revision, head + 1);
    assert_eq!(std::fs::metadata(rig.dir.path().join("reserve")).unwrap().len(), RESERVE, "it is made again");
    let before = rig.keys().await;
    assert_eq!(before.len(), count - count / 2 + 1);
    let rig = rig.reopen().await;
    assert_eq!(rig.keys().await, before);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_a_batch_that_is_too_large_for_the_disk_the_deletions_are_done() {
    let (rig, count, _) = full().await;
    // The reserve is there again, as after a recovery that did not last.
    rig.kv.close().await;
    let rig = rig.reopen().await;
    assert!(rig.dir.path().join("reserve").exists());
    let begun = rig.disk.begun();
    rig.disk.hold();
    let first = tokio::spawn({
        let kv = rig.kv.clone();
        async move { create(&kv, "small").await }
    });
    let waited = rig.disk.clone();
    tokio::task::spawn_blocking(move || waited.wait_for_writes(begun + 1)).await.unwrap();
    let large = (0..6).map(|number| {
        let put = PutRequest::create(format!("large/{number}"), vec![b'x'; VALUE]);
        async { rig.kv.optimistic_put(put).await.map(|_| ()).map_err(|error| error.kind()) }
    });
    let deletions = (0..6).map(|number| delete(&rig, format!("full/{number:04}")));
    let release = async {
        tokio::task::yield_now().await;
        rig.disk.release();
    };
    let (refused, _, ()) = tokio::join!(join_all(large), join_all(deletions), release);
    assert!(first.await.unwrap().is_ok());
    assert!(refused.contains(&Err(KvErrorKind::NoSpace)), "{refused:?}");
    let keys = rig.keys().await;
    let done = refused.iter().filter(|outcome| outcome.is_ok()).count();
    assert_eq!(keys.iter().filter(|key| key.starts_with("large/")).count(), done);
    assert_eq!(keys.iter().filter(|key| key.starts_with("full/")).count(), count - 6);
}

#[tokio::test]
async fn a_lease_that_ends_on_a_full_disk_takes_its_keys_with_it() {
    let (rig, _, lease) = full().await;
    rig.clock.advance(Duration::from_secs(31));
    let started = Instant::now();
    while rig.kv.lease_info(lease).await.is_ok() {
        assert!(started.elapsed() < Duration::from_secs(20), "the lease does not end");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(rig.kv.get(GetRequest::new("leased")).await.unwrap().kv, None);
}

#[tokio::test]
async fn a_directory_opens_on_a_full_disk_and_refuses_what_grows() {
    let (rig, count, _) = full().await;
    rig.kv.close().await;
    // So little that not even the reserve fits beside what is there.
    rig.disk.limit(0, rig.dir.path().join("reserve"));
    let rig = rig.reopen().await;
    assert_eq!(rig.keys().await.len(), count + 1);
    assert_eq!(create(&rig.kv, "b").await.unwrap_err().kind(), KvErrorKind::NoSpace);
    let error = rig.kv.compact(Revision(rig.head().await)).await.unwrap_err();
    assert_eq!(error.kind(), KvErrorKind::NoSpace);
    assert!(error.message().contains("also where room was held back"), "{error}");
}
