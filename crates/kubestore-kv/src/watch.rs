//! Watches: what changed, revision by revision.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::SystemTime,
};

use bytes::Bytes;

use crate::{BoxStream, KeyValue, KvError, Revision};

/// Which watches a progress request speaks for.
///
/// All watches of one group share one server stream on etcd, which answers a progress request only when all watches of
/// the stream are in step. One group per store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct WatchGroup(u64);

impl WatchGroup {
    /// A group of its own, unlike any other of this process.
    #[must_use]
    #[expect(clippy::new_without_default, reason = "two defaults would not be equal")]
    pub fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// What to watch, and from when.
#[non_exhaustive]
#[derive(Clone, Debug)]
pub struct WatchRequest {
    /// Progress is asked for by group.
    pub group: WatchGroup,
    /// One key or all keys with a prefix.
    pub target: WatchTarget,
    /// First revision wanted; `None` and 0 = after the head at creation. One above the head waits for it. Below the
    /// compacted revision the stream's one item is a [`Compacted`](crate::KvErrorKind::Compacted) error; the compacted
    /// revision itself is legal, and its changes are told, deletions too.
    pub start: Option<Revision>,
    /// Give each event the key-value pair it replaced.
    pub previous: bool,
    /// Ask for progress from time to time without being told to (etcd: every 10 minutes by default).
    pub progress_notify: bool,
}

impl WatchRequest {
    /// A watch of what comes after the head, without previous values.
    #[must_use]
    pub fn new(group: WatchGroup, target: WatchTarget) -> Self {
        Self { group, target, start: None, previous: false, progress_notify: false }
    }

    /// Begin with `revision`.
    #[must_use]
    pub fn from(mut self, revision: Revision) -> Self {
        self.start = Some(revision);
        self
    }

    /// With previous values.
    #[must_use]
    pub fn with_previous(mut self) -> Self {
        self.previous = true;
        self
    }

    /// With progress from time to time.
    #[must_use]
    pub fn with_progress_notify(mut self, on: bool) -> Self {
        self.progress_notify = on;
        self
    }
}

/// The keys of a watch.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a range is a key or a prefix in all that the store needs")]
pub enum WatchTarget {
    /// This key.
    Key(Bytes),
    /// Every key that begins with it.
    Prefix(Bytes),
}

impl WatchTarget {
    /// Whether `key` is watched.
    #[must_use]
    pub fn contains(&self, key: &[u8]) -> bool {
        match self {
            Self::Key(watched) => watched == key,
            Self::Prefix(prefix) => key.starts_with(prefix),
        }
    }
}

/// What a watch tells.
#[non_exhaustive]
#[derive(Clone, Debug)]
pub enum WatchItem {
    /// Whole revisions only, ascending by revision; no revision is split over items, none is repeated. Within one
    /// revision the order is the backend's: that of the operations, and of the keys where a lease ended.
    Events {
        /// At least one.
        events: Vec<KvEvent>,
        /// The last revision of `events`. Nothing at or below it is still to come.
        through: Revision,
    },
    /// Nothing at or below this revision is still to come.
    Progress(Revision),
    /// Neither an error nor a loss: the state of the connection, for observers.
    State(WatchState),
}

/// Whether a watch is connected.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WatchState {
    /// The server has the watch (again).
    Live,
    /// The connection broke; the watch goes on where it was as soon as a server answers.
    Reconnecting {
        /// When it broke.
        since: SystemTime,
    },
}

/// One change of one key.
#[non_exhaustive]
#[derive(Clone, Debug)]
pub struct KvEvent {
    /// Put or delete.
    pub kind: KvEventKind,
    /// The key after the change. For a deletion only the key and, as `mod_revision`, the deletion's revision.
    pub kv: KeyValue,
    /// What it replaced, where that was asked for, existed, and is not compacted.
    pub previous: Option<KeyValue>,
}

impl KvEvent {
    /// A put of `kv`.
    #[must_use]
    pub fn put(kv: KeyValue, previous: Option<KeyValue>) -> Self {
        Self { kind: KvEventKind::Put, kv, previous }
    }

    /// A deletion of `key` at `revision`.
    #[must_use]
    pub fn delete(key: Bytes, revision: Revision, previous: Option<KeyValue>) -> Self {
        let mut kv = KeyValue::new(key, Bytes::new(), revision);
        kv.create_revision = Revision(0);
        kv.version = 0;
        Self { kind: KvEventKind::Delete, kv, previous }
    }

    /// Whether the key was created by this change.
    #[must_use]
    pub fn is_create(&self) -> bool {
        self.kind == KvEventKind::Put && self.kv.create_revision == self.kv.mod_revision
    }
}

/// The two kinds of change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "etcd has these two")]
pub enum KvEventKind {
    /// Created or replaced.
    Put,
    /// Deleted, by a client or because its lease ended.
    Delete,
}

/// The stream of a watch. It ends after the first `Err`; dropping it cancels the watch.
pub type KvWatch = BoxStream<Result<WatchItem, KvError>>;
