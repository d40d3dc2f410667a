//! Leases: granted, attached, ended by time, by revocation.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod common;

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use common::{Fixture, Form, ManualClock, all, create, done, events, head, value, watch_now};
use kubestore_embedded::Embedded;
use kubestore_kv::{
    DeleteRequest, GetRequest, Kv, KvErrorKind, LeaseId, MAX_LEASE_TTL, PutRequest, Revision,
};

on_every_form! {
    a_ttl_is_whole_seconds_and_at_least_two,
    a_ttl_out_of_range_is_refused,
    numbers_of_leases_are_unique_and_positive,
    a_put_with_an_unknown_lease_is_refused,
    the_end_of_a_lease_deletes_its_keys_in_one_revision,
    revoking_deletes_its_keys_in_one_revision,
    a_lease_without_keys_takes_no_revision,
    a_put_without_the_lease_detaches_the_key,
    a_put_with_another_lease_moves_the_key,
    a_deleted_and_recreated_key_is_free_of_its_lease,
    leases_end_in_the_order_of_their_deadlines,
    a_real_clock_ends_a_lease,
}

async fn manual(form: Form) -> (Fixture, ManualClock) {
    let clock = ManualClock::new();
    (Fixture::with(form, Embedded::builder().clock(Arc::new(clock.clone()))).await, clock)
}

async fn leased(kv: &dyn Kv, key: &str, at: i64, lease: LeaseId) -> i64 {
    let request = PutRequest::update(key.to_owned(), "x", Revision(at)).with_lease(Some(lease));
    done(kv.optimistic_put(request).await)
}

async fn a_ttl_is_whole_seconds_and_at_least_two(form: Form) {
    let (Fixture { kv, .. }, clock) = &manual(form).await;
    for (asked, granted) in [(1, 2), (1000, 2), (2000, 2), (2001, 3), (60_000, 60)] {
        let grant = kv.grant_lease(Duration::from_millis(asked)).await.unwrap();
        assert_eq!(grant.ttl, Duration::from_secs(granted), "asked for {asked} ms");
        let info = kv.lease_info(grant.id).await.unwrap();
        assert_eq!((info.granted, info.remaining), (grant.ttl, Some(grant.ttl)));
    }
    let grant = kv.grant_lease(Duration::from_secs(10)).await.unwrap();
    clock.advance(Duration::from_millis(2500));
    let info = kv.lease_info(grant.id).await.unwrap();
    assert_eq!((info.granted, info.remaining), (grant.ttl, Some(Duration::from_millis(7500))));
}

async fn a_ttl_out_of_range_is_refused(form: Form) {
    let Fixture { kv, .. } = &Fixture::new(form).await;
    for ttl in [Duration::ZERO, MAX_LEASE_TTL + Duration::from_nanos(1), Duration::MAX] {
        assert_eq!(kv.grant_lease(ttl).await.unwrap_err().kind(), KvErrorKind::InvalidArgument, "{ttl:?}");
    }
    assert_eq!(kv.grant_lease(MAX_LEASE_TTL).await.unwrap().ttl, MAX_LEASE_TTL);
}

async fn numbers_of_leases_are_unique_and_positive(form: Form) {
    let Fixture { kv, .. } = &Fixture::new(form).await;
    let mut seen = BTreeSet::new();
    for _ in 0..50 {
        let id = kv.grant_lease(Duration::from_secs(60)).await.unwrap().id;
        assert!(id.0 > 0);
        assert!(seen.insert(id), "{id} was granted twice");
        kv.revoke_lease(id).await.unwrap();
    }
}

async fn a_put_with_an_unknown_lease_is_refused(form: Form) {
    let Fixture { kv, .. } = &Fixture::new(form).await;
    create(kv, "there", "x").await;
    let unknown = Some(LeaseId(4711));
    let error = kv.optimistic_put(PutRequest::create("a", "x").with_lease(unknown)).await.unwrap_err();
    assert_eq!((error.kind(), error.key()), (KvErrorKind::LeaseNotFound, Some(&b"a"[..])));
    assert_eq!(head(kv).await, 2);
    common::conflict(kv.optimistic_put(PutRequest::create("there", "x").with_lease(unknown)).await);
    assert_eq!(kv.revoke_lease(LeaseId(4711)).await.unwrap_err().kind(), KvErrorKind::LeaseNotFound);
    assert_eq!(kv.lease_info(LeaseId(4711)).await.unwrap_err().kind(), KvErrorKind::LeaseNotFound);
}

async fn the_end_of_a_lease_deletes_its_keys_in_one_revision(form: Form) {
    let (Fixture { kv, .. }, clock) = &manual(form).await;
    let lease = kv.grant_lease(Duration::from_secs(5)).await.unwrap().id;
    for key in ["c", "a", "b"] {
        leased(kv, key, 0, lease).await;
    }
    create(kv, "kept", "x").await; // 5
    let got = kv.get(GetRequest::new("a")).await.unwrap().kv.unwrap();
    assert_eq!(got.lease, Some(lease));
    let mut watch = watch_now(kv, "").await;
    clock.advance(Duration::from_millis(4999));
    assert_eq!(kv.lease_info(lease).await.unwrap().remaining, Some(Duration::from_millis(1)));
    assert_eq!(value(kv, "a").await.as_deref(), Some("x"));
    clock.advance(Duration::from_millis(1));
    assert_eq!(events(&mut watch, 3).await, ["delete a @6", "delete b @6", "delete c @6"]);
    assert_eq!(all(kv, "").await, ["kept=x"]);
    assert_eq!(kv.lease_info(lease).await.unwrap_err().kind(), KvErrorKind::LeaseNotFound);
}

