//! Cases: bookmarks and initial events.

use std::{sync::Arc, time::Duration};

use kubestore_core::{CreateOptions, Storage, WatchEvent, WatchOptions};

use super::{
    Pod, StorageHarness,
    events::Kind,
    fixture::{Fixture, holds, options, same},
    seed::create_all,
};
use crate::Isolation;

/// How often a backend tells progress by itself in these cases.
const INTERVAL: Duration = Duration::from_secs(1);

/// A watch that asks for progress is told a bookmark from time to time.
pub async fn progress_notify(harness: &dyn StorageHarness) {
    let mut wanted = options(Isolation::Shared);
    wanted.progress_interval = Some(INTERVAL);
    let fx = Fixture::with(harness, wanted).await;
    let created = fx.create(&Pod::new("test-ns", "name")).await;
    let after = WatchOptions::default().with_resource_version(&created.resource_version);
    let mut events = fx.watch(&created.key(), after.with_progress_notify(true)).await;
    // A watch is not told progress before the revision that it begins with has come.
    fx.create(&Pod::new("test-ns", "other")).await;
    let time = async {
        loop {
            fx.advance_time(INTERVAL).await;
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let (version, initial_events_end) = tokio::select! {
        told = events.bookmark() => told,
        () = time => panic!("[{}] time came to an end", fx.backend()),
    };
    holds!(fx, version >= created.version(), "bookmark {version} is before {}", created.version());
    same!(fx, initial_events_end, false, "whether the bookmark ends initial events");
}

/// That a client takes bookmarks does not make the store send any: only a cache in front of it does.
pub async fn watch_dispatch_bookmark_events(harness: &dyn StorageHarness) {
    let mut wanted = options(Isolation::Shared);
    wanted.progress_interval = Some(INTERVAL);
    let fx = Fixture::with(harness, wanted).await;
    let created = fx.create(&Pod::new("test-ns", "foo")).await;
    for allowed in [false, true] {
        let mut options = WatchOptions::default().with_resource_version(&created.resource_version);
        options.allow_bookmarks = allowed;
        let mut events = fx.watch(&created.key(), options).await;
        fx.create(&Pod::new(&format!("other-ns-{allowed}"), "foo")).await;
        fx.advance_time(INTERVAL + Duration::from_millis(500)).await;
        events.nothing_more().await;
    }
}

/// Bookmarks that are asked for while objects are written are in order with the events: none goes back, and no event at
/// or below one comes after it.
pub async fn optional_watch_bookmarks_with_correct_resource_version(harness: &dyn StorageHarness) {
    const PODS: usize = 100;
    let fx = Fixture::shared(harness).await;
    let options = WatchOptions::recursive().with_resource_version(fx.now().await);
    let mut events = fx.watch("/pods/test-ns", options).await;
    let store = fx.shared_store();
    let writer = tokio::spawn(write_and_ask(store, PODS));
    let (mut added, mut bookmarks, mut last) = (0, 0, 0);
    // The order is checked as the events are read.
    while added < PODS || bookmarks == 0 {
        match events.next().await {
            WatchEvent::Bookmark { resource_version, .. } => {
                bookmarks += 1;
                holds!(fx, resource_version >= last, "bookmark {resource_version} after event {last}");
            }
            event => {
                let version = event.object().map(Pod::version).unwrap_or_default();
                holds!(fx, version > last, "event {version} after event {last}");
                last = version;
                added += 1;
            }
        }
    }
    writer.abort();
}

/// Creates pods and asks for progress meanwhile, and goes on asking.
async fn write_and_ask(store: Arc<dyn Storage<Pod>>, pods: usize) {
    for number in 0.. {
        if number < pods {
            let pod = Pod::new("test-ns", &format!("foo-{number}"));
            let created = store.create(&pod.key(), pod, CreateOptions::default()).await;
            created.unwrap_or_else(|error| panic!("create: {error:?}"));
        }
        if let Err(error) = store.request_watch_progress().await {
            panic!("request for progress: {error:?}");
        }
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

/// Where initial events are not turned on, a watch that asks for them is taken all the same.
pub async fn send_initial_events_backward_compatibility(harness: &dyn StorageHarness) {
    let fx = Fixture::shared(harness).await;
    for version in ["", "0"] {
        let mut options = WatchOptions::default().with_resource_version(version);
        options.send_initial_events = Some(true);
        let _events = fx.watch("/pods", options).await;
    }
}

/// The resource version a watch begins with.
#[derive(Clone, Copy, Debug)]
enum From {
    Current,
    One,
    Unset,
    Zero,
}

/// With initial events turned on: each combination of where a watch begins, whether it asks for initial events, and
/// whether it takes bookmarks.
pub async fn watch_semantics(harness: &dyn StorageHarness) {
    let mut wanted = options(Isolation::Exclusive);
    wanted.watch_list = true;
    let fx = Fixture::with(harness, wanted).await;
    let mut number = 0;
    for from in [From::Unset, From::Zero, From::One, From::Current] {
        for initial in [Some(true), Some(false), None] {
            for bookmarks in [true, false] {
                number += 1;
                let namespace = format!("ns-{number}");
                watch_begins(&fx, &namespace, from, initial, bookmarks).await;
            }
        }
    }
}

async fn watch_begins(fx: &Fixture, namespace: &str, from: From, initial: Option<bool>, bookmarks: bool) {
    let names = |numbers: [&'static str; 2]| numbers.map(|name| (namespace.to_owned(), name));
    let create = async |names: [(String, &'static str); 2]| {
        let names: Vec<(&str, &str)> =
            names.iter().map(|(namespace, name)| (namespace.as_str(), *name)).collect();
        create_all(fx, &names).await
    };
    let (before, last) = create(names(["pod-1", "pod-2"])).await;
    let version = match from {
        From::Current => fx.ok(fx.store().current_resource_version().await, "current version").to_string(),
        From::One => "1".to_owned(),
        From::Unset => String::new(),
        From::Zero => "0".to_owned(),
    };
    let mut options = WatchOptions::recursive().with_resource_version(version);
    options.send_initial_events = initial;
    options.allow_bookmarks = bookmarks;
    let mut events = fx.watch(&format!("/pods/{namespace}"), options).await;

    let told = match (initial, from) {
        (Some(asked), From::Unset | From::Zero | From::Current) => asked,
        (None, From::Unset | From::Zero) | (_, From::One) => true,
        (None, From::Current) => false,
    };
    if told {
        events.expect_added(&before).await;
    }
    if initial == Some(true) && bookmarks {
        let (version, initial_events_end) = events.bookmark().await;
        let least = last.parse().unwrap_or(u64::MAX);
        holds!(fx, version >= least, "{from:?}: the end's bookmark {version} is before {last}");
        same!(fx, initial_events_end, true, "{from:?}: whether the bookmark ends the initial events");
    }
    let (after, _) = create(names(["pod-3", "pod-4"])).await;
    events.expect_added(&after).await;
    events.nothing_more().await;
}

/// The bookmark that ends the initial events is of the newest revision of all, not of the last object told.
pub async fn watch_semantic_initial_events_extended(harness: &dyn StorageHarness) {
    let mut wanted = options(Isolation::Exclusive);
    wanted.watch_list = true;
    let fx = Fixture::with(harness, wanted).await;
    let names = ["pod-1", "pod-2", "pod-3", "pod-4", "pod-5"].map(|name| ("ns-foo", name));
    let (pods, _) = create_all(&fx, &names).await;
    let elsewhere = fx.create(&Pod::new("other-ns-foo", "pod-1")).await;
    let options = WatchOptions::recursive().with_initial_events(true);
    let mut events = fx.watch("/pods/ns-foo", options).await;
    events.expect_added(&pods).await;
    same!(
        fx,
        events.bookmark().await,
        (elsewhere.version(), true),
        "the bookmark at the end of the initial events"
    );
    events.nothing_more().await;
    let live = fx.create(&Pod::new("ns-foo", "pod-6")).await;
    events.expect(Kind::Added, &live).await;
}
