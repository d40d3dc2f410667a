//! What is asked of the embedded database underneath: ordered entries, atomic batches, a sync.

use std::fmt;

use kubestore_kv::BoxError;

use super::mark::Acknowledged;

/// Changes that happen together or not at all.
#[derive(Clone, Default)]
pub(crate) struct Batch {
    pub(crate) puts: Vec<(Vec<u8>, Vec<u8>)>,
    pub(crate) removes: Vec<Vec<u8>>,
}

/// What a visitor of entries says of the one it was shown.
pub(crate) type Visit<'a> = dyn FnMut(&[u8], &[u8]) -> Result<(), BoxError> + 'a;

/// An embedded database.
pub(crate) trait Base: fmt::Debug + Send {
    /// Applies a batch. With `sync` it is on disk afterwards, and with it all batches before.
    fn write(&mut self, batch: &Batch, sync: bool) -> Result<(), WriteError>;

    /// Shows every entry, ascending by key, and checks what is read.
    fn scan(&self, visit: &mut Visit<'_>) -> Result<(), BoxError>;

    /// One entry.
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, BoxError>;

    /// Whether it takes no more writes before it is opened again.
    fn is_failed(&self) -> bool;

    /// Closes and opens again what a failed write left behind. What was synced is there afterwards; what was not may be.
    /// What was `acknowledged` must be among it.
    fn reopen(&mut self, acknowledged: Acknowledged) -> Result<(), BoxError>;

    /// Starts giving space back to the file system, beside reads and writes; `false` if it cannot be started now.
    /// It takes about as much room as `living`, the bytes of all entries.
    fn reclaim(&mut self, living: u64) -> bool;

    /// Whether that came to nothing. Tells it once.
    fn reclaim_failed(&mut self) -> bool;

    /// Bytes that entries take on disk, dead ones included, as far as they are not in memory only.
    fn disk_bytes(&self) -> u64;
}

/// Why a batch failed.
#[derive(Debug)]
pub(crate) enum WriteError {
    /// The base refused before the sync. After [`Base::reopen`] it can be told whether the batch is there.
    Refused(BoxError),
    /// The sync failed: nothing that was not synced before can be relied on.
    NotSynced(BoxError),
}
