//! A backend whose lists and watches are what functions say, and which answers no progress requests.
#![allow(dead_code, reason = "each test file uses its part")]

use std::{fmt, sync::Arc, time::Duration};

use async_trait::async_trait;
use bytes::Bytes;
use kubestore_kv::{
    BoxStream, DeleteRequest, GetRequest, GetResponse, Kv, KvError, KvStatus, KvWatch, LeaseGrant, LeaseId,
    LeaseInfo, ListChunk, ListRequest, ListResponse, PutRequest, Revision, WatchGroup, WatchRequest,
    WriteOutcome,
};

pub(crate) type Chunks = BoxStream<Result<ListChunk, KvError>>;

pub(crate) struct Liar<F> {
    inner: Arc<dyn Kv>,
    lists: F,
    chunks: Option<Box<dyn Fn(Chunks) -> Chunks + Send + Sync>>,
    watches: Option<Box<dyn Fn() -> KvWatch + Send + Sync>>,
}

impl<F> Liar<F> {
    pub(crate) fn new(inner: Arc<dyn Kv>, lists: F) -> Self {
        Self { inner, lists, chunks: None, watches: None }
    }

    /// Makes something else of lists in parts.
    pub(crate) fn with_chunks(mut self, chunks: impl Fn(Chunks) -> Chunks + Send + Sync + 'static) -> Self {
        self.chunks = Some(Box::new(chunks));
        self
    }

    /// Gives these watches instead.
    pub(crate) fn with_watches(mut self, watches: impl Fn() -> KvWatch + Send + Sync + 'static) -> Self {
        self.watches = Some(Box::new(watches));
        self
    }
}

impl<F> fmt::Debug for Liar<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Liar")
    }
}

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl<F: Fn(&ListRequest) -> ListResponse + Send + Sync + 'static> Kv for Liar<F> {
    async fn get(&self, request: GetRequest) -> Result<GetResponse, KvError> {
        self.inner.get(request).await
    }

    async fn list(&self, request: ListRequest) -> Result<ListResponse, KvError> {
        Ok((self.lists)(&request))
    }

    fn list_chunks(&self, request: ListRequest) -> BoxStream<Result<ListChunk, KvError>> {
        let chunks = self.inner.list_chunks(request);
        match &self.chunks {
            Some(function) => function(chunks),
            None => chunks,
        }
    }

    async fn count(&self, prefix: Bytes) -> Result<i64, KvError> {
        self.inner.count(prefix).await
    }

    async fn optimistic_put(&self, request: PutRequest) -> Result<WriteOutcome, KvError> {
        self.inner.optimistic_put(request).await
    }

    async fn optimistic_delete(&self, request: DeleteRequest) -> Result<WriteOutcome, KvError> {
        self.inner.optimistic_delete(request).await
    }

    async fn watch(&self, request: WatchRequest) -> Result<KvWatch, KvError> {
        match &self.watches {
            Some(function) => Ok(function()),
            None => self.inner.watch(request).await,
        }
    }

    async fn request_progress(&self, group: WatchGroup) -> Result<(), KvError> {
        self.inner.request_progress(group).await
    }

    async fn grant_lease(&self, ttl: Duration) -> Result<LeaseGrant, KvError> {
        self.inner.grant_lease(ttl).await
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
        let mut status = self.inner.status().await?;
        status.progress_requests = false;
        Ok(status)
    }
}