async fn revoking_deletes_its_keys_in_one_revision(form: Form) {
    let Fixture { kv, .. } = &Fixture::new(form).await;
    let lease = kv.grant_lease(Duration::from_secs(500)).await.unwrap().id;
    for key in ["b", "a", "c"] {
        leased(kv, key, 0, lease).await;
    }
    let mut watch = watch_now(kv, "").await;
    kv.revoke_lease(lease).await.unwrap();
    assert_eq!(events(&mut watch, 3).await, ["delete a @5", "delete b @5", "delete c @5"]);
    assert_eq!(head(kv).await, 5);
    assert_eq!(kv.revoke_lease(lease).await.unwrap_err().kind(), KvErrorKind::LeaseNotFound);
    let listed = kv.list(kubestore_kv::ListRequest::new("").at(Revision(4))).await.unwrap();
    assert_eq!(common::pairs(&listed.kvs), ["a=x", "b=x", "c=x"]);
}

async fn a_lease_without_keys_takes_no_revision(form: Form) {
    let Fixture { kv, .. } = &Fixture::new(form).await;
    let lease = kv.grant_lease(Duration::from_secs(500)).await.unwrap().id;
    kv.revoke_lease(lease).await.unwrap();
    assert_eq!(head(kv).await, 1);
}

async fn a_put_without_the_lease_detaches_the_key(form: Form) {
    let (Fixture { kv, .. }, clock) = &manual(form).await;
    let lease = kv.grant_lease(Duration::from_secs(5)).await.unwrap().id;
    leased(kv, "a", 0, lease).await; // 2
    leased(kv, "b", 0, lease).await; // 3
    common::update(kv, "a", "free", 2).await; // 4
    assert_eq!(kv.get(GetRequest::new("a")).await.unwrap().kv.unwrap().lease, None);
    let mut watch = watch_now(kv, "").await;
    clock.advance(Duration::from_secs(5));
    assert_eq!(events(&mut watch, 1).await, ["delete b @5"]);
    assert_eq!(all(kv, "").await, ["a=free"]);
}

async fn a_put_with_another_lease_moves_the_key(form: Form) {
    let (Fixture { kv, .. }, clock) = &manual(form).await;
    let short = kv.grant_lease(Duration::from_secs(5)).await.unwrap().id;
    let long = kv.grant_lease(Duration::from_secs(50)).await.unwrap().id;
    leased(kv, "a", 0, short).await; // 2
    leased(kv, "a", 2, long).await; // 3
    leased(kv, "b", 0, short).await; // 4
    leased(kv, "b", 4, short).await; // 5
    let mut watch = watch_now(kv, "").await;
    clock.advance(Duration::from_secs(5));
    assert_eq!(events(&mut watch, 1).await, ["delete b @6"]);
    clock.advance(Duration::from_secs(45));
    assert_eq!(events(&mut watch, 1).await, ["delete a @7"]);
}

async fn a_deleted_and_recreated_key_is_free_of_its_lease(form: Form) {
    let Fixture { kv, .. } = &Fixture::new(form).await;
    let lease = kv.grant_lease(Duration::from_secs(500)).await.unwrap().id;
    leased(kv, "a", 0, lease).await; // 2
    done(kv.optimistic_delete(DeleteRequest::new("a", Revision(2))).await); // 3
    create(kv, "a", "free").await; // 4
    kv.revoke_lease(lease).await.unwrap();
    assert_eq!(head(kv).await, 4);
    assert_eq!(all(kv, "").await, ["a=free"]);
}

async fn leases_end_in_the_order_of_their_deadlines(form: Form) {
    let (Fixture { kv, .. }, clock) = &manual(form).await;
    let late = kv.grant_lease(Duration::from_secs(30)).await.unwrap().id;
    let early = kv.grant_lease(Duration::from_secs(10)).await.unwrap().id;
    leased(kv, "a", 0, late).await; // 2
    leased(kv, "b", 0, early).await; // 3
    let mut watch = watch_now(kv, "").await;
    clock.advance(Duration::from_secs(60));
    assert_eq!(events(&mut watch, 2).await, ["delete b @4", "delete a @5"]);
}

async fn a_real_clock_ends_a_lease(form: Form) {
    let Fixture { kv, .. } = &Fixture::new(form).await;
    let started = std::time::Instant::now();
    let lease = kv.grant_lease(Duration::from_secs(1)).await.unwrap().id;
    leased(kv, "a", 0, lease).await;
    let mut watch = watch_now(kv, "").await;
    assert_eq!(events(&mut watch, 1).await, ["delete a @3"]);
    let took = started.elapsed();
    assert!(took >= Duration::from_millis(1990) && took < Duration::from_secs(10), "{took:?}");
}
