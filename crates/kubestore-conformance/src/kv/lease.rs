//! Cases: leases, and the keys that end with them.

use std::time::Duration;

use kubestore_kv::{
    KvErrorKind, KvEventKind, LeaseId, MAX_LEASE_TTL, PutRequest, Revision, WatchGroup, WatchRequest,
    WatchTarget, WriteOutcome,
};

use super::fixture::{Fixture, holds, same};
use crate::Harness;

/// A lease that no backend ever granted.
const UNKNOWN: LeaseId = LeaseId(0x7fff_ffff_0bad_1d0f);

async fn create_with_lease(fx: &Fixture, name: &str, lease: LeaseId) -> Revision {
    fx.put_done(PutRequest::create(fx.key(name), name.to_owned()).with_lease(Some(lease))).await
}

fn all_of(fx: &Fixture) -> WatchRequest {
    WatchRequest::new(WatchGroup::new(), WatchTarget::Prefix(fx.key(""))).with_previous()
}

/// A grant lasts at least as long as asked for, in whole seconds.
pub async fn grant_is_at_least_what_was_asked(harness: &dyn Harness) {
    let fx = Fixture::shared(harness).await;
    let mut ids = Vec::new();
    for (asked, least) in [(1_u64, 1), (999, 1), (1_000, 1), (5_001, 6), (60_000, 60), (3_600_500, 3_601)] {
        let asked = Duration::from_millis(asked);
        let grant = fx.lease(asked).await;
        holds!(fx, grant.ttl >= Duration::from_secs(least), "{asked:?} gave {:?}, want {least} s", grant.ttl);
        same!(fx, grant.ttl.subsec_nanos(), 0, "fraction of the TTL granted for {asked:?}");
        holds!(
            fx,
            least < 10 || grant.ttl.as_secs() == least,
            "{asked:?} gave {:?}, want {least} s",
            grant.ttl
        );
        holds!(fx, !ids.contains(&grant.id), "lease {} was granted twice", grant.id);
        ids.push(grant.id);
    }
}

/// TTLs of zero or above the maximum are refused; the maximum itself is granted.
pub async fn grant_has_bounds(harness: &dyn Harness) {
    let fx = Fixture::shared(harness).await;
    for ttl in [Duration::ZERO, MAX_LEASE_TTL + Duration::from_nanos(1), Duration::MAX] {
        let result = fx.kv().grant_lease(ttl).await;
        fx.fails(result, KvErrorKind::InvalidArgument, format_args!("grant of {ttl:?}"));
    }
    same!(fx, fx.lease(MAX_LEASE_TTL).await.ttl, MAX_LEASE_TTL, "TTL of the longest lease");
}

/// A lease tells what it was granted for and what is left.
pub async fn lease_info_tells_what_is_left(harness: &dyn Harness) {
    let fx = Fixture::shared(harness).await;
    let grant = fx.lease(Duration::from_secs(600)).await;
    let info = fx.ok(fx.kv().lease_info(grant.id).await, "info");
    same!(fx, info.granted, grant.ttl, "granted TTL of {}", grant.id);
    let left = info.remaining.unwrap_or_default();
    holds!(
        fx,
        left > Duration::from_secs(580) && left <= grant.ttl,
        "{left:?} left of a new lease of {:?}",
        grant.ttl
    );
}

