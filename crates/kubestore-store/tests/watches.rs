//! Watches where something goes wrong, feeds of caches, and waiting for an object.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod common;
mod liar;

use std::{sync::Arc, time::Duration};

use common::{builder, fill, labelled_pod, memory, names, pod, with_number};
use futures_util::StreamExt as _;
use kubestore_codec::Unstructured;
use kubestore_core::{
    CreateOptions, ErrorKind, FeedEvent, GetOptions, Predicate, Storage, StorageExt, Updated, WatchEvent,
    WatchOptions, WatchStream,
};
use kubestore_kv::{GetRequest, Kv, ListRequest, ListResponse, PutRequest, Revision};
use kubestore_store::Store;

type Pods = Store<Unstructured>;

async fn next(events: &mut WatchStream<Unstructured>) -> kubestore_core::Result<WatchEvent<Unstructured>> {
    let next = tokio::time::timeout(Duration::from_secs(10), events.next()).await;
    next.expect("an event within 10 s").expect("the stream goes on")
}

async fn raw_put(kv: &Arc<dyn Kv>, name: &str, value: &'static str) {
    let key = format!("/registry/pods/ns1/{name}");
    let current = kv.get(GetRequest::new(key.clone())).await.unwrap().kv;
    let revision = current.map_or(Revision(0), |kv| kv.mod_revision);
    kv.optimistic_put(PutRequest::update(key, value, revision)).await.unwrap();
}

