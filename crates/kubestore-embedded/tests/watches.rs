//! Watches: from now and from the past, beside compaction, with progress, to the end.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod common;

use std::{sync::Arc, time::Duration};

use common::{
    Fixture, Form, ManualClock, create, delete, events, failure, head, next, prefix, progress, put,
    watch_from, watch_now,
};
use futures_util::{FutureExt, StreamExt};
use kubestore_embedded::Embedded;
use kubestore_kv::{
    Kv, KvErrorKind, KvWatch, PutRequest, Revision, WatchGroup, WatchItem, WatchRequest, WatchTarget,
};

on_every_form! {
    a_watch_sees_what_comes_after_it,
    a_watch_of_the_past_sees_all_of_it_in_order,
    a_key_is_watched_alone,
    previous_values_come_when_asked_for,
    creations_are_told_from_updates,
    a_watch_may_begin_in_the_future,
    a_start_of_zero_or_less_is_now,
    a_watch_around_the_compacted_revision,
    a_delete_at_the_compacted_revision_is_seen,
    previous_values_are_missing_where_compacted,
    a_quiet_watch_outlives_compaction,
    what_was_written_while_a_watch_was_in_step_outlives_compaction,
    a_watch_that_is_far_behind_is_overtaken_by_compaction,
    progress_comes_after_the_events_and_only_to_its_group,
    progress_never_overtakes_events,
    progress_is_told_from_time_to_time,
    batches_are_bounded_and_never_split_a_revision,
    closing_ends_every_watch,
    a_dropped_engine_ends_every_watch,
    watches_under_concurrent_writers_miss_nothing,
}

async fn a_watch_sees_what_comes_after_it(form: Form) {
    let Fixture { kv, .. } = &Fixture::new(form).await;
    create(kv, "p/a", "0").await;
    let mut watch = watch_now(kv, "p/").await;
    put(kv, "p/a", "1").await;
    create(kv, "q/a", "1").await;
    delete(kv, "p/a").await;
    assert_eq!(events(&mut watch, 2).await, ["put p/a=1 @3", "delete p/a @5"]);
    assert!(watch.next().now_or_never().is_none());
    create(kv, "p/b", "1").await;
    assert_eq!(events(&mut watch, 1).await, ["put p/b=1 @6"]);
}

async fn a_watch_of_the_past_sees_all_of_it_in_order(form: Form) {
    let Fixture { kv, .. } = &Fixture::new(form).await;
    let mut expected = Vec::new();
    for number in 0..3000 {
        let at = create(kv, &format!("p/{number}"), "x").await;
        expected.push(format!("put p/{number}=x @{at}"));
    }
    let mut watch = watch_from(kv, "p/", 1).await;
    assert_eq!(events(&mut watch, 3000).await, expected);
    let mut watch = watch_from(kv, "p/", 1502).await;
    assert_eq!(events(&mut watch, 1500).await, expected[1500..]);
    create(kv, "p/more", "x").await;
    assert_eq!(events(&mut watch, 1).await, ["put p/more=x @3002"]);
}

async fn a_key_is_watched_alone(form: Form) {
    let Fixture { kv, .. } = &Fixture::new(form).await;
    let mut watch =
        kv.watch(WatchRequest::new(WatchGroup::new(), WatchTarget::Key("a".into()))).await.unwrap();
    create(kv, "aa", "1").await;
    create(kv, "a", "1").await;
    create(kv, "a/b", "1").await;
    put(kv, "a", "2").await;
    assert_eq!(events(&mut watch, 2).await, ["put a=1 @3", "put a=2 @5"]);
}

