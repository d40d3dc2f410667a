//! The snapshot of a real cluster, as `etcdctl snapshot save` wrote it.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use futures_util::StreamExt;
use kubestore_kv::{
    DeleteRequest, GetRequest, Kv, KvErrorKind, LeaseId, ListRequest, PutRequest, Revision, WatchGroup,
    WatchItem, WatchRequest, WatchTarget,
};
use kubestore_snapshot::{Checksum, Snapshot, SnapshotErrorKind, SnapshotOptions};

async fn opened() -> Snapshot {
    Snapshot::from_bytes(common::cluster("snapshot.db"), SnapshotOptions::default()).await.unwrap()
}

#[tokio::test]
async fn every_key_is_there_and_no_other() {
    let snapshot = opened().await;
    let expected = String::from_utf8(common::cluster("keys.txt")).unwrap();
    let listed = snapshot.list(ListRequest::new("")).await.unwrap();
    let keys: Vec<_> = listed.kvs.iter().map(|kv| String::from_utf8(kv.key.to_vec()).unwrap()).collect();
    assert_eq!(keys, expected.lines().filter(|line| !line.is_empty()).collect::<Vec<_>>());
    assert_eq!((listed.count, listed.more, listed.head), (Some(79), false, snapshot.info().head));
    assert_eq!(snapshot.info().checksum_verified, Some(true));
    assert_eq!((snapshot.info().keys, snapshot.info().page_size), (79, 4096));
    assert_eq!(snapshot.count("/registry/serviceaccounts/".into()).await.unwrap(), 2);
    for kv in &listed.kvs {
        let got = snapshot.get(GetRequest::new(kv.key.clone())).await.unwrap();
        assert_eq!(got.kv.as_ref(), Some(kv));
        assert!(!kv.value.is_empty() || kv.key.starts_with(b"compact_rev_key"), "{kv:?}");
    }
}

#[tokio::test]
async fn pages_and_parts_are_the_whole() {
    let snapshot = opened().await;
    let whole = snapshot.list(ListRequest::new("/registry/")).await.unwrap();
    let (mut paged, mut from) = (Vec::new(), None);
    loop {
        let mut request = ListRequest::new("/registry/").limit(7);
        request.start = from;
        let page = snapshot.list(request).await.unwrap();
        assert_eq!(page.count, Some(whole.count.unwrap() - i64::try_from(paged.len()).unwrap()));
        from = page.kvs.last().map(|kv| [&kv.key[..], b"\0"].concat().into());
        paged.extend(page.kvs);
        if !page.more {
            break;
        }
    }
    assert_eq!(paged, whole.kvs);

    let parts: Vec<_> = snapshot.list_chunks(ListRequest::new("/registry/").limit(80)).collect().await;
    let parts: Vec<_> = parts.into_iter().map(Result::unwrap).collect();
    let end = parts.last().unwrap().end.unwrap();
    assert_eq!((end.revision, end.more, end.count), (whole.head, whole.kvs.len() > 80, whole.count));
    let given: Vec<_> = parts.into_iter().flat_map(|part| part.kvs).collect();
    assert_eq!(given[..], whole.kvs[..given.len()]);
    let keys = snapshot.list(ListRequest::new("/registry/").keys_only()).await.unwrap();
    assert!(keys.kvs.iter().all(|kv| kv.value.is_empty()));
    assert_eq!(keys.kvs.len(), whole.kvs.len());
}

#[tokio::test]
async fn it_only_reads() {
    let snapshot = opened().await;
    let head = snapshot.info().head;
    let errors = [
        snapshot.optimistic_put(PutRequest::create("/a", "1")).await.unwrap_err(),
        snapshot.optimistic_delete(DeleteRequest::new("/a", head)).await.unwrap_err(),
        snapshot.grant_lease(std::time::Duration::from_secs(60)).await.unwrap_err(),
        snapshot.revoke_lease(LeaseId(1)).await.unwrap_err(),
        snapshot.compact(head).await.unwrap_err(),
    ];
    for error in errors {
        assert_eq!(error.kind(), KvErrorKind::ReadOnly, "{error}");
    }
    let target = WatchTarget::Prefix("/".into());
    let request = WatchRequest::new(WatchGroup::new(), target);
    for live in [request.clone(), request.clone().from(Revision(0)), request.from(head.next())] {
        let error = snapshot.watch(live).await.err().unwrap();
        assert_eq!(error.kind(), KvErrorKind::ReadOnly);
        assert!(error.to_string().contains(&format!("it ends at revision {head}")), "{error}");
    }
    let above = snapshot.get(GetRequest::new("/a").at(head.next())).await.unwrap_err();
    assert_eq!((above.kind(), above.revision()), (KvErrorKind::FutureRevision, Some(head)));
    let status = snapshot.status().await.unwrap();
    assert_eq!((status.head, status.compacted), (head, Some(snapshot.info().compacted)));
}

