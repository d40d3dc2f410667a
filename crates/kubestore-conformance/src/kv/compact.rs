//! Cases: compaction.

use bytes::Bytes;
use futures_util::TryStreamExt as _;
use kubestore_kv::{GetRequest, KvErrorKind, ListRequest, Revision};

use super::fixture::{Fixture, holds, same};
use crate::Harness;

async fn compact(fx: &Fixture, revision: Revision) {
    fx.ok(fx.kv().compact(revision).await, format_args!("compact at {revision}"));
}

/// Below the compacted revision nothing can be read, at it and above everything.
pub async fn compaction_forgets_below_its_revision(harness: &dyn Harness) {
    let fx = Fixture::exclusive(harness).await;
    let first = fx.create("a", "one").await;
    let second = fx.update("a", "two", first).await;
    let third = fx.update("a", "three", second).await;
    compact(&fx, second).await;

    let get = async |revision| fx.kv().get(GetRequest::new(fx.key("a")).at(revision)).await;
    let error = fx.fails(get(first).await, KvErrorKind::Compacted, format_args!("get at {first}"));
    same!(fx, error.revision().unwrap_or(second), second, "compacted revision of {error}");
    let list = ListRequest::new(fx.key("a")).at(first);
    fx.fails(fx.kv().list(list.clone()).await, KvErrorKind::Compacted, format_args!("list at {first}"));
    let chunks: Result<Vec<_>, _> = fx.kv().list_chunks(list).try_collect().await;
    fx.fails(chunks, KvErrorKind::Compacted, format_args!("parts at {first}"));

    for (revision, value) in [(second, "two"), (third, "three")] {
        let got = fx.ok(get(revision).await, format_args!("get at {revision}")).kv.map(|kv| kv.value);
        same!(fx, got, Some(Bytes::from(value)), "a at {revision}, compacted at {second}");
        let listed = fx.list(ListRequest::new(fx.key("a")).at(revision)).await;
        same!(fx, listed.kvs[0].value, Bytes::from(value), "list at {revision}, compacted at {second}");
    }
}

/// Keys keep what they had at the compacted revision however old it is, with version and creation; deleted ones are
/// gone.
pub async fn compaction_keeps_the_state(harness: &dyn Harness) {
    let fx = Fixture::exclusive(harness).await;
    let old = fx.create("old", "never changed").await;
    let gone = fx.create("gone", "x").await;
    fx.delete("gone", gone).await;
    let again = fx.create("again", "x").await;
    fx.delete("again", again).await;
    let again = fx.create("again", "y").await;
    let changed = fx.create("changed", "1").await;
    let changed2 = fx.update("changed", "2", changed).await;
    let before = fx.list(ListRequest::new(fx.key(""))).await.kvs;
    compact(&fx, changed2).await;
    let after = fx.list(ListRequest::new(fx.key(""))).await;
    same!(fx, after.kvs, before, "all keys after the compaction");
    same!(fx, fx.names(&after.kvs), ["again", "changed", "old"], "keys after the compaction");
    same!(fx, after.head, changed2, "head after the compaction, which writes nothing");
    for (name, created) in [("old", old), ("again", again), ("changed", changed)] {
        let kv = fx.get_at(name, changed2).await;
        same!(fx, kv.map(|kv| kv.create_revision), Some(created), "creation of {name} at {changed2}");
    }
    same!(fx, fx.get_at("gone", changed2).await, None, "the deleted key at {changed2}");
}

/// Reads between the compacted revision and the head see what was replaced or deleted after it.
pub async fn compaction_keeps_later_history(harness: &dyn Harness) {
    let fx = Fixture::exclusive(harness).await;
    let a = fx.create("a", "1").await;
    let b = fx.create("b", "1").await;
    let a2 = fx.update("a", "2", a).await;
    let b_gone = fx.delete("b", b).await;
    let a3 = fx.update("a", "3", a2).await;
    compact(&fx, b).await;
    for (revision, want) in [(b, "a=1 b=1"), (a2, "a=2 b=1"), (b_gone, "a=2"), (a3, "a=3")] {
        let listed = fx.list(ListRequest::new(fx.key("")).at(revision)).await.kvs;
        let pairs =
            listed.iter().map(|kv| format!("{}={}", fx.name(&kv.key), String::from_utf8_lossy(&kv.value)));
        same!(fx, pairs.collect::<Vec<_>>().join(" "), want, "state at {revision}, compacted at {b}");
    }
}

/// Compacting at the head is legal, and writes go on from there.
pub async fn compaction_at_the_head(harness: &dyn Harness) {
    let fx = Fixture::exclusive(harness).await;
    let created = fx.create("a", "one").await;
    compact(&fx, created).await;
    same!(
        fx,
        fx.get_at("a", created).await.map(|kv| kv.mod_revision),
        Some(created),
        "a at the compacted head"
    );
    let updated = fx.update("a", "two", created).await;
    same!(fx, updated, created.next(), "first revision after the compaction");
    same!(fx, fx.get_at("a", created).await.map(|kv| kv.value), Some(Bytes::from("one")), "a at {created}");
}

/// What is compacted already, and what is above the head, is refused and changes nothing.
pub async fn compaction_errors(harness: &dyn Harness) {
    let fx = Fixture::exclusive(harness).await;
    let first = fx.create("a", "one").await;
    let second = fx.update("a", "two", first).await;
    let third = fx.update("a", "three", second).await;
    let future = fx.kv().compact(third.next()).await;
    let error = fx.fails(future, KvErrorKind::FutureRevision, format_args!("compact at {}", third.next()));
    same!(fx, error.operation(), "compact", "operation of {error}");
    same!(fx, fx.get_at("a", first).await.is_some(), true, "a at {first} after a refused compaction");
    compact(&fx, second).await;
    for revision in [second, first] {
        let again = fx.kv().compact(revision).await;
        fx.fails(again, KvErrorKind::Compacted, format_args!("compact at {revision} after {second}"));
    }
    compact(&fx, third).await;
}

/// A compacted backend says so in its status if it says anything about it.
pub async fn status_tells_head_and_compaction(harness: &dyn Harness) {
    let fx = Fixture::exclusive(harness).await;
    let status = fx.ok(fx.kv().status().await, "status");
    holds!(fx, status.head >= Revision(1), "head {} of a backend, empty ones have 1", status.head);
    let created = fx.create("a", "one").await;
    let updated = fx.update("a", "two", created).await;
    same!(fx, fx.head().await, updated, "head after the last write");
    compact(&fx, created).await;
    let status = fx.ok(fx.kv().status().await, "status");
    same!(fx, status.compacted.unwrap_or(created), created, "compacted revision in the status");
    same!(fx, status.head, updated, "head after the compaction");
    holds!(fx, status.db_size != Some(0), "a size of 0 with two revisions kept");
}
