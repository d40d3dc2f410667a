//! A backend on which things go wrong as a script says.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use kubestore_kv::{
    BoxStream, DeleteRequest, GetRequest, GetResponse, Kv, KvError, KvErrorKind, KvStatus, KvWatch,
    LeaseGrant, LeaseId, LeaseInfo, ListChunk, ListRequest, ListResponse, PutRequest, Revision, WatchGroup,
    WatchRequest, WriteOutcome,
};

use super::{Call, Fault, Operation, Script};

/// A [`Kv`] that passes calls on to another unless its [`Script`] says that they fail, wait, lose their answer, are
/// applied late or have their stream cut.
///
/// ```
/// use std::sync::Arc;
/// use kubestore_conformance::{Call, Fault, FaultyKv, Operation};
/// use kubestore_kv::{Kv, KvErrorKind};
///
/// /// Every second list fails as if the connection was gone.
/// fn flaky(inner: Arc<dyn Kv>) -> FaultyKv {
///     FaultyKv::new(inner, |call: &Call| match call.operation {
///         Operation::List if call.number % 2 == 1 => Fault::fail(KvErrorKind::Unavailable),
///         _ => Fault::none(),
///     })
/// }
/// ```
pub struct FaultyKv {
    inner: Arc<dyn Kv>,
    script: Box<dyn Script>,
    calls: AtomicU64,
}

impl FaultyKv {
    /// Disturbs `inner` as `script` says.
    pub fn new(inner: Arc<dyn Kv>, script: impl Script) -> Self {
        Self { inner, script: Box::new(script), calls: AtomicU64::new(0) }
    }

    fn judge(&self, mut call: Call) -> Fate {
        call.number = self.calls.fetch_add(1, Ordering::Relaxed);
        let fault = self.script.fault(&call);
        Fate { operation: call.operation, key: call.key, fault }
    }
}

/// What was decided for one call.
struct Fate {
    operation: Operation,
    key: Option<Bytes>,
    fault: Fault,
}

