//! Reads a watch of a store.

use std::{fmt, time::Duration};

use futures_util::StreamExt as _;
use kubestore_core::{Result, StorageError, WatchEvent, WatchStream};

use super::{Pod, fixture::Fixture};

/// A watch whose order of resource versions is checked as it is read.
pub(crate) struct Events {
    backend: String,
    patience: Duration,
    what: String,
    stream: WatchStream<Pod>,
    bookmarked: u64,
}

/// Whether a watch tells what is expected of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Added,
    Deleted,
    Modified,
}

impl fmt::Debug for Events {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Events").field("what", &self.what).finish_non_exhaustive()
    }
}

impl Events {
    pub(crate) fn new(fx: &Fixture, what: String, stream: WatchStream<Pod>) -> Self {
        Self { backend: fx.backend().to_owned(), patience: fx.patience(), what, stream, bookmarked: 0 }
    }

    async fn next_or_end(&mut self) -> Option<Result<WatchEvent<Pod>>> {
        match tokio::time::timeout(self.patience, self.stream.next()).await {
            Ok(item) => item,
            Err(_) => panic!("[{}] {}: nothing came within {:?}", self.backend, self.what, self.patience),
        }
    }

    /// The next event, bookmarks included.
    pub(crate) async fn next(&mut self) -> WatchEvent<Pod> {
        let event = match self.next_or_end().await {
            Some(Ok(event)) => event,
            Some(Err(error)) => panic!("[{}] {}: ended with {error:?}", self.backend, self.what),
            None => panic!("[{}] {}: ended without an error", self.backend, self.what),
        };
        if let WatchEvent::Bookmark { resource_version, .. } = &event {
            let (before, now) = (self.bookmarked, *resource_version);
            assert!(now >= before, "[{}] {}: bookmark {now} after {before}", self.backend, self.what);
            self.bookmarked = now;
        } else if let Some(pod) = event.object() {
            let version = pod.version();
            let late = version <= self.bookmarked && self.bookmarked > 0;
            assert!(
                !late,
                "[{}] {}: event {version} after bookmark {}",
                self.backend, self.what, self.bookmarked
            );
        }
        event
    }

    /// Checks that the next event is of this kind and about this very object.
    pub(crate) async fn expect(&mut self, kind: Kind, pod: &Pod) {
        let event = self.next().await;
        let (name, object) = (event.event_type(), event.object());
        assert!(
            kind_of(&event) == Some(kind) && object == Some(pod),
            "[{}] {}: got {name} {object:?}, want {kind:?} {pod:?}",
            self.backend,
            self.what
        );
    }

    /// Checks that the next events add these objects, in this order.
    pub(crate) async fn expect_added(&mut self, pods: &[Pod]) {
        for pod in pods {
            self.expect(Kind::Added, pod).await;
        }
    }

    /// The next event, which must be a bookmark: its resource version, and whether it ends the initial events.
    pub(crate) async fn bookmark(&mut self) -> (u64, bool) {
        match self.next().await {
            WatchEvent::Bookmark { resource_version, initial_events_end } => {
                (resource_version, initial_events_end)
            }
            event => {
                let object = event.object();
                panic!("[{}] {}: got {event:?} {object:?}, want a bookmark", self.backend, self.what)
            }
        }
    }

    /// The error that must come next and be the last item.
    pub(crate) async fn error(&mut self) -> StorageError {
        let error = match self.next_or_end().await {
            Some(Err(error)) => error,
            Some(Ok(event)) => {
                let object = event.object();
                panic!("[{}] {}: got {event:?} {object:?}, want an error", self.backend, self.what)
            }
            None => panic!("[{}] {}: ended without an error", self.backend, self.what),
        };
        let after = self.next_or_end().await;
        assert!(after.is_none(), "[{}] {}: {after:?} came after {error:?}", self.backend, self.what);
        error
    }

    /// Checks that nothing comes for a while. That nothing comes cannot be awaited, only given time.
    pub(crate) async fn nothing_more(&mut self) {
        if let Ok(item) = tokio::time::timeout(Duration::from_millis(100), self.stream.next()).await {
            panic!("[{}] {}: {item:?} came, want nothing", self.backend, self.what)
        }
    }
}

fn kind_of(event: &WatchEvent<Pod>) -> Option<Kind> {
    match event {
        WatchEvent::Added(_) => Some(Kind::Added),
        WatchEvent::Modified(_) => Some(Kind::Modified),
        WatchEvent::Deleted(_) => Some(Kind::Deleted),
        _ => None,
    }
}
