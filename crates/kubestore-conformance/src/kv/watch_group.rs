//! Cases: progress, groups, and watches beside each other and beside writers.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use bytes::Bytes;
use kubestore_kv::{KvErrorKind, PutRequest, Revision, WatchGroup, WatchRequest, WatchTarget};

use super::{
    fixture::{Fixture, holds, in_parallel, same},
    watcher::{Seen, Watcher},
};
use crate::Harness;

fn watch_of(fx: &Fixture, group: WatchGroup, prefix: &str) -> WatchRequest {
    WatchRequest::new(group, WatchTarget::Prefix(fx.key(prefix)))
}

/// Asks for progress until `watch` has told of everything through `revision`, as a watch cache does.
async fn progress_reaches(fx: &Fixture, group: WatchGroup, watch: &mut Watcher, revision: Revision) {
    let asked = async {
        loop {
            fx.ok(fx.kv().request_progress(group).await, "request for progress");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    let reached = async {
        while watch.done_through() < revision {
            watch.next().await;
        }
    };
    let patience = fx.patience();
    tokio::select! {
        () = reached => {}
        () = tokio::time::sleep(patience) => panic!("[{}] no progress through {revision} in {patience:?}", fx.backend()),
        () = asked => {}
    }
}

/// A quiet watch is told of progress through writes that are none of its business.
pub async fn progress_on_a_quiet_watch(harness: &dyn Harness) {
    let fx = Fixture::shared(harness).await;
    let group = WatchGroup::new();
    let mut watch = fx.watch(watch_of(&fx, group, "quiet/")).await;
    let elsewhere = fx.create("other", "x").await;
    progress_reaches(&fx, group, &mut watch, elsewhere).await;
    let created = fx.create("quiet/a", "x").await;
    same!(fx, watch.event().await.kv.mod_revision, created, "the event after the progress");
}

/// All watches of the group are told, and those of another group are not.
pub async fn progress_is_for_the_group(harness: &dyn Harness) {
    let fx = Fixture::shared(harness).await;
    let (asked, other) = (WatchGroup::new(), WatchGroup::new());
    let mut first = fx.watch(watch_of(&fx, asked, "a/")).await;
    let mut second = fx.watch(watch_of(&fx, asked, "b/")).await;
    let mut foreign = fx.watch(watch_of(&fx, other, "a/")).await;
    let written = fx.create("c", "x").await;
    progress_reaches(&fx, asked, &mut first, written).await;
    progress_reaches(&fx, asked, &mut second, written).await;
    // That nothing comes cannot be awaited, only given time.
    let quiet = tokio::time::timeout(Duration::from_millis(200), foreign.next()).await;
    holds!(fx, quiet.is_err(), "the other group was told {quiet:?}");
    let created = fx.create("a/1", "x").await;
    same!(fx, foreign.event().await.kv.mod_revision, created, "event of the other group");
    same!(fx, first.event().await.kv.mod_revision, created, "event after the progress");
}

/// Asking for a group without watches does nothing, before it had any and after.
pub async fn progress_of_an_empty_group(harness: &dyn Harness) {
    let fx = Fixture::shared(harness).await;
    let group = WatchGroup::new();
    fx.ok(fx.kv().request_progress(group).await, "request for a group that never had a watch");
    drop(fx.watch(watch_of(&fx, group, "")).await);
    fx.ok(fx.kv().request_progress(group).await, "request for a group whose watch was dropped");
    let mut watch = fx.watch(watch_of(&fx, group, "a")).await;
    let created = fx.create("a", "x").await;
    same!(fx, watch.event().await.kv.mod_revision, created, "event of a later watch of the group");
}

/// A watch that ended because its start is compacted keeps nobody of its group from being in step. (etcd takes such a
/// watch for one that is behind until the client cancels it, although the server has ended it itself.)
pub async fn progress_goes_on_after_a_compacted_watch(harness: &dyn Harness) {
    let fx = Fixture::exclusive(harness).await;
    let group = WatchGroup::new();
    let first = fx.create("a", "0").await;
    let second = fx.update("a", "1", first).await;
    let mut watch = fx.watch(watch_of(&fx, group, "")).await;
    fx.ok(fx.kv().compact(second).await, "compaction");
    let error = fx.watch(watch_of(&fx, group, "").from(first)).await.error().await;
    same!(fx, error.kind(), KvErrorKind::Compacted, "end of the watch from before");
    let third = fx.update("a", "2", second).await;
    same!(fx, watch.event().await.kv.mod_revision, third, "event of the watch that goes on");
    let elsewhere = fx.put_done(PutRequest::create(fx.key("b"), "x")).await;
    same!(fx, watch.event().await.kv.mod_revision, elsewhere, "another event of it");
    let mut quiet = fx.watch(watch_of(&fx, group, "quiet/")).await;
    progress_reaches(&fx, group, &mut quiet, elsewhere).await;
}

/// A watch that waits for a revision to come is not in step: what is asked for before is forgotten, not kept.
pub async fn progress_is_forgotten_before_the_start(harness: &dyn Harness) {
    let fx = Fixture::exclusive(harness).await;
    let group = WatchGroup::new();
    let head = fx.create("other", "x").await;
    let start = head.next().next();
    let mut watch = fx.watch(watch_of(&fx, group, "w/").from(start)).await;
    fx.ok(fx.kv().request_progress(group).await, "request for progress");
    // That nothing comes cannot be awaited, only given time.
    let quiet = tokio::time::timeout(Duration::from_millis(200), watch.next()).await;
    holds!(fx, quiet.is_err(), "a watch from {start} was told {quiet:?} at head {head}");
    fx.create("w/before", "x").await;
    let at_start = fx.create("w/at", "x").await;
    match watch.next().await {
        Seen::Events(events) => same!(fx, events[0].kv.mod_revision, at_start, "first event from {start}"),
        Seen::Progress => panic!("[{}] the progress asked for before {start} came after it", fx.backend()),
    }
    let later = fx.create("elsewhere", "x").await;
    progress_reaches(&fx, group, &mut watch, later).await;
}

/// Progress tells the truth under a hot writer: no event at or below it comes afterwards, and none is lost. Every
/// item is checked as it is read.
pub async fn progress_never_overtakes_events(harness: &dyn Harness) {
    const WRITES: usize = 400;
    let fx = Arc::new(Fixture::shared(harness).await);
    let group = WatchGroup::new();
    let mut near = fx.watch(watch_of(&fx, group, "hot/")).await;
    let mut far = fx.watch(watch_of(&fx, group, "none/")).await;
    let (writer, asker) = (Arc::clone(&fx), Arc::clone(&fx));
    let writes = tokio::spawn(async move {
        for number in 0..WRITES {
            let place = if number % 2 == 0 { "hot" } else { "cold" };
            writer.create(&format!("{place}/{number}"), "x").await;
            if number % 10 == 0 {
                // A pace that leaves room for requests, also where a write takes no time.
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        }
        writer.create("hot/last", "x").await
    });
    let requests = tokio::spawn(async move {
        loop {
            asker.ok(asker.kv().request_progress(group).await, "request for progress");
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    });
    let mut events = 0;
    while events < WRITES / 2 + 1 {
        if let Seen::Events(more) = near.next().await {
            events += more.len();
        }
    }
    same!(fx, events, WRITES / 2 + 1, "events of the hot prefix");
    let Ok(last) = writes.await else { panic!("[{}] the writer failed", fx.backend()) };
    progress_reaches(&fx, group, &mut near, last).await;
    progress_reaches(&fx, group, &mut far, last).await;
    requests.abort();
}

/// Several writers at once: every change is told once, in the order of revisions, with the right value.
pub async fn watch_under_concurrent_writers(harness: &dyn Harness) {
    const WRITERS: usize = 8;
    const WRITES: usize = 40;
    let fx = Arc::new(Fixture::shared(harness).await);
    let mut watches = Vec::new();
    for _ in 0..2 {
        watches.push(fx.watch(watch_of(&fx, WatchGroup::new(), "")).await);
    }
    let writers = (0..WRITERS).map(|writer| {
        let fx = Arc::clone(&fx);
        async move {
            let name = format!("w{writer}");
            let mut written = vec![(fx.create(&name, "0").await, name.clone(), 0)];
            for number in 1..WRITES {
                let revision = fx.update(&name, number.to_string(), written[number - 1].0).await;
                written.push((revision, name.clone(), number));
            }
            written
        }
    });
    let written = in_parallel(writers).await.into_iter().flatten();
    let want: BTreeMap<_, _> =
        written.map(|(revision, name, number)| (revision, (name, number.to_string()))).collect();
    same!(fx, want.len(), WRITERS * WRITES, "different revisions");
    for watch in &mut watches {
        let events = watch.events(want.len()).await.into_iter().map(|event| {
            let value = String::from_utf8_lossy(&event.kv.value).into_owned();
            (event.kv.mod_revision, (fx.name(&event.kv.key), value))
        });
        holds!(fx, events.eq(want.clone()), "the watch and the writers' own account differ");
    }
}

/// A watch sees what was written after the call returned, however soon: none of many fresh watches misses the write.
pub async fn watch_is_registered_when_it_returns(harness: &dyn Harness) {
    let fx = Fixture::shared(harness).await;
    let group = WatchGroup::new();
    for number in 0..50 {
        let name = format!("k{number}");
        let mut watch = fx.watch(watch_of(&fx, group, &name)).await;
        let created = fx.create(&name, "x").await;
        same!(fx, watch.event().await.kv.mod_revision, created, "event of {name}, written at once");
    }
}

/// Dropping a watch ends it alone: its group goes on, is told progress, and takes new watches.
pub async fn dropping_a_watch_ends_it_alone(harness: &dyn Harness) {
    let fx = Fixture::shared(harness).await;
    let group = WatchGroup::new();
    let mut kept = fx.watch(watch_of(&fx, group, "")).await;
    for number in 0..20 {
        let dropped = fx.watch(watch_of(&fx, group, "")).await;
        let name = format!("k{number}");
        let created = fx.create(&name, "x").await;
        drop(dropped);
        same!(fx, kept.event().await.kv.mod_revision, created, "event of {name} in the watch that stays");
    }
    let last = fx.create("last", "x").await;
    progress_reaches(&fx, group, &mut kept, last).await;
}

/// A watch that nobody reads holds up neither writers nor the other watches of its group.
pub async fn unread_watch_holds_up_nobody(harness: &dyn Harness) {
    const WRITES: usize = 500;
    let fx = Fixture::shared(harness).await;
    let group = WatchGroup::new();
    let mut unread = fx.watch(watch_of(&fx, group, "l/")).await;
    let mut read = fx.watch(watch_of(&fx, group, "l/")).await;
    let value = Bytes::from(vec![b'v'; 4_096]);
    let mut last = Revision(0);
    for number in 0..WRITES {
        let request = PutRequest::create(fx.key(&format!("l/{number}")), value.clone());
        last = fx.put_done(request).await;
    }
    let events = read.events(WRITES).await;
    same!(fx, events[WRITES - 1].kv.mod_revision, last, "last event of the watch that is read");
    let events = unread.events(WRITES).await;
    same!(fx, events[WRITES - 1].kv.mod_revision, last, "last event of the watch that was not read");
}
