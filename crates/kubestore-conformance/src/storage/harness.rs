//! What a store's author provides so that the storage suite can run on it.

use std::{fmt, sync::Arc, time::Duration};

use async_trait::async_trait;
use bytes::Bytes;
use kubestore_core::Storage;
use kubestore_kv::BoxFuture;

use super::Pod;
use crate::{Isolation, Unsupported};

/// A store under test: starts instances of it, each for [`Pod`]s under keys that begin with `/pods/`.
///
/// What it cannot do it answers with [`Unsupported`]; the case then fails with a text that says how to skip it by name.
#[async_trait]
pub trait StorageHarness: fmt::Debug + Send + Sync + 'static {
    /// The store's name in failure texts.
    fn name(&self) -> &str;

    /// How long a case waits for what must happen before it fails. 10 seconds by default.
    fn patience(&self) -> Duration {
        Duration::from_secs(10)
    }

    /// Gives an instance that stays usable until it is dropped.
    ///
    /// # Errors
    /// The options cannot be met. Anything else that goes wrong is a panic: it fails the case.
    async fn start(&self, options: StoreOptions) -> Result<Box<dyn StoreInstance>, Unsupported>;
}

/// What a case needs of its store.
#[non_exhaustive]
#[derive(Clone, Debug)]
pub struct StoreOptions {
    /// The path before every key, of this case alone.
    pub prefix: String,
    /// How alone the case is on the backend.
    pub isolation: Isolation,
    /// Whether watches may ask for initial events (Kubernetes' feature `WatchList`).
    pub watch_list: bool,
    /// How long a watch that asks for progress stays silent before it is told; `None` is the backend's default.
    pub progress_interval: Option<Duration>,
}

impl StoreOptions {
    pub(crate) fn new(isolation: Isolation, prefix: String) -> Self {
        Self { prefix, isolation, watch_list: false, progress_interval: None }
    }
}

/// A running store.
#[async_trait]
pub trait StoreInstance: fmt::Debug + Send + Sync + 'static {
    /// The store.
    fn store(&self) -> Arc<dyn Storage<Pod>>;

    /// Lets `by` pass for the backend: moves its clock, or waits.
    ///
    /// # Errors
    /// The backend's time can neither be moved nor waited for.
    async fn advance_time(&self, by: Duration) -> Result<(), Unsupported>;

    /// Makes the backend forget what was replaced or deleted at or below `revision`.
    ///
    /// # Errors
    /// The backend keeps no history, or all of it.
    async fn compact(&self, revision: u64) -> Result<(), Unsupported>;

    /// Raises the backend's revision by one without touching any object, as the compaction of an API server does, and
    /// gives the new one.
    ///
    /// # Errors
    /// Nobody but the store writes.
    async fn bump_revision(&self) -> Result<u64, Unsupported>;

    /// What the codec gave for the object that is stored at `key`.
    ///
    /// # Errors
    /// What is stored cannot be looked at.
    async fn stored(&self, key: &str) -> Result<Option<Bytes>, Unsupported>;

    /// From now on, values are tampered with like this between codec and backend.
    ///
    /// # Errors
    /// There is nothing in between.
    fn tamper(&self, how: Tampering) -> Result<(), Unsupported>;

    /// Gives what was read since the last time it was asked, and counts anew.
    ///
    /// # Errors
    /// Nobody counts.
    fn take_reads(&self) -> Result<Reads, Unsupported>;

    /// From now on, `action` runs to its end before each read of a range. Never within one that `action` makes.
    ///
    /// # Errors
    /// Reads cannot be intercepted.
    fn before_each_list(&self, action: Action) -> Result<(), Unsupported>;
}

/// Something that a case does in the middle of an operation of the store.
pub type Action = Arc<dyn Fn() -> BoxFuture<'static, ()> + Send + Sync>;

/// What is done to values between codec and backend.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tampering {
    /// Every value read fails to be opened.
    FailReads,
    /// Nothing out of the ordinary.
    #[default]
    None,
    /// Every value written is such that it cannot be opened any more once the tampering has ended.
    Spoil,
    /// Every value read is told to be stale: due to be written again though unchanged.
    Stale,
    /// Every value written has white space before it, which is there when it is read.
    WhiteSpace,
}

/// What a store has read.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reads {
    /// Ranges asked of the backend.
    pub lists: usize,
    /// Values opened.
    pub values: usize,
}

impl Reads {
    /// So many of each.
    #[must_use]
    pub fn new(lists: usize, values: usize) -> Self {
        Self { lists, values }
    }
}
