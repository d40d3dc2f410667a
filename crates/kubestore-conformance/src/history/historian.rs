//! Keeps the history of many clients.

use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError,
    atomic::{AtomicUsize, Ordering},
};

use kubestore_kv::{Kv, Revision, WatchRequest};

use super::{Answer, Asked, Attempt, History, HistoryKv, Moment, Told, WatchEnd, WatchRecord};

/// Writes down what clients ask and are told, all in one history. Clones keep the same one.
///
/// It keeps every value until it is dropped, so it is meant for runs of minutes, not of days.
#[derive(Clone, Debug, Default)]
pub struct Historian(Arc<Book>);

#[derive(Debug, Default)]
struct Book {
    clients: AtomicUsize,
    pages: Mutex<Pages>,
}

#[derive(Debug, Default)]
struct Pages {
    now: Moment,
    history: History,
}

impl Pages {
    fn next_moment(&mut self) -> Moment {
        self.now += 1;
        self.now
    }
}

impl Historian {
    /// A history of nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A client of `backend` whose operations are written down. Give each task one of its own, so that reports can tell them
    /// apart.
    pub fn client(&self, backend: Arc<dyn Kv>) -> HistoryKv {
        let number = self.0.clients.fetch_add(1, Ordering::Relaxed);
        HistoryKv::new(backend, self.clone(), number)
    }

    /// What has happened so far. Operations under way are of unknown outcome.
    #[must_use]
    pub fn history(&self) -> History {
        self.lock().history.clone()
    }

    /// [`history`](Self::history), in which the watches that are open have had the time to tell everything up to `revision`.
    /// That they did is checked too, so call it before they are dropped.
    #[must_use]
    pub fn settled(&self, revision: Revision) -> History {
        History { settled: Some(revision), ..self.history() }
    }

    fn lock(&self) -> MutexGuard<'_, Pages> {
        self.0.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn begin(&self, client: usize, asked: Asked) -> Ongoing {
        let mut pages = self.lock();
        let begun = pages.next_moment();
        pages.history.attempts.push(Attempt::unanswered(client, begun, asked));
        Ongoing { historian: self.clone(), index: pages.history.attempts.len() - 1 }
    }

    pub(super) fn begin_watch(&self, client: usize, request: WatchRequest) -> OngoingWatch {
        let mut pages = self.lock();
        let (begun, told) = (pages.next_moment(), Vec::new());
        pages.history.watches.push(WatchRecord { client, request, begun, registered: None, told, end: None });
        OngoingWatch { historian: self.clone(), index: pages.history.watches.len() - 1 }
    }
}

/// An operation whose answer is awaited. If it is dropped before, the outcome stays unknown.
#[derive(Debug)]
pub(super) struct Ongoing {
    historian: Historian,
    index: usize,
}

impl Ongoing {
    pub(super) fn end(self, answer: Answer) {
        let mut pages = self.historian.lock();
        let now = pages.next_moment();
        if let Some(attempt) = pages.history.attempts.get_mut(self.index) {
            attempt.answer = answer;
            attempt.ended = Some(now);
        }
    }
}

/// A watch that is open.
#[derive(Debug)]
pub(super) struct OngoingWatch {
    historian: Historian,
    index: usize,
}

impl OngoingWatch {
    pub(super) fn register(&self) {
        self.change(|watch, now| watch.registered = Some(now));
    }

    pub(super) fn tell(&self, told: Told) {
        self.change(|watch, now| watch.told.push((now, told)));
    }

    pub(super) fn end(&self, end: WatchEnd) {
        self.change(|watch, _| {
            watch.end.get_or_insert(end);
        });
    }

    fn change(&self, change: impl FnOnce(&mut WatchRecord, Moment)) {
        let mut pages = self.historian.lock();
        let now = pages.next_moment();
        if let Some(watch) = pages.history.watches.get_mut(self.index) {
            change(watch, now);
        }
    }
}

impl Drop for OngoingWatch {
    fn drop(&mut self) {
        self.end(WatchEnd::Dropped);
    }
}
