//! `EtcdKv`: the contract, method by method.

use std::{fmt, sync::Arc, time::Duration};

use async_trait::async_trait;
use bytes::Bytes;
use kubestore_kv::{
    BoxStream, DeleteRequest, GetRequest, GetResponse, Kv, KvError, KvStatus, KvWatch, LeaseGrant, LeaseId,
    LeaseInfo, ListChunk, ListRequest, ListResponse, PutRequest, Revision, WatchGroup, WatchRequest,
    WriteOutcome,
};

use crate::{
    EtcdKvBuilder, auth::Tokens, history::History, options::EtcdOptions, pool::Pool, stream::StreamSupport,
    watch::Groups,
};

/// A [`Kv`] over etcd. Clones share the connections.
///
/// Calls go to one of the endpoints until it fails, then to the next. Reads that reach nobody are tried again for a
/// while; writes never are once they were sent. Each call has a deadline. See [`EtcdKvBuilder`] for the limits.
///
/// Watches outlive the value they were made by, and end when they are dropped.
#[derive(Clone)]
pub struct EtcdKv {
    pub(crate) shared: Arc<Shared>,
}

/// What the clones of an [`EtcdKv`] have in common.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) pool: Pool,
    pub(crate) options: EtcdOptions,
    pub(crate) tokens: Arc<Tokens>,
    pub(crate) groups: Groups,
    pub(crate) history: History,
    pub(crate) stream_support: StreamSupport,
}

impl EtcdKv {
    /// Connects with default settings.
    ///
    /// # Errors
    /// Those of [`EtcdKvBuilder::connect`].
    ///
    /// # Panics
    /// Outside a tokio runtime.
    pub async fn connect<I>(endpoints: I) -> Result<Self, KvError>
    where
        I: IntoIterator,
        I::Item: Into<String>,
    {
        Self::builder().endpoints(endpoints).connect().await
    }

    /// Settings to connect with.
    pub fn builder() -> EtcdKvBuilder {
        EtcdKvBuilder::default()
    }
}

impl Shared {
    pub(crate) fn new(pool: Pool, options: EtcdOptions, tokens: Arc<Tokens>) -> Self {
        Self {
            pool,
            options,
            tokens,
            groups: Groups::default(),
            history: History::default(),
            stream_support: StreamSupport::default(),
        }
    }
}

impl fmt::Debug for EtcdKv {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let endpoints: Vec<_> = self.shared.pool.members().iter().map(|member| &member.url).collect();
        f.debug_struct("EtcdKv").field("endpoints", &endpoints).finish_non_exhaustive()
    }
}

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl Kv for EtcdKv {
    async fn get(&self, request: GetRequest) -> Result<GetResponse, KvError> {
        self.shared.get(request).await
    }

    async fn list(&self, request: ListRequest) -> Result<ListResponse, KvError> {
        self.shared.list(request).await
    }

    fn list_chunks(&self, request: ListRequest) -> BoxStream<Result<ListChunk, KvError>> {
        crate::pages::list_chunks(Arc::clone(&self.shared), request)
    }

    async fn count(&self, prefix: Bytes) -> Result<i64, KvError> {
        self.shared.count(prefix).await
    }

    async fn optimistic_put(&self, request: PutRequest) -> Result<WriteOutcome, KvError> {
        self.shared.put(request).await
    }

    async fn optimistic_delete(&self, request: DeleteRequest) -> Result<WriteOutcome, KvError> {
        self.shared.delete(request).await
    }

    async fn watch(&self, request: WatchRequest) -> Result<KvWatch, KvError> {
        self.shared.watch(request).await
    }

    async fn request_progress(&self, group: WatchGroup) -> Result<(), KvError> {
        self.shared.request_progress(group);
        Ok(())
    }

    async fn grant_lease(&self, ttl: Duration) -> Result<LeaseGrant, KvError> {
        self.shared.grant_lease(ttl).await
    }

    async fn revoke_lease(&self, id: LeaseId) -> Result<(), KvError> {
        self.shared.revoke_lease(id).await
    }

    async fn lease_info(&self, id: LeaseId) -> Result<LeaseInfo, KvError> {
        self.shared.lease_info(id).await
    }

    async fn compact(&self, revision: Revision) -> Result<(), KvError> {
        self.shared.compact(revision).await
    }

    async fn status(&self) -> Result<KvStatus, KvError> {
        self.shared.status().await
    }
}
