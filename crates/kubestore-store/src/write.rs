//! Putting an object: lease, encryption, the transaction, and an answer that got lost.

use bytes::Bytes;
use kubestore_core::{Object, Result, StorageError};
use kubestore_kv::{GetRequest, KeyValue, KvError, KvErrorKind, LeaseId, PutRequest, Revision, WriteOutcome};
use kubestore_metrics::EtcdOperation;
use kubestore_transform::ValueContext;

use crate::{error, operation::Operation, store::Inner};

/// What became of a put.
pub(crate) enum Put {
    /// It happened, at this revision.
    Done(Revision),
    /// The key was not as expected; this is what it is, where that was asked for.
    Conflict(Option<KeyValue>),
}

impl<T: Object> Inner<T> {
    /// Puts the plain form `data` of an object. `request` makes the transaction from the sealed value.
    pub(crate) async fn put(
        &self,
        kind: EtcdOperation,
        key: &str,
        data: Bytes,
        ttl_seconds: u64,
        request: impl Fn(Bytes) -> PutRequest,
        trace: &mut Operation,
    ) -> Result<Put> {
        let mut lease = self.lease(key, ttl_seconds).await?;
        let context = ValueContext::new(key.as_bytes());
        let sealed = self.transformer.transform_to_storage(data, context).await;
        let sealed = sealed.map_err(|cause| error::from_transform(cause, key))?;
        trace.step("transformed", sealed.len());
        let attempt = request(sealed.clone()).with_lease(lease);
        let mut answer = self.kv_put(kind, attempt).await;
        if let (Err(cause), Some(id)) = (&answer, lease)
            && cause.kind() == KvErrorKind::LeaseNotFound
        {
            tracing::debug!(key, lease = %id, "the shared lease is gone; granting another");
            self.leases.forget(id);
            lease = self.lease(key, ttl_seconds).await?;
            answer = self.kv_put(kind, request(sealed.clone()).with_lease(lease)).await;
        }
        trace.step("transaction", sealed.len());
        match answer {
            Ok(WriteOutcome::Done { revision }) => Ok(Put::Done(revision)),
            Ok(WriteOutcome::Conflict { current, .. }) => Ok(Put::Conflict(current)),
            Ok(other) => {
                Err(StorageError::other(format!("unexpected answer to a put: {other:?}")).with_key(key))
            }
            Err(cause) if cause.kind() == KvErrorKind::OutcomeUnknown => {
                self.own_write(key, &sealed, cause).await.map(Put::Done)
            }
            Err(cause) => Err(error::from_kv(cause, key)),
        }
    }

    async fn lease(&self, key: &str, ttl_seconds: u64) -> Result<Option<LeaseId>> {
        if ttl_seconds == 0 {
            return Ok(None);
        }
        match self.leases.get_lease(ttl_seconds).await {
            Ok(id) => Ok(Some(id)),
            Err(cause) => Err(error::from_lease(cause, key)),
        }
    }

    /// Whether a put whose answer got lost happened. Only bytes that nobody else can have written prove it.
    async fn own_write(&self, key: &str, sealed: &Bytes, lost: KvError) -> Result<Revision> {
        if self.transformer.output_is_unique()
            && let Ok(answer) = self.kv_get(GetRequest::new(key.to_owned())).await
            && let Some(kv) = answer.kv
            && kv.value == *sealed
        {
            tracing::debug!(
                key,
                revision = kv.mod_revision.0,
                "the answer to a write got lost; the write was found"
            );
            return Ok(kv.mod_revision);
        }
        Err(error::from_kv(lost, key))
    }
}
