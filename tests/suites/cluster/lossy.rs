//! A client of a cluster by a network that drops answers.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use bytes::Bytes;
use kubestore_etcd::{
    EtcdKv,
    testing::{EtcdCluster, Proxy},
};
use kubestore_kv::{
    BoxStream, DeleteRequest, GetRequest, GetResponse, Kv, KvError, KvStatus, KvWatch, LeaseGrant, LeaseId,
    LeaseInfo, ListChunk, ListRequest, ListResponse, PutRequest, Revision, WatchGroup, WatchRequest,
    WriteOutcome,
};
use kubestore_tests::dice::Dice;

/// A client whose way to each member is a proxy of its own, so that what is dropped concerns nobody else.
#[derive(Debug)]
pub(crate) struct Lossy {
    kv: EtcdKv,
    proxies: Vec<Proxy>,
    dice: Dice,
    calls: AtomicU64,
    one_in: u64,
    lost: AtomicU64,
}

impl Lossy {
    /// Drops the answer to one in so many calls.
    pub(crate) async fn connect(cluster: &EtcdCluster, seed: u64, one_in: u64) -> io::Result<Arc<Self>> {
        let mut proxies = Vec::new();
        for member in cluster.members() {
            proxies.push(Proxy::to(member.address()).await?);
        }
        let kv = EtcdKv::builder()
            .endpoints(proxies.iter().map(Proxy::endpoint))
            .dial_timeout(Duration::from_secs(2))
            .request_timeout(Duration::from_secs(5))
            .retry_for(Duration::from_secs(4))
            .keepalive(Duration::from_secs(5), Duration::from_secs(2));
        let kv = kv.connect().await.map_err(io::Error::other)?;
        let (calls, lost) = (AtomicU64::new(0), AtomicU64::new(0));
        Ok(Arc::new(Self { kv, proxies, dice: Dice::seeded(seed), calls, one_in, lost }))
    }

    /// How many answers were dropped.
    pub(crate) fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }

    /// Makes the call, whose first answer may be dropped by whichever proxy it comes.
    async fn call<T>(&self, call: impl Future<Output = Result<T, KvError>> + Send) -> Result<T, KvError> {
        let number = self.calls.fetch_add(1, Ordering::Relaxed);
        let loses = self.dice.of(number).roll().is_multiple_of(self.one_in);
        if loses {
            self.lost.fetch_add(1, Ordering::Relaxed);
            self.proxies.iter().for_each(Proxy::lose_answer);
        }
        let answer = call.await;
        if loses {
            self.proxies.iter().for_each(Proxy::mend);
        }
        answer
    }
}

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl Kv for Lossy {
    async fn get(&self, request: GetRequest) -> Result<GetResponse, KvError> {
        self.call(self.kv.get(request)).await
    }

    async fn list(&self, request: ListRequest) -> Result<ListResponse, KvError> {
        self.call(self.kv.list(request)).await
    }

    fn list_chunks(&self, request: ListRequest) -> BoxStream<Result<ListChunk, KvError>> {
        self.kv.list_chunks(request)
    }

    async fn count(&self, prefix: Bytes) -> Result<i64, KvError> {
        self.call(self.kv.count(prefix)).await
    }

    async fn optimistic_put(&self, request: PutRequest) -> Result<WriteOutcome, KvError> {
        self.call(self.kv.optimistic_put(request)).await
    }

    async fn optimistic_delete(&self, request: DeleteRequest) -> Result<WriteOutcome, KvError> {
        self.call(self.kv.optimistic_delete(request)).await
    }

    async fn watch(&self, request: WatchRequest) -> Result<KvWatch, KvError> {
        self.kv.watch(request).await
    }

    async fn request_progress(&self, group: WatchGroup) -> Result<(), KvError> {
        self.kv.request_progress(group).await
    }

    async fn grant_lease(&self, ttl: Duration) -> Result<LeaseGrant, KvError> {
        self.call(self.kv.grant_lease(ttl)).await
    }

    async fn revoke_lease(&self, id: LeaseId) -> Result<(), KvError> {
        self.call(self.kv.revoke_lease(id)).await
    }

    async fn lease_info(&self, id: LeaseId) -> Result<LeaseInfo, KvError> {
        self.call(self.kv.lease_info(id)).await
    }

    async fn compact(&self, revision: Revision) -> Result<(), KvError> {
        self.call(self.kv.compact(revision)).await
    }

    async fn status(&self) -> Result<KvStatus, KvError> {
        self.call(self.kv.status()).await
    }
}
