//! A backend that grants leases as a test tells it, and does nothing else.

use std::{
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use bytes::Bytes;
use kubestore_kv::{
    BoxStream, DeleteRequest, GetRequest, GetResponse, Kv, KvError, KvStatus, KvWatch, LeaseGrant, LeaseId,
    LeaseInfo, ListChunk, ListRequest, ListResponse, PutRequest, Revision, WatchGroup, WatchRequest,
    WriteOutcome,
};
use tokio::sync::watch;

/// Numbers leases from 1, in the order in which they are asked for.
#[derive(Debug, Default)]
pub(crate) struct Scripted {
    asked: Mutex<Vec<u64>>,
    /// The TTL whose grants are held back.
    held: watch::Sender<Option<u64>>,
    failure: Mutex<Option<KvError>>,
    least: Mutex<Duration>,
    pending: AtomicUsize,
}

impl Scripted {
    /// The TTLs asked for, in seconds.
    pub(crate) fn asked(&self) -> Vec<u64> {
        self.asked.lock().unwrap().clone()
    }

    /// Holds back grants of this TTL in seconds.
    pub(crate) fn hold(&self, ttl: u64) {
        self.held.send_replace(Some(ttl));
    }

    pub(crate) fn release(&self) {
        self.held.send_replace(None);
    }

    /// The next grant that is answered fails.
    pub(crate) fn fail(&self, error: KvError) {
        *self.failure.lock().unwrap() = Some(error);
    }

    pub(crate) fn grant_at_least(&self, ttl: Duration) {
        *self.least.lock().unwrap() = ttl;
    }

    /// Requests that were neither answered nor dropped.
    pub(crate) fn pending(&self) -> usize {
        self.pending.load(Ordering::SeqCst)
    }
}

struct Pending<'a>(&'a AtomicUsize);

impl<'a> Pending<'a> {
    fn new(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::SeqCst);
        Self(count)
    }
}

impl Drop for Pending<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl Kv for Scripted {
    async fn grant_lease(&self, ttl: Duration) -> Result<LeaseGrant, KvError> {
        let number = {
            let mut asked = self.asked.lock().unwrap();
            asked.push(ttl.as_secs());
            i64::try_from(asked.len()).unwrap()
        };
        let _pending = Pending::new(&self.pending);
        let mut held = self.held.subscribe();
        held.wait_for(|held| *held != Some(ttl.as_secs())).await.unwrap();
        match self.failure.lock().unwrap().take() {
            Some(error) => Err(error),
            None => Ok(LeaseGrant::new(LeaseId(number), ttl.max(*self.least.lock().unwrap()))),
        }
    }

    async fn get(&self, _: GetRequest) -> Result<GetResponse, KvError> {
        unreachable!("a lease manager only grants leases")
    }

    async fn list(&self, _: ListRequest) -> Result<ListResponse, KvError> {
        unreachable!("a lease manager only grants leases")
    }

    fn list_chunks(&self, _: ListRequest) -> BoxStream<Result<ListChunk, KvError>> {
        unreachable!("a lease manager only grants leases")
    }

    async fn count(&self, _: Bytes) -> Result<i64, KvError> {
        unreachable!("a lease manager only grants leases")
    }

    async fn optimistic_put(&self, _: PutRequest) -> Result<WriteOutcome, KvError> {
        unreachable!("a lease manager only grants leases")
    }

    async fn optimistic_delete(&self, _: DeleteRequest) -> Result<WriteOutcome, KvError> {
        unreachable!("a lease manager only grants leases")
    }

    async fn watch(&self, _: WatchRequest) -> Result<KvWatch, KvError> {
        unreachable!("a lease manager only grants leases")
    }

    async fn request_progress(&self, _: WatchGroup) -> Result<(), KvError> {
        unreachable!("a lease manager only grants leases")
    }

    async fn revoke_lease(&self, _: LeaseId) -> Result<(), KvError> {
        unreachable!("a lease manager only grants leases")
    }

    async fn lease_info(&self, _: LeaseId) -> Result<LeaseInfo, KvError> {
        unreachable!("a lease manager only grants leases")
    }

    async fn compact(&self, _: Revision) -> Result<(), KvError> {
        unreachable!("a lease manager only grants leases")
    }

    async fn status(&self) -> Result<KvStatus, KvError> {
        unreachable!("a lease manager only grants leases")
    }
}
