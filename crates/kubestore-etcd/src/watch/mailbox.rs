//! What a watch was sent and its consumer has not taken yet, within bounds.

use std::{
    collections::VecDeque,
    sync::{Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
};

use kubestore_kv::{KvError, KvEvent, Revision, WatchItem, WatchState};

/// A queue with one writer, the hub, and one reader, the stream.
#[derive(Debug)]
pub(super) struct Mailbox {
    state: Mutex<State>,
    max_events: usize,
    max_bytes: usize,
}

#[derive(Debug, Default)]
struct State {
    queue: VecDeque<Held>,
    events: usize,
    bytes: usize,
    reader: Option<Waker>,
    /// A batch was turned away, and the hub wants to know when there is room.
    turned_away: bool,
    ended: bool,
}

#[derive(Debug)]
struct Held {
    item: Result<WatchItem, KvError>,
    events: usize,
    bytes: usize,
}

/// The events of one answer.
#[derive(Debug)]
pub(super) struct Batch {
    pub(super) events: Vec<KvEvent>,
    pub(super) through: Revision,
    pub(super) bytes: usize,
}

/// What the reader took, and whether the hub must be told that there is room again.
pub(super) type Taken = (Result<WatchItem, KvError>, bool);

impl Mailbox {
    pub(super) fn new(max_events: usize, max_bytes: usize) -> Self {
        Self { state: Mutex::default(), max_events, max_bytes }
    }

    /// Takes the batch in, or gives it back if the mailbox is full. The reader will then say when there is room.
    pub(super) fn offer(&self, batch: Batch) -> Result<(), Batch> {
        let mut state = self.lock();
        if state.events >= self.max_events || state.bytes >= self.max_bytes {
            state.turned_away = true;
            return Err(batch);
        }
        let Batch { events, through, bytes } = batch;
        state.events += events.len();
        state.bytes += bytes;
        let held = Held { events: events.len(), bytes, item: Ok(WatchItem::Events { events, through }) };
        put(state, held);
        Ok(())
    }

    /// The newest progress stands for those before it.
    pub(super) fn put_progress(&self, revision: Revision) {
        self.put_over(|last| matches!(last, WatchItem::Progress(_)), WatchItem::Progress(revision));
    }

    /// The newest state stands for those before it.
    pub(super) fn put_state(&self, watch_state: WatchState) {
        self.put_over(|last| matches!(last, WatchItem::State(_)), WatchItem::State(watch_state));
    }

    /// The last item. Nothing is taken in after it.
    pub(super) fn end(&self, error: KvError) {
        let mut state = self.lock();
        if !state.ended {
            state.ended = true;
            put(state, Held { item: Err(error), events: 0, bytes: 0 });
        }
    }

    pub(super) fn has_ended(&self) -> bool {
        self.lock().ended
    }

    /// The next item, `None` after the last.
    pub(super) fn poll_take(&self, cx: &Context<'_>) -> Poll<Option<Taken>> {
        let mut state = self.lock();
        let Some(held) = state.queue.pop_front() else {
            if state.ended {
                return Poll::Ready(None);
            }
            match &mut state.reader {
                Some(waker) => waker.clone_from(cx.waker()),
                none => *none = Some(cx.waker().clone()),
            }
            return Poll::Pending;
        };
        state.events -= held.events;
        state.bytes -= held.bytes;
        // Half of the mailbox, so that a consumer at its limit does not cost a message to the hub per item.
        let roomy = state.events <= self.max_events / 2 && state.bytes <= self.max_bytes / 2;
        let tell = state.turned_away && roomy;
        if tell {
            state.turned_away = false;
        }
        Poll::Ready(Some((held.item, tell)))
    }

    fn put_over(&self, replaces: impl FnOnce(&WatchItem) -> bool, item: WatchItem) {
        let mut state = self.lock();
        if state.ended {
            return;
        }
        match state.queue.back_mut() {
            Some(Held { item: Ok(last), .. }) if replaces(last) => *last = item,
            _ => put(state, Held { item: Ok(item), events: 0, bytes: 0 }),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Appends, and wakes the reader once the lock is released.
fn put(mut state: MutexGuard<'_, State>, held: Held) {
    state.queue.push_back(held);
    let reader = state.reader.take();
    drop(state);
    if let Some(reader) = reader {
        reader.wake();
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use futures_util::task::noop_waker;
    use kubestore_kv::KvErrorKind;

    use super::*;

    fn batch(events: usize, through: i64) -> Batch {
        let event = || KvEvent::delete(Bytes::new(), Revision(through), None);
        Batch {
            events: (0..events).map(|_| event()).collect(),
            through: Revision(through),
            bytes: events * 10,
        }
    }

    fn take(mailbox: &Mailbox) -> Option<Taken> {
        match mailbox.poll_take(&Context::from_waker(&noop_waker())) {
            Poll::Ready(taken) => taken,
            Poll::Pending => None,
        }
    }

    #[test]
    fn a_full_mailbox_turns_away_and_tells_once_when_half_is_free() {
        let mailbox = Mailbox::new(4, 1000);
        for revision in 1..=2 {
            mailbox.offer(batch(2, revision)).unwrap();
        }
        assert_eq!(mailbox.offer(batch(1, 3)).unwrap_err().through, Revision(3));
        let (item, tell) = take(&mailbox).unwrap();
        assert!(matches!(item, Ok(WatchItem::Events { through: Revision(1), .. })));
        assert!(tell);
        let (_, tell) = take(&mailbox).unwrap();
        assert!(!tell);
        assert!(take(&mailbox).is_none());
    }

    #[test]
    fn bytes_fill_it_too_and_one_batch_always_fits() {
        let mailbox = Mailbox::new(1000, 10);
        mailbox.offer(batch(100, 1)).unwrap();
        assert!(mailbox.offer(batch(1, 2)).is_err());
        assert!(take(&mailbox).unwrap().1);
        mailbox.offer(batch(1, 2)).unwrap();
    }

    #[test]
    fn states_and_progress_do_not_pile_up() {
        let mailbox = Mailbox::new(4, 1000);
        for revision in 1..100 {
            mailbox.put_progress(Revision(revision));
        }
        mailbox.put_state(WatchState::Live);
        mailbox.put_state(WatchState::Live);
        assert!(matches!(take(&mailbox).unwrap().0, Ok(WatchItem::Progress(Revision(99)))));
        assert!(matches!(take(&mailbox).unwrap().0, Ok(WatchItem::State(WatchState::Live))));
        assert!(take(&mailbox).is_none());
    }

    #[test]
    fn nothing_follows_the_end() {
        let mailbox = Mailbox::new(4, 1000);
        mailbox.end(KvError::new(KvErrorKind::NoLeader, "watch", "first"));
        mailbox.end(KvError::new(KvErrorKind::NoLeader, "watch", "second"));
        mailbox.put_progress(Revision(1));
        assert_eq!(take(&mailbox).unwrap().0.unwrap_err().message(), "first");
        assert!(matches!(mailbox.poll_take(&Context::from_waker(&noop_waker())), Poll::Ready(None)));
    }
}
