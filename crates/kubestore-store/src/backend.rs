//! Requests to the backend, measured.

use std::time::Instant;

use bytes::Bytes;
use kubestore_core::Object;
use kubestore_kv::{
    DeleteRequest, GetRequest, GetResponse, KvError, ListRequest, ListResponse, PutRequest, WriteOutcome,
};
use kubestore_metrics::{EtcdOperation, Event};

use crate::store::Inner;

impl<T: Object> Inner<T> {
    pub(crate) async fn kv_get(&self, request: GetRequest) -> Result<GetResponse, KvError> {
        self.measured(EtcdOperation::Get, self.kv.get(request)).await
    }

    pub(crate) async fn kv_list(&self, request: ListRequest) -> Result<ListResponse, KvError> {
        self.measured(EtcdOperation::List, self.kv.list(request)).await
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
        self.recorder.record(Event::EtcdRequest {
            operation,
            resource: self.labels(),
            ok: answer.is_ok(),
            took: started.elapsed(),
        });
        answer
    }
}
