//! Cases: what a watch tells of each change.

use bytes::Bytes;
use kubestore_kv::{KvEvent, KvEventKind, Revision, WatchGroup, WatchRequest, WatchTarget};

use super::{
    fixture::{Fixture, holds, same},
    watcher::brief,
};
use crate::Harness;

/// A watch of all keys of the case, in a group of its own.
fn all_of(fx: &Fixture) -> WatchRequest {
    WatchRequest::new(WatchGroup::new(), WatchTarget::Prefix(fx.key("")))
}

/// What happened to which of the case's keys at which revision.
fn told(fx: &Fixture, events: &[KvEvent]) -> Vec<(KvEventKind, String, Revision)> {
    let told = events.iter().map(brief);
    told.map(|(kind, key, revision)| (kind, fx.name(&key), revision)).collect()
}

fn put(name: &str, revision: Revision) -> (KvEventKind, String, Revision) {
    (KvEventKind::Put, name.to_owned(), revision)
}

fn deleted(name: &str, revision: Revision) -> (KvEventKind, String, Revision) {
    (KvEventKind::Delete, name.to_owned(), revision)
}

/// A watch without a start sees everything written after it was created and nothing before.
pub async fn watch_from_now(harness: &dyn Harness) {
    let fx = Fixture::shared(harness).await;
    let before = fx.create("a", "before").await;
    let mut watch = fx.watch(all_of(&fx)).await;
    let updated = fx.update("a", "after", before).await;
    let created = fx.create("b", "x").await;
    let gone = fx.delete("a", updated).await;
    let events = watch.events(3).await;
    let want = [put("a", updated), put("b", created), deleted("a", gone)];
    same!(fx, told(&fx, &events), want, "events after the watch began");
    same!(fx, watch.done_through(), gone, "the last item's revision");
}

/// A watch from a past revision gives that revision's change first, then all later ones, then what comes.
pub async fn watch_from_a_past_revision(harness: &dyn Harness) {
    let fx = Fixture::shared(harness).await;
    let first = fx.create("a", "1").await;
    let second = fx.update("a", "2", first).await;
    let other = fx.create("b", "1").await;
    let gone = fx.delete("a", second).await;
    let again = fx.create("a", "3").await;
    let all = [put("a", first), put("a", second), put("b", other), deleted("a", gone), put("a", again)];
    let mut watches = Vec::new();
    for (skipped, start) in [first, second, other, gone, again].into_iter().enumerate() {
        let mut watch = fx.watch(all_of(&fx).from(start)).await;
        let events = watch.events(all.len() - skipped).await;
        same!(fx, told(&fx, &events), all[skipped..], "events from {start}");
        watches.push((start, watch));
    }
    let next = fx.create("next", "x").await;
    for (start, mut watch) in watches {
        same!(
            fx,
            told(&fx, &[watch.event().await]),
            [put("next", next)],
            "the next event of the watch from {start}"
        );
    }
    let mut watch = fx.watch(all_of(&fx).from(gone)).await;
    let live = fx.create("c", "live").await;
    let events = watch.events(4).await;
    let want = [deleted("a", gone), put("a", again), put("next", next), put("c", live)];
    same!(fx, told(&fx, &events), want, "past, then live");
}

/// A start of zero is no start: from now.
pub async fn watch_from_zero_is_from_now(harness: &dyn Harness) {
    let fx = Fixture::shared(harness).await;
    fx.create("a", "before").await;
    let mut watch = fx.watch(all_of(&fx).from(Revision(0))).await;
    let created = fx.create("b", "after").await;
    same!(fx, told(&fx, &[watch.event().await]), [put("b", created)], "the first event from 0");
}

/// A start above the head waits: changes before it are not told.
pub async fn watch_from_a_future_revision(harness: &dyn Harness) {
    let fx = Fixture::exclusive(harness).await;
    let head = fx.create("a", "0").await;
    let start = Revision(head.0 + 3);
    let mut watch = fx.watch(all_of(&fx).from(start)).await;
    let mut last = head;
    for number in 1..=4 {
        last = fx.update("a", number.to_string(), last).await;
    }
    let events = watch.events(2).await;
    same!(
        fx,
        told(&fx, &events),
        [put("a", start), put("a", start.next())],
        "events from {start}, head {head}"
    );
    same!(fx, last, start.next(), "the last write");
}

/// A put is told with the key as written: bytes, revisions, version, lease; and whether it created the key.
pub async fn put_event_shape(harness: &dyn Harness) {
    let fx = Fixture::shared(harness).await;
    let lease = fx.lease(std::time::Duration::from_secs(600)).await.id;
    let mut watch = fx.watch(all_of(&fx)).await;
    let created = fx.create("a", "one").await;
    let request = kubestore_kv::PutRequest::update(fx.key("a"), "two", created).with_lease(Some(lease));
    let updated = fx.put_done(request).await;
    let events = watch.events(2).await;
    let (create, update) = (&events[0], &events[1]);
    same!(fx, (create.kind, create.is_create()), (KvEventKind::Put, true), "first event {create:?}");
    same!(fx, (update.kind, update.is_create()), (KvEventKind::Put, false), "second event {update:?}");
    same!(fx, (&*create.kv.value, &*update.kv.value), (&b"one"[..], &b"two"[..]), "values of the events");
    same!(fx, update.kv, fx.get_some("a").await, "the event's pair and a get at {updated}");
    same!(fx, update.kv.lease, Some(lease), "lease of the event at {updated}");
    let previous = (&create.previous, &update.previous);
    same!(fx, previous, (&None, &None), "previous values without being asked for");
}

