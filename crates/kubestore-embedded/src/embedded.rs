//! The engine as its users hold it.

use std::{fmt, sync::Arc, time::Duration};

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::stream;
use kubestore_kv::{
    BoxStream, DeleteRequest, GetRequest, GetResponse, Kv, KvError, KvErrorKind, KvStatus, KvWatch,
    LeaseGrant, LeaseId, LeaseInfo, ListChunk, ListRequest, ListResponse, OnFailure, PutRequest, Revision,
    WatchGroup, WatchRequest, WatchTarget, WriteOutcome,
};
use tokio::task::coop::consume_budget;

use crate::{
    builder::EmbeddedBuilder,
    engine::{Core, Expiry, Options},
    read::Scan,
    state::{Done, Op, lease_not_found},
    watch::WatchStream,
};

/// A [`Kv`] in this process, with etcd's semantics.
///
/// Clones are handles to the same engine; it is closed by [`close`](Self::close) or when the last handle is dropped.
/// Watches do not keep it open: they end with an [`Unavailable`](KvErrorKind::Unavailable) error when it closes.
#[derive(Clone)]
pub struct Embedded(Arc<Owner>);

/// Closes the engine with the last handle.
struct Owner {
    core: Arc<Core>,
    expiry: Expiry,
}

impl Embedded {
    /// An empty engine that lives in memory only, with default settings.
    #[must_use]
    pub fn in_memory() -> Self {
        Self::builder().in_memory()
    }

    /// Opens the engine in a directory with default settings. See [`EmbeddedBuilder::open`].
    ///
    /// # Errors
    /// As there.
    #[cfg(feature = "durable")]
    pub async fn open(directory: impl AsRef<std::path::Path>) -> Result<Self, KvError> {
        Self::builder().open(directory).await
    }

    /// Looks into a directory that is not open, without changing it: whether everything that was acknowledged is there,
    /// whole, and fits together. Reads all of it, and holds it in memory meanwhile.
    ///
    /// When the future is dropped, the look goes on to its end.
    ///
    /// # Errors
    /// [`Unavailable`](KvErrorKind::Unavailable) when it is open; [`InvalidArgument`](KvErrorKind::InvalidArgument) when
    /// it is not a directory of this engine; [`Unsupported`](KvErrorKind::Unsupported) when a newer version wrote it.
    /// What is wrong with the data is no error but in the report.
    #[cfg(feature = "durable")]
    pub async fn check(
        directory: impl AsRef<std::path::Path>,
        options: crate::CheckOptions,
    ) -> Result<crate::CheckReport, KvError> {
        crate::durable::check(directory.as_ref(), options).await
    }

    /// Makes a damaged directory open again, with what [`check`](Self::check) can read of it.
    ///
    /// The data is built anew, and what was there before is kept beside it: nothing is deleted. If versions are lost,
    /// only the newest one of each key that can be read is there afterwards, which may be an old one or one that was
    /// deleted, where the loss concerns it; all revisions before are compacted, so that every watch has to list again.
    /// A directory without a problem is left as it is. It needs as much room as the data takes.
    ///
    /// When the future is dropped, the repair goes on to its end.
    ///
    /// # Errors
    /// As [`check`](Self::check), and [`Corrupt`](KvErrorKind::Corrupt) when nothing at all can be read.
    #[cfg(feature = "durable")]
    pub async fn repair(
        directory: impl AsRef<std::path::Path>,
        options: crate::CheckOptions,
    ) -> Result<crate::RepairReport, KvError> {
        crate::durable::repair(directory.as_ref(), options).await
    }

    /// Other settings than the default ones.
    pub fn builder() -> EmbeddedBuilder {
        EmbeddedBuilder::new()
    }

    /// Closes the engine for all its handles: watches end, every later call is
    /// [`Unavailable`](KvErrorKind::Unavailable), and what was asked before is still done. Returns when the directory,
    /// if there is one, may be opened again. Doing it twice is no error; when the future is dropped, the engine closes
    /// all the same.
    ///
    /// Dropping the last handle does the same, but holds up its thread for as long as it takes: the commit in
    /// progress, and rarely the rewriting of tables after a large compaction.
    pub async fn close(&self) {
        self.0.expiry.stop();
        self.0.core.close();
        self.0.core.closed().await;
    }

    pub(crate) fn start_in_memory(options: Options) -> Self {
        Self(Arc::new(Owner { core: Arc::new(Core::in_memory(options)), expiry: Expiry::default() }))
    }

    #[cfg(feature = "durable")]
    pub(crate) async fn start_durable(
        directory: &std::path::Path,
        options: Options,
    ) -> Result<Self, KvError> {
        Self::start(Core::open(directory, options).await?)
    }

    #[cfg(feature = "durable")]
    pub(crate) fn start(core: Core) -> Result<Self, KvError> {
        let engine = Self(Arc::new(Owner { core: Arc::new(core), expiry: Expiry::default() }));
        if engine.0.core.last_state().leases.next_deadline().is_some() {
            engine.0.ensure_expiry("open")?;
        }
        Ok(engine)
    }
}

impl Owner {
    async fn write(&self, operation: &'static str, op: Op) -> Result<Done, KvError> {
        consume_budget().await;
        self.core.write(operation, op).await
    }