async fn previous_values_come_when_asked_for(form: Form) {
    let Fixture { kv, .. } = &Fixture::new(form).await;
    create(kv, "a", "1").await;
    put(kv, "a", "2").await;
    delete(kv, "a").await;
    create(kv, "a", "3").await;
    let request = WatchRequest::new(WatchGroup::new(), prefix("a")).from(Revision(2)).with_previous();
    let mut watch = kv.watch(request).await.unwrap();
    let expected = ["put a=1 @2", "put a=2 @3 was 1 @2", "delete a @4 was 2 @3", "put a=3 @5"];
    assert_eq!(events(&mut watch, 4).await, expected);
    assert_eq!(
        events(&mut watch_from(kv, "a", 3).await, 3).await,
        ["put a=2 @3", "delete a @4", "put a=3 @5"]
    );
}

async fn creations_are_told_from_updates(form: Form) {
    let Fixture { kv, .. } = &Fixture::new(form).await;
    create(kv, "a", "1").await;
    put(kv, "a", "2").await;
    delete(kv, "a").await;
    create(kv, "a", "3").await;
    let mut watch = watch_from(kv, "", 2).await;
    let mut created = Vec::new();
    while created.len() < 4 {
        let Some(Ok(WatchItem::Events { events, .. })) = next(&mut watch).await else {
            panic!("expected events")
        };
        created.extend(events.iter().map(|event| (event.is_create(), event.kv.version)));
    }
    assert_eq!(created, [(true, 1), (false, 2), (false, 0), (true, 1)]);
}

async fn a_watch_may_begin_in_the_future(form: Form) {
    let Fixture { kv, .. } = &Fixture::new(form).await;
    create(kv, "a", "1").await;
    let group = WatchGroup::new();
    let mut watch = kv.watch(WatchRequest::new(group, prefix("")).from(Revision(5))).await.unwrap();
    put(kv, "a", "3").await;
    // Forgotten, not kept for later: the first item is the event.
    kv.request_progress(group).await.unwrap();
    put(kv, "a", "4").await;
    put(kv, "a", "5").await;
    put(kv, "a", "6").await;
    assert_eq!(events(&mut watch, 2).await, ["put a=5 @5", "put a=6 @6"]);
    kv.request_progress(group).await.unwrap();
    assert_eq!(progress(&mut watch).await, 6);
}

async fn a_start_of_zero_or_less_is_now(form: Form) {
    let Fixture { kv, .. } = &Fixture::new(form).await;
    create(kv, "a", "1").await;
    for start in [0, -1] {
        let mut watch = watch_from(kv, "", start).await;
        let at = put(kv, "a", "x").await;
        assert_eq!(events(&mut watch, 1).await, [format!("put a=x @{at}")]);
    }
}

async fn a_watch_around_the_compacted_revision(form: Form) {
    let Fixture { kv, .. } = &Fixture::new(form).await;
    for number in 1..=5 {
        put(kv, "a", &number.to_string()).await; // 2 to 6
    }
    kv.compact(Revision(4)).await.unwrap();
    let error = failure(&mut watch_from(kv, "", 3).await).await;
    assert_eq!((error.kind(), error.revision()), (KvErrorKind::Compacted, Some(Revision(4))));
    assert_eq!(events(&mut watch_from(kv, "", 4).await, 3).await, ["put a=3 @4", "put a=4 @5", "put a=5 @6"]);
    assert_eq!(events(&mut watch_from(kv, "", 5).await, 2).await, ["put a=4 @5", "put a=5 @6"]);
    let error = failure(&mut watch_from(kv, "nothing/of/it", 1).await).await;
    assert_eq!(error.kind(), KvErrorKind::Compacted);
}

async fn a_delete_at_the_compacted_revision_is_seen(form: Form) {
    let Fixture { kv, .. } = &Fixture::new(form).await;
    create(kv, "a", "1").await; // 2
    delete(kv, "a").await; // 3
    create(kv, "b", "1").await; // 4
    kv.compact(Revision(3)).await.unwrap();
    assert_eq!(events(&mut watch_from(kv, "", 3).await, 2).await, ["delete a @3", "put b=1 @4"]);
    kv.compact(Revision(4)).await.unwrap();
    assert_eq!(events(&mut watch_from(kv, "", 4).await, 1).await, ["put b=1 @4"]);
    assert_eq!(failure(&mut watch_from(kv, "", 3).await).await.kind(), KvErrorKind::Compacted);
}

