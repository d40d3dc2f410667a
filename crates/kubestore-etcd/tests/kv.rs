//! Every call but watches, against a real etcd.
#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod common;

use std::time::Duration;

use bytes::Bytes;
use common::{create, done, etcd};
use futures_util::TryStreamExt;
use kubestore_kv::{
    DeleteRequest, Expect, GetRequest, Kv, KvErrorKind, LeaseId, ListRequest, MAX_LEASE_TTL, Maintenance,
    OnFailure, PutRequest, Revision, WriteOutcome,
};

fn conflict(outcome: WriteOutcome) -> (Option<kubestore_kv::KeyValue>, Revision) {
    match outcome {
        WriteOutcome::Conflict { current, head } => (current, head),
        other => panic!("the write happened: {other:?}"),
    }
}

#[tokio::test]
async fn a_key_is_created_updated_and_deleted_on_condition() {
    let (_etcd, kv) = etcd().await;
    let first = create(&kv, "/a", "1").await;
    assert_eq!(first, Revision(2));

    let (current, head) = conflict(kv.optimistic_put(PutRequest::create("/a", "x")).await.unwrap());
    assert!(current.is_none());
    assert_eq!(head, first);

    let second = done(kv.optimistic_put(PutRequest::update("/a", "2", first)).await.unwrap());
    let (current, head) = conflict(kv.optimistic_put(PutRequest::update("/a", "x", first)).await.unwrap());
    let current = current.unwrap();
    assert_eq!(head, second);
    assert_eq!((&current.key[..], &current.value[..]), (&b"/a"[..], &b"2"[..]));
    assert_eq!((current.create_revision, current.mod_revision, current.version), (first, second, 2));
    assert_eq!(current.lease, None);

    let read = kv.get(GetRequest::new("/a").at(first)).await.unwrap();
    assert_eq!(read.head, second);
    assert_eq!(read.kv.unwrap().value, "1");

    let (current, _) = conflict(kv.optimistic_delete(DeleteRequest::new("/a", first)).await.unwrap());
    assert_eq!(current.unwrap().mod_revision, second);
    let third = done(kv.optimistic_delete(DeleteRequest::new("/a", second)).await.unwrap());
    assert_eq!(third, Revision(4));
    let read = kv.get(GetRequest::new("/a")).await.unwrap();
    assert!(read.kv.is_none());
    assert_eq!(read.head, third);

    let (current, head) = conflict(kv.optimistic_delete(DeleteRequest::new("/a", second)).await.unwrap());
    assert!(current.is_none());
    assert_eq!(head, third);
    let mut absent = DeleteRequest::new("/a", Revision(0));
    absent.on_failure = OnFailure::Nothing;
    assert_eq!(done(kv.optimistic_delete(absent).await.unwrap()), third);
}

#[tokio::test]
async fn the_compactors_shape_compares_versions() {
    let (_etcd, kv) = etcd().await;
    let put = |value: &'static str, version| {
        PutRequest::update("compact_rev_key", value, Revision(0)).with_expect(Expect::Version(version))
    };
    done(kv.optimistic_put(put("1", 0)).await.unwrap());
    done(kv.optimistic_put(put("2", 1)).await.unwrap());
    let (current, _) = conflict(kv.optimistic_put(put("3", 1)).await.unwrap());
    let current = current.unwrap();
    assert_eq!((current.version, &current.value[..]), (2, &b"2"[..]));
}

