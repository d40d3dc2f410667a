//! Conditional writes, gets and lists at any revision, limits, compaction.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod common;

use std::time::Duration;

use bytes::Bytes;
use common::{
    Fixture, Form, all, conflict, create, delete, done, head, pairs, put, update, value, value_at, version,
};
use futures_util::StreamExt;
use kubestore_embedded::Embedded;
use kubestore_kv::{
    DEFAULT_MAX_REQUEST_BYTES, DeleteRequest, Expect, GetRequest, Kv, KvErrorKind, LeaseId, ListRequest,
    OnFailure, PutRequest, Revision, WatchGroup, WatchRequest, WatchTarget,
};

on_every_form! {
    an_empty_engine_is_at_revision_one,
    a_create_happens_once,
    an_update_needs_the_right_revision,
    versions_count_since_the_creation,
    a_delete_takes_a_revision_of_its_own,
    deleting_what_is_not_there_writes_nothing,
    the_past_stays_readable,
    revisions_beyond_the_head_and_below_one,
    ranges_begin_end_and_count_as_etcds,
    every_page_counts_what_is_left,
    keys_of_all_bytes_are_ordered,
    parts_of_a_list_are_of_one_revision,
    parts_are_bounded_and_counted,
    compaction_forgets_what_was_replaced,
    compaction_refuses_the_past_and_the_future,
    compaction_of_a_tombstone,
    too_large_a_request_is_refused,
    an_empty_key_is_refused,
    a_closed_engine_says_so,
}

async fn an_empty_engine_is_at_revision_one(form: Form) {
    let Fixture { kv, .. } = &Fixture::new(form).await;
    let status = kv.status().await.unwrap();
    assert_eq!(status.head, Revision(1));
    assert_eq!(status.compacted, Some(Revision(0)));
    assert!(status.progress_requests);
    let list = kv.list(ListRequest::new("")).await.unwrap();
    assert_eq!((list.kvs.len(), list.head, list.more, list.count), (0, Revision(1), false, Some(0)));
    let get = kv.get(GetRequest::new("a")).await.unwrap();
    assert_eq!((get.kv, get.head), (None, Revision(1)));
    assert_eq!(create(kv, "a", "1").await, 2);
}

async fn a_create_happens_once(form: Form) {
    let Fixture { kv, .. } = &Fixture::new(form).await;
    assert_eq!(create(kv, "a", "1").await, 2);
    let (current, at) = conflict(kv.optimistic_put(PutRequest::create("a", "2")).await);
    assert_eq!((current, at), (None, 2));
    let mut asking = PutRequest::create("a", "2");
    asking.on_failure = OnFailure::Get;
    let (current, at) = conflict(kv.optimistic_put(asking).await);
    let current = current.unwrap();
    assert_eq!((current.value.as_ref(), current.mod_revision, at), (&b"1"[..], Revision(2), 2));
    assert_eq!(head(kv).await, 2);
}

async fn an_update_needs_the_right_revision(form: Form) {
    let Fixture { kv, .. } = &Fixture::new(form).await;
    create(kv, "a", "1").await;
    create(kv, "b", "1").await;
    let (current, at) = conflict(kv.optimistic_put(PutRequest::update("a", "2", Revision(3))).await);
    assert_eq!((current.unwrap().mod_revision, at), (Revision(2), 3));
    assert_eq!(update(kv, "a", "2", 2).await, 4);
    let (current, at) = conflict(kv.optimistic_put(PutRequest::update("c", "2", Revision(2))).await);
    assert_eq!((current, at), (None, 4));
    assert_eq!(update(kv, "c", "1", 0).await, 5);
    let (current, _) = conflict(kv.optimistic_delete(DeleteRequest::new("a", Revision(2))).await);
    assert_eq!(current.unwrap().value, "2");
}

async fn versions_count_since_the_creation(form: Form) {
    let Fixture { kv, .. } = &Fixture::new(form).await;
    done(kv.optimistic_put(version("a", "1", 0)).await);
    conflict(kv.optimistic_put(version("a", "x", 0)).await);
    done(kv.optimistic_put(version("a", "2", 1)).await);
    done(kv.optimistic_put(version("a", "3", 2)).await);
    let kv_of = |response: kubestore_kv::GetResponse| response.kv.unwrap();
    let third = kv_of(kv.get(GetRequest::new("a")).await.unwrap());
    assert_eq!((third.version, third.create_revision, third.mod_revision), (3, Revision(2), Revision(4)));
    assert_eq!(delete(kv, "a").await, 5);
    done(kv.optimistic_put(version("a", "4", 0)).await);
    let again = kv_of(kv.get(GetRequest::new("a")).await.unwrap());
    assert_eq!((again.version, again.create_revision, again.mod_revision), (1, Revision(6), Revision(6)));
}

