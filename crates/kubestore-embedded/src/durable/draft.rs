//! From changes to a batch of entries.

use super::{
    base::Batch,
    codec::{self, Entry, Meta},
};
use crate::state::Change;

/// A batch in the making.
pub(super) struct Draft {
    /// The summary after it.
    pub(super) meta: Meta,
    pub(super) batch: Batch,
    /// Bytes of the entries that it adds and takes away.
    pub(super) born: u64,
    pub(super) died: u64,
}

impl Draft {
    pub(super) fn new(meta: Meta) -> Self {
        Self { meta, batch: Batch::default(), born: 0, died: 0 }
    }

    pub(super) fn take(&mut self, change: &Change) {
        match change {
            Change::Commit(commit) => {
                for event in commit.iter() {
                    self.put(codec::record_entry(&event.record));
                    self.meta.head = event.revision();
                }
            }
            Change::Granted(id, lease) => {
                self.put(codec::lease_entry(*id, *lease));
                self.meta.last_lease = self.meta.last_lease.max(*id);
            }
            Change::Ended(id, lease) => self.remove_entry(codec::lease_entry(*id, *lease)),
            Change::Compacted(revision) => self.meta.compacted = *revision,
            Change::Erased(record) => self.remove_entry(codec::record_entry(record)),
        }
    }

    fn put(&mut self, entry: Entry) {
        self.meta.add(entry.checksum);
        self.born += (entry.key.len() + entry.value.len()) as u64;
        self.batch.puts.push((entry.key, entry.value));
    }

    fn remove_entry(&mut self, entry: Entry) {
        let bytes = (entry.key.len() + entry.value.len()) as u64;
        self.remove(entry.key, entry.checksum, bytes);
    }

    pub(super) fn remove(&mut self, key: Vec<u8>, checksum: u64, bytes: u64) {
        self.meta.subtract(checksum);
        self.died += bytes;
        self.batch.removes.push(key);
    }
}
