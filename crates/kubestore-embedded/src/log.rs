//! The log of all changes since the compacted revision, which every watcher reads at its own pace.

use std::sync::Arc;

use imbl::OrdMap;

use crate::record::Commit;

/// Revisions to a sealed segment.
const SEGMENT: i64 = 64;

/// Commits by revision, without a gap. Cloning copies at most one unsealed segment of pointers.
#[derive(Clone, Debug, Default)]
pub(crate) struct EventLog {
    /// The first revision held; meaningful only while the log is not empty.
    first: i64,
    /// The revision the next commit will have; equal to `first` in an empty log.
    next: i64,
    /// Full segments by revision / [`SEGMENT`]. The first may hold less: it is cut when the log is trimmed.
    sealed: OrdMap<i64, Arc<[Commit]>>,
    tail: Vec<Commit>,
}

impl EventLog {
    /// The first revision held, if any is.
    pub(crate) fn first(&self) -> Option<i64> {
        (self.first < self.next).then_some(self.first)
    }

    /// Appends the commit of `revision`, the one after the last.
    pub(crate) fn push(&mut self, revision: i64, commit: Commit) {
        if self.first().is_none() {
            self.sealed.clear();
            self.tail.clear();
            self.first = revision;
            self.next = revision;
        }
        debug_assert_eq!(revision, self.next, "the log has no gap");
        self.tail.push(commit);
        self.next = revision + 1;
        if self.next % SEGMENT == 0 {
            self.sealed.insert(revision / SEGMENT, std::mem::take(&mut self.tail).into());
        }
    }

    /// The commit of `revision`.
    pub(crate) fn get(&self, revision: i64) -> Option<&Commit> {
        if revision < self.first || revision >= self.next {
            return None;
        }
        let number = revision / SEGMENT;
        let segment: &[Commit] = match self.sealed.get(&number) {
            Some(sealed) => sealed,
            None => &self.tail,
        };
        // A segment begins at its own first revision, or at the first one ever pushed.
        let end = self.next.min((number + 1) * SEGMENT);
        let from_end = usize::try_from(end - revision).ok()?;
        segment.len().checked_sub(from_end).and_then(|at| segment.get(at))
    }

    /// The commits from `revision` on, ascending.
    pub(crate) fn from(&self, revision: i64) -> impl Iterator<Item = (i64, &Commit)> {
        (revision.max(self.first)..self.next).map_while(|at| self.get(at).map(|commit| (at, commit)))
    }

    /// Forgets what is below `revision`.
    pub(crate) fn trim(&mut self, revision: i64) {
        let Some(first) = self.first() else { return };
        let keep = revision.clamp(first, self.next);
        for number in first / SEGMENT..keep / SEGMENT {
            self.sealed.remove(&number);
        }
        self.first = keep;
        // The segment that is cut in the middle keeps its pointers until the next trim, but nothing can reach them.
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use crate::record::{Event, Record};

    fn commit(revision: i64) -> Commit {
        let record = Record {
            key: Bytes::from_static(b"k"),
            value: Bytes::new(),
            created: revision,
            modified: revision,
            number: 0,
            version: 1,
            lease: 0,
        };
        Arc::new([Event { record: Arc::new(record), previous: None }])
    }

    fn held(log: &EventLog, from: i64) -> Vec<i64> {
        log.from(from)
            .map(|(at, commit)| {
                assert_eq!(at, commit[0].revision());
                at
            })
            .collect()
    }

    #[test]
    fn every_revision_is_found_whatever_the_first_and_the_trim() {
        for first in [1, 2, 63, 64, 65, 127, 1000] {
            let mut log = EventLog::default();
            assert_eq!(log.first(), None);
            for revision in first..first + 300 {
                log.push(revision, commit(revision));
            }
            assert_eq!(held(&log, 0), (first..first + 300).collect::<Vec<_>>());
            assert_eq!(held(&log, first + 100), (first + 100..first + 300).collect::<Vec<_>>());
            for keep in [first, first + 1, first + 62, first + 63, first + 64, first + 200, first + 299] {
                log.trim(keep);
                assert_eq!(log.first(), Some(keep));
                assert_eq!(held(&log, 0), (keep..first + 300).collect::<Vec<_>>());
                assert!(log.get(keep - 1).is_none());
            }
            log.trim(first + 900);
            assert_eq!(log.first(), None);
            log.push(first + 300, commit(first + 300));
            assert_eq!(held(&log, 0), vec![first + 300]);
        }
    }
}