/// A deletion is told with the key and the deletion's revision, and nothing else.
pub async fn delete_event_shape(harness: &dyn Harness) {
    let fx = Fixture::shared(harness).await;
    let created = fx.create("a", "one").await;
    let mut watch = fx.watch(all_of(&fx)).await;
    let gone = fx.delete("a", created).await;
    let event = watch.event().await;
    same!(fx, (event.kind, event.is_create()), (KvEventKind::Delete, false), "event {event:?}");
    let want = KvEvent::delete(fx.key("a"), gone, None).kv;
    same!(fx, event.kv, want, "pair of the deletion at {gone}");
    same!(fx, event.previous, None, "previous value without being asked for");
}

/// Asked for, each event has the whole pair that it replaced; a creation replaced nothing.
pub async fn watch_with_previous(harness: &dyn Harness) {
    let fx = Fixture::shared(harness).await;
    let created = fx.create("a", "one").await;
    let mut live = fx.watch(all_of(&fx).with_previous()).await;
    let first = fx.get_some("a").await;
    let updated = fx.update("a", "two", created).await;
    let second = fx.get_some("a").await;
    let gone = fx.delete("a", updated).await;
    let again = fx.create("a", "three").await;
    let want = [Some(first), Some(second), None];
    let previous = |events: Vec<KvEvent>| events.into_iter().map(|event| event.previous).collect::<Vec<_>>();
    same!(fx, previous(live.events(3).await), want, "previous values at {updated}, {gone}, {again}");
    let mut late = fx.watch(all_of(&fx).with_previous().from(created)).await;
    let all = previous(late.events(4).await);
    same!(fx, all[0], None, "previous value of the creation at {created}");
    same!(fx, all[1..], want, "previous values of a watch from {created}");
}

/// A watch tells of its own keys only: a single key is not a prefix, and prefixes are bytes.
pub async fn watch_keeps_to_its_target(harness: &dyn Harness) {
    let fx = Fixture::shared(harness).await;
    let group = WatchGroup::new();
    let names = ["a", "a/", "a/1", "a0", "ab", "b"];
    let key = |name: &str| WatchTarget::Key(fx.key(name));
    let prefix = |name: &str| WatchTarget::Prefix(fx.key(name));
    let cases: [(WatchTarget, &[&str]); 6] = [
        (key("a"), &["a"]),
        (key("a/"), &["a/"]),
        (prefix("a"), &["a", "a/", "a/1", "a0", "ab"]),
        (prefix("a/"), &["a/", "a/1"]),
        (prefix("b"), &["b"]),
        (prefix(""), &names),
    ];
    let start = fx.create("zero", "x").await;
    let mut watches = Vec::new();
    for (target, _) in &cases {
        watches.push(fx.watch(WatchRequest::new(group, target.clone())).await);
    }
    for name in names {
        fx.create(name, name).await;
    }
    for ((target, want), mut live) in cases.into_iter().zip(watches) {
        let mut late = fx.watch(WatchRequest::new(group, target.clone()).from(start.next())).await;
        for (when, watch) in [("live", &mut live), ("past", &mut late)] {
            let events = watch.events(want.len()).await;
            let got: Vec<_> = events.iter().map(|event| fx.name(&event.kv.key)).collect();
            same!(fx, got, want, "{when} events of {target:?}");
        }
    }
}

/// A prefix that ends in the highest byte, and the empty one, are watched like any other.
pub async fn watch_of_odd_prefixes(harness: &dyn Harness) {
    let fx = Fixture::shared(harness).await;
    let key = |suffix: &[u8]| Bytes::from([&fx.key("p"), suffix].concat());
    let target = WatchTarget::Prefix(key(b"\xff"));
    let mut narrow = fx.watch(WatchRequest::new(WatchGroup::new(), target)).await;
    let everything = WatchTarget::Prefix(Bytes::new());
    let mut wide = fx.watch(WatchRequest::new(WatchGroup::new(), everything)).await;
    let suffixes = [&b"\xfe"[..], b"\xff", b"\xff\xff\0", b"q"];
    let mut revisions = Vec::new();
    for suffix in suffixes {
        revisions.push(fx.put_done(kubestore_kv::PutRequest::create(key(suffix), "x")).await);
    }
    let got: Vec<_> = narrow.events(2).await.into_iter().map(|event| event.kv.key).collect();
    same!(fx, got, [key(b"\xff"), key(b"\xff\xff\0")], "keys watched under p\\xff");
    let mut ours = Vec::new();
    while ours.len() < suffixes.len() {
        let batch = wide.batch().await.into_iter().filter(|event| event.kv.key.starts_with(&fx.key("")));
        ours.extend(batch.map(|event| event.kv.mod_revision));
    }
    same!(fx, ours, revisions, "this case's revisions in a watch of everything");
}

/// Refused writes are no events.
pub async fn refused_writes_are_not_told(harness: &dyn Harness) {
    let fx = Fixture::shared(harness).await;
    let created = fx.create("a", "one").await;
    let mut watch = fx.watch(all_of(&fx)).await;
    fx.put(kubestore_kv::PutRequest::create(fx.key("a"), "two")).await;
    let absent = kubestore_kv::DeleteRequest::new(fx.key("b"), Revision(0));
    let outcome = fx.ok(fx.kv().optimistic_delete(absent).await, "delete of nothing");
    holds!(fx, matches!(outcome, kubestore_kv::WriteOutcome::Done { .. }), "delete of nothing: {outcome:?}");
    let updated = fx.update("a", "three", created).await;
    same!(fx, told(&fx, &[watch.event().await]), [put("a", updated)], "the first event");
}
