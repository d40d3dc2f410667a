//! A backend that writes down what it is asked, and the leases it grants.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::StreamExt;
use kubestore_kv::{
    BoxStream, DeleteRequest, GetRequest, GetResponse, Kv, KvError, KvStatus, KvWatch, LeaseGrant, LeaseId,
    LeaseInfo, ListChunk, ListRequest, ListResponse, PutRequest, Revision, WatchGroup, WatchRequest,
    WriteOutcome,
};

use crate::recording::Base;

/// What reached the backend through one store, step by step.
///
/// Requests belong to the innermost step that runs: a scenario runs one step at a time, and steps inside a function run
/// while the store waits for that function.
#[derive(Debug)]
pub(crate) struct Traced {
    inner: Arc<dyn Kv>,
    base: Base,
    log: Arc<Mutex<Log>>,
}

#[derive(Debug, Default)]
struct Log {
    steps: Vec<Vec<String>>,
    leases: Vec<LeaseId>,
}

impl Log {
    fn add(log: &Mutex<Self>, request: String) {
        if let Some(step) = lock(log).steps.last_mut() {
            step.push(request);
        }
    }
}

impl Traced {
    pub(crate) fn new(inner: Arc<dyn Kv>, base: Base) -> Self {
        Self { inner, base, log: Arc::default() }
    }

    /// A step begins, perhaps inside another.
    pub(crate) fn begin(&self) {
        lock(&self.log).steps.push(Vec::new());
    }

    /// The innermost step ends; its requests, unless there were none.
    pub(crate) fn end(&self) -> Option<Vec<String>> {
        lock(&self.log).steps.pop().filter(|requests| !requests.is_empty())
    }

    /// All leases granted so far.
    pub(crate) fn leases(&self) -> Vec<LeaseId> {
        lock(&self.log).leases.clone()
    }

    fn add(&self, request: String) {
        Log::add(&self.log, request);
    }

    fn at(&self, revision: Option<Revision>) -> String {
        revision.map(|revision| format!(" rev={}", self.base.relative(revision.0))).unwrap_or_default()
    }

    fn range(&self, request: &ListRequest) -> String {
        let limit = request.limit.map(|limit| format!(" limit={limit}")).unwrap_or_default();
        format!("range{limit}{}", self.at(request.revision))
    }

    fn write(&self, what: &str, outcome: &Result<WriteOutcome, KvError>) {
        let result = match outcome {
            Ok(WriteOutcome::Done { .. }) => "ok",
            Ok(_) => "conflict",
            Err(_) => "error",
        };
        self.add(format!("txn {what} -> {result}"));
    }
}

fn lock(log: &Mutex<Log>) -> std::sync::MutexGuard<'_, Log> {
    log.lock().unwrap_or_else(PoisonError::into_inner)
}

fn answer(found: Option<(usize, bool)>) -> String {
    match found {
        Some((count, more)) => format!(" -> kvs={count}{}", if more { " more" } else { "" }),
        None => " -> error".to_owned(),
    }
}

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl Kv for Traced {
    async fn get(&self, request: GetRequest) -> Result<GetResponse, KvError> {
        let at = self.at(request.revision);
        let response = self.inner.get(request).await;
        let found = response.as_ref().ok().map(|response| (usize::from(response.kv.is_some()), false));
        self.add(format!("get{at}{}", answer(found)));
        response
    }

    async fn list(&self, request: ListRequest) -> Result<ListResponse, KvError> {
        let range = self.range(&request);
        let response = self.inner.list(request).await;
        let found = response.as_ref().ok().map(|response| (response.kvs.len(), response.more));
        self.add(range + &answer(found));
        response
    }

    fn list_chunks(&self, request: ListRequest) -> BoxStream<Result<ListChunk, KvError>> {
        let (range, log) = (self.range(&request), Arc::clone(&self.log));
        let mut count = 0;
        Box::pin(self.inner.list_chunks(request).inspect(move |chunk| match chunk {
            Ok(chunk) => {
                count += chunk.kvs.len();
                if let Some(end) = &chunk.end {
                    Log::add(&log, range.clone() + &answer(Some((count, end.more))));
                }
            }
            Err(_) => Log::add(&log, range.clone() + &answer(None)),
        }))
    }

    async fn count(&self, prefix: Bytes) -> Result<i64, KvError> {
        self.inner.count(prefix).await
    }

    async fn optimistic_put(&self, request: PutRequest) -> Result<WriteOutcome, KvError> {
        let what = if request.lease.is_some() { "put with lease" } else { "put" };
        let outcome = self.inner.optimistic_put(request).await;
        self.write(what, &outcome);
        outcome
    }

    async fn optimistic_delete(&self, request: DeleteRequest) -> Result<WriteOutcome, KvError> {
        let outcome = self.inner.optimistic_delete(request).await;
        self.write("delete", &outcome);
        outcome
    }

    async fn watch(&self, request: WatchRequest) -> Result<KvWatch, KvError> {
        self.inner.watch(request).await
    }

    async fn request_progress(&self, group: WatchGroup) -> Result<(), KvError> {
        self.inner.request_progress(group).await
    }

    async fn grant_lease(&self, ttl: Duration) -> Result<LeaseGrant, KvError> {
        let grant = self.inner.grant_lease(ttl).await?;
        lock(&self.log).leases.push(grant.id);
        Ok(grant)
    }

    async fn revoke_lease(&self, id: LeaseId) -> Result<(), KvError> {
        self.inner.revoke_lease(id).await
    }

    async fn lease_info(&self, id: LeaseId) -> Result<LeaseInfo, KvError> {
        self.inner.lease_info(id).await
    }

    async fn compact(&self, revision: Revision) -> Result<(), KvError> {
        self.inner.compact(revision).await
    }

    async fn status(&self) -> Result<KvStatus, KvError> {
        self.inner.status().await
    }
}
