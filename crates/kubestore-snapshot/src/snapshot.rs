//! The file as its users hold it.

use std::{
    collections::BTreeMap,
    fs::{File, TryLockError},
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
    time::Duration,
};

use async_trait::async_trait;
use bytes::Bytes;
use kubestore_kv::{
    BoxStream, DeleteRequest, GetRequest, GetResponse, KeyValue, Kv, KvError, KvErrorKind, KvStatus, KvWatch,
    LeaseGrant, LeaseId, LeaseInfo, ListChunk, ListRequest, ListResponse, PutRequest, Revision, WatchGroup,
    WatchRequest, WriteOutcome,
};

use crate::{
    SnapshotError, SnapshotErrorKind, SnapshotInfo, SnapshotLease, SnapshotOptions, blocking,
    history::{History, Order},
    index::Index,
    load::{self, Loaded},
    scan::{Chunks, Scan},
    source::Source,
    view::Views,
};

/// An etcd snapshot, or the database of an etcd that does not run, as a [`Kv`] that only reads.
///
/// Every state from the compacted revision to the newest can be read. Opening it reads the whole file once; then the keys
/// are in memory and values are read from the file when they are asked for. Clones are handles to the same file.
///
/// Writes, grants and compactions are [`ReadOnly`](KvErrorKind::ReadOnly) errors. A watch tells what happened from a
/// revision in the file on, then [`Progress`](kubestore_kv::WatchItem::Progress) at the newest revision, and then ends
/// with a [`ReadOnly`](KvErrorKind::ReadOnly) error, since nothing is to come.
#[derive(Clone)]
pub struct Snapshot(Arc<Inner>);

pub(crate) struct Inner {
    name: String,
    pub(crate) source: Source,
    pub(crate) index: Index,
    pub(crate) info: SnapshotInfo,
    leases: BTreeMap<LeaseId, LeaseInfo>,
    pub(crate) views: Views,
    order: OnceLock<Order>,
}

impl Snapshot {
    /// Opens a file of `etcdctl snapshot save`, or a copy of `member/snap/db`, and reads it once.
    ///
    /// The file is locked against an etcd that would write it. When the future is dropped the reading still goes to its
    /// end.
    ///
    /// # Errors
    /// [`SnapshotError`]; it says where in the file something is wrong.
    pub async fn open(path: impl AsRef<Path>) -> Result<Self, SnapshotError> {
        Self::open_with(path, SnapshotOptions::default()).await
    }

    /// As [`open`](Self::open), with other options than the default ones.
    ///
    /// # Errors
    /// As there.
    pub async fn open_with(path: impl AsRef<Path>, options: SnapshotOptions) -> Result<Self, SnapshotError> {
        let path = path.as_ref().to_path_buf();
        let name = path.display().to_string();
        let opened = blocking::run(move || Self::start(name, file(&path)?, &options));
        opened.await.unwrap_or_else(|cause| Err(stopped(cause)))
    }

    /// Reads a snapshot that is in memory.
    ///
    /// # Errors
    /// As for [`open`](Self::open).
    pub async fn from_bytes(
        bytes: impl Into<Bytes>,
        options: SnapshotOptions,
    ) -> Result<Self, SnapshotError> {
        let bytes = bytes.into();
        let opened =
            blocking::run(move || Self::start("snapshot".to_owned(), Source::Memory(bytes), &options));
        opened.await.unwrap_or_else(|cause| Err(stopped(cause)))
    }

    /// What the file says about itself.
    #[must_use]
    pub fn info(&self) -> &SnapshotInfo {
        &self.0.info
    }

    /// All leases, in ascending order of their numbers. Which keys have one is known from the keys.
    pub fn leases(&self) -> impl Iterator<Item = SnapshotLease> {
        self.0.leases.iter().map(|(id, info)| SnapshotLease { id: *id, info: *info })
    }

    fn start(name: String, source: Source, options: &SnapshotOptions) -> Result<Self, SnapshotError> {
        let loaded = load::load(&source, options).map_err(|error| error.in_file(&name))?;
        let Loaded { mut info, index, leases } = loaded;
        let views = Views::default();
        info.keys = views.at(&index, info.head.0).len() as u64;
        Ok(Self(Arc::new(Inner { name, source, index, info, leases, views, order: OnceLock::new() })))
    }
}

impl std::fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Snapshot").field("name", &self.0.name).field("info", &self.0.info).finish()
    }
}

impl Inner {
    /// The revision that is read if `wanted` is asked for.
    pub(crate) fn readable(&self, operation: &'static str, wanted: Option<Revision>) -> Result<i64, KvError> {
        let SnapshotInfo { head, compacted, .. } = self.info;
        match wanted.filter(|revision| revision.0 > 0) {
            None => Ok(head.0),
            Some(revision) if revision > head => Err(KvError::future_revision(operation, revision, head)),
            Some(revision) if revision < compacted => Err(KvError::compacted(operation, compacted)),
            Some(revision) => Ok(revision.0),
        }
    }

    /// One version of a key.
    pub(crate) fn read(
        &self,
        operation: &'static str,
        key: usize,
        version: usize,
    ) -> Result<KeyValue, KvError> {
        let read = self.index.read(&self.source, key, version);
        read.map_err(|error| error.in_file(&self.name).into_kv(operation).with_key(self.index.name(key)))
    }