async fn touch(store: &Pods, name: &str, number: i64) {
    let update = move |current: Option<Unstructured>, _| async move {
        Ok(Updated::new(with_number(current.unwrap(), number)))
    };
    store.update_with(&format!("/pods/ns1/{name}"), update).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_comes_before_an_undecodable_change_is_told_and_nothing_after_it() {
    let kv = memory();
    let store = builder(Arc::clone(&kv)).build();
    for number in 0..200 {
        let name = format!("p{number:03}");
        if number == 99 {
            raw_put(&kv, &name, "damaged").await;
        } else {
            store.create(&format!("/pods/ns1/{name}"), pod(&name), CreateOptions::default()).await.unwrap();
        }
    }
    let mut events =
        store.watch("/pods", WatchOptions::recursive().with_resource_version("1")).await.unwrap();
    for number in 0..99 {
        let event = next(&mut events).await.unwrap();
        assert_eq!(event.object().unwrap().name(), format!("p{number:03}"));
    }
    let error = next(&mut events).await.unwrap_err();
    assert_eq!((error.kind(), error.key()), (ErrorKind::Corrupt, Some("/registry/pods/ns1/p099")));
    assert_eq!(error.status().reason, "InternalError");
    assert!(events.next().await.is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_exists_is_told_page_by_page_at_one_state_while_writers_go_on() {
    let store = builder(memory()).build();
    let initial = 2_500;
    for number in 0..initial {
        let name = format!("p{number:04}");
        store.create(&format!("/pods/ns1/{name}"), pod(&name), CreateOptions::default()).await.unwrap();
    }
    let mut events = store.watch("/pods", WatchOptions::recursive()).await.unwrap();
    // Deleted after the watch began: told as it was, then as deleted.
    store.remove("/pods/ns1/p2499").await.unwrap();
    store.create("/pods/ns1/p0000a", pod("p0000a"), CreateOptions::default()).await.unwrap();
    for number in 0..initial {
        let event = next(&mut events).await.unwrap();
        assert_eq!(
            (event.event_type(), event.object().unwrap().name()),
            ("ADDED", &*format!("p{number:04}"))
        );
    }
    let event = next(&mut events).await.unwrap();
    assert_eq!((event.event_type(), event.object().unwrap().name()), ("DELETED", "p2499"));
    let event = next(&mut events).await.unwrap();
    assert_eq!((event.event_type(), event.object().unwrap().name()), ("ADDED", "p0000a"));
}

#[tokio::test]
async fn progress_is_refused_where_the_backend_does_not_answer_it() {
    let honest = |_: &ListRequest| ListResponse::new(Vec::new(), Revision(1), false, Some(0));
    let store = builder(Arc::new(liar::Liar::new(memory(), honest))).build();
    let error = store.request_watch_progress().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.to_string().contains("3.5.13"), "{error}");
    builder(memory()).build().request_watch_progress().await.unwrap();
}

#[tokio::test]
async fn a_feed_lists_watches_and_lists_again_when_its_state_is_compacted() {
    let store = builder(memory()).build();
    fill(&store, 3).await;
    let web: Predicate = Predicate::new("app=web".parse().unwrap(), Default::default());
    let mut feed = store.list_then_watch("/pods", web);
    let mut told = Vec::new();
    for _ in 0..5 {
        told.push(describe(feed.next().await.unwrap().unwrap()));
    }
    assert_eq!(told, ["restarted", "listed p00", "listed p01", "listed p02", "synced 4"]);
    // The watch is not registered before the next poll: compact what it would begin with.
    touch(&store, "p00", 1).await;
    touch(&store, "p00", 2).await;
    store.create("/pods/ns1/x", labelled_pod("x", "db"), CreateOptions::default()).await.unwrap();
    store.kv().compact(Revision(6)).await.unwrap();
    told.clear();
    for _ in 0..5 {
        told.push(describe(feed.next().await.unwrap().unwrap()));
    }
    assert_eq!(told, ["restarted", "listed p00", "listed p01", "listed p02", "synced 7"]);
    // The watch begins with the poll that waits for its first event.
    let (event, ()) = tokio::join!(feed.next(), async {
        store.remove("/pods/ns1/p01").await.unwrap();
    });
    assert_eq!(describe(event.unwrap().unwrap()), "deleted p01");
}

fn describe(event: FeedEvent<Unstructured>) -> String {
    match event {
        FeedEvent::Restarted => "restarted".into(),
        FeedEvent::Listed(object) => format!("listed {}", object.name()),
        FeedEvent::Synced { resource_version } => format!("synced {resource_version}"),
        FeedEvent::Changed(event) => {
            let name = event.object().map(Unstructured::name).unwrap_or_default();
            format!("{} {name}", event.event_type().to_lowercase())
        }
        _ => "something else".into(),
    }
}

#[tokio::test]
async fn waiting_for_an_object_ends_when_it_is_as_wanted() {
    let store = builder(memory()).build();
    let other = store.clone();
    let waiting = tokio::spawn(async move {
        let ready = |pod: Option<&Unstructured>| pod.is_some_and(|pod| common::number(pod) == 3);
        other.wait_until("/pods/ns1/a", ready).await.unwrap().unwrap()
    });
    store.create("/pods/ns1/a", pod("a"), CreateOptions::default()).await.unwrap();
    for number in 1..=3 {
        touch(&store, "a", number).await;
    }
    assert_eq!(common::number(&waiting.await.unwrap()), 3);
    store.remove("/pods/ns1/a").await.unwrap();
    assert_eq!(store.wait_until("/pods/ns1/a", |pod| pod.is_none()).await.unwrap(), None);
    assert!(store.get("/pods/ns1/a", GetOptions::default()).await.unwrap_err().is_not_found());
}

#[tokio::test]
async fn objects_that_begin_or_end_to_match_are_added_and_deleted() {
    let store = builder(memory()).build();
    let web = Predicate::new("app=web".parse().unwrap(), Default::default());
    let options = WatchOptions::recursive().with_resource_version("1").with_predicate(web);
    let mut events = store.watch("/pods", options).await.unwrap();
    for app in ["db", "web", "web", "db"] {
        let mut pod = labelled_pod("a", app);
        pod.set_pointer("/metadata/annotations/n", app).unwrap();
        let mut put = |_: Option<Unstructured>, _| Ok(Updated::new(pod.clone()));
        let options = kubestore_core::UpdateOptions::default().ignore_not_found();
        store.guaranteed_update("/pods/ns1/a", options, &mut put, None).await.unwrap();
        touch(&store, "a", 1).await;
    }
    let mut told = Vec::new();
    for _ in 0..5 {
        let event = next(&mut events).await.unwrap();
        told.push((event.event_type(), event.object().unwrap().resource_version().to_owned()));
    }
    let expected =
        [("ADDED", "4"), ("MODIFIED", "5"), ("MODIFIED", "6"), ("MODIFIED", "7"), ("DELETED", "8")];
    assert_eq!(told.iter().map(|(kind, version)| (*kind, &**version)).collect::<Vec<_>>(), expected);
    assert_eq!(names(&[]), [""; 0]);
}