#[tokio::test]
async fn history_ends_where_the_snapshot_ends() {
    let snapshot = opened().await;
    let target = WatchTarget::Prefix("/registry/".into());
    let start = snapshot.info().compacted.0.max(1);
    let request = WatchRequest::new(WatchGroup::new(), target).from(Revision(start)).with_previous();
    let mut watch = snapshot.watch(request).await.unwrap();
    let (mut state, mut through) = (std::collections::BTreeMap::new(), Revision(0));
    loop {
        match watch.next().await.unwrap() {
            Ok(WatchItem::Events { events, through: reached }) => {
                assert!(reached > through);
                through = reached;
                for event in events {
                    assert_eq!(event.previous, state.remove(&event.kv.key), "{:?}", event.kv);
                    if event.kv.version > 0 {
                        state.insert(event.kv.key.clone(), event.kv);
                    }
                }
            }
            Ok(WatchItem::Progress(at)) => {
                assert_eq!(at, snapshot.info().head);
                break;
            }
            other => panic!("{other:?}"),
        }
    }
    let end = watch.next().await.unwrap().unwrap_err();
    assert_eq!(end.kind(), KvErrorKind::ReadOnly);
    assert!(watch.next().await.is_none());
    // Nothing was ever compacted there, so that the changes make up all that there is.
    assert_eq!(snapshot.info().compacted, Revision(0));
    let listed = snapshot.list(ListRequest::new("/registry/")).await.unwrap().kvs;
    assert_eq!(state.into_values().collect::<Vec<_>>(), listed);
}

#[tokio::test]
async fn a_wrong_checksum_is_refused_or_ignored() {
    let mut bytes = common::cluster("snapshot.db");
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    let error = Snapshot::from_bytes(bytes.clone(), SnapshotOptions::default()).await.unwrap_err();
    assert_eq!(error.kind(), SnapshotErrorKind::ChecksumMismatch);
    let ignoring = SnapshotOptions::default().checksum(Checksum::Ignore);
    let snapshot = Snapshot::from_bytes(bytes.clone(), ignoring.clone()).await.unwrap();
    assert_eq!((snapshot.info().keys, snapshot.info().checksum_verified), (79, None));
    // The database alone has no checksum.
    bytes.truncate(last - 31);
    let snapshot = Snapshot::from_bytes(bytes.clone(), SnapshotOptions::default()).await.unwrap();
    assert_eq!((snapshot.info().keys, snapshot.info().checksum_verified), (79, None));
    // One that was cut within the checksum is neither.
    bytes.extend([0; 10]);
    let error = Snapshot::from_bytes(bytes.clone(), SnapshotOptions::default()).await.unwrap_err();
    assert_eq!(error.kind(), SnapshotErrorKind::Truncated);
    assert_eq!(Snapshot::from_bytes(bytes, ignoring).await.unwrap().info().keys, 79);
}

#[tokio::test]
async fn files_that_are_no_snapshot_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("some.db");
    let open = || async { Snapshot::open(&path).await.unwrap_err() };
    let missing = open().await;
    assert_eq!(missing.kind(), SnapshotErrorKind::Unreadable);
    assert!(missing.to_string().contains("some.db: cannot open"), "{missing}");
    for (content, kind) in [
        (Vec::new(), SnapshotErrorKind::Truncated),
        (vec![0; 4096], SnapshotErrorKind::NotEtcd),
        (b"SQLite format 3\0".repeat(512), SnapshotErrorKind::NotEtcd),
    ] {
        std::fs::write(&path, content).unwrap();
        let error = open().await;
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.to_string().contains("some.db: "), "{error}");
    }
    let directory = Snapshot::open(folder.path()).await.unwrap_err();
    assert!(directory.to_string().contains("member/snap/db"), "{directory}");

    std::fs::write(&path, common::cluster("snapshot.db")).unwrap();
    let writer = std::fs::File::open(&path).unwrap();
    writer.lock().unwrap();
    assert_eq!(open().await.kind(), SnapshotErrorKind::InUse);
    drop(writer);
    let snapshot = Snapshot::open(&path).await.unwrap();
    assert_eq!(snapshot.info().keys, 79);

    // Overwritten while it is open: what is read is an error, not something else.
    std::fs::write(&path, vec![0; 188_448]).unwrap();
    let error = snapshot.list(ListRequest::new("/")).await.unwrap_err();
    assert_eq!(error.kind(), KvErrorKind::Corrupt, "{error}");
    std::fs::write(&path, b"").unwrap();
    let error = snapshot.list(ListRequest::new("/")).await.unwrap_err();
    assert_eq!(error.kind(), KvErrorKind::Internal, "{error}");
}
