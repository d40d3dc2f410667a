//! The register of all watches: whom a new revision wakes.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::Waker,
};

use kubestore_kv::{WatchGroup, WatchTarget};

use crate::record::Commit;

/// All watches of an engine.
#[derive(Debug, Default)]
pub(crate) struct Hub {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    last: u64,
    closed: bool,
    slots: HashMap<u64, Arc<Slot>>,
}

/// One watch, as the writer sees it.
#[derive(Debug)]
pub(crate) struct Slot {
    id: u64,
    group: WatchGroup,
    target: WatchTarget,
    /// The first revision the watch asked for; 0 for one that asked for none.
    start: i64,
    parking: Mutex<Parking>,
}

/// The most commits that wait for a watch; one that falls further behind reads the log, and may be overtaken.
const MOST_COMMITS: usize = 8_192;
/// The most bytes that wait for a watch.
const MOST_BYTES: usize = 16 << 20;

/// Where a watch stands between two polls.
///
/// A parked watch is in step. While it stays parked the writer hands it what concerns it and moves its cursor past
/// everything else, so that no compaction overtakes it: what was written while it was in step is its own, as on etcd.
#[derive(Debug)]
pub(crate) struct Parking {
    /// The next revision to look at, as far as known.
    pub(crate) cursor: i64,
    pub(crate) parked: bool,
    /// What was written for it while it was parked.
    pending: Vec<Commit>,
    pending_bytes: usize,
    /// Progress was asked for.
    pub(crate) progress: bool,
    /// The engine is closed.
    pub(crate) closed: bool,
    pub(crate) waker: Option<Waker>,
}

impl Slot {
    pub(crate) fn target(&self) -> &WatchTarget {
        &self.target
    }

    pub(crate) fn parking(&self) -> MutexGuard<'_, Parking> {
        self.parking.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hands a parked watch the commits that concern it; the waker, if there are any.
    fn notice(&self, commits: &[Commit], head: i64) -> Option<Waker> {
        let mut parking = self.parking();
        if !parking.parked {
            return None;
        }
        let mut told = false;
        for commit in commits {
            let (revision, bytes) = self.wanted(commit);
            let Some(bytes) = bytes.filter(|_| revision >= parking.cursor) else { continue };
            told = true;
            if parking.pending.len() >= MOST_COMMITS || parking.pending_bytes >= MOST_BYTES {
                parking.cursor = revision;
                parking.parked = false;
                return parking.waker.take();
            }
            parking.pending.push(Arc::clone(commit));
            parking.pending_bytes += bytes;
        }
        parking.cursor = parking.cursor.max(head + 1);
        if told { parking.waker.take() } else { None }
    }

    /// The commit's revision, and the bytes of what concerns this watch if anything does.
    fn wanted(&self, commit: &Commit) -> (i64, Option<usize>) {
        let revision = commit.first().map_or(0, |event| event.revision());
        let wanted = commit.iter().filter(|event| self.target.contains(&event.record.key));
        (revision, wanted.map(|event| event.size(true)).reduce(|all, one| all + one))
    }
}

impl Parking {
    /// Takes what waits.
    pub(crate) fn take_pending(&mut self) -> Vec<Commit> {
        self.pending_bytes = 0;
        std::mem::take(&mut self.pending)
    }
}

impl Hub {
    /// Registers a watch that asked for what happens from `start` on, and lets it miss nothing from now on.
    pub(crate) fn register(&self, group: WatchGroup, target: WatchTarget, start: i64) -> Arc<Slot> {
        let mut inner = self.lock();
        inner.last += 1;
        let closed = inner.closed;
        let parking = Mutex::new(Parking {
            cursor: 0,
            parked: false,
            pending: Vec::new(),
            pending_bytes: 0,
            progress: false,
            closed,
            waker: None,
        });
        let slot = Arc::new(Slot { id: inner.last, group, target, start, parking });
        inner.slots.insert(slot.id, Arc::clone(&slot));
        slot
    }

    pub(crate) fn remove(&self, slot: &Slot) {
        self.lock().slots.remove(&slot.id);
    }

    /// Wakes the watches that `commits` concern. Called by the writer, in the order of the revisions, after they were
    /// published.
    pub(crate) fn notice(&self, commits: &[Commit], head: i64) {
        self.wake(|slot| slot.notice(commits, head));
    }

    /// Asks the watches of `group` for progress. As on etcd, nobody is asked while one of them waits for a revision
    /// above `head`: progress speaks for all of the group.
    pub(crate) fn request_progress(&self, group: WatchGroup, head: i64) {
        let waits = |slot: &Arc<Slot>| slot.group == group && slot.start > head;
        if self.lock().slots.values().any(waits) {
            return;
        }
        self.wake(|slot| {
            if slot.group != group {
                return None;
            }
            let mut parking = slot.parking();
            parking.progress = true;
            parking.waker.take()
        });
    }

    /// Ends all watches.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.wake(|slot| {
            let mut parking = slot.parking();
            parking.closed = true;
            parking.waker.take()
        });
    }

    /// Wakers run outside of the locks: what they do is not ours to know.
    fn wake(&self, each: impl Fn(&Slot) -> Option<Waker>) {
        let wakers: Vec<Waker> = self.lock().slots.values().filter_map(|slot| each(slot)).collect();
        wakers.into_iter().for_each(Waker::wake);
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
