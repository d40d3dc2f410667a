//! Cases: watches of objects.

use std::time::Duration;

use futures_util::FutureExt as _;
use kubestore_core::{DeleteOptions, ErrorKind, ListOptions, Preconditions, Predicate, Scope, WatchOptions};

use super::{
    Pod, StorageHarness, Tampering,
    events::Kind,
    fixture::{Fixture, Validate, fields, holds, labels, same},
};

fn foo() -> Pod {
    Pod::new("test-ns", "foo")
}

/// What is after `version`, of one object.
fn after(version: &str) -> WatchOptions {
    WatchOptions::default().with_resource_version(version)
}

/// What is done to the watched object, and what the watch tells of it.
type Step = (Option<Pod>, Option<Kind>);

/// An object that appears, changes, or begins or ceases to match is told as added, modified or deleted, on a watch of
/// the object and on one of its namespace; what does not match is not told.
pub async fn watch(harness: &dyn StorageHarness) {
    let fx = Fixture::shared(harness).await;
    let base = Pod::new("", "foo");
    let assigned = base.clone().on_node("bar");
    let selected = |pod: &Pod| Some(pod.clone().labelled("select", "true"));
    let (plain, bar) = (|| Some(base.clone()), || Some(assigned.clone()));
    let rows: [(Predicate, Vec<Step>); 5] = [
        (Predicate::default(), vec![(plain(), Some(Kind::Added))]),
        (fields("spec.nodeName=bar"), vec![(plain(), None), (bar(), Some(Kind::Added))]),
        (Predicate::default(), vec![(plain(), Some(Kind::Added)), (bar(), Some(Kind::Modified))]),
        (fields("spec.nodeName!=bar"), vec![(plain(), Some(Kind::Added)), (bar(), Some(Kind::Deleted))]),
        (
            labels("select=true"),
            vec![
                (selected(&base), Some(Kind::Added)),
                (plain(), Some(Kind::Deleted)),
                (selected(&base), Some(Kind::Added)),
                (selected(&assigned), Some(Kind::Modified)),
                (None, Some(Kind::Deleted)),
            ],
        ),
    ];
    for scope in [Scope::Single, Scope::Recursive] {
        for (number, (predicate, steps)) in rows.iter().enumerate() {
            let namespace = format!("test-ns-{number}-{scope:?}");
            watch_steps(&fx, &namespace, scope, predicate, steps).await;
        }
    }
}

async fn watch_steps(fx: &Fixture, namespace: &str, scope: Scope, predicate: &Predicate, steps: &[Step]) {
    let folder = format!("/pods/{namespace}");
    let key = format!("{folder}/foo");
    let watched = if scope == Scope::Recursive { &folder } else { &key };
    let mut options = ListOptions::default().with_predicate(predicate.clone());
    options.scope = scope;
    let version = fx.list(watched, options).await.resource_version;
    let mut options = after(&version.to_string()).with_predicate(predicate.clone());
    options.scope = scope;
    let mut events = fx.watch(watched, options).await;
    // A neighbour whose key begins like the watched one's.
    fx.set(&format!("{folder}-bad/foo"), &Pod::new(&format!("{namespace}-bad"), "foo")).await;
    let mut before = Pod::default();
    for (pod, told) in steps {
        let now = match pod {
            Some(pod) => fx.set(&key, &Pod { namespace: namespace.to_owned(), ..pod.clone() }).await,
            None => fx.delete(&key).await,
        };
        match told {
            Some(Kind::Deleted) => events.expect(Kind::Deleted, &before.at(&now.resource_version)).await,
            Some(kind) => events.expect(*kind, &now).await,
            None => {}
        }
        before = now;
    }
}

/// A watch from 0 begins with what exists, whatever is compacted; one from a compacted resource version ends with an
/// error.
pub async fn watch_from_zero(harness: &dyn StorageHarness) {
    let fx = Fixture::exclusive(harness).await;
    let created = fx.create(&foo()).await;
    let key = created.key();
    let mut first = fx.watch(&key, after("0")).await;
    first.expect(Kind::Added, &created).await;
    let updated = fx.set(&key, &foo().annotated("a", "1")).await;
    first.expect(Kind::Modified, &updated).await;
    fx.watch(&key, after("0")).await.expect(Kind::Added, &updated).await;

    let last = fx.set(&key, &foo()).await;
    fx.compact(last.version()).await;
    fx.watch(&key, after("0")).await.expect(Kind::Added, &last).await;
    let error = fx.watch(&key, after(&created.resource_version)).await.error().await;
    let status = error.status();
    same!(
        fx,
        (error.kind(), status.code),
        (ErrorKind::Expired, 410),
        "the error of a watch that begins too early"
    );
}