#[tokio::test]
async fn lists_are_ordered_limited_counted_and_pinned() {
    let (_etcd, kv) = etcd().await;
    for key in ["/p/a", "/p/b", "/p/c", "/q", "/p0"] {
        create(&kv, key, key).await;
    }
    let keys = |kvs: &[kubestore_kv::KeyValue]| -> Vec<String> {
        kvs.iter().map(|kv| String::from_utf8_lossy(&kv.key).into_owned()).collect()
    };
    let all = kv.list(ListRequest::new("/p/")).await.unwrap();
    assert_eq!(keys(&all.kvs), ["/p/a", "/p/b", "/p/c"]);
    assert_eq!((all.more, all.count, all.head), (false, Some(3), Revision(6)));
    assert_eq!(all.kvs[1].value, "/p/b");

    let two = kv.list(ListRequest::new("/p/").limit(2)).await.unwrap();
    assert_eq!(
        (keys(&two.kvs), two.more, two.count),
        (vec!["/p/a".to_owned(), "/p/b".to_owned()], true, Some(3))
    );
    let rest = kv.list(ListRequest::new("/p/").from_key("/p/b\0").limit(2)).await.unwrap();
    assert_eq!((keys(&rest.kvs), rest.more, rest.count), (vec!["/p/c".to_owned()], false, Some(1)));

    let old = kv.list(ListRequest::new("/p/").at(Revision(3)).keys_only()).await.unwrap();
    assert_eq!((keys(&old.kvs), old.head), (vec!["/p/a".to_owned(), "/p/b".to_owned()], Revision(6)));
    assert!(old.kvs.iter().all(|kv| kv.value.is_empty()));

    assert_eq!(kv.list(ListRequest::new("")).await.unwrap().kvs.len(), 5);
    assert_eq!(kv.count(Bytes::from_static(b"/p/")).await.unwrap(), 3);
    assert_eq!(kv.count(Bytes::new()).await.unwrap(), 5);
    let none = kv.list(ListRequest::new("/none/")).await.unwrap();
    assert_eq!((none.kvs.len(), none.count, none.more), (0, Some(0), false));
}

#[tokio::test]
async fn a_list_in_parts_is_of_one_revision_and_ends_with_its_end() {
    let (etcd, _) = etcd().await;
    let kv = kubestore_etcd::EtcdKv::builder()
        .endpoints([etcd.endpoint()])
        .page_size(std::num::NonZeroU64::new(3).unwrap())
        .connect()
        .await
        .unwrap();
    for n in 0..10 {
        create(&kv, &format!("/p/{n}"), vec![0; 1_000_000]).await;
    }
    let pinned = Revision(11);
    let mut parts = kv.list_chunks(ListRequest::new("/p/"));
    let first = parts.try_next().await.unwrap().unwrap();
    assert_eq!((first.kvs.len(), first.end), (3, None));
    // What happens meanwhile is not seen.
    create(&kv, "/p/9z", "late").await;
    done(kv.optimistic_delete(DeleteRequest::new("/p/9", pinned)).await.unwrap());
    let rest: Vec<_> = parts.try_collect().await.unwrap();
    // Parts of about 4 MiB: four keys of a megabyte. Where the server streams, it begins with up to ten keys.
    let sizes: Vec<_> = rest.iter().map(|part| part.kvs.len()).collect();
    assert!(sizes == [4, 3] || sizes == [7], "{sizes:?}");
    let end = rest.last().unwrap().end.unwrap();
    assert_eq!((end.revision, end.more, end.count), (pinned, false, Some(10)));
    assert_eq!(rest.last().unwrap().kvs.last().unwrap().key, "/p/9");

    let limited: Vec<_> = kv.list_chunks(ListRequest::new("/p/").limit(4)).try_collect().await.unwrap();
    assert_eq!(limited.iter().map(|part| part.kvs.len()).sum::<usize>(), 4);
    let end = limited.last().unwrap().end.unwrap();
    assert_eq!((end.more, end.count), (true, Some(10)));
    let empty: Vec<_> = kv.list_chunks(ListRequest::new("/none/")).try_collect().await.unwrap();
    assert_eq!((empty.len(), empty[0].end.unwrap().count), (1, Some(0)));
}

