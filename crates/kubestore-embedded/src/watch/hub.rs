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

/// Where a watch stands between two polls.
///
/// A parked watch has been given all there is for it. While it stays parked the writer moves its cursor past whatever
/// does not concern it, so that it is never overtaken by a compaction that took nothing from it.
#[derive(Debug)]
pub(crate) struct Parking {
    /// The next revision to look at, as far as known.
    pub(crate) cursor: i64,
    pub(crate) parked: bool,
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

    /// Tells a parked watch of new commits; the waker, if one of them is for it.
    fn notice(&self, commits: &[Commit], head: i64) -> Option<Waker> {
        let mut parking = self.parking();
        if !parking.parked {
            return None;
        }
        let cursor = parking.cursor;
        let wanted = commits.iter().find(|commit| {
            commit.iter().any(|event| event.revision() >= cursor && self.target.contains(&event.record.key))
        });
        match wanted.and_then(|commit| commit.first()) {
            Some(event) => {
                parking.cursor = event.revision();
                parking.parked = false;
                parking.waker.take()
            }
            None => {
                parking.cursor = cursor.max(head + 1);
                None
            }
        }
    }
}

impl Hub {
    /// Registers a watch that asked for what happens from `start` on, and lets it miss nothing from now on.
    pub(crate) fn register(&self, group: WatchGroup, target: WatchTarget, start: i64) -> Arc<Slot> {
        let mut inner = self.lock();
        inner.last += 1;
        let closed = inner.closed;
        let parking = Mutex::new(Parking { cursor: 0, parked: false, progress: false, closed, waker: None });
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
