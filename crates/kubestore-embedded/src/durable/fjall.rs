//! The base on `fjall`, and the only file that names it: one keyspace, a journal that is synced for each batch.

use std::{
    fmt,
    path::{Path, PathBuf},
    thread::JoinHandle,
    time::{Duration, Instant},
};

use fjall::{
    Database, Keyspace, KeyspaceCreateOptions, PersistMode,
    config::{BlockSizePolicy, FilterPolicy},
};
use kubestore_kv::BoxError;

use super::{
    base::{Base, Batch, Visit, WriteError},
    codec::TICK_KEY,
    journal, manifest,
    mark::Acknowledged,
    reserve::room,
};

/// Entries are read once, on opening: a cache is of no use afterwards.
const CACHE_BYTES: u64 = 8 << 20;
/// What is kept in memory until it is sorted into a table. It is there twice: the state holds the values, too.
const MEMTABLE_BYTES: u64 = 32 << 20;
/// Journals are read again on opening; the least that the base allows.
const JOURNAL_BYTES: u64 = 64 << 20;
/// Large blocks make for a fast scan.
const BLOCK_BYTES: u32 = 32 << 10;
/// One that flushes and one that merges.
const WORKERS: usize = 2;
const KEYSPACE: &str = "kubestore";

/// An open `fjall` database.
pub(crate) struct FjallBase {
    path: PathBuf,
    /// `None` after a reopening failed.
    open: Option<Open>,
    reclaiming: Option<JoinHandle<bool>>,
    /// That it failed and nobody was told yet.
    unreclaimed: bool,
}

struct Open {
    // Dropped first: the keyspace must not outlive the database by much, since both hold its lock.
    entries: Keyspace,
    database: Database,
}

impl FjallBase {
    /// Makes an empty database at `path`.
    pub(crate) fn create(path: &Path) -> Result<Self, BoxError> {
        Ok(Self { path: path.to_owned(), open: Some(Open::new(path)?), reclaiming: None, unreclaimed: false })
    }

    /// Opens the database at `path`, which must have everything that was acknowledged.
    pub(crate) fn open(path: &Path, acknowledged: Option<Acknowledged>) -> Result<Self, BoxError> {
        manifest::inspect(path)?;
        journal::settle_end(path, acknowledged)??;
        Self::create(path)
    }

    /// Waits while tables are behind. `fjall` would wait inside a write, and for ever if the disk took no more tables.
    fn wait_for_tables(&self) -> Result<(), BoxError> {
        let Open { entries, database } = self.opened()?;
        let started = Instant::now();
        while entries.sealed_memtable_count() > SEALED_MEMTABLES || entries.l0_table_count() > FRESH_TABLES {
            // A database that has failed refuses the write by itself.
            if database.persist(PersistMode::Buffer).is_err() {
                break;
            }
            if started.elapsed() > TABLES_PATIENCE {
                return Err("no more tables are written; the disk takes none, or is far too slow".into());
            }
            std::thread::sleep(FLUSH_POLL);
        }
        Ok(())
    }

    fn opened(&self) -> Result<&Open, BoxError> {
        self.open.as_ref().ok_or_else(|| "the database could not be opened again after a failed write".into())
    }

    fn finish_reclaiming(&mut self) {
        if let Some(thread) = self.reclaiming.take()
            && !thread.join().unwrap_or(false)
        {
            self.unreclaimed = true;
        }
    }
}

impl Open {
    fn new(path: &Path) -> Result<Self, fjall::Error> {
        let database = Database::builder(path)
            .cache_size(CACHE_BYTES)
            .max_journaling_size(JOURNAL_BYTES)
            .worker_threads(WORKERS)
            .manual_journal_persist(true)
            .open()?;
        let entries = database.keyspace(KEYSPACE, || {
            KeyspaceCreateOptions::default()
                .max_memtable_size(MEMTABLE_BYTES)
                .data_block_size_policy(BlockSizePolicy::all(BLOCK_BYTES))
                .filter_policy(FilterPolicy::disabled())
                .manual_journal_persist(true)
        })?;
        Ok(Self { entries, database })
    }
}

