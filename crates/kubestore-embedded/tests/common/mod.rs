//! What the integration tests share: a fresh engine of either form, and short ways to ask it.

#![allow(dead_code, unused_imports, unreachable_pub, reason = "each test binary uses a part of it")]

pub mod child;

use std::time::Duration;

use futures_util::StreamExt;
pub use kubestore_conformance::ManualClock;
use kubestore_embedded::{Embedded, EmbeddedBuilder};
use kubestore_kv::{
    DeleteRequest, Expect, GetRequest, KeyValue, Kv, KvError, KvEvent, KvEventKind, KvWatch, ListRequest,
    PutRequest, Revision, WatchGroup, WatchItem, WatchRequest, WatchTarget, WriteOutcome,
};

/// How long a test waits for what must come.
pub const SOON: Duration = Duration::from_secs(20);

/// Where an engine lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Memory,
    #[cfg(feature = "durable")]
    Durable,
}

/// An engine, with its directory if it has one.
pub struct Fixture {
    pub kv: Embedded,
    pub dir: Option<tempfile::TempDir>,
}

impl Fixture {
    pub async fn new(form: Form) -> Self {
        Self::with(form, Embedded::builder()).await
    }

    #[allow(clippy::unused_async, reason = "the durable form awaits")]
    pub async fn with(form: Form, builder: EmbeddedBuilder) -> Self {
        match form {
            Form::Memory => Self { kv: builder.in_memory(), dir: None },
            #[cfg(feature = "durable")]
            Form::Durable => {
                let dir = tempfile::tempdir().unwrap();
                Self { kv: builder.open(dir.path()).await.unwrap(), dir: Some(dir) }
            }
        }
    }
}

/// Runs each of the named functions on each form. The functions take a [`Form`].
#[macro_export]
macro_rules! on_every_form {
    ($($name:ident,)+) => {
        mod memory {
            $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $name() {
                    super::$name(super::common::Form::Memory).await;
                }
            )+
        }
        #[cfg(feature = "durable")]
        mod durable {
            $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $name() {
                    super::$name(super::common::Form::Durable).await;
                }
            )+
        }
    };
}

pub async fn create(kv: &dyn Kv, key: &str, value: &str) -> i64 {
    done(kv.optimistic_put(PutRequest::create(key.to_owned(), value.to_owned())).await)
}

pub async fn update(kv: &dyn Kv, key: &str, value: &str, at: i64) -> i64 {
    done(kv.optimistic_put(PutRequest::update(key.to_owned(), value.to_owned(), Revision(at))).await)
}

/// Puts whatever is there.
pub async fn put(kv: &dyn Kv, key: &str, value: &str) -> i64 {
    let at = kv.get(GetRequest::new(key.to_owned())).await.unwrap().kv.map_or(0, |kv| kv.mod_revision.0);
    update(kv, key, value, at).await
}

pub async fn delete(kv: &dyn Kv, key: &str) -> i64 {
    let at = kv.get(GetRequest::new(key.to_owned())).await.unwrap().kv.unwrap().mod_revision;
    done(kv.optimistic_delete(DeleteRequest::new(key.to_owned(), at)).await)
}

pub fn done(outcome: Result<WriteOutcome, KvError>) -> i64 {
    match outcome.unwrap() {
        WriteOutcome::Done { revision } => revision.0,
        other => panic!("expected the write to happen, got {other:?}"),
    }
}

pub fn conflict(outcome: Result<WriteOutcome, KvError>) -> (Option<KeyValue>, i64) {
    match outcome.unwrap() {
        WriteOutcome::Conflict { current, head } => (current, head.0),
        other => panic!("expected a conflict, got {other:?}"),
    }
}

pub async fn value(kv: &dyn Kv, key: &str) -> Option<String> {
    kv.get(GetRequest::new(key.to_owned())).await.unwrap().kv.map(|kv| text(&kv.value))
}

pub async fn value_at(kv: &dyn Kv, key: &str, at: i64) -> Result<Option<String>, KvError> {
    Ok(kv.get(GetRequest::new(key.to_owned()).at(Revision(at))).await?.kv.map(|kv| text(&kv.value)))
}

/// `key=value` of everything under `prefix`.
pub async fn all(kv: &dyn Kv, prefix: &str) -> Vec<String> {
    pairs(&kv.list(ListRequest::new(prefix.to_owned())).await.unwrap().kvs)
}

pub fn pairs(kvs: &[KeyValue]) -> Vec<String> {
    kvs.iter().map(|kv| format!("{}={}", text(&kv.key), text(&kv.value))).collect()
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

pub async fn head(kv: &dyn Kv) -> i64 {
    kv.status().await.unwrap().head.0
}

pub fn prefix(prefix: &str) -> WatchTarget {
    WatchTarget::Prefix(prefix.to_owned().into())
}

pub async fn watch_from(kv: &dyn Kv, target: &str, start: i64) -> KvWatch {
    kv.watch(WatchRequest::new(WatchGroup::new(), prefix(target)).from(Revision(start))).await.unwrap()
}

pub async fn watch_now(kv: &dyn Kv, target: &str) -> KvWatch {
    kv.watch(WatchRequest::new(WatchGroup::new(), prefix(target))).await.unwrap()
}

/// The next item, or a failed test.
pub async fn next(watch: &mut KvWatch) -> Option<Result<WatchItem, KvError>> {
    tokio::time::timeout(SOON, watch.next()).await.expect("an item of the watch is overdue")
}

/// The next events, each as `put key=value @revision` or `delete key @revision`.
pub async fn events(watch: &mut KvWatch, count: usize) -> Vec<String> {
    let mut seen = Vec::new();
    while seen.len() < count {
        match next(watch).await {
            Some(Ok(WatchItem::Events { events, through })) => {
                assert_eq!(events.last().unwrap().kv.mod_revision, through);
                seen.extend(events.iter().map(describe));
            }
            other => panic!("expected events, got {other:?} after {seen:?}"),
        }
    }
    assert_eq!(seen.len(), count, "{seen:?}");
    seen
}

pub async fn failure(watch: &mut KvWatch) -> KvError {
    match next(watch).await {
        Some(Err(error)) => {
            assert!(next(watch).await.is_none(), "a watch ends after its error");
            error
        }
        other => panic!("expected an error, got {other:?}"),
    }
}

pub async fn progress(watch: &mut KvWatch) -> i64 {
    match next(watch).await {
        Some(Ok(WatchItem::Progress(revision))) => revision.0,
        other => panic!("expected progress, got {other:?}"),
    }
}

pub fn describe(event: &KvEvent) -> String {
    let (key, at) = (text(&event.kv.key), event.kv.mod_revision);
    let after = match event.kind {
        KvEventKind::Put => format!("put {key}={} @{at}", text(&event.kv.value)),
        KvEventKind::Delete => format!("delete {key} @{at}"),
    };
    match &event.previous {
        Some(previous) => format!("{after} was {} @{}", text(&previous.value), previous.mod_revision),
        None => after,
    }
}

pub fn version(key: &str, value: &str, version: i64) -> PutRequest {
    PutRequest::create(key.to_owned(), value.to_owned()).with_expect(Expect::Version(version))
}