async fn a_delete_takes_a_revision_of_its_own(form: Form) {
    let Fixture { kv, .. } = &Fixture::new(form).await;
    create(kv, "a", "1").await;
    assert_eq!(delete(kv, "a").await, 3);
    assert_eq!(value(kv, "a").await, None);
    assert_eq!(all(kv, "").await, Vec::<String>::new());
    assert_eq!(kv.count(Bytes::new()).await.unwrap(), 0);
    assert_eq!(create(kv, "a", "2").await, 4);
}

async fn deleting_what_is_not_there_writes_nothing(form: Form) {
    let Fixture { kv, .. } = &Fixture::new(form).await;
    create(kv, "a", "1").await;
    let mut request = DeleteRequest::new("b", Revision(0));
    request.expect = Expect::ABSENT;
    assert_eq!(done(kv.optimistic_delete(request).await), 2);
    assert_eq!(head(kv).await, 2);
    let (current, at) = conflict(kv.optimistic_delete(DeleteRequest::new("b", Revision(2))).await);
    assert_eq!((current, at), (None, 2));
}

async fn the_past_stays_readable(form: Form) {
    let Fixture { kv, .. } = &Fixture::new(form).await;
    create(kv, "a", "1").await;
    put(kv, "a", "2").await;
    create(kv, "b", "1").await;
    delete(kv, "a").await;
    create(kv, "a", "3").await;
    for (at, expected) in [
        (1, vec![]),
        (2, vec!["a=1"]),
        (3, vec!["a=2"]),
        (4, vec!["a=2", "b=1"]),
        (5, vec!["b=1"]),
        (6, vec!["a=3", "b=1"]),
    ] {
        let list = kv.list(ListRequest::new("").at(Revision(at))).await.unwrap();
        assert_eq!(pairs(&list.kvs), expected, "at {at}");
        assert_eq!(
            (list.head, list.count),
            (Revision(6), Some(i64::try_from(expected.len()).unwrap())),
            "at {at}"
        );
    }
    assert_eq!(value_at(kv, "a", 2).await.unwrap().as_deref(), Some("1"));
    assert_eq!(value_at(kv, "a", 5).await.unwrap(), None);
    assert_eq!(kv.get(GetRequest::new("a").at(Revision(2))).await.unwrap().head, Revision(6));
}

async fn revisions_beyond_the_head_and_below_one(form: Form) {
    let Fixture { kv, .. } = &Fixture::new(form).await;
    create(kv, "a", "1").await;
    let error = kv.get(GetRequest::new("a").at(Revision(3))).await.unwrap_err();
    assert_eq!(
        (error.kind(), error.revision(), error.key()),
        (KvErrorKind::FutureRevision, Some(Revision(2)), Some(&b"a"[..]))
    );
    let error = kv.list(ListRequest::new("").at(Revision(3))).await.unwrap_err();
    assert_eq!((error.kind(), error.revision()), (KvErrorKind::FutureRevision, Some(Revision(2))));
    for at in [0, -1, i64::MIN] {
        assert_eq!(value_at(kv, "a", at).await.unwrap().as_deref(), Some("1"));
    }
}

