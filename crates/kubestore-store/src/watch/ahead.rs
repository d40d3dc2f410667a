//! What a watch will hand out, in order: changes that wait, changes being decoded on several cores, events that are ready.

use std::{collections::VecDeque, mem, num::NonZeroUsize, sync::Arc, thread, time::Instant};

use kubestore_core::{Object, Result, StorageError, WatchEvent};
use kubestore_kv::{KeyValue, KvEvent};

use crate::{selection::Selection, store::Inner, task::Task};

/// Changes of one task.
const BATCH: usize = 64;
/// So few changes, with nothing else to do, are not worth a task.
const FEW: usize = 8;

/// Events of one batch, and the failure that ended it.
pub(super) struct Decoded<T> {
    pub(super) events: Vec<WatchEvent<T>>,
    pub(super) error: Option<StorageError>,
    /// When its changes came from the backend; bookmarks and what existed before have not come.
    pub(super) arrived: Option<Instant>,
}

/// The order is that in which things were put in. However much waits, only a few batches are decoded at a time: a backlog
/// of thousands of changes, which a backend may give at once, takes as much memory as its bytes and no more.
pub(super) struct Ahead<T: Object> {
    events: Events<T>,
    /// Changes that have come, not enough yet for a task.
    gathered: Vec<KvEvent>,
    waiting: VecDeque<Part<T>>,
    begun: VecDeque<Begun<T>>,
    parallel: usize,
}

/// Something that has not been begun.
enum Part<T> {
    Batch(Batch),
    Ready(Decoded<T>),
}

enum Begun<T> {
    Decoding(Task<Decoded<T>>),
    Ready(Decoded<T>),
}

enum Batch {
    Existing(Vec<KeyValue>),
    Changes(Vec<KvEvent>, Instant),
}

impl<T: Object> Ahead<T> {
    pub(super) fn new(inner: Arc<Inner<T>>, selection: Arc<Selection>) -> Self {
        Self {
            events: Events { inner, selection },
            gathered: Vec::new(),
            waiting: VecDeque::new(),
            begun: VecDeque::new(),
            parallel: thread::available_parallelism().map_or(1, NonZeroUsize::get) + 1,
        }
    }

    pub(super) fn inner(&self) -> &Arc<Inner<T>> {
        &self.events.inner
    }

    /// Whether there is nothing to hand out.
    pub(super) fn is_empty(&self) -> bool {
        self.gathered.is_empty() && self.waiting.is_empty() && self.begun.is_empty()
    }

    /// Whether more would keep the cores busy.
    pub(super) fn has_room(&self) -> bool {
        self.waiting.is_empty() && self.begun.len() < self.parallel
    }

    /// Puts in what happened.
    pub(super) fn push_changes(&mut self, events: Vec<KvEvent>) {
        for event in events {
            self.gathered.push(event);
            if self.gathered.len() >= BATCH {
                self.end_batch();
            }
        }
    }

    /// Puts in what existed when the watch began.
    pub(super) fn push_existing(&mut self, kvs: Vec<KeyValue>) {
        self.end_batch();
        let mut kvs = kvs.into_iter();
        while kvs.len() > 0 {
            self.waiting.push_back(Part::Batch(Batch::Existing(kvs.by_ref().take(BATCH).collect())));
        }
    }

    /// Puts in something that needs no decoding.
    pub(super) fn push_ready(&mut self, ready: Decoded<T>) {
        self.end_batch();
        self.waiting.push_back(Part::Ready(ready));
    }

    /// The next events; `None` when nothing is left. Nothing is lost when the caller stops waiting for a while.
    pub(super) async fn next(&mut self) -> Option<Decoded<T>> {
        if self.waiting.is_empty() && self.begun.is_empty() && (1..=FEW).contains(&self.gathered.len()) {
            let batch = Batch::Changes(mem::take(&mut self.gathered), Instant::now());
            return Some(self.events.clone().decode(batch).await);
        }
        self.end_batch();
        self.begin();
        let decoded = match self.begun.front_mut()? {
            Begun::Ready(ready) => Decoded {
                events: mem::take(&mut ready.events),
                error: ready.error.take(),
                arrived: ready.arrived,
            },
            Begun::Decoding(task) => task.await.unwrap_or_else(|failed| Decoded {
                events: Vec::new(),
                error: Some(StorageError::other("decoding of an event was interrupted").with_source(failed)),
                arrived: None,
            }),
        };
        self.begun.pop_front();
        // The cores go on while the caller takes these.
        self.begin();
        Some(decoded)
    }

    fn end_batch(&mut self) {
        if !self.gathered.is_empty() {
            let batch = Batch::Changes(mem::take(&mut self.gathered), Instant::now());
            self.waiting.push_back(Part::Batch(batch));
        }
    }

    fn begin(&mut self) {
        while self.begun.len() < self.parallel
            && let Some(part) = self.waiting.pop_front()
        {
            self.begun.push_back(match part {
                Part::Batch(batch) => Begun::Decoding(Task::spawn(self.events.clone().decode(batch))),
                Part::Ready(ready) => Begun::Ready(ready),
            });
        }
    }
}

/// Makes events of batches.
struct Events<T: Object> {
    inner: Arc<Inner<T>>,
    selection: Arc<Selection>,
}

impl<T: Object> Events<T> {
    async fn decode(self, batch: Batch) -> Decoded<T> {
        let mut decoded = Decoded { events: Vec::new(), error: None, arrived: None };
        let outcome = match batch {
            Batch::Existing(kvs) => self.existing(kvs, &mut decoded.events).await,
            Batch::Changes(changes, arrived) => {
                decoded.arrived = Some(arrived);
                self.changed(changes, &mut decoded.events).await
            }
        };
        decoded.error = outcome.err();
        decoded
    }

    async fn existing(&self, kvs: Vec<KeyValue>, events: &mut Vec<WatchEvent<T>>) -> Result<()> {
        events.reserve(kvs.len());
        for kv in kvs {
            events.extend(self.inner.existing(kv, &self.selection).await?);
        }
        Ok(())
    }

    async fn changed(&self, changes: Vec<KvEvent>, events: &mut Vec<WatchEvent<T>>) -> Result<()> {
        events.reserve(changes.len());
        for change in changes {
            events.extend(self.inner.changed(change, &self.selection).await?);
        }
        Ok(())
    }
}

impl<T: Object> Clone for Events<T> {
    fn clone(&self) -> Self {
        Self { inner: Arc::clone(&self.inner), selection: Arc::clone(&self.selection) }
    }
}
