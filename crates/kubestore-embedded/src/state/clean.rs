//! Forgetting what a compaction made unreachable, in small steps that the log dictates.

use super::State;
use crate::record::{Event, Record};

/// The place of one version on disk: its revision, and its number among the changes of that revision.
pub(crate) type Place = (i64, u32);

impl State {
    /// Whether there is something left to forget.
    pub(crate) fn has_garbage(&self) -> bool {
        self.cleaned < self.compacted
    }

    /// Forgets what the oldest changes up to the compacted revision replaced or deleted, and those changes; says
    /// which versions are gone. A step takes whole revisions of about `budget` changes.
    ///
    /// A tombstone at exactly the compacted revision is kept until the next compaction, as etcd does since 3.5.16: a
    /// watch from that revision sees the deletion.
    pub(crate) fn clean(&mut self, budget: usize) -> Vec<Place> {
        let mut erased = Vec::new();
        let mut seen = 0;
        let (log, compacted) = (self.log.clone(), self.compacted);
        // The last revision of the step before is looked at again, for the tombstones it may have had to keep.
        for (revision, commit) in log.from(self.cleaned).take_while(|(revision, _)| *revision <= compacted) {
            for event in commit.iter() {
                self.forget(event, &mut erased);
            }
            self.cleaned = revision;
            seen += commit.len();
            if seen >= budget && revision < compacted {
                self.log.trim(revision);
                return erased;
            }
        }
        self.cleaned = self.compacted;
        self.log.trim(self.compacted);
        erased
    }

    fn forget(&mut self, event: &Event, erased: &mut Vec<Place>) {
        if let Some(previous) = &event.previous {
            erased.extend(self.forget_old(previous));
        }
        let record = &event.record;
        if record.is_tombstone() && record.modified < self.compacted {
            let is_newest =
                self.index.get(&record.key).is_some_and(|newest| newest.modified == record.modified);
            if is_newest {
                erased.extend(self.index.remove(&record.key).map(|gone| (gone.modified, gone.number)));
            } else {
                erased.extend(self.forget_old(record));
            }
        }
    }

    fn forget_old(&mut self, record: &Record) -> Option<Place> {
        let gone = self.old.remove(&(record.key.clone(), record.modified))?;
        Some((gone.modified, gone.number))
    }
}