async fn ranges_begin_end_and_count_as_etcds(form: Form) {
    let Fixture { kv, .. } = &Fixture::new(form).await;
    for key in ["a", "p", "p/a", "p/b", "p/c", "p/d", "p0", "q"] {
        create(kv, key, "x").await;
    }
    delete(kv, "p/c").await;
    let keys = |request: ListRequest| async move {
        let list = kv.list(request).await.unwrap();
        let keys: Vec<_> = list.kvs.iter().map(|kv| common::text(&kv.key)).collect();
        (keys.join(" "), list.more, list.count.unwrap())
    };
    let all_of = |text: &str, more, count| (text.to_owned(), more, count);
    assert_eq!(keys(ListRequest::new("p/")).await, all_of("p/a p/b p/d", false, 3));
    assert_eq!(keys(ListRequest::new("p/").limit(2)).await, all_of("p/a p/b", true, 3));
    assert_eq!(keys(ListRequest::new("p/").limit(3)).await, all_of("p/a p/b p/d", false, 3));
    assert_eq!(keys(ListRequest::new("p/").from_key("p/b").limit(1)).await, all_of("p/b", true, 2));
    assert_eq!(keys(ListRequest::new("p/").from_key("p/b\0")).await, all_of("p/d", false, 1));
    assert_eq!(keys(ListRequest::new("p/").from_key("p0")).await, all_of("", false, 0));
    assert_eq!(keys(ListRequest::new("p/").from_key("z")).await, all_of("", false, 0));
    assert_eq!(keys(ListRequest::new("p/").from_key("a")).await, all_of("p/a p/b p/d", false, 3));
    assert_eq!(keys(ListRequest::new("").limit(1)).await, all_of("a", true, 7));
    let list = kv.list(ListRequest::new("p/").keys_only()).await.unwrap();
    assert!(list.kvs.iter().all(|kv| kv.value.is_empty() && kv.version == 1 && kv.mod_revision.0 > 1));
    assert_eq!(kv.count("p".into()).await.unwrap(), 5);
    assert_eq!(kv.count("p/".into()).await.unwrap(), 3);
    assert_eq!(kv.count("x".into()).await.unwrap(), 0);
}

async fn every_page_counts_what_is_left(form: Form) {
    let Fixture { kv, .. } = &Fixture::new(form).await;
    futures_util::future::join_all(
        (0..1000).map(|number| async move { create(kv, &format!("p/{number:03}"), "x").await }),
    )
    .await;
    create(kv, "p", "x").await;
    let at = Revision(create(kv, "q", "x").await);
    for round in 0..2 {
        let mut start = Bytes::from_static(b"p/");
        for page in 0..10 {
            let request = ListRequest::new("p/").from_key(start.clone()).at(at).limit(100);
            let list = kv.list(request.clone()).await.unwrap();
            let left = 1000 - 100 * page;
            assert_eq!((list.kvs.len(), list.count, list.more), (100, Some(left), left > 100), "page {page}");
            assert_eq!(list.kvs[0].key, format!("p/{:03}", 100 * page));
            let wider = kv.list(ListRequest::new("p").from_key(start).at(at).limit(100)).await.unwrap();
            assert_eq!(
                (wider.kvs.len(), wider.count),
                (100, Some(left)),
                "of another range from the same key"
            );
            let parts: Vec<_> = kv.list_chunks(request).map(Result::unwrap).collect().await;
            assert_eq!(parts.last().unwrap().end.unwrap().count, Some(left));
            start = [&list.kvs[99].key[..], b"\0"].concat().into();
            delete(kv, &format!("p/{:03}", 999 - 20 * round - page)).await;
            create(kv, &format!("p/{:03}/new/{round}", 100 * page), "x").await;
        }
    }
    let newest = kv.list(ListRequest::new("p/").limit(1)).await.unwrap();
    assert_eq!(newest.count, Some(1000));
    assert_eq!(kv.count("p/".into()).await.unwrap(), 1000);
    assert_eq!(kv.count("p/".into()).await.unwrap(), 1000);
    delete(kv, "p/000").await;
    assert_eq!(kv.count("p/".into()).await.unwrap(), 999);
    assert_eq!(kv.list(ListRequest::new("p/").limit(1)).await.unwrap().count, Some(999));
}

async fn keys_of_all_bytes_are_ordered(form: Form) {
    let Fixture { kv, .. } = &Fixture::new(form).await;
    let keys: [&[u8]; 6] = [b"\x00", b"\x00\xff", b"\x7f", b"\xff", b"\xff\x00", b"\xff\xff"];
    for key in keys.iter().rev() {
        done(kv.optimistic_put(PutRequest::create(*key, "")).await);
    }
    let listed = kv.list(ListRequest::new("")).await.unwrap();
    assert_eq!(listed.kvs.iter().map(|kv| kv.key.as_ref()).collect::<Vec<_>>(), keys);
    let under = kv.list(ListRequest::new(&b"\xff"[..])).await.unwrap();
    assert_eq!(under.kvs.iter().map(|kv| kv.key.as_ref()).collect::<Vec<_>>(), &keys[3..]);
}