impl Fate {
    async fn meet<T: Send + 'static>(
        self,
        call: impl Future<Output = Result<T, KvError>> + Send + 'static,
    ) -> Result<T, KvError> {
        let Fault { before, fail, after, lose_answer, cut: _, late } = self.fault;
        if let Some(late) = late {
            tokio::spawn(async move {
                late.await;
                call.await
            });
            return Err(lost(self.operation, self.key));
        }
        if let Some(before) = before {
            before.await;
        }
        if let Some(kind) = fail {
            return Err(injected(kind, self.operation, self.key));
        }
        let answer = call.await;
        if let Some(after) = after {
            after.await;
        }
        if lose_answer { Err(lost(self.operation, self.key)) } else { answer }
    }

    fn cut(&self) -> Option<(usize, KvError)> {
        let (items, kind) = self.fault.cut?;
        Some((items, injected(kind, self.operation, self.key.clone())))
    }
}

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl Kv for FaultyKv {
    async fn get(&self, request: GetRequest) -> Result<GetResponse, KvError> {
        let inner = Arc::clone(&self.inner);
        self.judge(Call::get(&request)).meet(async move { inner.get(request).await }).await
    }

    async fn list(&self, request: ListRequest) -> Result<ListResponse, KvError> {
        let inner = Arc::clone(&self.inner);
        self.judge(Call::list(Operation::List, &request)).meet(async move { inner.list(request).await }).await
    }

    fn list_chunks(&self, request: ListRequest) -> BoxStream<Result<ListChunk, KvError>> {
        let fate = self.judge(Call::list(Operation::ListChunks, &request));
        let (cut, inner) = (fate.cut(), Arc::clone(&self.inner));
        let begin = fate.meet(async move { Ok(inner.list_chunks(request)) });
        let chunks = stream::once(begin).flat_map(|chunks| match chunks {
            Ok(chunks) => chunks,
            Err(error) => Box::pin(stream::iter([Err(error)])),
        });
        cut_stream(Box::pin(chunks), cut)
    }

    async fn count(&self, prefix: Bytes) -> Result<i64, KvError> {
        let inner = Arc::clone(&self.inner);
        self.judge(Call::count(&prefix)).meet(async move { inner.count(prefix).await }).await
    }

    async fn optimistic_put(&self, request: PutRequest) -> Result<WriteOutcome, KvError> {
        let inner = Arc::clone(&self.inner);
        self.judge(Call::put(&request)).meet(async move { inner.optimistic_put(request).await }).await
    }

    async fn optimistic_delete(&self, request: DeleteRequest) -> Result<WriteOutcome, KvError> {
        let inner = Arc::clone(&self.inner);
        self.judge(Call::delete(&request)).meet(async move { inner.optimistic_delete(request).await }).await
    }

    async fn watch(&self, request: WatchRequest) -> Result<KvWatch, KvError> {
        let fate = self.judge(Call::watch(&request));
        let (cut, inner) = (fate.cut(), Arc::clone(&self.inner));
        Ok(cut_stream(fate.meet(async move { inner.watch(request).await }).await?, cut))
    }

    async fn request_progress(&self, group: WatchGroup) -> Result<(), KvError> {
        let inner = Arc::clone(&self.inner);
        self.judge(Call::plain(Operation::RequestProgress))
            .meet(async move { inner.request_progress(group).await })
            .await
    }

    async fn grant_lease(&self, ttl: Duration) -> Result<LeaseGrant, KvError> {
        let inner = Arc::clone(&self.inner);
        self.judge(Call::plain(Operation::GrantLease)).meet(async move { inner.grant_lease(ttl).await }).await
    }

    async fn revoke_lease(&self, id: LeaseId) -> Result<(), KvError> {
        let inner = Arc::clone(&self.inner);
        self.judge(Call::of_lease(Operation::RevokeLease, id))
            .meet(async move { inner.revoke_lease(id).await })
            .await
    }

    async fn lease_info(&self, id: LeaseId) -> Result<LeaseInfo, KvError> {
        let inner = Arc::clone(&self.inner);
        self.judge(Call::of_lease(Operation::LeaseInfo, id))
            .meet(async move { inner.lease_info(id).await })
            .await
    }

    async fn compact(&self, revision: Revision) -> Result<(), KvError> {
        let inner = Arc::clone(&self.inner);
        self.judge(Call::compact(revision)).meet(async move { inner.compact(revision).await }).await
    }

    async fn status(&self) -> Result<KvStatus, KvError> {
        let inner = Arc::clone(&self.inner);
        self.judge(Call::plain(Operation::Status)).meet(async move { inner.status().await }).await
    }
}

impl fmt::Debug for FaultyKv {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FaultyKv")
            .field("inner", &self.inner)
            .field("calls", &self.calls)
            .finish_non_exhaustive()
    }
}

fn injected(kind: KvErrorKind, operation: Operation, key: Option<Bytes>) -> KvError {
    about(KvError::new(kind, operation.name(), "an injected fault"), key)
}

fn lost(operation: Operation, key: Option<Bytes>) -> KvError {
    let kind = if operation.is_write() { KvErrorKind::OutcomeUnknown } else { KvErrorKind::DeadlineExceeded };
    about(KvError::new(kind, operation.name(), "an injected fault: the answer was lost"), key)
}

fn about(error: KvError, key: Option<Bytes>) -> KvError {
    match key {
        Some(key) => error.with_key(key),
        None => error,
    }
}

/// `stream` up to as many items as `cut` says, then its error.
fn cut_stream<T: Send + 'static>(
    stream: BoxStream<Result<T, KvError>>,
    cut: Option<(usize, KvError)>,
) -> BoxStream<Result<T, KvError>> {
    let Some((items, error)) = cut else { return stream };
    Box::pin(stream::unfold((stream, items, Some(error)), |(mut stream, left, mut error)| async move {
        if left == 0 {
            return error.take().map(|error| (Err(error), (stream, 0, None)));
        }
        stream.next().await.map(|item| (item, (stream, left - 1, error)))
    }))
}