    fn check_write(
        &self,
        operation: &'static str,
        key: &Bytes,
        value: usize,
        answer: OnFailure,
    ) -> Result<(), KvError> {
        let limit = self.core.shared(operation)?.options.max_request_bytes;
        check_key(operation, key)?;
        let keys = if answer == OnFailure::Get { 3 } else { 2 };
        let size = key.len().saturating_mul(keys).saturating_add(value).saturating_add(REQUEST_OVERHEAD);
        if size > limit {
            return Err(KvError::too_large(operation, size, limit).with_key(key.clone()));
        }
        Ok(())
    }

    /// Sees to it that leases end. The task lives in the runtime of whoever came first, and anew in the next one's
    /// when that is gone.
    fn ensure_expiry(&self, operation: &'static str) -> Result<(), KvError> {
        self.expiry.ensure(operation, &self.core)
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        self.expiry.stop();
        self.core.close();
        self.core.join();
    }
}

/// What an encoded transaction has besides keys and value.
const REQUEST_OVERHEAD: usize = 64;

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl Kv for Embedded {
    async fn get(&self, request: GetRequest) -> Result<GetResponse, KvError> {
        consume_budget().await;
        let state = self.0.core.snapshot("get")?;
        check_key("get", &request.key)?;
        let at =
            state.readable("get", request.revision).map_err(|error| error.with_key(request.key.clone()))?;
        let kv = state.find(&request.key, at).map(|record| record.key_value());
        Ok(GetResponse::new(kv, Revision(state.head)))
    }

    async fn list(&self, request: ListRequest) -> Result<ListResponse, KvError> {
        consume_budget().await;
        let scan = Scan::new(self.0.core.shared("list")?, &request)?;
        let head = scan.head();
        let (kvs, end) = scan.finish().await;
        Ok(ListResponse::new(kvs, head, end.more, end.count))
    }

    fn list_chunks(&self, request: ListRequest) -> BoxStream<Result<ListChunk, KvError>> {
        match self.0.core.shared("list").and_then(|shared| Scan::new(shared, &request)) {
            Err(error) => Box::pin(stream::iter([Err(error)])),
            Ok(scan) => Box::pin(stream::unfold(Some(scan), |scan| async move {
                let mut scan = scan?;
                consume_budget().await;
                let chunk = scan.chunk().await;
                let rest = chunk.end.is_none().then_some(scan);
                Some((Ok(chunk), rest))
            })),
        }
    }

    async fn count(&self, prefix: Bytes) -> Result<i64, KvError> {
        consume_budget().await;
        let (_, end) = Scan::counting(self.0.core.shared("count")?, prefix)?.finish().await;
        Ok(end.count.unwrap_or_default())
    }

    async fn optimistic_put(&self, request: PutRequest) -> Result<WriteOutcome, KvError> {
        self.0.check_write("optimistic_put", &request.key, request.value.len(), request.on_failure)?;
        if request.lease.is_some() {
            self.0.ensure_expiry("optimistic_put")?;
        }
        self.0.write("optimistic_put", Op::Put(request)).await?.into_write("optimistic_put")
    }

    async fn optimistic_delete(&self, request: DeleteRequest) -> Result<WriteOutcome, KvError> {
        self.0.check_write("optimistic_delete", &request.key, 0, request.on_failure)?;
        self.0.write("optimistic_delete", Op::Delete(request)).await?.into_write("optimistic_delete")
    }

    async fn watch(&self, request: WatchRequest) -> Result<KvWatch, KvError> {
        if let WatchTarget::Key(key) = &request.target {
            check_key("watch", key)?;
        }
        Ok(Box::pin(WatchStream::new(Arc::clone(self.0.core.shared("watch")?), request)))
    }

    async fn request_progress(&self, group: WatchGroup) -> Result<(), KvError> {
        let shared = self.0.core.shared("request_progress")?;
        shared.hub.request_progress(group, shared.head());
        Ok(())
    }

    async fn grant_lease(&self, ttl: Duration) -> Result<LeaseGrant, KvError> {
        self.0.core.shared("grant_lease")?;
        self.0.ensure_expiry("grant_lease")?;
        self.0.write("grant_lease", Op::Grant(ttl)).await?.into_lease("grant_lease")
    }

    async fn revoke_lease(&self, id: LeaseId) -> Result<(), KvError> {
        self.0.write("revoke_lease", Op::Revoke(id)).await.map(|_| ())
    }

    async fn lease_info(&self, id: LeaseId) -> Result<LeaseInfo, KvError> {
        let state = self.0.core.snapshot("lease_info")?;
        let lease = state.leases.get(id.0).ok_or_else(|| lease_not_found("lease_info", id))?;
        Ok(lease.info(self.0.core.shared("lease_info")?.options.clock.now()))
    }

    async fn compact(&self, revision: Revision) -> Result<(), KvError> {
        self.0.write("compact", Op::Compact(revision)).await?;
        tracing::debug!(revision = revision.0, "compacted");
        self.0.core.clean().await;
        Ok(())
    }

    async fn status(&self) -> Result<KvStatus, KvError> {
        let state = self.0.core.snapshot("status")?;
        let mut status = KvStatus::new(Revision(state.head));
        status.compacted = Some(Revision(state.compacted));
        status.progress_requests = true;
        status.db_size = self.0.core.disk_bytes();
        Ok(status)
    }
}

impl fmt::Debug for Embedded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.0.core.last_state();
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