impl Base for FjallBase {
    fn write(&mut self, batch: &Batch, sync: bool) -> Result<(), WriteError> {
        let open = self.opened().map_err(WriteError::Refused)?;
        self.wait_for_tables().map_err(WriteError::Refused)?;
        let mut writes = fjall::OwnedWriteBatch::with_capacity(
            open.database.clone(),
            batch.puts.len() + batch.removes.len(),
        );
        for (key, value) in &batch.puts {
            writes.insert(&open.entries, key.as_slice(), value.as_slice());
        }
        for key in &batch.removes {
            writes.remove(&open.entries, key.as_slice());
        }
        writes.commit().map_err(|error| WriteError::Refused(error.into()))?;
        if sync {
            let synced = open.database.persist(PersistMode::SyncData);
            return synced.map_err(|error| match error {
                // No sync was tried, because a table could not be written meanwhile. Opening again makes up for it.
                fjall::Error::Poisoned => WriteError::Refused(error.into()),
                error => WriteError::NotSynced(error.into()),
            });
        }
        // Out of this process, so that a later write which fails does not take this one with it.
        open.database.persist(PersistMode::Buffer).map_err(|error| WriteError::Refused(error.into()))
    }

    fn is_failed(&self) -> bool {
        self.opened().is_ok_and(|open| open.database.persist(PersistMode::Buffer).is_err())
    }

    fn scan(&self, visit: &mut Visit<'_>) -> Result<(), BoxError> {
        for entry in self.opened()?.entries.iter() {
            let (key, value) = entry.into_inner()?;
            visit(&key, &value)?;
        }
        Ok(())
    }

    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, BoxError> {
        Ok(self.opened()?.entries.get(key)?.map(|value| value.to_vec()))
    }

    fn reopen(&mut self, acknowledged: Acknowledged) -> Result<(), BoxError> {
        self.finish_reclaiming();
        self.open = None;
        journal::settle_end(&self.path, Some(acknowledged))??;
        self.open = Some(Open::new(&self.path)?);
        Ok(())
    }

    fn reclaim(&mut self, living: u64) -> bool {
        if self.reclaiming.is_some() {
            return false;
        }
        let Ok(open) = self.opened() else { return false };
        let (database, entries, path) = (open.database.clone(), open.entries.clone(), self.path.clone());
        let started = std::thread::Builder::new()
            .name("kubestore-reclaim".to_owned())
            .spawn(move || reclaim(&database, &entries, &path, living));
        match started {
            Ok(thread) => self.reclaiming = Some(thread),
            Err(error) => tracing::warn!(%error, "no thread to give space back to the file system with"),
        }
        self.reclaiming.is_some()
    }

    fn reclaim_failed(&mut self) -> bool {
        if self.reclaiming.as_ref().is_some_and(JoinHandle::is_finished) {
            self.finish_reclaiming();
        }
        std::mem::take(&mut self.unreclaimed)
    }

    fn disk_bytes(&self) -> u64 {
        self.open.as_ref().map_or(0, |open| open.entries.disk_space())
    }
}

impl Drop for FjallBase {
    fn drop(&mut self) {
        self.finish_reclaiming();
    }
}

impl fmt::Debug for FjallBase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FjallBase").field("path", &self.path).finish_non_exhaustive()
    }
}

/// Rewrites the tables without what was removed. Reads and writes go on meanwhile. Whether it was done.
fn reclaim(database: &Database, entries: &Keyspace, path: &Path, living: u64) -> bool {
    let before = entries.disk_space();
    match rewrite(database, entries, path, living) {
        Ok(()) => tracing::debug!(before, after = entries.disk_space(), "gave space back to the file system"),
        Err(error) => {
            tracing::warn!(%error, "giving space back to the file system failed; it is tried again");
            return false;
        }
    }
    true
}

fn rewrite(database: &Database, entries: &Keyspace, path: &Path, living: u64) -> Result<(), BoxError> {
    // The removals themselves are still in memory; they count once they are in a table.
    entries.rotate_memtable()?;
    for _ in 0..FLUSH_POLLS {
        if entries.sealed_memtable_count() == 0 {
            break;
        }
        // Fails once a table could not be written; then there is nothing to wait for.
        database.persist(PersistMode::Buffer)?;
        std::thread::sleep(FLUSH_POLL);
    }
    // A failure on the way would leave its files until the next opening.
    if let Some(room) = room(path).filter(|room| *room < living) {
        return Err(format!("{room} bytes are free, and it takes {living}").into());
    }
    entries.major_compact()?;
    // The files of the tables before go with the next change of tables that two later writes allow.
    entries.insert(TICK_KEY, [])?;
    entries.insert(TICK_KEY, [])?;
    entries.rotate_memtable()?;
    Ok(())
}

/// What `fjall` stands of each, less one for what a write may add, before its own wait begins.
const SEALED_MEMTABLES: usize = 2;
const FRESH_TABLES: usize = 27;
const TABLES_PATIENCE: Duration = Duration::from_secs(60);

const FLUSH_POLL: Duration = Duration::from_millis(10);
const FLUSH_POLLS: usize = 1000;
