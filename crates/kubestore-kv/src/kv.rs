//! The contract between kubestore and its backends.

use std::{fmt, sync::Arc, time::Duration};

use async_trait::async_trait;
use bytes::Bytes;

use crate::{
    BoxStream, DeleteRequest, GetRequest, GetResponse, KvError, KvStatus, KvWatch, LeaseGrant, LeaseId,
    LeaseInfo, ListChunk, ListRequest, ListResponse, PutRequest, Revision, WatchGroup, WatchRequest,
    WriteOutcome,
};

/// A revisioned key-value store, as narrow as a Kubernetes store needs it.
///
/// # Contract
/// One method per primitive of etcd, in its fullest form; none has a default body, because a wrapper that forgets to
/// forward one would silently lose what the inner store does. Wrappers say
/// `#[deny(clippy::missing_trait_methods)]`. The suite in `kubestore-conformance` checks all that is said here.
///
/// # Consistency
/// Every write has a revision of its own, one above the write before. Reads without a revision are linearizable: they
/// see every write acknowledged before they began. A list whose answer says head R holds exactly the state at R, and so
/// every write acknowledged at or below R. Nothing is visible to anybody before it is as durable as the backend makes
/// it.
///
/// # Cancellation
/// Dropping the future of a read does nothing. Dropping the future of a write leaves it unknown whether the write
/// happens. Dropping a [`KvWatch`] cancels the watch.
///
/// # Errors
/// [`KvErrorKind`](crate::KvErrorKind) says what a caller can do. A write whose answer was lost after it was sent is
/// [`OutcomeUnknown`](crate::KvErrorKind::OutcomeUnknown), never a plain failure.
#[async_trait]
pub trait Kv: fmt::Debug + Send + Sync + 'static {
    /// Reads one key.
    async fn get(&self, request: GetRequest) -> Result<GetResponse, KvError>;

    /// Reads a range in one answer.
    async fn list(&self, request: ListRequest) -> Result<ListResponse, KvError>;

    /// Reads a range in parts as they come, in bounded memory, all at one revision.
    ///
    /// The last part carries [`ListChunk::end`]; a stream without it was cut short and ended in an error.
    fn list_chunks(&self, request: ListRequest) -> BoxStream<Result<ListChunk, KvError>>;

    /// Counts the keys that begin with `prefix`.
    async fn count(&self, prefix: Bytes) -> Result<i64, KvError>;

    /// Puts on condition. On etcd: compare, put, and in the else branch nothing or a get, in one transaction.
    async fn optimistic_put(&self, request: PutRequest) -> Result<WriteOutcome, KvError>;

    /// Deletes on condition.
    async fn optimistic_delete(&self, request: DeleteRequest) -> Result<WriteOutcome, KvError>;

    /// Watches. Returns once the server has registered the watch: whatever is written after that is seen.
    async fn watch(&self, request: WatchRequest) -> Result<KvWatch, KvError>;

    /// Asks for a [`Progress`](crate::WatchItem::Progress) item on every watch of `group`. It comes when all of them
    /// are in step. A watch whose [`start`](crate::WatchRequest::start) is above the head is not: as on etcd, the
    /// request is then forgotten, as it may be while a connection is being made anew: ask again. With no watch in the group nothing happens.
    async fn request_progress(&self, group: WatchGroup) -> Result<(), KvError>;

    /// Grants a lease for `ttl`, rounded up to whole seconds. A TTL of 0 or above
    /// [`MAX_LEASE_TTL`](crate::MAX_LEASE_TTL) is an
    /// [`InvalidArgument`](crate::KvErrorKind::InvalidArgument).
    async fn grant_lease(&self, ttl: Duration) -> Result<LeaseGrant, KvError>;

    /// Ends a lease now: all its keys are deleted in one revision, in the order of the keys.
    /// [`Unsupported`](crate::KvErrorKind::Unsupported) where the server has no such call (kine).
    async fn revoke_lease(&self, id: LeaseId) -> Result<(), KvError>;

    /// What is left of a lease.
    async fn lease_info(&self, id: LeaseId) -> Result<LeaseInfo, KvError>;

    /// Forgets what was replaced or deleted at or below `revision`, which remains readable itself.
    /// [`Compacted`](crate::KvErrorKind::Compacted) when that was done before,
    /// [`FutureRevision`](crate::KvErrorKind::FutureRevision) above the head.
    async fn compact(&self, revision: Revision) -> Result<(), KvError>;

    /// The state of the backend; also its health, since it has to answer.
    async fn status(&self) -> Result<KvStatus, KvError>;
}

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl<K: Kv + ?Sized> Kv for Arc<K> {
    async fn get(&self, request: GetRequest) -> Result<GetResponse, KvError> {
        (**self).get(request).await
    }

    async fn list(&self, request: ListRequest) -> Result<ListResponse, KvError> {
        (**self).list(request).await
    }

    fn list_chunks(&self, request: ListRequest) -> BoxStream<Result<ListChunk, KvError>> {
        (**self).list_chunks(request)
    }

    async fn count(&self, prefix: Bytes) -> Result<i64, KvError> {
        (**self).count(prefix).await
    }

    async fn optimistic_put(&self, request: PutRequest) -> Result<WriteOutcome, KvError> {
        (**self).optimistic_put(request).await
    }

    async fn optimistic_delete(&self, request: DeleteRequest) -> Result<WriteOutcome, KvError> {
        (**self).optimistic_delete(request).await
    }

    async fn watch(&self, request: WatchRequest) -> Result<KvWatch, KvError> {
        (**self).watch(request).await
    }

    async fn request_progress(&self, group: WatchGroup) -> Result<(), KvError> {
        (**self).request_progress(group).await
    }

    async fn grant_lease(&self, ttl: Duration) -> Result<LeaseGrant, KvError> {
        (**self).grant_lease(ttl).await
    }

    async fn revoke_lease(&self, id: LeaseId) -> Result<(), KvError> {
        (**self).revoke_lease(id).await
    }

    async fn lease_info(&self, id: LeaseId) -> Result<LeaseInfo, KvError> {
        (**self).lease_info(id).await
    }

    async fn compact(&self, revision: Revision) -> Result<(), KvError> {
        (**self).compact(revision).await
    }

    async fn status(&self) -> Result<KvStatus, KvError> {
        (**self).status().await
    }
}
