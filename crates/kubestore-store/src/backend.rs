//! Requests to the backend, measured.

use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::StreamExt as _;
use kubestore_core::Object;
use kubestore_kv::{
    BoxStream, DeleteRequest, GetRequest, GetResponse, KvError, KvErrorKind, ListChunk, ListRequest,
    ListResponse, PutRequest, WriteOutcome,
};
use kubestore_metrics::{EtcdOperation, Event};

use crate::store::Inner;

/// The parts of a list, one request by the count of the metrics.
pub(crate) struct Parts {
    stream: BoxStream<Result<ListChunk, KvError>>,
    /// Time spent waiting for the backend.
    took: Duration,
}

impl<T: Object> Inner<T> {
    pub(crate) async fn kv_get(&self, request: GetRequest) -> Result<GetResponse, KvError> {
        self.measured(EtcdOperation::Get, self.kv.get(request)).await
    }

    pub(crate) async fn kv_list(&self, request: ListRequest) -> Result<ListResponse, KvError> {
        self.measured(EtcdOperation::List, self.kv.list(request)).await
    }

    pub(crate) fn kv_parts(&self, request: ListRequest) -> Parts {
        Parts { stream: self.kv.list_chunks(request), took: Duration::ZERO }
    }

    /// The next part. A list that ends without its last one was cut short.
    pub(crate) async fn kv_next_part(&self, parts: &mut Parts) -> Result<ListChunk, KvError> {
        let started = Instant::now();
        let part = parts.stream.next().await.unwrap_or_else(|| {
            Err(KvError::new(
                KvErrorKind::Internal,
                "list_chunks",
                "the backend's answer ended before the list did",
            ))
        });
        parts.took += started.elapsed();
        if part.as_ref().map_or(true, |part| part.end.is_some()) {
            self.answered(EtcdOperation::List, part.is_ok(), parts.took);
        }
        part
    }

    pub(crate) async fn kv_count(&self, prefix: Bytes) -> Result<i64, KvError> {
        self.measured(EtcdOperation::ListWithCount, self.kv.count(prefix)).await
    }

    pub(crate) async fn kv_put(
        &self,
        operation: EtcdOperation,
        request: PutRequest,
    ) -> Result<WriteOutcome, KvError> {
        self.measured(operation, self.kv.optimistic_put(request)).await
    }

    pub(crate) async fn kv_delete(&self, request: DeleteRequest) -> Result<WriteOutcome, KvError> {
        self.measured(EtcdOperation::Delete, self.kv.optimistic_delete(request)).await
    }

    async fn measured<R>(
        &self,
        operation: EtcdOperation,
        request: impl Future<Output = Result<R, KvError>>,
    ) -> Result<R, KvError> {
        let started = Instant::now();
        let answer = request.await;
        self.answered(operation, answer.is_ok(), started.elapsed());
        answer
    }

    fn answered(&self, operation: EtcdOperation, ok: bool, took: Duration) {
        self.recorder.record(Event::EtcdRequest { operation, resource: self.labels(), ok, took });
    }
}
