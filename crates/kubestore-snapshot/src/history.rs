//! What happened, in the order in which it happened.

use std::sync::Arc;

use kubestore_kv::{KeyValue, KvError, KvErrorKind, KvEvent, Revision, WatchItem, WatchRequest};

use crate::{blocking::Step, index::Index, snapshot::Inner};

/// The most events in one item, unless one revision has more.
const BATCH_EVENTS: usize = 1000;
/// The most bytes in one item, unless one revision has more.
const BATCH_BYTES: usize = 4 << 20;

/// All versions by revision: 8 bytes each, made when the first watch begins.
#[derive(Debug)]
pub(crate) struct Order(Vec<Change>);

#[derive(Clone, Copy, Debug)]
struct Change {
    key: u32,
    version: u32,
}

impl Order {
    pub(crate) fn new(index: &Index) -> Self {
        let mut changes = Vec::with_capacity(index.version_count());
        for (number, key) in (0..).zip(0..index.len()) {
            let versions = index.versions_of(key);
            changes.extend(versions.filter_map(|version| {
                let version = u32::try_from(version).ok()?;
                Some(Change { key: number, version })
            }));
        }
        changes.sort_unstable_by_key(|change| {
            let version = index.version(change.version as usize);
            (version.main, version.sub)
        });
        Self(changes)
    }

    /// The first change at a revision or after it.
    fn first_at(&self, index: &Index, revision: i64) -> usize {
        self.0.partition_point(|change| index.version(change.version as usize).main < revision)
    }
}

/// A watch that goes from a revision to the end of the snapshot.
pub(crate) struct History {
    snapshot: Arc<Inner>,
    request: WatchRequest,
    at: At,
}

enum At {
    /// Before the first change of this revision.
    Start(Revision),
    /// Before this one of all changes.
    Change(usize),
    /// Behind the last one, and that is told.
    End,
}

impl History {
    pub(crate) fn new(snapshot: Arc<Inner>, request: WatchRequest, start: Revision) -> Self {
        Self { snapshot, request, at: At::Start(start) }
    }

    /// The next item, and what follows it.
    pub(crate) fn next(mut self) -> Step<Self, WatchItem> {
        match self.step() {
            Ok(item) => (Ok(item), Some(self)),
            Err(error) => (Err(error), None),
        }
    }

    fn step(&mut self) -> Result<WatchItem, KvError> {
        let (head, compacted) = (self.snapshot.info.head, self.snapshot.info.compacted);
        let from = match self.at {
            At::Start(start) if start < compacted => return Err(KvError::compacted("watch", compacted)),
            At::Start(start) => self.snapshot.order().first_at(&self.snapshot.index, start.0),
            At::Change(change) => change,
            At::End => {
                let message = format!("the snapshot ends at revision {head}; watch the server from there on");
                return Err(KvError::new(KvErrorKind::ReadOnly, "watch", message));
            }
        };
        let (events, next) = self.events(from)?;
        if let Some(last) = events.last() {
            let through = last.kv.mod_revision;
            self.at = At::Change(next);
            return Ok(WatchItem::Events { events, through });
        }
        self.at = At::End;
        Ok(WatchItem::Progress(head))
    }

    /// Events of whole revisions, and where to go on. None is the end.
    fn events(&self, from: usize) -> Result<(Vec<KvEvent>, usize), KvError> {
        let (snapshot, order) = (&self.snapshot, self.snapshot.order());
        let (mut events, mut bytes) = (Vec::<KvEvent>::new(), 0);
        for (number, change) in order.0.iter().enumerate().skip(from) {
            let (key, at) = (change.key as usize, change.version as usize);
            let version = snapshot.index.version(at);
            let full = events.len() >= BATCH_EVENTS || bytes >= BATCH_BYTES;
            if full && events.last().is_some_and(|last| last.kv.mod_revision.0 != version.main) {
                return Ok((events, number));
            }
            let name = snapshot.index.name(key);
            if !self.request.target.contains(&name) {
                continue;
            }
            let previous = if self.request.previous { self.previous(key, version.main)? } else { None };
            let event = if version.is_tombstone() {
                KvEvent::delete(name, Revision(version.main), previous)
            } else {
                KvEvent::put(snapshot.read("watch", key, at)?, previous)
            };
            let of_previous = event.previous.as_ref().map_or(0, |kv| kv.value.len());
            bytes += event.kv.key.len() + event.kv.value.len() + of_previous;
            events.push(event);
        }
        Ok((events, order.0.len()))
    }

    /// What a change at a revision replaced, unless that is compacted.
    fn previous(&self, key: usize, revision: i64) -> Result<Option<KeyValue>, KvError> {
        let before = revision - 1;
        if before < self.snapshot.info.compacted.0 {
            return Ok(None);
        }
        let version = self.snapshot.index.version_at(key, before);
        version.map(|version| self.snapshot.read("watch", key, version)).transpose()
    }
}