    pub(crate) fn order(&self) -> &Order {
        self.order.get_or_init(|| Order::new(&self.index))
    }

    fn get(&self, request: &GetRequest) -> Result<GetResponse, KvError> {
        let at =
            self.readable("get", request.revision).map_err(|error| error.with_key(request.key.clone()))?;
        let found = self.index.find(&request.key);
        let found = found.and_then(|key| Some((key, self.index.version_at(key, at)?)));
        let kv = found.map(|(key, version)| self.read("get", key, version)).transpose()?;
        Ok(GetResponse::new(kv, self.info.head))
    }
}

#[async_trait]
impl Kv for Snapshot {
    async fn get(&self, request: GetRequest) -> Result<GetResponse, KvError> {
        let snapshot = Arc::clone(&self.0);
        blocking::answer("get", move || snapshot.get(&request)).await
    }

    async fn list(&self, request: ListRequest) -> Result<ListResponse, KvError> {
        let snapshot = Arc::clone(&self.0);
        blocking::answer("list", move || Scan::new(snapshot, "list", &request)?.whole()).await
    }

    fn list_chunks(&self, request: ListRequest) -> BoxStream<Result<ListChunk, KvError>> {
        blocking::stream("list_chunks", Chunks::Asked(Arc::clone(&self.0), request), Chunks::next)
    }

    async fn count(&self, prefix: Bytes) -> Result<i64, KvError> {
        let snapshot = Arc::clone(&self.0);
        let count = move || Ok(Scan::new(snapshot, "count", &ListRequest::new(prefix))?.count());
        blocking::answer("count", count).await
    }

    async fn optimistic_put(&self, request: PutRequest) -> Result<WriteOutcome, KvError> {
        Err(read_only("optimistic_put").with_key(request.key))
    }

    async fn optimistic_delete(&self, request: DeleteRequest) -> Result<WriteOutcome, KvError> {
        Err(read_only("optimistic_delete").with_key(request.key))
    }

    async fn watch(&self, request: WatchRequest) -> Result<KvWatch, KvError> {
        let head = self.0.info.head;
        let start = request.start.filter(|start| start.0 > 0 && *start <= head);
        let start = start.ok_or_else(|| {
            let message = format!(
                "nothing happens to a snapshot: it ends at revision {head}; begin there or before to see what happened, \
                 or watch the server"
            );
            KvError::new(KvErrorKind::ReadOnly, "watch", message)
        })?;
        let history = History::new(Arc::clone(&self.0), request, start);
        Ok(blocking::stream("watch", history, History::next))
    }

    async fn request_progress(&self, _group: WatchGroup) -> Result<(), KvError> {
        // A watch of history tells its progress at its end without being asked.
        Ok(())
    }

    async fn grant_lease(&self, _ttl: Duration) -> Result<LeaseGrant, KvError> {
        Err(read_only("grant_lease"))
    }

    async fn revoke_lease(&self, _id: LeaseId) -> Result<(), KvError> {
        Err(read_only("revoke_lease"))
    }

    async fn lease_info(&self, id: LeaseId) -> Result<LeaseInfo, KvError> {
        let found = self.0.leases.get(&id).copied();
        found.ok_or_else(|| {
            let message = format!("the snapshot has no lease {id}");
            KvError::new(KvErrorKind::LeaseNotFound, "lease_info", message)
        })
    }

    async fn compact(&self, _revision: Revision) -> Result<(), KvError> {
        Err(read_only("compact"))
    }

    async fn status(&self) -> Result<KvStatus, KvError> {
        let SnapshotInfo { head, compacted, size, .. } = self.0.info;
        let mut status = KvStatus::new(head);
        status.compacted = Some(compacted);
        status.db_size = Some(size);
        Ok(status)
    }
}

/// Opens a file, and locks it as bbolt's readers do: an etcd that has it open holds the lock alone.
fn file(path: &PathBuf) -> Result<Source, SnapshotError> {
    let unreadable = |cause| {
        let message = "cannot open the snapshot";
        SnapshotError::new(SnapshotErrorKind::Unreadable, message).with_source(cause)
    };
    let named = |error: SnapshotError| error.in_file(&path.display().to_string());
    let file = File::open(path).map_err(|cause| named(unreadable(cause)))?;
    let metadata = file.metadata().map_err(|cause| named(unreadable(cause)))?;
    if !metadata.is_file() {
        let message = "not a file; in the directory of an etcd the database is member/snap/db";
        return Err(named(SnapshotError::new(SnapshotErrorKind::NotEtcd, message)));
    }
    match file.try_lock_shared() {
        Err(TryLockError::WouldBlock) => {
            let message = "another process writes this database; save a snapshot of it (etcdctl snapshot save), or stop it";
            Err(named(SnapshotError::new(SnapshotErrorKind::InUse, message)))
        }
        // Not every file system has locks, and a snapshot needs none.
        Ok(()) | Err(TryLockError::Error(_)) => Ok(Source::File { size: metadata.len(), file }),
    }
}

fn read_only(operation: &'static str) -> KvError {
    let message = "a snapshot is read-only; write to a server, and import there what is in the snapshot";
    KvError::new(KvErrorKind::ReadOnly, operation, message)
}

fn stopped(cause: tokio::task::JoinError) -> SnapshotError {
    let message = "the runtime stopped before the file was read";
    SnapshotError::new(SnapshotErrorKind::Unreadable, message).with_source(cause)
}
