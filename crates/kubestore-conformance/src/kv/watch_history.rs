//! Cases: watches of compacted and of long history.

use std::time::Duration;

use bytes::Bytes;
use kubestore_kv::{KvErrorKind, KvEventKind, PutRequest, Revision, WatchGroup, WatchRequest, WatchTarget};

use super::fixture::{Fixture, holds, same};
use crate::Harness;

fn all_from(fx: &Fixture, revision: Revision) -> WatchRequest {
    WatchRequest::new(WatchGroup::new(), WatchTarget::Prefix(fx.key(""))).with_previous().from(revision)
}

async fn compact(fx: &Fixture, revision: Revision) {
    fx.ok(fx.kv().compact(revision).await, format_args!("compact at {revision}"));
}

/// Below the compacted revision the watch's one item is the error; at it and above the watch works.
pub async fn watch_around_the_compacted_revision(harness: &dyn Harness) {
    let fx = Fixture::exclusive(harness).await;
    let first = fx.create("a", "1").await;
    let second = fx.update("a", "2", first).await;
    let third = fx.update("a", "3", second).await;
    compact(&fx, second).await;
    for below in [Revision(1), first] {
        let error = fx.watch(all_from(&fx, below)).await.error().await;
        same!(
            fx,
            error.kind(),
            KvErrorKind::Compacted,
            "watch from {below}, compacted at {second}: {error:?}"
        );
        same!(fx, error.revision().unwrap_or(second), second, "compacted revision of {error:?}");
    }
    for (start, want) in [(second, vec![second, third]), (third, vec![third])] {
        let events = fx.watch(all_from(&fx, start)).await.events(want.len()).await;
        let got: Vec<_> = events.iter().map(|event| event.kv.mod_revision).collect();
        same!(fx, got, want, "watch from {start}, compacted at {second}");
    }
}

/// A deletion at the compacted revision itself is still told.
pub async fn delete_at_the_compacted_revision_is_told(harness: &dyn Harness) {
    let fx = Fixture::exclusive(harness).await;
    let created = fx.create("a", "1").await;
    let gone = fx.delete("a", created).await;
    let last = fx.create("b", "1").await;
    compact(&fx, gone).await;
    let events = fx.watch(all_from(&fx, gone)).await.events(2).await;
    let got: Vec<_> =
        events.iter().map(|event| (event.kind, fx.name(&event.kv.key), event.kv.mod_revision)).collect();
    let want = [(KvEventKind::Delete, "a".to_owned(), gone), (KvEventKind::Put, "b".to_owned(), last)];
    same!(fx, got, want, "watch from {gone}, compacted at {gone}");
}

/// What a change replaced cannot be told once it is compacted; what a later change replaced still is.
pub async fn previous_is_left_out_when_compacted(harness: &dyn Harness) {
    let fx = Fixture::exclusive(harness).await;
    let first = fx.create("a", "1").await;
    let second = fx.update("a", "2", first).await;
    let third = fx.update("a", "3", second).await;
    compact(&fx, second).await;
    let events = fx.watch(all_from(&fx, second)).await.events(2).await;
    let got: Vec<_> = events.into_iter().map(|event| event.previous.map(|kv| kv.value)).collect();
    same!(fx, got, [None, Some(Bytes::from("2"))], "previous values at {second} (compacted) and {third}");
}

/// A watch that is up to date does not mind a compaction.
pub async fn compaction_leaves_a_live_watch_alone(harness: &dyn Harness) {
    let fx = Fixture::exclusive(harness).await;
    let mut last = fx.create("a", "0").await;
    let mut watch = fx.watch(all_from(&fx, last)).await;
    same!(fx, watch.event().await.kv.mod_revision, last, "first event");
    for number in 1..=3 {
        last = fx.update("a", number.to_string(), last).await;
        same!(fx, watch.event().await.kv.mod_revision, last, "event before compaction {number}");
        compact(&fx, last).await;
    }
    last = fx.update("a", "4", last).await;
    same!(fx, watch.event().await.kv.mod_revision, last, "event after the compactions");
}

/// A long history comes complete and in order from its middle, and the live changes follow it without a gap.
pub async fn watch_of_a_long_history(harness: &dyn Harness) {
    const WRITES: usize = 3_000;
    let fx = Fixture::shared(harness).await;
    let names = (0..WRITES).map(|number| format!("l/{number}"));
    let start = fx.create("start", "x").await;
    fx.create_all(names, &Bytes::from_static(b"0123456789")).await;
    let listed = fx.list(kubestore_kv::ListRequest::new(fx.key("l/")).keys_only()).await;
    let mut revisions: Vec<_> = listed.kvs.iter().map(|kv| kv.mod_revision).collect();
    revisions.sort_unstable();
    let mut whole = fx.watch(all_from(&fx, start.next())).await;
    let mut half = fx.watch(all_from(&fx, revisions[WRITES / 2])).await;
    revisions.push(fx.create("l/live", "x").await);
    for (watch, want) in [(&mut whole, &revisions[..]), (&mut half, &revisions[WRITES / 2..])] {
        let got: Vec<_> = watch.events(want.len()).await.iter().map(|event| event.kv.mod_revision).collect();
        holds!(fx, got == want, "{} events came, want {} from {}", got.len(), want.len(), want[0]);
    }
}

/// History of several mebibytes, more than the transports' usual limit for one message, comes whole.
pub async fn watch_of_a_large_history(harness: &dyn Harness) {
    let fx = Fixture::shared(harness).await;
    let value = Bytes::from(vec![b'v'; 100_000]);
    let start = fx.create("start", "x").await;
    let mut last = fx.create("big", value.clone()).await;
    let mut want = vec![last];
    for _ in 1..48 {
        last = fx.update("big", value.clone(), last).await;
        want.push(last);
    }
    let events = fx.watch(all_from(&fx, start.next())).await.events(want.len()).await;
    let got: Vec<_> = events.iter().map(|event| event.kv.mod_revision).collect();
    same!(fx, got, want, "revisions of the history from {start}");
    let short = events.iter().find(|event| event.kv.value != value);
    same!(fx, short.map(|event| event.kv.mod_revision), None, "an event with another value");
}

/// One revision of several mebibytes is one item, live and in the past: previous values of a lease's keys.
pub async fn large_revision_is_not_split(harness: &dyn Harness) {
    let fx = Fixture::shared(harness).await;
    let lease = fx.lease(Duration::from_secs(600)).await.id;
    let value = Bytes::from(vec![b'v'; 100_000]);
    let names: Vec<_> = (0..60).map(|number| format!("k{number:02}")).collect();
    let mut last = Revision(0);
    for name in &names {
        let request = PutRequest::create(fx.key(name), value.clone()).with_lease(Some(lease));
        last = fx.put_done(request).await;
    }
    let mut live = fx.watch(all_from(&fx, last.next())).await;
    fx.ok(fx.kv().revoke_lease(lease).await, "revoke");
    let mut late = fx.watch(all_from(&fx, last.next())).await;
    for (when, watch) in [("live", &mut live), ("past", &mut late)] {
        let events = watch.batch().await;
        let got: Vec<_> = events.iter().map(|event| fx.name(&event.kv.key)).collect();
        same!(fx, got, names, "{when}: keys of the lease's end");
        let wrong = events.iter().find(|event| event.previous.as_ref().is_none_or(|kv| kv.value != value));
        same!(
            fx,
            wrong.map(|event| fx.name(&event.kv.key)),
            None,
            "{when}: a key without its previous value"
        );
    }
}
