//! `kubestore-kv` alone: a backend of one's own, here a map that nobody may write to, used through the contract.

use std::collections::BTreeMap;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::stream;
use kubestore_kv::{
    BoxStream, DeleteRequest, GetRequest, GetResponse, KeyValue, Kv, KvError, KvErrorKind, KvStatus, KvWatch,
    LeaseGrant, LeaseId, LeaseInfo, ListChunk, ListEnd, ListRequest, ListResponse, PutRequest, Revision,
    WatchGroup, WatchRequest, WriteOutcome, prefix_end,
};

const HEAD: Revision = Revision(2);

#[derive(Debug)]
struct Frozen(BTreeMap<Bytes, KeyValue>);

impl Frozen {
    fn new(keys: &[&'static str]) -> Self {
        let pair = |key: &&'static str| (Bytes::from(*key), KeyValue::new(*key, "a value", HEAD));
        Self(keys.iter().map(pair).collect())
    }

    fn range(&self, prefix: &Bytes) -> impl Iterator<Item = &KeyValue> {
        let end = prefix_end(prefix);
        let rest = self.0.range(prefix.clone()..).map(|(_, kv)| kv);
        rest.take_while(move |kv| end.as_ref().is_none_or(|end| kv.key < end))
    }
}

fn refused<T>(operation: &'static str) -> Result<T, KvError> {
    Err(KvError::new(KvErrorKind::ReadOnly, operation, "this map is fixed"))
}

#[async_trait]
impl Kv for Frozen {
    async fn get(&self, request: GetRequest) -> Result<GetResponse, KvError> {
        Ok(GetResponse::new(self.0.get(&request.key).cloned(), HEAD))
    }

    async fn list(&self, request: ListRequest) -> Result<ListResponse, KvError> {
        let kvs: Vec<_> = self.range(&request.prefix).cloned().collect();
        let count = i64::try_from(kvs.len()).ok();
        Ok(ListResponse::new(kvs, HEAD, false, count))
    }

    fn list_chunks(&self, request: ListRequest) -> BoxStream<Result<ListChunk, KvError>> {
        let kvs: Vec<_> = self.range(&request.prefix).cloned().collect();
        let end = ListEnd::new(HEAD, false, i64::try_from(kvs.len()).ok());
        Box::pin(stream::iter([Ok(ListChunk::last(kvs, end))]))
    }

    async fn count(&self, prefix: Bytes) -> Result<i64, KvError> {
        Ok(self.range(&prefix).map(|_| 1).sum())
    }

    async fn optimistic_put(&self, _: PutRequest) -> Result<WriteOutcome, KvError> {
        refused("optimistic_put")
    }

    async fn optimistic_delete(&self, _: DeleteRequest) -> Result<WriteOutcome, KvError> {
        refused("optimistic_delete")
    }

    async fn watch(&self, _: WatchRequest) -> Result<KvWatch, KvError> {
        refused("watch")
    }

    async fn request_progress(&self, _: WatchGroup) -> Result<(), KvError> {
        refused("request_progress")
    }

    async fn grant_lease(&self, _: Duration) -> Result<LeaseGrant, KvError> {
        refused("grant_lease")
    }

    async fn revoke_lease(&self, _: LeaseId) -> Result<(), KvError> {
        refused("revoke_lease")
    }

    async fn lease_info(&self, _: LeaseId) -> Result<LeaseInfo, KvError> {
        refused("lease_info")
    }

    async fn compact(&self, _: Revision) -> Result<(), KvError> {
        refused("compact")
    }

    async fn status(&self) -> Result<KvStatus, KvError> {
        Ok(KvStatus::new(HEAD))
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), KvError> {
    let kv: Box<dyn Kv> = Box::new(Frozen::new(&["/pods/a", "/pods/b", "/services/a"]));
    assert_eq!(kv.count("/pods/".into()).await?, 2);
    let pods = kv.list(ListRequest::new("/pods/")).await?;
    assert_eq!(pods.kvs.last().map(|kv| kv.key.as_ref()), Some(&b"/pods/b"[..]));
    assert_eq!(kv.get(GetRequest::new("/pods/c")).await?.kv, None);

    let error = kv.optimistic_put(PutRequest::create("/pods/c", "")).await.expect_err("the map is fixed");
    assert_eq!((error.kind(), error.is_retryable()), (KvErrorKind::ReadOnly, false));
    Ok(())
}
