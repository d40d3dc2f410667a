//! Forgetting what a compaction made unreachable, in small steps that the log dictates.

use std::sync::Arc;

use super::{Change, State};
use crate::record::{Event, Record};

impl State {
    /// Whether there is something left to forget.
    pub(crate) fn has_garbage(&self) -> bool {
        self.cleaned < self.compacted
    }

    /// Forgets what the oldest changes up to the compacted revision replaced or deleted, and those changes; tells
    /// which versions are gone. A step takes whole revisions of about `budget` changes: what a tombstone hides goes
    /// with it or before it, never after.
    ///
    /// A tombstone at exactly the compacted revision is kept until the next compaction, as etcd does since 3.5.16: a
    /// watch from that revision sees the deletion.
    pub(crate) fn clean(&mut self, budget: usize, changes: &mut Vec<Change>) {
        let mut seen = 0;
        let (log, compacted) = (self.log.clone(), self.compacted);
        // The last revision of the step before is looked at again, for the tombstones it may have had to keep.
        for (revision, commit) in log.from(self.cleaned).take_while(|(revision, _)| *revision <= compacted) {
            for event in commit.iter() {
                self.forget(event, changes);
            }
            self.cleaned = revision;
            seen += commit.len();
            if seen >= budget && revision < compacted {
                self.log.trim(revision);
                return;
            }
        }
        self.cleaned = self.compacted;
        self.log.trim(self.compacted);
    }

    /// Takes a version below the compacted revision from disk, where an interrupted compaction may have left more than
    /// the newest one of each key.
    #[cfg(feature = "durable")]
    pub(crate) fn restore(&mut self, record: Record) -> Restored {
        let is_tombstone = record.is_tombstone();
        let hidden = if is_tombstone {
            self.index.remove(&record.key)
        } else {
            self.leases.attach(record.lease, &record.key);
            self.index.insert(record.key.clone(), Arc::new(record))
        };
        if let Some(hidden) = &hidden {
            let current = self.index.get(&hidden.key).map_or(0, |current| current.lease);
            if current != hidden.lease {
                self.leases.detach(hidden.lease, &hidden.key);
            }
        }
        Restored { hidden, is_tombstone }
    }

    fn forget(&mut self, event: &Event, changes: &mut Vec<Change>) {
        if let Some(previous) = &event.previous {
            changes.extend(self.forget_old(previous).map(Change::Erased));
        }
        let record = &event.record;
        if record.is_tombstone() && record.modified < self.compacted {
            let is_newest =
                self.index.get(&record.key).is_some_and(|newest| newest.modified == record.modified);
            let gone = if is_newest { self.index.remove(&record.key) } else { self.forget_old(record) };
            changes.extend(gone.map(Change::Erased));
        }
    }

    fn forget_old(&mut self, record: &Record) -> Option<Arc<Record>> {
        self.old.remove(&(record.key.clone(), record.modified))
    }
}

/// What [`State::restore`] made superfluous.
#[cfg(feature = "durable")]
#[derive(Debug)]
pub(crate) struct Restored {
    pub(crate) hidden: Option<Arc<Record>>,
    pub(crate) is_tombstone: bool,
}
