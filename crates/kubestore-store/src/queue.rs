//! Updates of one key, one after another.

use std::{
    collections::HashMap,
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use kubestore_kv::Revision;
use tokio::{sync::Semaphore, time::sleep};

/// An update waits no longer for one before it that does not come to an end.
const PATIENCE: Duration = Duration::from_millis(500);

/// Where the updates of one key wait for each other.
///
/// Updates of the same object would each read it, change it, and all but one find that it is no longer what they read. In
/// one process there is no need to find out by way of the backend: they take turns in the order in which they came, and
/// each starts from what the one before it has written. What the backend has decides all the same: a write is conditional
/// on the revision it was computed from, whoever the other writer is.
///
/// Clones are the same queue. A [`Store`](crate::Store) has one of its own unless its builder is given one; stores that
/// keep the same objects on the same backend, encrypted in the same way, should share it
/// ([`StoreBuilder::update_queue`](crate::StoreBuilder::update_queue)).
///
/// Nobody waits for ever: when no turn has ended for half a second, those who wait go on without one, and updates meet
/// at the backend as if there were no queue. That is so for an update function that takes long, for a backend that does
/// not answer, and for an update function that updates its own object. A future that is dropped gives its turn, or its
/// place, to the next. The queue holds nothing for a key that nobody is updating.
#[derive(Clone, Default)]
pub struct UpdateQueue(Arc<Mutex<Lines>>);

type Lines = HashMap<Arc<str>, Arc<Line>>;

/// Those who update one key.
struct Line {
    /// One permit; it is given out in the order of asking.
    turn: Semaphore,
    /// How many turns have ended.
    ended: AtomicU64,
    /// What the last turn has written, for the next.
    written: Mutex<Option<Written>>,
}

/// An object as it has just been written.
pub(crate) struct Written {
    pub(crate) revision: Revision,
    /// The plain stored form.
    pub(crate) data: Bytes,
}

impl UpdateQueue {
    /// A queue in which nobody waits.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Waits for the turn to update `key`, the whole key in the backend.
    pub(crate) async fn turn(&self, key: &str) -> Turn {
        let place = self.place(key);
        if place.line.take_free_turn() {
            return Turn { place, own: true, waited: false };
        }
        let own = place.line.take_turn().await;
        Turn { place, own, waited: true }
    }

    fn place(&self, key: &str) -> Place {
        let mut lines = lock(&self.0);
        let (key, line) = match lines.get_key_value(key) {
            Some((key, line)) => (Arc::clone(key), Arc::clone(line)),
            None => {
                let (key, line) = (Arc::from(key), Arc::new(Line::new()));
                lines.insert(Arc::clone(&key), Arc::clone(&line));
                (key, line)
            }
        };
        drop(lines);
        Place { queue: self.clone(), key, line }
    }
}

impl Line {
    fn new() -> Self {
        Self { turn: Semaphore::new(1), ended: AtomicU64::new(0), written: Mutex::default() }
    }

    fn take_free_turn(&self) -> bool {
        self.turn.try_acquire().map(tokio::sync::SemaphorePermit::forget).is_ok()
    }

    /// Waits for as long as turns come to an end; `false` when they do not.
    async fn take_turn(&self) -> bool {
        let mut granted = std::pin::pin!(self.turn.acquire());
        loop {
            let ended = self.ended.load(Ordering::Relaxed);
            tokio::select! {
                biased;
                permit = &mut granted => return permit.map(tokio::sync::SemaphorePermit::forget).is_ok(),
                () = sleep(PATIENCE) => {
                    if self.ended.load(Ordering::Relaxed) == ended {
                        return false;
                    }
                }
            }
        }
    }
}

/// The right to update a key, until it is dropped.
pub(crate) struct Turn {
    place: Place,
    /// `false` for one who was tired of waiting.
    own: bool,
    waited: bool,
}

impl Turn {
    /// Whether somebody else had the turn first.
    pub(crate) fn waited(&self) -> bool {
        self.waited
    }

    /// What the turn before this one has written.
    pub(crate) fn before(&self) -> Option<Written> {
        if self.own { lock(&self.place.line.written).take() } else { None }
    }

    /// Gives what was written to the next turn, if somebody waits for it.
    pub(crate) fn hand_on(&self, written: Written) {
        // The line is in the map and with everybody who has a place in it.
        if self.own && Arc::strong_count(&self.place.line) > 2 {
            *lock(&self.place.line.written) = Some(written);
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        if self.own {
            self.place.line.ended.fetch_add(1, Ordering::Relaxed);
            self.place.line.turn.add_permits(1);
        }
    }
}

/// A place in a line. The last to leave takes the line away.
struct Place {
    queue: UpdateQueue,
    key: Arc<str>,
    line: Arc<Line>,
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut lines = lock(&self.queue.0);
        // Places are only taken under this lock: the map and this one are all there is.
        if Arc::strong_count(&self.line) == 2 {
            lines.remove(&self.key);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl fmt::Debug for UpdateQueue {
    /// Shows how many keys are being updated.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UpdateQueue").field("keys", &lock(&self.0).len()).finish()
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    fn written(revision: i64) -> Written {
        Written { revision: Revision(revision), data: Bytes::from_static(b"{}") }
    }

    fn keys(queue: &UpdateQueue) -> usize {
        lock(&queue.0).len()
    }

    #[tokio::test]
    async fn turns_are_taken_in_the_order_of_asking_and_handed_what_was_written() {
        let queue = UpdateQueue::new();
        let first = queue.turn("/a").await;
        assert!(!first.waited() && first.before().is_none());
        let order = Arc::new(Mutex::new(Vec::new()));
        let mut tasks = Vec::new();
        for number in 1..=5_i64 {
            let (queue, order) = (queue.clone(), Arc::clone(&order));
            tasks.push(tokio::spawn(async move {
                let turn = queue.turn("/a").await;
                let before = turn.before().map(|written| written.revision.0);
                lock(&order).push((number, before));
                turn.hand_on(written(number));
            }));
            tokio::task::yield_now().await;
        }
        first.hand_on(written(0));
        drop(first);
        for task in tasks {
            assert!(task.await.is_ok());
        }
        let expected: Vec<_> = (1..=5).map(|number| (number, Some(number - 1))).collect();
        assert_eq!(*lock(&order), expected);
        assert_eq!(keys(&queue), 0, "nothing is kept");
    }

    #[tokio::test]
    async fn a_dropped_turn_or_place_lets_the_next_go_on() {
        let queue = UpdateQueue::new();
        let first = queue.turn("/a").await;
        let mut second = Box::pin(queue.turn("/a"));
        let mut third = Box::pin(queue.turn("/a"));
        assert!((&mut second).now_or_never().is_none());
        assert!((&mut third).now_or_never().is_none());
        first.hand_on(written(7));
        drop(first);
        // The turn is the second's by now, which goes without having looked.
        drop(second);
        let third = third.await;
        assert_eq!(third.before().map(|written| written.revision), Some(Revision(7)));
        drop(third);
        let other = queue.turn("/a").await;
        assert!(!other.waited() && other.before().is_none(), "what was written is gone with the last");
        assert_eq!(keys(&queue), 1);
        drop(other);
        assert_eq!(keys(&queue), 0);
    }

    #[tokio::test]
    async fn other_keys_do_not_wait() {
        let queue = UpdateQueue::new();
        let held = queue.turn("/a").await;
        let other = queue.turn("/b").await;
        assert!(!other.waited());
        assert_eq!(format!("{queue:?}"), "UpdateQueue { keys: 2 }");
        drop(held);
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_waits_for_a_turn_that_does_not_end() {
        let queue = UpdateQueue::new();
        let stuck = queue.turn("/a").await;
        let begun = tokio::time::Instant::now();
        let tired = queue.turn("/a").await;
        assert_eq!(begun.elapsed().as_millis(), PATIENCE.as_millis());
        assert!(tired.waited() && tired.before().is_none());
        tired.hand_on(written(3));
        drop(tired);
        assert!(stuck.before().is_none(), "who has no turn hands nothing on");
    }

    #[tokio::test(start_paused = true)]
    async fn a_long_line_that_moves_is_waited_for() {
        let queue = UpdateQueue::new();
        let mut tasks = Vec::new();
        for _ in 0..10 {
            let queue = queue.clone();
            tasks.push(tokio::spawn(async move {
                let turn = queue.turn("/a").await;
                sleep(PATIENCE / 2).await;
                turn.own
            }));
        }
        for task in tasks {
            assert!(matches!(task.await, Ok(true)));
        }
    }
}