/// A deletion is told.
pub async fn delete_trigger_watch(harness: &dyn StorageHarness) {
    let fx = Fixture::shared(harness).await;
    let created = fx.create(&foo()).await;
    let mut events = fx.watch(&created.key(), after(&created.resource_version)).await;
    let deleted = fx.delete(&created.key()).await;
    events.expect(Kind::Deleted, &deleted).await;
}

/// A watch from a resource version tells what is after it, and not what is at it.
pub async fn watch_from_non_zero(harness: &dyn StorageHarness) {
    let fx = Fixture::shared(harness).await;
    let created = fx.create(&foo()).await;
    let mut events = fx.watch(&created.key(), after(&created.resource_version)).await;
    let updated = fx.set(&created.key(), &created.clone().annotated("version", "2")).await;
    events.expect(Kind::Modified, &updated).await;
}

/// What was not read while it happened is read later, all of it and in order.
pub async fn delayed_watch_delivery(harness: &dyn StorageHarness) {
    let fx = Fixture::shared(harness).await;
    let created = fx.create(&foo()).await;
    let options = WatchOptions::recursive().with_resource_version(&created.resource_version);
    let mut events = fx.watch("/pods/test-ns", options).await;
    let mut pods = Vec::new();
    for number in 0..21 {
        pods.push(fx.create(&Pod::new("test-ns", &format!("foo-{number}"))).await);
    }
    events.expect_added(&pods).await;
}

/// A watch whose values cannot be opened ends with an error.
pub async fn watch_error(harness: &dyn StorageHarness) {
    let fx = Fixture::shared(harness).await;
    let before = fx.now().await;
    let created = fx.create(&foo()).await;
    fx.watch(&created.key(), after(&before)).await.expect(Kind::Added, &created).await;
    fx.hook("tamper", fx.instance().tamper(Tampering::FailReads));
    let error = fx.watch(&created.key(), after(&before)).await.error().await;
    same!(fx, error.status().reason.as_str(), "InternalError", "reason of the watch's error {error:?}");
}

/// A watch that is given up before it is in place leaves nothing behind: others go on, new ones begin.
pub async fn watch_context_cancel(harness: &dyn StorageHarness) {
    let fx = Fixture::shared(harness).await;
    let mut kept = fx.watch("/pods/kept", WatchOptions::recursive().with_resource_version("0")).await;
    for number in 0..10 {
        let key = format!("/pods/not-existing-{number}");
        // Polled once, then dropped, as a caller does who has lost patience.
        drop(fx.store().watch(&key, after("0")).now_or_never());
        let created = fx.create(&Pod::new("kept", &number.to_string())).await;
        kept.expect(Kind::Added, &created).await;
    }
}

/// Fifty watches that nobody reads do not hold up one that is read.
pub async fn watcher_timeout(harness: &dyn StorageHarness) {
    const UNREAD: u32 = 50;
    let fx = Fixture::shared(harness).await;
    let start = fx.now().await;
    let options = || WatchOptions::recursive().with_resource_version(&start);
    let mut unread = Vec::new();
    for _ in 0..UNREAD {
        unread.push(fx.watch("/pods/test-ns", options()).await);
    }
    let mut read = fx.watch("/pods/test-ns", options()).await;
    let began = tokio::time::Instant::now();
    for number in 0..22 {
        let created = fx.create(&Pod::new("test-ns", &format!("foo-{number}"))).await;
        read.expect(Kind::Added, &created).await;
    }
    let took = began.elapsed();
    holds!(fx, took < Duration::from_millis(250) * UNREAD, "22 events took {took:?}");
    drop(unread);
}

/// A deletion is told with the deletion's own resource version, the one that the delete returned.
pub async fn watch_delete_event_object_have_latest_rv(harness: &dyn StorageHarness) {
    let fx = Fixture::shared(harness).await;
    let created = fx.create(&foo()).await;
    let key = created.key();
    let mut events = fx.watch(&key, after(&created.resource_version)).await;
    let options = DeleteOptions::default().with_preconditions(Preconditions::default());
    let deleted = fx.store().delete(&key, options, &mut Validate(|_: &Pod| Ok(())), None).await;
    let deleted = fx.ok(deleted, "delete");
    holds!(fx, deleted.version() > created.version(), "{deleted:?} has no newer version than {created:?}");
    events.expect(Kind::Deleted, &deleted).await;
}

/// When the call has returned the watch is in place: what is written next is told.
pub async fn watch_initialization_signal(harness: &dyn StorageHarness) {
    let fx = Fixture::shared(harness).await;
    for number in 0..20 {
        let created = fx.create(&Pod::new("test-ns", &format!("foo-{number}"))).await;
        let mut events = fx.watch(&created.key(), after(&created.resource_version)).await;
        let updated = fx.change(&created.key(), Pod::running).await;
        events.expect(Kind::Modified, &updated).await;
    }
}
