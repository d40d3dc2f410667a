//! Reads a watch and checks, item by item, what every watch promises.

use std::{fmt, time::Duration};

use futures_util::StreamExt as _;
use kubestore_kv::{KvError, KvEvent, KvEventKind, KvWatch, Revision, WatchItem};

use super::fixture::Fixture;

/// A watch whose promises are checked as it is read: ascending revisions, whole ones, none repeated, none at or below
/// a progress revision, nothing after an error.
pub(crate) struct Watcher {
    backend: String,
    patience: Duration,
    what: String,
    stream: KvWatch,
    through: Revision,
    progress: Revision,
}

impl fmt::Debug for Watcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watcher").field("what", &self.what).finish_non_exhaustive()
    }
}

/// An event or progress, one at a time.
#[derive(Debug)]
pub(crate) enum Seen {
    /// At least one event, of whole revisions.
    Events(Vec<KvEvent>),
    /// Progress, which [`Watcher::done_through`] then tells.
    Progress,
}

impl Watcher {
    pub(crate) fn new(fx: &Fixture, what: String, stream: KvWatch) -> Self {
        Self {
            backend: fx.backend().to_owned(),
            patience: fx.patience(),
            what,
            stream,
            through: Revision(0),
            progress: Revision(0),
        }
    }

    /// The next item that is not a connection state.
    pub(crate) async fn next(&mut self) -> Seen {
        match self.next_or_end().await {
            Some(Ok(seen)) => seen,
            Some(Err(error)) => panic!("[{}] {}: ended with {error:?}", self.backend, self.what),
            None => panic!("[{}] {}: ended without an error", self.backend, self.what),
        }
    }

    async fn next_or_end(&mut self) -> Option<Result<Seen, KvError>> {
        loop {
            let Ok(item) = tokio::time::timeout(self.patience, self.stream.next()).await else {
                panic!("[{}] {}: nothing came within {:?}", self.backend, self.what, self.patience)
            };
            return match item {
                Some(Ok(WatchItem::Events { events, through })) => {
                    self.check_events(&events, through);
                    Some(Ok(Seen::Events(events)))
                }
                Some(Ok(WatchItem::Progress(revision))) => {
                    self.check_progress(revision);
                    Some(Ok(Seen::Progress))
                }
                Some(Ok(_)) => continue,
                Some(Err(error)) => Some(Err(error)),
                None => None,
            };
        }
    }

    fn check_events(&mut self, events: &[KvEvent], through: Revision) {
        let (backend, what) = (&self.backend, &self.what);
        let mut before = Revision(self.through.0.max(self.progress.0));
        let revisions: Vec<i64> = events.iter().map(|event| event.kv.mod_revision.0).collect();
        assert!(!events.is_empty(), "[{backend}] {what}: an item without events, through {through}");
        assert!(
            revisions[0] > before.0,
            "[{backend}] {what}: revision {} came although all through {} was done",
            revisions[0],
            before
        );
        for event in events {
            let revision = event.kv.mod_revision;
            assert!(revision >= before, "[{backend}] {what}: revisions out of order: {revisions:?}");
            before = revision;
        }
        assert!(
            before == through,
            "[{backend}] {what}: through {through}, but the last event is at {before}"
        );
        self.through = through;
    }

    fn check_progress(&mut self, revision: Revision) {
        assert!(
            revision >= self.progress && revision >= self.through,
            "[{}] {}: progress went back to {revision} after events through {} and progress {}",
            self.backend,
            self.what,
            self.through,
            self.progress
        );
        self.progress = revision;
    }

    /// Exactly the next `count` events, progress left out.
    pub(crate) async fn events(&mut self, count: usize) -> Vec<KvEvent> {
        let mut events = Vec::new();
        while events.len() < count {
            if let Seen::Events(more) = self.next().await {
                events.extend(more);
            }
        }
        assert!(
            events.len() == count,
            "[{}] {}: {} events came, want {count}: {events:?}",
            self.backend,
            self.what,
            events.len()
        );
        events
    }

    /// The next event, which must come alone.
    pub(crate) async fn event(&mut self) -> KvEvent {
        self.events(1).await.remove(0)
    }

    /// The events of the next item, progress left out.
    pub(crate) async fn batch(&mut self) -> Vec<KvEvent> {
        loop {
            if let Seen::Events(events) = self.next().await {
                return events;
            }
        }
    }

    /// The error that must be the next item and the last.
    pub(crate) async fn error(&mut self) -> KvError {
        let error = match self.next_or_end().await {
            Some(Err(error)) => error,
            other => panic!("[{}] {}: got {other:?}, want an error", self.backend, self.what),
        };
        let after = self.next_or_end().await;
        assert!(after.is_none(), "[{}] {}: {after:?} came after {error:?}", self.backend, self.what);
        error
    }

    /// The highest revision after which nothing at or below may come.
    pub(crate) fn done_through(&self) -> Revision {
        self.through.max(self.progress)
    }
}

/// An event in few words, for comparisons: what happened to which key (without prefix), at which revision.
pub(crate) fn brief(event: &KvEvent) -> (KvEventKind, Vec<u8>, Revision) {
    (event.kind, event.kv.key.to_vec(), event.kv.mod_revision)
}