#[tokio::test]
async fn revisions_out_of_range_are_told_with_what_is_known() {
    let (_etcd, kv) = etcd().await;
    for n in 0..5 {
        create(&kv, &format!("/{n}"), "").await;
    }
    kv.compact(Revision(4)).await.unwrap();
    let error = kv.get(GetRequest::new("/1").at(Revision(3))).await.unwrap_err();
    assert_eq!((error.kind(), error.key()), (KvErrorKind::Compacted, Some(&b"/1"[..])));
    assert!(kv.get(GetRequest::new("/1").at(Revision(4))).await.unwrap().kv.is_some());
    let error = kv.list(ListRequest::new("/").at(Revision(1))).await.unwrap_err();
    assert_eq!(error.kind(), KvErrorKind::Compacted);
    let error = kv.list_chunks(ListRequest::new("/").at(Revision(1))).try_next().await.unwrap_err();
    assert_eq!((error.kind(), error.operation()), (KvErrorKind::Compacted, "list_chunks"));

    for error in [
        kv.get(GetRequest::new("/1").at(Revision(1_000_000))).await.unwrap_err(),
        kv.list(ListRequest::new("/").at(Revision(1_000_000))).await.unwrap_err(),
    ] {
        assert_eq!((error.kind(), error.revision()), (KvErrorKind::FutureRevision, Some(Revision(6))));
        assert!(error.to_string().contains("revision 1000000 is above the newest, 6"), "{error}");
    }
    assert_eq!(kv.compact(Revision(4)).await.unwrap_err().kind(), KvErrorKind::Compacted);
    let error = kv.compact(Revision(7)).await.unwrap_err();
    assert_eq!((error.kind(), error.revision()), (KvErrorKind::FutureRevision, Some(Revision(6))));
}

#[tokio::test]
async fn leases_hold_keys_and_let_them_go() {
    let (_etcd, kv) = etcd().await;
    let lease = kv.grant_lease(Duration::from_millis(99_500)).await.unwrap();
    assert_eq!(lease.ttl, Duration::from_secs(100));
    let put = PutRequest::create("/leased", "x").with_lease(Some(lease.id));
    let first = done(kv.optimistic_put(put).await.unwrap());
    assert_eq!(kv.get(GetRequest::new("/leased")).await.unwrap().kv.unwrap().lease, Some(lease.id));
    let info = kv.lease_info(lease.id).await.unwrap();
    assert_eq!(info.granted, Duration::from_secs(100));
    let remaining = info.remaining.unwrap();
    assert!(remaining > Duration::from_secs(90) && remaining <= Duration::from_secs(100), "{remaining:?}");

    // A put without a lease takes the key off it.
    let second = done(kv.optimistic_put(PutRequest::update("/leased", "y", first)).await.unwrap());
    kv.revoke_lease(lease.id).await.unwrap();
    assert_eq!(kv.get(GetRequest::new("/leased")).await.unwrap().kv.unwrap().mod_revision, second);

    for error in [
        kv.lease_info(lease.id).await.unwrap_err(),
        kv.revoke_lease(lease.id).await.unwrap_err(),
        kv.optimistic_put(PutRequest::create("/b", "").with_lease(Some(LeaseId(42)))).await.unwrap_err(),
    ] {
        assert_eq!(error.kind(), KvErrorKind::LeaseNotFound, "{error}");
    }
    for ttl in [Duration::ZERO, MAX_LEASE_TTL + Duration::from_secs(1)] {
        assert_eq!(kv.grant_lease(ttl).await.unwrap_err().kind(), KvErrorKind::InvalidArgument);
    }
    assert_eq!(kv.grant_lease(MAX_LEASE_TTL).await.unwrap().ttl, MAX_LEASE_TTL);
}

#[tokio::test]
async fn status_and_members_tell_what_the_servers_say() {
    let (etcd, kv) = etcd().await;
    assert_eq!(kv.status().await.unwrap().head, Revision(1));
    let written = create(&kv, "/a", "x").await;
    let status = kv.status().await.unwrap();
    assert_eq!((status.head, status.compacted), (written, None));
    assert!(status.progress_requests);
    assert!(status.db_size.unwrap() > 1000, "{status:?}");

    let members = kv.members().await.unwrap();
    assert_eq!(members.len(), 1);
    assert_eq!(members[0].endpoint, etcd.endpoint());
    assert!(members[0].leader);
    assert!(members[0].version.starts_with("3."), "{members:?}");
    assert_eq!(members[0].head, written);
    assert!(members[0].db_in_use > 0 && members[0].db_in_use <= members[0].db_size, "{members:?}");
    assert!(members[0].alarms.is_empty());

    kv.defragment(&etcd.endpoint()).await.unwrap();
    kv.defragment(etcd.address()).await.unwrap();
    let error = kv.defragment("http://127.0.0.1:1").await.unwrap_err();
    assert_eq!(error.kind(), KvErrorKind::InvalidArgument);
    assert!(error.to_string().contains(&etcd.endpoint()), "{error}");
}