async fn previous_values_are_missing_where_compacted(form: Form) {
    let Fixture { kv, .. } = &Fixture::new(form).await;
    for number in 1..=3 {
        put(kv, "a", &number.to_string()).await; // 2 to 4
    }
    kv.compact(Revision(3)).await.unwrap();
    let request = WatchRequest::new(WatchGroup::new(), prefix("a")).from(Revision(3)).with_previous();
    let mut watch = kv.watch(request).await.unwrap();
    assert_eq!(events(&mut watch, 2).await, ["put a=2 @3", "put a=3 @4 was 2 @3"]);
}

async fn a_quiet_watch_outlives_compaction(form: Form) {
    let Fixture { kv, .. } = &Fixture::new(form).await;
    create(kv, "a", "1").await;
    let mut never_polled = watch_now(kv, "q/").await;
    let mut of_the_past = watch_from(kv, "q/", 1).await;
    let mut polled = watch_now(kv, "q/").await;
    create(kv, "q/1", "1").await;
    assert_eq!(events(&mut polled, 1).await, ["put q/1=1 @3"]);
    assert_eq!(events(&mut never_polled, 1).await, ["put q/1=1 @3"]);
    assert_eq!(events(&mut of_the_past, 1).await, ["put q/1=1 @3"]);
    for number in 0..100 {
        put(kv, "a", &number.to_string()).await;
    }
    let at = head(kv).await;
    kv.compact(Revision(at)).await.unwrap();
    for number in 0..10 {
        put(kv, "a", &number.to_string()).await;
    }
    let at = create(kv, "q/2", "1").await;
    for watch in [&mut never_polled, &mut of_the_past, &mut polled] {
        assert_eq!(events(watch, 1).await, [format!("put q/2=1 @{at}")]);
    }
}

async fn what_was_written_while_a_watch_was_in_step_outlives_compaction(form: Form) {
    let Fixture { kv, .. } = &Fixture::new(form).await;
    create(kv, "a", "0").await; // 2
    let request = WatchRequest::new(WatchGroup::new(), prefix("a")).with_previous();
    let mut watch = kv.watch(request).await.unwrap();
    for number in 1..=3 {
        let at = put(kv, "a", &number.to_string()).await; // 3 to 5
        kv.compact(Revision(at)).await.unwrap();
    }
    let expected = ["put a=1 @3 was 0 @2", "put a=2 @4 was 1 @3", "put a=3 @5 was 2 @4"];
    assert_eq!(events(&mut watch, 3).await, expected);
    put(kv, "a", "4").await;
    kv.compact(Revision(6)).await.unwrap();
    assert_eq!(events(&mut watch, 1).await, ["put a=4 @6 was 3 @5"]);
}

async fn a_watch_that_is_far_behind_is_overtaken_by_compaction(form: Form) {
    let Fixture { kv, .. } = &Fixture::new(form).await;
    let mut watch = watch_now(kv, "").await;
    let size = 1 << 20;
    let value = "x".repeat(size);
    for _ in 0..20 {
        put(kv, "a", &value).await; // 2 to 21: more bytes than may wait
    }
    kv.compact(Revision(21)).await.unwrap();
    let mut seen = 0;
    let error = loop {
        match next(&mut watch).await {
            Some(Ok(WatchItem::Events { events, .. })) => seen += events.len(),
            Some(Ok(other)) => panic!("unexpected {other:?}"),
            Some(Err(error)) => break error,
            None => panic!("the watch ended without a word"),
        }
    };
    assert!((8..20).contains(&seen), "{seen} waited");
    assert_eq!((error.kind(), error.revision()), (KvErrorKind::Compacted, Some(Revision(21))));
    assert!(watch.next().await.is_none());
}