async fn parts_of_a_list_are_of_one_revision(form: Form) {
    let Fixture { kv, .. } = &Fixture::new(form).await;
    for number in 0..1200 {
        create(kv, &format!("k/{number:04}"), "old").await;
    }
    let mut parts = kv.list_chunks(ListRequest::new("k/"));
    let first = parts.next().await.unwrap().unwrap();
    assert!(first.end.is_none());
    put(kv, "k/1199", "new").await;
    create(kv, "k/1200", "new").await;
    delete(kv, "k/1100").await;
    let mut seen = first.kvs;
    let mut end = None;
    while let Some(part) = parts.next().await {
        let part = part.unwrap();
        assert!(end.is_none(), "nothing comes after the end");
        seen.extend(part.kvs);
        end = part.end;
    }
    let end = end.unwrap();
    assert_eq!((end.revision, end.more, end.count), (Revision(1201), false, Some(1200)));
    let expected: Vec<_> = (0..1200).map(|number| format!("k/{number:04}=old")).collect();
    assert_eq!(pairs(&seen), expected);
}

async fn parts_are_bounded_and_counted(form: Form) {
    let Fixture { kv, .. } = &Fixture::new(form).await;
    let value = "x".repeat(300 << 10);
    for number in 0..10 {
        create(kv, &format!("k/{number}"), &value).await;
    }
    let collect = |request: ListRequest| async move {
        kv.list_chunks(request).map(|part| part.unwrap()).collect::<Vec<_>>().await
    };
    let parts = collect(ListRequest::new("k/")).await;
    assert!(
        parts.iter().all(|part| part.kvs.len() <= 4),
        "{:?}",
        parts.iter().map(|part| part.kvs.len()).collect::<Vec<_>>()
    );
    assert_eq!(parts.iter().map(|part| part.kvs.len()).sum::<usize>(), 10);
    let parts = collect(ListRequest::new("k/").limit(5).at(Revision(8))).await;
    assert_eq!(parts.iter().map(|part| part.kvs.len()).sum::<usize>(), 5);
    let end = parts.last().unwrap().end.unwrap();
    assert_eq!((end.revision, end.more, end.count), (Revision(8), true, Some(7)));
    let failed = kv.list_chunks(ListRequest::new("k/").at(Revision(99))).collect::<Vec<_>>().await;
    assert_eq!(failed.len(), 1);
    assert_eq!(failed[0].as_ref().unwrap_err().kind(), KvErrorKind::FutureRevision);
}

async fn compaction_forgets_what_was_replaced(form: Form) {
    let Fixture { kv, .. } = &Fixture::new(form).await;
    create(kv, "a", "1").await; // 2
    put(kv, "a", "2").await; // 3
    create(kv, "b", "1").await; // 4
    delete(kv, "b").await; // 5
    put(kv, "a", "3").await; // 6
    create(kv, "b", "2").await; // 7
    kv.compact(Revision(6)).await.unwrap();
    assert_eq!(kv.status().await.unwrap().compacted, Some(Revision(6)));
    for at in 1..6 {
        let error = value_at(kv, "a", at).await.unwrap_err();
        assert_eq!((error.kind(), error.revision()), (KvErrorKind::Compacted, Some(Revision(6))), "at {at}");
        let error = kv.list(ListRequest::new("").at(Revision(at))).await.unwrap_err();
        assert_eq!(error.kind(), KvErrorKind::Compacted, "at {at}");
    }
    let list = kv.list(ListRequest::new("").at(Revision(6))).await.unwrap();
    assert_eq!(pairs(&list.kvs), ["a=3"]);
    assert_eq!(all(kv, "").await, ["a=3", "b=2"]);
    let kept = kv.get(GetRequest::new("a")).await.unwrap().kv.unwrap();
    assert_eq!((kept.version, kept.create_revision), (3, Revision(2)));
    assert_eq!(put(kv, "a", "4").await, 8);
    assert_eq!(value_at(kv, "a", 7).await.unwrap().as_deref(), Some("3"));
}

async fn compaction_refuses_the_past_and_the_future(form: Form) {
    let Fixture { kv, .. } = &Fixture::new(form).await;
    create(kv, "a", "1").await;
    put(kv, "a", "2").await;
    let error = kv.compact(Revision(4)).await.unwrap_err();
    assert_eq!((error.kind(), error.revision()), (KvErrorKind::FutureRevision, Some(Revision(3))));
    kv.compact(Revision(2)).await.unwrap();
    for at in [2, 1, 0] {
        let error = kv.compact(Revision(at)).await.unwrap_err();
        assert_eq!((error.kind(), error.revision()), (KvErrorKind::Compacted, Some(Revision(2))));
    }
    kv.compact(Revision(3)).await.unwrap();
    assert_eq!(value_at(kv, "a", 3).await.unwrap().as_deref(), Some("2"));
    assert_eq!(head(kv).await, 3);
}

