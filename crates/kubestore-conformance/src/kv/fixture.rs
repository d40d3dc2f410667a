//! What the cases of the key-value suite have in common: an instance, keys of their own, and checks that say where.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, SystemTime},
};

use bytes::Bytes;
use futures_util::{StreamExt as _, TryStreamExt as _};
use kubestore_kv::{
    DeleteRequest, GetRequest, KeyValue, Kv, KvError, KvErrorKind, LeaseGrant, ListChunk, ListRequest,
    ListResponse, PutRequest, Revision, WatchRequest, WriteOutcome,
};

use super::watcher::Watcher;
use crate::{Harness, Instance, Isolation};

pub(crate) use crate::check::{holds, same};

/// One case's view of a backend.
#[derive(Debug)]
pub(crate) struct Fixture {
    backend: String,
    patience: Duration,
    prefix: String,
    instance: Box<dyn Instance>,
    kv: Arc<dyn Kv>,
}

impl Fixture {
    /// An instance that others may write to under other prefixes.
    pub(crate) async fn shared(harness: &dyn Harness) -> Self {
        Self::start(harness, Isolation::Shared).await
    }

    /// An instance on which revisions move only by what the case does, and which it may compact.
    pub(crate) async fn exclusive(harness: &dyn Harness) -> Self {
        Self::start(harness, Isolation::Exclusive).await
    }

    async fn start(harness: &dyn Harness, isolation: Isolation) -> Self {
        let backend = harness.name().to_owned();
        let instance = match harness.start(isolation).await {
            Ok(instance) => instance,
            Err(unsupported) => panic!("[{backend}] {isolation:?} instance: {unsupported}; {SKIP_IT}"),
        };
        let kv = instance.kv();
        Self { backend, patience: harness.patience(), prefix: unique_prefix(), instance, kv }
    }

    pub(crate) fn backend(&self) -> &str {
        &self.backend
    }

    /// How long anything that must happen may take.
    pub(crate) fn patience(&self) -> Duration {
        self.patience
    }

    pub(crate) fn kv(&self) -> &dyn Kv {
        &*self.kv
    }

    /// The case's own key called `name`.
    pub(crate) fn key(&self, name: &str) -> Bytes {
        Bytes::from(format!("{}{name}", self.prefix))
    }

