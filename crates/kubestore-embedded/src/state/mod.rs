//! The whole of the data at one moment: immutable once published, cheap to clone, changed only by the writer.

mod apply;
mod clean;

use std::{ops::Bound, sync::Arc};

use bytes::Bytes;
use imbl::OrdMap;
use kubestore_kv::{KvError, Revision};

pub(crate) use apply::{Change, Done, Op, lease_not_found};

use crate::{lease::Leases, log::EventLog, record::Record};

/// A snapshot. Clones share all but the path to what is changed afterwards.
#[derive(Clone, Debug)]
pub(crate) struct State {
    /// The newest revision; 1 when nothing was ever written, as in etcd.
    pub(crate) head: i64,
    /// The last compacted revision, 0 for none.
    pub(crate) compacted: i64,
    /// How far what the compaction made unreachable is forgotten.
    pub(crate) cleaned: i64,
    /// The newest version of every key, tombstones included until they are compacted.
    pub(crate) index: OrdMap<Bytes, Arc<Record>>,
    /// What was replaced or deleted and is not compacted, by key and revision.
    pub(crate) old: OrdMap<(Bytes, i64), Arc<Record>>,
    pub(crate) log: EventLog,
    pub(crate) leases: Leases,
}

impl State {
    pub(crate) fn new() -> Self {
        Self {
            head: 1,
            compacted: 0,
            cleaned: 0,
            index: OrdMap::new(),
            old: OrdMap::new(),
            log: EventLog::default(),
            leases: Leases::default(),
        }
    }

    /// The revision to read: the newest unless one is given; zero and less is "newest" on etcd's wire.
    pub(crate) fn readable(
        &self,
        operation: &'static str,
        revision: Option<Revision>,
    ) -> Result<i64, KvError> {
        match revision {
            Some(Revision(at)) if at > self.head => {
                Err(KvError::future_revision(operation, Revision(at), Revision(self.head)))
            }
            Some(Revision(at)) if at > 0 && at < self.compacted => {
                Err(KvError::compacted(operation, Revision(self.compacted)))
            }
            Some(Revision(at)) if at > 0 => Ok(at),
            _ => Ok(self.head),
        }
    }

    /// The key as it is now.
    pub(crate) fn newest(&self, key: &[u8]) -> Option<&Arc<Record>> {
        self.index.get(key).filter(|record| !record.is_tombstone())
    }

    /// The key as it stood at `at`.
    pub(crate) fn find(&self, key: &[u8], at: i64) -> Option<&Arc<Record>> {
        self.as_of(self.index.get(key)?, at)
    }

    /// The keys that existed at `at`, ascending, from `from` to before `end`.
    pub(crate) fn range<'a>(
        &'a self,
        from: Bound<&'a [u8]>,
        end: Option<&'a [u8]>,
        at: i64,
    ) -> impl Iterator<Item = &'a Arc<Record>> {
        let end_bound = end.map_or(Bound::Unbounded, Bound::Excluded);
        let nothing = match (from, end) {
            (Bound::Included(from) | Bound::Excluded(from), Some(end)) => from >= end,
            _ => false,
        };
        let entries = (!nothing).then(|| self.index.range::<_, [u8]>((from, end_bound)));
        entries.into_iter().flatten().filter_map(move |(_, newest)| self.as_of(newest, at))
    }

    /// The version of `newest`'s key that stood at `at`, unless the key did not exist then.
    fn as_of<'a>(&'a self, newest: &'a Arc<Record>, at: i64) -> Option<&'a Arc<Record>> {
        let record = if newest.modified <= at {
            newest
        } else {
            let key = &newest.key;
            let (_, older) = self.old.range((key.clone(), 0)..=(key.clone(), at)).next_back()?;
            older
        };
        (!record.is_tombstone()).then_some(record)
    }
}