/// A lease that never was, and one that was revoked, are equally unknown to every call.
pub async fn unknown_lease_is_an_error(harness: &dyn Harness) {
    let fx = Fixture::shared(harness).await;
    let revoked = fx.lease(Duration::from_secs(600)).await.id;
    fx.ok(fx.kv().revoke_lease(revoked).await, "revoke");
    let created = fx.create("there", "one").await;
    for lease in [UNKNOWN, revoked] {
        let put = PutRequest::create(fx.key("missing"), "x").with_lease(Some(lease));
        fx.fails(
            fx.kv().optimistic_put(put).await,
            KvErrorKind::LeaseNotFound,
            format_args!("create with {lease}"),
        );
        let put = PutRequest::update(fx.key("there"), "x", created).with_lease(Some(lease));
        fx.fails(
            fx.kv().optimistic_put(put).await,
            KvErrorKind::LeaseNotFound,
            format_args!("update with {lease}"),
        );
        fx.fails(
            fx.kv().lease_info(lease).await,
            KvErrorKind::LeaseNotFound,
            format_args!("info of {lease}"),
        );
        fx.fails(
            fx.kv().revoke_lease(lease).await,
            KvErrorKind::LeaseNotFound,
            format_args!("revoke of {lease}"),
        );
    }
    same!(fx, fx.get("missing").await, None, "a key whose create failed");
    same!(fx, fx.get_some("there").await.mod_revision, created, "a key whose update failed");
}

/// The condition is looked at before the lease: a conflict is a conflict, whatever the lease.
pub async fn conflict_comes_before_unknown_lease(harness: &dyn Harness) {
    let fx = Fixture::shared(harness).await;
    fx.create("a", "one").await;
    let outcome = fx.put(PutRequest::create(fx.key("a"), "two").with_lease(Some(UNKNOWN))).await;
    holds!(
        fx,
        matches!(outcome, WriteOutcome::Conflict { .. }),
        "create of a: got {outcome:?}, want a conflict"
    );
}

/// A key names its lease, in gets and in lists; a put without a lease, or with another, takes it off the first, whose
/// end then does not touch it.
pub async fn put_decides_the_lease(harness: &dyn Harness) {
    let fx = Fixture::shared(harness).await;
    let (first, second) =
        (fx.lease(Duration::from_secs(600)).await.id, fx.lease(Duration::from_secs(600)).await.id);
    let freed = create_with_lease(&fx, "freed", first).await;
    let moved = create_with_lease(&fx, "moved", first).await;
    create_with_lease(&fx, "kept", first).await;
    same!(fx, fx.get_some("freed").await.lease, Some(first), "lease of freed at {freed}");
    let listed = fx.list(kubestore_kv::ListRequest::new(fx.key("moved"))).await;
    same!(fx, listed.kvs[0].lease, Some(first), "lease of moved at {moved} in a list");

    fx.update("freed", "x", freed).await;
    fx.put_done(PutRequest::update(fx.key("moved"), "x", moved).with_lease(Some(second))).await;
    same!(fx, fx.get_some("freed").await.lease, None, "lease of freed after a put without one");
    same!(fx, fx.get_some("moved").await.lease, Some(second), "lease of moved after a put with another");
    same!(
        fx,
        fx.get_at("freed", freed).await.and_then(|kv| kv.lease),
        Some(first),
        "lease of freed in the past"
    );

    fx.ok(fx.kv().revoke_lease(first).await, "revoke of the first");
    let left = fx.list(kubestore_kv::ListRequest::new(fx.key(""))).await;
    same!(fx, fx.names(&left.kvs), ["freed", "moved"], "keys after the first lease's end");
    fx.ok(fx.kv().revoke_lease(second).await, "revoke of the second");
    let left = fx.list(kubestore_kv::ListRequest::new(fx.key(""))).await;
    same!(fx, fx.names(&left.kvs), ["freed"], "keys after both leases' ends");
}

/// A key that was deleted and created again without a lease is not the lease's any more.
pub async fn delete_takes_the_key_off_its_lease(harness: &dyn Harness) {
    let fx = Fixture::shared(harness).await;
    let lease = fx.lease(Duration::from_secs(600)).await.id;
    let created = create_with_lease(&fx, "a", lease).await;
    fx.delete("a", created).await;
    let again = fx.create("a", "again").await;
    fx.ok(fx.kv().revoke_lease(lease).await, "revoke");
    same!(fx, fx.get_some("a").await.mod_revision, again, "a, created again without the lease");
}