async fn progress_comes_after_the_events_and_only_to_its_group(form: Form) {
    let Fixture { kv, .. } = &Fixture::new(form).await;
    let (ours, theirs) = (WatchGroup::new(), WatchGroup::new());
    let mut mine = kv.watch(WatchRequest::new(ours, prefix("a")).from(Revision(1))).await.unwrap();
    let mut second = kv.watch(WatchRequest::new(ours, prefix("b"))).await.unwrap();
    let mut other = kv.watch(WatchRequest::new(theirs, prefix("a")).from(Revision(1))).await.unwrap();
    create(kv, "a", "1").await;
    create(kv, "c", "1").await;
    kv.request_progress(ours).await.unwrap();
    assert_eq!(events(&mut mine, 1).await, ["put a=1 @2"]);
    assert_eq!(progress(&mut mine).await, 3);
    assert_eq!(progress(&mut second).await, 3);
    assert_eq!(events(&mut other, 1).await, ["put a=1 @2"]);
    assert!(other.next().now_or_never().is_none());
    assert!(mine.next().now_or_never().is_none());
    let waiting = tokio::spawn(async move { progress(&mut second).await });
    create(kv, "d", "1").await;
    tokio::task::yield_now().await;
    kv.request_progress(ours).await.unwrap();
    assert_eq!(waiting.await.unwrap(), 4);
    kv.request_progress(WatchGroup::new()).await.unwrap();
}

async fn progress_never_overtakes_events(form: Form) {
    let Fixture { kv, .. } = &Fixture::new(form).await;
    let group = WatchGroup::new();
    let mut watch = kv.watch(WatchRequest::new(group, prefix("hot/")).from(Revision(1))).await.unwrap();
    let writer = {
        let kv = kv.clone();
        tokio::spawn(async move {
            for number in 0..2000 {
                create(&kv, &format!("hot/{number}"), "x").await;
                if number % 3 == 0 {
                    create(&kv, &format!("cold/{number}"), "x").await;
                }
                if number % 10 == 0 {
                    kv.request_progress(group).await.unwrap();
                }
            }
        })
    };
    let (mut promised, mut seen, mut progresses, mut last) = (0, 0, 0, 0);
    while seen < 2000 {
        match next(&mut watch).await.unwrap().unwrap() {
            WatchItem::Events { events, through } => {
                for event in &events {
                    assert!(event.kv.mod_revision.0 > promised, "{event:?} after progress {promised}");
                    assert!(event.kv.mod_revision.0 > last);
                    last = event.kv.mod_revision.0;
                }
                assert_eq!(through.0, last);
                seen += events.len();
            }
            WatchItem::Progress(revision) => {
                assert!(revision.0 >= promised && revision.0 >= last);
                promised = revision.0;
                progresses += 1;
            }
            other => panic!("unexpected {other:?}"),
        }
    }
    writer.await.unwrap();
    assert!(progresses > 0);
    kv.request_progress(group).await.unwrap();
    assert_eq!(progress(&mut watch).await, head(kv).await);
}

async fn progress_is_told_from_time_to_time(form: Form) {
    let clock = ManualClock::new();
    let builder =
        Embedded::builder().clock(Arc::new(clock.clone())).progress_interval(Duration::from_secs(60));
    let Fixture { kv, .. } = &Fixture::with(form, builder).await;
    create(kv, "a", "1").await;
    let asking = WatchRequest::new(WatchGroup::new(), prefix("p/")).with_progress_notify(true);
    let mut watch = kv.watch(asking).await.unwrap();
    let mut silent = watch_now(kv, "p/").await;
    assert!(watch.next().now_or_never().is_none());
    clock.advance(Duration::from_secs(59));
    assert!(watch.next().now_or_never().is_none());
    create(kv, "b", "1").await;
    clock.advance(Duration::from_secs(1));
    assert_eq!(progress(&mut watch).await, 3);
    assert!(watch.next().now_or_never().is_none());
    clock.advance(Duration::from_secs(60));
    assert_eq!(progress(&mut watch).await, 3);
    assert!(silent.next().now_or_never().is_none());
}