    /// The keys of `kvs` without the case's prefix.
    pub(crate) fn names<'a>(&self, kvs: impl IntoIterator<Item = &'a KeyValue>) -> Vec<String> {
        kvs.into_iter().map(|kv| self.name(&kv.key)).collect()
    }

    /// `key` without the case's prefix, or all of it if it is not the case's.
    pub(crate) fn name(&self, key: &[u8]) -> String {
        let name = key.strip_prefix(self.prefix.as_bytes()).unwrap_or(key);
        String::from_utf8_lossy(name).into_owned()
    }

    pub(crate) fn ok<T>(&self, result: Result<T, KvError>, what: impl fmt::Display) -> T {
        match result {
            Ok(value) => value,
            Err(error) => panic!("[{}] {what} failed: {error:?}", self.backend),
        }
    }

    /// The error of what must fail in this way.
    pub(crate) fn fails<T: fmt::Debug>(
        &self,
        result: Result<T, KvError>,
        kind: KvErrorKind,
        what: impl fmt::Display,
    ) -> KvError {
        match result {
            Err(error) if error.kind() == kind => error,
            other => panic!("[{}] {what}: got {other:?}, want an error of kind {kind:?}", self.backend),
        }
    }

    pub(crate) async fn put(&self, request: PutRequest) -> WriteOutcome {
        let what = format!("{request:?}");
        self.ok(self.kv.optimistic_put(request).await, what)
    }

    /// Puts what must be put.
    pub(crate) async fn put_done(&self, request: PutRequest) -> Revision {
        let what = format!("{request:?}");
        match self.put(request).await {
            WriteOutcome::Done { revision } => revision,
            other => panic!("[{}] {what}: got {other:?}, want it done", self.backend),
        }
    }

    pub(crate) async fn create(&self, name: &str, value: impl Into<Bytes>) -> Revision {
        self.put_done(PutRequest::create(self.key(name), value)).await
    }

    pub(crate) async fn update(&self, name: &str, value: impl Into<Bytes>, revision: Revision) -> Revision {
        self.put_done(PutRequest::update(self.key(name), value, revision)).await
    }

    /// Creates many keys, several at a time.
    pub(crate) async fn create_all(&self, names: impl IntoIterator<Item = String>, value: &Bytes) {
        futures_util::stream::iter(names)
            .map(|name| async move { self.create(&name, value.clone()).await })
            .buffer_unordered(32)
            .for_each(async |_| ())
            .await;
    }

    /// Deletes what must be there at `revision`.
    pub(crate) async fn delete(&self, name: &str, revision: Revision) -> Revision {
        let request = DeleteRequest::new(self.key(name), revision);
        match self.ok(self.kv.optimistic_delete(request).await, format_args!("delete of {name}")) {
            WriteOutcome::Done { revision } => revision,
            other => panic!("[{}] delete of {name} at {revision}: got {other:?}, want it done", self.backend),
        }
    }

    pub(crate) async fn get(&self, name: &str) -> Option<KeyValue> {
        self.ok(self.kv.get(GetRequest::new(self.key(name))).await, format_args!("get of {name}")).kv
    }

    pub(crate) async fn get_at(&self, name: &str, revision: Revision) -> Option<KeyValue> {
        let request = GetRequest::new(self.key(name)).at(revision);
        self.ok(self.kv.get(request).await, format_args!("get of {name} at {revision}")).kv
    }

    /// What must be there.
    pub(crate) async fn get_some(&self, name: &str) -> KeyValue {
        self.get(name).await.unwrap_or_else(|| panic!("[{}] {name} is missing", self.backend))
    }

    pub(crate) async fn list(&self, request: ListRequest) -> ListResponse {
        let what = format!("{request:?}");
        self.ok(self.kv.list(request).await, what)
    }

    pub(crate) async fn chunks(&self, request: ListRequest) -> Vec<ListChunk> {
        let what = format!("chunks of {request:?}");
        self.ok(self.kv.list_chunks(request).try_collect().await, what)
    }

    pub(crate) async fn head(&self) -> Revision {
        self.ok(self.kv.status().await, "status").head
    }

    pub(crate) async fn lease(&self, ttl: Duration) -> LeaseGrant {
        self.ok(self.kv.grant_lease(ttl).await, format_args!("grant of {ttl:?}"))
    }

    pub(crate) async fn watch(&self, request: WatchRequest) -> Watcher {
        let what = format!("{request:?}");
        let stream = self.ok(self.kv.watch(request).await, &what);
        Watcher::new(self, what, stream)
    }

    pub(crate) async fn advance_time(&self, by: Duration) {
        if let Err(unsupported) = self.instance.advance_time(by).await {
            panic!("[{}] advance_time: {unsupported}; {SKIP_IT}", self.backend);
        }
    }

    /// Stops the backend without warning and starts it again.
    pub(crate) async fn restart(self) -> Self {
        let Self { backend, patience, prefix, mut instance, kv } = self;
        drop(kv);
        if let Err(unsupported) = instance.restart().await {
            panic!("[{backend}] restart: {unsupported}; {SKIP_IT}");
        }
        let kv = instance.kv();
        Self { backend, patience, prefix, instance, kv }
    }

    /// Asks again and again until `check` holds.
    pub(crate) async fn eventually(&self, what: &str, mut check: impl AsyncFnMut() -> bool) {
        let asked = async {
            while !check().await {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        let happened = tokio::time::timeout(self.patience, asked).await.is_ok();
        holds!(self, happened, "{what}: not within {:?}", self.patience);
    }
}

/// Runs each of `clients` in a task of its own, and gives what they gave. A case that fails in one of them fails.
pub(crate) async fn in_parallel<T: Send + 'static>(
    clients: impl IntoIterator<Item = impl Future<Output = T> + Send + 'static>,
) -> Vec<T> {
    let tasks: Vec<_> = clients.into_iter().map(tokio::spawn).collect();
    let mut results = Vec::new();
    for task in tasks {
        match task.await {
            Ok(result) => results.push(result),
            Err(error) => match error.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                Err(error) => panic!("a client's task ended: {error}"),
            },
        }
    }
    results
}

pub(crate) const SKIP_IT: &str = "if that is right, name the case in the suite: skip(case, \"reason\")";

/// A prefix that no other case uses, not even one of another run on the same data.
pub(crate) fn unique_prefix() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_nanos();
    let (process, number) = (std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    format!("/conformance/{now:x}-{process:x}-{number:x}/")
}