/// A revoked lease deletes all its keys in one revision, in the order of the keys, as one unsplit event item.
pub async fn revoke_deletes_in_one_revision(harness: &dyn Harness) {
    let fx = Fixture::exclusive(harness).await;
    let lease = fx.lease(Duration::from_secs(600)).await.id;
    for name in ["c", "a", "e", "b/x", "d"] {
        create_with_lease(&fx, name, lease).await;
    }
    let head = fx.create("other", "stays").await;
    let mut watch = fx.watch(all_of(&fx)).await;
    fx.ok(fx.kv().revoke_lease(lease).await, "revoke");
    same!(fx, fx.head().await, head.next(), "head after the revoke");
    let events = watch.batch().await;
    let names: Vec<_> = events.iter().map(|event| fx.name(&event.kv.key)).collect();
    same!(fx, names, ["a", "b/x", "c", "d", "e"], "keys deleted by the revoke");
    for event in events {
        same!(fx, (event.kind, event.kv.mod_revision), (KvEventKind::Delete, head.next()), "event {event:?}");
        let previous = event.previous.map(|kv| kv.lease);
        same!(fx, previous, Some(Some(lease)), "lease of what was deleted, {}", fx.name(&event.kv.key));
    }
    let left = fx.list(kubestore_kv::ListRequest::new(fx.key(""))).await;
    same!(fx, fx.names(&left.kvs), ["other"], "keys after the revoke");
}

/// A lease without keys ends without a revision.
pub async fn revoke_of_an_unused_lease_writes_nothing(harness: &dyn Harness) {
    let fx = Fixture::exclusive(harness).await;
    let lease = fx.lease(Duration::from_secs(600)).await.id;
    let created = create_with_lease(&fx, "a", lease).await;
    let head = fx.delete("a", created).await;
    fx.ok(fx.kv().revoke_lease(lease).await, "revoke");
    same!(fx, fx.head().await, head, "head after the end of a lease without keys");
}

/// A lease ends by itself: not before its time, then with all its keys in one revision, and it is unknown afterwards.
pub async fn lease_expires_by_itself(harness: &dyn Harness) {
    let fx = Fixture::shared(harness).await;
    let grant = fx.lease(Duration::from_secs(2)).await;
    let long = fx.lease(Duration::from_secs(600)).await.id;
    create_with_lease(&fx, "b", grant.id).await;
    create_with_lease(&fx, "a", grant.id).await;
    create_with_lease(&fx, "long", long).await;
    let mut watch = fx.watch(all_of(&fx)).await;
    same!(fx, fx.get("a").await.is_some(), true, "a before its lease's end");
    fx.advance_time(grant.ttl).await;
    let events = watch.batch().await;
    let got: Vec<_> = events.iter().map(|event| (event.kind, fx.name(&event.kv.key))).collect();
    let want = [(KvEventKind::Delete, "a".to_owned()), (KvEventKind::Delete, "b".to_owned())];
    same!(fx, got, want, "events of the lease's end");
    same!(fx, events[0].kv.mod_revision, events[1].kv.mod_revision, "revisions of the lease's end");
    let unknown =
        async || fx.kv().lease_info(grant.id).await.is_err_and(|e| e.kind() == KvErrorKind::LeaseNotFound);
    fx.eventually("the ended lease is unknown", unknown).await;
    same!(fx, fx.get("long").await.is_some(), true, "the key of a longer lease");
}

/// What is left shrinks as time passes, and the key stays until nothing is left.
pub async fn lease_info_follows_the_time(harness: &dyn Harness) {
    let fx = Fixture::shared(harness).await;
    let grant = fx.lease(Duration::from_secs(30)).await;
    create_with_lease(&fx, "a", grant.id).await;
    fx.advance_time(Duration::from_secs(2)).await;
    let info = fx.ok(fx.kv().lease_info(grant.id).await, "info after two seconds");
    let left = info.remaining.unwrap_or_default();
    let window = Duration::from_secs(20)..=Duration::from_secs(28);
    holds!(fx, window.contains(&left), "{left:?} left of 30 s after 2 s");
    same!(fx, info.granted, grant.ttl, "granted TTL");
    same!(fx, fx.get("a").await.is_some(), true, "a before its lease's end");
}