async fn batches_are_bounded_and_never_split_a_revision(form: Form) {
    let Fixture { kv, .. } = &Fixture::new(form).await;
    let lease = kv.grant_lease(Duration::from_secs(1000)).await.unwrap().id;
    for number in 0..1500 {
        common::done(
            kv.optimistic_put(PutRequest::create(format!("k/{number:04}"), "x").with_lease(Some(lease)))
                .await,
        );
    }
    kv.revoke_lease(lease).await.unwrap();
    let mut watch = watch_from(kv, "k/", 1).await;
    let mut sizes = Vec::new();
    while sizes.iter().sum::<usize>() < 3000 {
        let Some(Ok(WatchItem::Events { events, .. })) = next(&mut watch).await else {
            panic!("expected events")
        };
        sizes.push(events.len());
    }
    assert_eq!(sizes, [1000, 2000]);
    let value = "x".repeat(1 << 20);
    for number in 0..10 {
        create(kv, &format!("big/{number}"), &value).await;
    }
    let mut watch = watch_from(kv, "big/", 1).await;
    let mut sizes = Vec::new();
    while sizes.iter().sum::<usize>() < 10 {
        let Some(Ok(WatchItem::Events { events, .. })) = next(&mut watch).await else {
            panic!("expected events")
        };
        sizes.push(events.len());
    }
    assert_eq!(sizes, [4, 4, 2]);
}

async fn ends_with_unavailable(watches: Vec<KvWatch>) {
    for mut watch in watches {
        let error = failure(&mut watch).await;
        assert_eq!(error.kind(), KvErrorKind::Unavailable);
    }
}

async fn closing_ends_every_watch(form: Form) {
    let Fixture { kv, .. } = &Fixture::new(form).await;
    let watches = vec![watch_now(kv, "a").await, watch_from(kv, "", 1).await, watch_from(kv, "", 99).await];
    let waiting = tokio::spawn(ends_with_unavailable(watches));
    tokio::task::yield_now().await;
    kv.close().await;
    waiting.await.unwrap();
}

async fn a_dropped_engine_ends_every_watch(form: Form) {
    let fixture = Fixture::new(form).await;
    let watches = vec![watch_now(&fixture.kv, "a").await, watch_from(&fixture.kv, "", 1).await];
    let waiting = tokio::spawn(ends_with_unavailable(watches));
    tokio::task::yield_now().await;
    drop(fixture);
    waiting.await.unwrap();
}

async fn watches_under_concurrent_writers_miss_nothing(form: Form) {
    let Fixture { kv, .. } = &Fixture::new(form).await;
    const WRITERS: usize = 8;
    const EACH: usize = 250;
    let mut watchers = Vec::new();
    for writer in 0..WRITERS {
        let mut watch = watch_now(kv, &format!("w{writer}/")).await;
        watchers.push(tokio::spawn(async move {
            let seen = events(&mut watch, EACH).await;
            for (number, event) in seen.iter().enumerate() {
                assert!(event.starts_with(&format!("put w{writer}/{number:04}=x @")), "{event}");
            }
        }));
    }
    let mut everything = watch_now(kv, "w").await;
    let mut writers = Vec::new();
    for writer in 0..WRITERS {
        let kv = kv.clone();
        writers.push(tokio::spawn(async move {
            for number in 0..EACH {
                create(&kv, &format!("w{writer}/{number:04}"), "x").await;
            }
        }));
    }
    let mut revisions = Vec::new();
    while revisions.len() < WRITERS * EACH {
        let Some(Ok(WatchItem::Events { events, .. })) = next(&mut everything).await else {
            panic!("expected events")
        };
        revisions.extend(events.iter().map(|event| event.kv.mod_revision.0));
    }
    assert_eq!(revisions, (2..2 + i64::try_from(WRITERS * EACH).unwrap()).collect::<Vec<_>>());
    for task in watchers.into_iter().chain(writers) {
        task.await.unwrap();
    }
}