async fn compaction_of_a_tombstone(form: Form) {
    let Fixture { kv, .. } = &Fixture::new(form).await;
    create(kv, "a", "1").await; // 2
    delete(kv, "a").await; // 3
    kv.compact(Revision(3)).await.unwrap();
    assert_eq!(value_at(kv, "a", 3).await.unwrap(), None);
    create(kv, "a", "2").await; // 4
    assert_eq!(value_at(kv, "a", 3).await.unwrap(), None);
    kv.compact(Revision(4)).await.unwrap();
    let again = kv.get(GetRequest::new("a")).await.unwrap().kv.unwrap();
    assert_eq!((again.version, again.create_revision), (1, Revision(4)));
}

async fn too_large_a_request_is_refused(form: Form) {
    let Fixture { kv, .. } = &Fixture::new(form).await;
    create(kv, "fits", &"x".repeat(1_400_000)).await;
    let value = "x".repeat(1_600_000);
    let error = kv.optimistic_put(PutRequest::create("a", value)).await.unwrap_err();
    assert_eq!((error.kind(), error.key()), (KvErrorKind::TooLarge, Some(&b"a"[..])));
    assert!(
        error.message().contains("1600066")
            && error.message().contains(&DEFAULT_MAX_REQUEST_BYTES.to_string()),
        "{error}"
    );
    assert_eq!(head(kv).await, 2);
    let Fixture { kv, .. } = &Fixture::with(form, Embedded::builder().max_request_bytes(100)).await;
    create(kv, "a", &"x".repeat(34)).await;
    let error = kv.optimistic_put(PutRequest::create("b", "x".repeat(35))).await.unwrap_err();
    assert_eq!(error.kind(), KvErrorKind::TooLarge);
    let error = kv.optimistic_delete(DeleteRequest::new("k".repeat(40), Revision(1))).await.unwrap_err();
    assert_eq!(error.kind(), KvErrorKind::TooLarge);
}

async fn an_empty_key_is_refused(form: Form) {
    let Fixture { kv, .. } = &Fixture::new(form).await;
    let kinds = [
        kv.get(GetRequest::new("")).await.unwrap_err().kind(),
        kv.optimistic_put(PutRequest::create("", "x")).await.unwrap_err().kind(),
        kv.optimistic_delete(DeleteRequest::new("", Revision(1))).await.unwrap_err().kind(),
        kv.watch(WatchRequest::new(WatchGroup::new(), WatchTarget::Key(Bytes::new())))
            .await
            .err()
            .unwrap()
            .kind(),
    ];
    assert_eq!(kinds, [KvErrorKind::InvalidArgument; 4]);
}

async fn a_closed_engine_says_so(form: Form) {
    let Fixture { kv, .. } = &Fixture::new(form).await;
    create(kv, "a", "1").await;
    let other = kv.clone();
    kv.close().await;
    kv.close().await;
    let kinds = [
        other.get(GetRequest::new("a")).await.unwrap_err().kind(),
        other.list(ListRequest::new("")).await.unwrap_err().kind(),
        other.list_chunks(ListRequest::new("")).next().await.unwrap().unwrap_err().kind(),
        other.count("".into()).await.unwrap_err().kind(),
        other.optimistic_put(PutRequest::create("b", "x")).await.unwrap_err().kind(),
        other.optimistic_delete(DeleteRequest::new("a", Revision(2))).await.unwrap_err().kind(),
        other.watch(WatchRequest::new(WatchGroup::new(), common::prefix(""))).await.err().unwrap().kind(),
        other.request_progress(WatchGroup::new()).await.unwrap_err().kind(),
        other.grant_lease(Duration::from_secs(5)).await.unwrap_err().kind(),
        other.revoke_lease(LeaseId(1)).await.unwrap_err().kind(),
        other.lease_info(LeaseId(1)).await.unwrap_err().kind(),
        other.compact(Revision(2)).await.unwrap_err().kind(),
        other.status().await.unwrap_err().kind(),
    ];
    assert_eq!(kinds, [KvErrorKind::Unavailable; 13]);
}
