//! Cases: what a backend remembers when it is stopped without warning.

use std::time::Duration;

use kubestore_kv::{
    GetRequest, KvErrorKind, KvEventKind, ListRequest, PutRequest, Revision, WatchGroup, WatchRequest,
    WatchTarget,
};

use super::fixture::{Fixture, holds, same};
use crate::Harness;

/// Every acknowledged write, its history and the head are there again, and revisions go on.
pub async fn restart_keeps_acknowledged_writes(harness: &dyn Harness) {
    let fx = Fixture::exclusive(harness).await;
    let mut revisions = Vec::new();
    for number in 0..20 {
        revisions.push(fx.create(&format!("l/{number:02}"), number.to_string()).await);
    }
    let updated = fx.update("l/00", "new", revisions[0]).await;
    let gone = fx.delete("l/01", revisions[1]).await;
    let before = fx.list(ListRequest::new(fx.key("l/"))).await.kvs;

    let fx = fx.restart().await;
    let after = fx.list(ListRequest::new(fx.key("l/"))).await;
    holds!(fx, after.kvs == before, "keys after the restart: {:?}", fx.names(&after.kvs));
    same!(fx, after.head, gone, "head after the restart");
    let past = fx.list(ListRequest::new(fx.key("l/")).at(revisions[19])).await.kvs;
    let past: Vec<_> = past.iter().map(|kv| kv.mod_revision).collect();
    same!(fx, past, revisions, "revisions of the list at {}, after the restart", revisions[19]);
    same!(fx, fx.update("l/00", "newer", updated).await, gone.next(), "first revision after the restart");
}

/// A watch from a revision before the restart tells the history, then what comes.
pub async fn restart_keeps_the_history_for_watches(harness: &dyn Harness) {
    let fx = Fixture::exclusive(harness).await;
    let created = fx.create("a", "1").await;
    let updated = fx.update("a", "2", created).await;
    let gone = fx.delete("a", updated).await;
    let fx = fx.restart().await;
    let target = WatchTarget::Prefix(fx.key(""));
    let mut watch =
        fx.watch(WatchRequest::new(WatchGroup::new(), target).with_previous().from(updated)).await;
    let live = fx.create("b", "3").await;
    let events = watch.events(3).await;
    let got: Vec<_> = events.iter().map(|event| (event.kind, event.kv.mod_revision)).collect();
    let want = [(KvEventKind::Put, updated), (KvEventKind::Delete, gone), (KvEventKind::Put, live)];
    same!(fx, got, want, "events from {updated}, after the restart");
    let previous: Vec<_> =
        events.iter().map(|event| event.previous.as_ref().map(|kv| kv.mod_revision)).collect();
    same!(fx, previous, [Some(created), Some(updated), None], "previous revisions, after the restart");
}

/// What was compacted stays compacted.
pub async fn restart_keeps_the_compaction(harness: &dyn Harness) {
    let fx = Fixture::exclusive(harness).await;
    let first = fx.create("a", "1").await;
    let second = fx.update("a", "2", first).await;
    let third = fx.update("a", "3", second).await;
    fx.ok(fx.kv().compact(second).await, "compact");
    let fx = fx.restart().await;
    let get = async |revision: Revision| fx.kv().get(GetRequest::new(fx.key("a")).at(revision)).await;
    fx.fails(get(first).await, KvErrorKind::Compacted, format_args!("get at {first}, after the restart"));
    for (revision, value) in [(second, "2"), (third, "3")] {
        let got = fx.ok(get(revision).await, "get after the restart").kv.map(|kv| kv.value);
        same!(fx, got.as_deref(), Some(value.as_bytes()), "a at {revision}, after the restart");
    }
    let again = fx.kv().compact(second).await;
    fx.fails(again, KvErrorKind::Compacted, format_args!("compact at {second} again, after the restart"));
}

/// A lease and what hangs on it survive, and it still ends.
pub async fn restart_keeps_leases(harness: &dyn Harness) {
    let fx = Fixture::exclusive(harness).await;
    let short = fx.lease(Duration::from_secs(3)).await;
    let long = fx.lease(Duration::from_secs(600)).await;
    for (name, lease) in [("long", long.id), ("short", short.id)] {
        fx.put_done(PutRequest::create(fx.key(name), "x").with_lease(Some(lease))).await;
    }
    let revoked = fx.lease(Duration::from_secs(600)).await.id;
    fx.ok(fx.kv().revoke_lease(revoked).await, "revoke");
    let start = fx.head().await.next();

    let fx = fx.restart().await;
    fx.fails(fx.kv().lease_info(revoked).await, KvErrorKind::LeaseNotFound, "info of a lease revoked before");
    let info = fx.ok(fx.kv().lease_info(long.id).await, "info of the long lease");
    same!(fx, info.granted, long.ttl, "granted TTL after the restart");
    let target = WatchTarget::Prefix(fx.key(""));
    let mut watch = fx.watch(WatchRequest::new(WatchGroup::new(), target).from(start)).await;
    fx.advance_time(short.ttl).await;
    let event = watch.event().await;
    same!(
        fx,
        (event.kind, fx.name(&event.kv.key)),
        (KvEventKind::Delete, "short".to_owned()),
        "end of the lease"
    );
    same!(fx, fx.get_some("long").await.lease, Some(long.id), "the long lease's key");
    let fresh = fx.lease(Duration::from_secs(600)).await.id;
    holds!(
        fx,
        ![short.id, long.id, revoked].contains(&fresh),
        "lease {fresh} was granted before the restart too"
    );
}
