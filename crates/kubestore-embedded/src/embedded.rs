//! The engine as its users hold it.

use std::{
    fmt,
    sync::{
        Arc, Weak,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::stream;
use kubestore_kv::{
    BoxStream, DeleteRequest, GetRequest, GetResponse, Kv, KvError, KvErrorKind, KvStatus, KvWatch,
    LeaseGrant, LeaseId, LeaseInfo, ListChunk, ListRequest, ListResponse, OnFailure, PutRequest, Revision,
    WatchGroup, WatchRequest, WatchTarget, WriteOutcome,
};

use crate::{
    builder::EmbeddedBuilder,
    engine::{Expiry, Inline, Options, Shared},
    read::Scan,
    state::{Done, Op, State, lease_not_found},
    watch::{WatchStream, closed},
};

/// A [`Kv`] in this process, with etcd's semantics.
///
/// Clones are handles to the same engine; it is closed by [`close`](Self::close) or when the last handle is dropped.
/// Watches do not keep it open: they end with an [`Unavailable`](KvErrorKind::Unavailable) error when it closes.
#[derive(Clone)]
pub struct Embedded(Arc<Inner>);

struct Inner {
    shared: Arc<Shared>,
    writer: Inline,
    expiry: Expiry,
    closed: AtomicBool,
}

impl Embedded {
    /// An empty engine that lives in memory only, with default settings.
    #[must_use]
    pub fn in_memory() -> Self {
        Self::builder().in_memory()
    }

    /// Other settings than the default ones.
    pub fn builder() -> EmbeddedBuilder {
        EmbeddedBuilder::new()
    }

    /// Closes the engine for all its handles: watches end, and every later call is
    /// [`Unavailable`](KvErrorKind::Unavailable). Doing it twice is no error.
    #[expect(clippy::unused_async, reason = "the durable form waits for its writer")]
    pub async fn close(&self) {
        self.0.close();
    }

    pub(crate) fn start_in_memory(options: Options, state: State) -> Self {
        Self(Arc::new(Inner {
            shared: Arc::new(Shared::new(options, state)),
            writer: Inline::default(),
            expiry: Expiry::default(),
            closed: AtomicBool::new(false),
        }))
    }
}

impl Inner {
    fn close(&self) {
        if !self.closed.swap(true, Ordering::AcqRel) {
            self.expiry.stop();
            self.shared.hub.close();
        }
    }

    fn open(&self, operation: &'static str) -> Result<&Arc<Shared>, KvError> {
        if self.closed.load(Ordering::Acquire) { Err(closed(operation)) } else { Ok(&self.shared) }
    }

    fn snapshot(&self, operation: &'static str) -> Result<Arc<State>, KvError> {
        Ok(self.open(operation)?.snapshot())
    }

    fn write(&self, operation: &'static str, op: Op) -> Result<Done, KvError> {
        self.writer.submit(self.open(operation)?, op)
    }

    fn check_write(
        &self,
        operation: &'static str,
        key: &Bytes,
        value: usize,
        answer: OnFailure,
    ) -> Result<(), KvError> {
        check_key(operation, key)?;
        let keys = if answer == OnFailure::Get { 3 } else { 2 };
        let size = key.len().saturating_mul(keys).saturating_add(value).saturating_add(REQUEST_OVERHEAD);
        let limit = self.shared.options.max_request_bytes;
        if size > limit {
            return Err(KvError::too_large(operation, size, limit).with_key(key.clone()));
        }
        Ok(())
    }

    fn start_expiry(self: &Arc<Self>) -> Result<(), KvError> {
        let engine = Arc::downgrade(self);
        self.expiry.ensure(&self.shared, move || {
            let engine = Weak::clone(&engine);
            Box::pin(async move {
                engine.upgrade().is_some_and(|engine| engine.write("expire", Op::Expire).is_ok())
            })
        })
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.close();
    }
}

/// What an encoded transaction has besides keys and value.
const REQUEST_OVERHEAD: usize = 64;

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl Kv for Embedded {
    async fn get(&self, request: GetRequest) -> Result<GetResponse, KvError> {
        let state = self.0.snapshot("get")?;
        check_key("get", &request.key)?;
        let at =
            state.readable("get", request.revision).map_err(|error| error.with_key(request.key.clone()))?;
        let kv = state.find(&request.key, at).map(|record| record.key_value());
        Ok(GetResponse::new(kv, Revision(state.head)))
    }

    async fn list(&self, request: ListRequest) -> Result<ListResponse, KvError> {
        let scan = Scan::new(self.0.snapshot("list")?, &request)?;
        let head = scan.head();
        let (kvs, end) = scan.finish().await;
        Ok(ListResponse::new(kvs, head, end.more, end.count))
    }

    fn list_chunks(&self, request: ListRequest) -> BoxStream<Result<ListChunk, KvError>> {
        match self.0.snapshot("list").and_then(|state| Scan::new(state, &request)) {
            Err(error) => Box::pin(stream::iter([Err(error)])),
            Ok(scan) => Box::pin(stream::unfold(Some(scan), |scan| async move {
                let mut scan = scan?;
                let chunk = scan.chunk().await;
                let rest = chunk.end.is_none().then_some(scan);
                Some((Ok(chunk), rest))
            })),
        }
    }

    async fn count(&self, prefix: Bytes) -> Result<i64, KvError> {
        let (_, end) = Scan::counting(self.0.snapshot("count")?, &prefix).finish().await;
        Ok(end.count.unwrap_or_default())
    }

    async fn optimistic_put(&self, request: PutRequest) -> Result<WriteOutcome, KvError> {
        self.0.check_write("optimistic_put", &request.key, request.value.len(), request.on_failure)?;
        self.0.write("optimistic_put", Op::Put(request))?.into_write("optimistic_put")
    }

    async fn optimistic_delete(&self, request: DeleteRequest) -> Result<WriteOutcome, KvError> {
        self.0.check_write("optimistic_delete", &request.key, 0, request.on_failure)?;
        self.0.write("optimistic_delete", Op::Delete(request))?.into_write("optimistic_delete")
    }

    async fn watch(&self, request: WatchRequest) -> Result<KvWatch, KvError> {
        if let WatchTarget::Key(key) = &request.target {
            check_key("watch", key)?;
        }
        Ok(Box::pin(WatchStream::new(Arc::clone(self.0.open("watch")?), request)))
    }

    async fn request_progress(&self, group: WatchGroup) -> Result<(), KvError> {
        self.0.open("request_progress")?.hub.request_progress(group);
        Ok(())
    }

    async fn grant_lease(&self, ttl: Duration) -> Result<LeaseGrant, KvError> {
        self.0.open("grant_lease")?;
        self.0.start_expiry()?;
        self.0.write("grant_lease", Op::Grant(ttl))?.into_lease("grant_lease")
    }

    async fn revoke_lease(&self, id: LeaseId) -> Result<(), KvError> {
        self.0.write("revoke_lease", Op::Revoke(id)).map(|_| ())
    }

    async fn lease_info(&self, id: LeaseId) -> Result<LeaseInfo, KvError> {
        let state = self.0.snapshot("lease_info")?;
        let lease = state.leases.get(id.0).ok_or_else(|| lease_not_found("lease_info", id))?;
        Ok(lease.info(self.0.shared.options.clock.now()))
    }

    async fn compact(&self, revision: Revision) -> Result<(), KvError> {
        self.0.write("compact", Op::Compact(revision))?;
        self.0.writer.clean(&self.0.shared).await;
        Ok(())
    }

    async fn status(&self) -> Result<KvStatus, KvError> {
        let state = self.0.snapshot("status")?;
        let mut status = KvStatus::new(Revision(state.head));
        status.compacted = Some(Revision(state.compacted));
        status.progress_requests = true;
        Ok(status)
    }
}

impl fmt::Debug for Embedded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.0.shared.snapshot();
        f.debug_struct("Embedded")
            .field("head", &state.head)
            .field("compacted", &state.compacted)
            .finish_non_exhaustive()
    }
}

fn check_key(operation: &'static str, key: &Bytes) -> Result<(), KvError> {
    if key.is_empty() {
        return Err(KvError::new(KvErrorKind::InvalidArgument, operation, "the key is empty; name one"));
    }
    Ok(())
}
