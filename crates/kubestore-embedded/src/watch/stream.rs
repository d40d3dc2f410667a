//! One watch: reads the log from its own place, at its own pace.

use std::{
    collections::VecDeque,
    fmt,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use futures_core::Stream;
use kubestore_kv::{BoxFuture, KvError, KvErrorKind, KvEvent, Revision, WatchItem, WatchRequest};
use tokio::task::coop;

use super::hub::Slot;
use crate::{engine::Shared, record::Commit, state::State};

/// The most events in one item, unless one revision has more.
const BATCH_EVENTS: usize = 1000;
/// The most bytes in one item, unless one revision has more.
const BATCH_BYTES: usize = 4 << 20;
/// The most revisions looked through in one poll that finds nothing.
const SCAN_REVISIONS: usize = 16_384;

/// The stream behind a [`KvWatch`](kubestore_kv::KvWatch).
pub(crate) struct WatchStream {
    shared: Arc<Shared>,
    slot: Arc<Slot>,
    previous: bool,
    /// What is below the cursor and not given yet, and whether its previous values may be given.
    pending: VecDeque<(Commit, bool)>,
    /// The next revision of the log to look at.
    cursor: i64,
    /// Progress is due once everything up to this revision was given.
    progress_at: Option<i64>,
    /// Runs out when progress is due without being asked for.
    timer: Option<BoxFuture<'static, ()>>,
    periodic: bool,
    finished: bool,
}

impl WatchStream {
    pub(crate) fn new(shared: Arc<Shared>, request: WatchRequest) -> Self {
        let start = request.start.map_or(0, |start| start.0);
        // Registered before the head is read: a write in between is seen by one of the two.
        let slot = shared.hub.register(request.group, request.target, start);
        let head = shared.snapshot().head;
        let cursor = if start > 0 { start } else { head + 1 };
        let mut stream = Self {
            shared,
            slot,
            previous: request.previous,
            pending: VecDeque::new(),
            cursor,
            progress_at: None,
            timer: None,
            periodic: request.progress_notify,
            finished: false,
        };
        stream.settle();
        stream
    }

    /// Leaves the watch to the writer, unless there is something for it to give.
    fn park(&mut self, context: Option<&Context<'_>>) -> bool {
        let mut parking = self.slot.parking();
        // Decided under the lock: whatever is published after this look at the head, the writer tells this slot
        // about only after it got the lock, and finds it parked.
        if parking.progress || parking.closed || self.shared.head() >= self.cursor {
            return false;
        }
        parking.cursor = self.cursor;
        parking.parked = true;
        parking.waker = context.map(|context| context.waker().clone());
        true
    }

    /// Parks the watch until its next poll if it can be brought in step. A consumer that takes its time then loses
    /// nothing to a compaction.
    fn settle(&mut self) {
        while !self.park(None) {
            let state = self.shared.snapshot();
            if self.cursor > state.head || self.cursor < state.compacted || !self.read_log(&state) {
                return;
            }
        }
    }

    /// Moves what concerns the watch from the log to `pending`, and the cursor past it and past all else. `false`: there
    /// is more in the log than is read at once.
    fn read_log(&mut self, state: &State) -> bool {
        let mut bytes = 0;
        for ((revision, commit), looked_at) in state.log.from(self.cursor).zip(0..) {
            if self.pending.len() >= BATCH_EVENTS || bytes >= BATCH_BYTES || looked_at >= SCAN_REVISIONS {
                return false;
            }
            let wanted = commit.iter().filter(|event| self.slot.target().contains(&event.record.key));
            if let Some(size) = wanted.map(|event| event.size(self.previous)).reduce(|all, one| all + one) {
                bytes += size;
                // What the compacted revision replaced is compacted itself.
                self.pending.push_back((Arc::clone(commit), revision > state.compacted));
            }
            self.cursor = revision + 1;
        }
        self.cursor = self.cursor.max(state.head + 1);
        true
    }

    /// Takes the watch back from the writer; `false` if the engine is closed.
    fn unpark(&mut self) -> bool {
        let mut parking = self.slot.parking();
        parking.parked = false;
        parking.waker = None;
        self.cursor = self.cursor.max(parking.cursor);
        self.pending.extend(parking.take_pending().into_iter().map(|commit| (commit, true)));
        if self.progress_at.is_none() && std::mem::take(&mut parking.progress) {
            // Any later request is answered after this one.
            self.progress_at = Some(i64::MAX);
        }
        !parking.closed
    }

    /// The next item, if there is one: what waits, then progress, then what is in the log of `state`.
    fn next_item(&mut self, state: &State) -> Option<Result<WatchItem, KvError>> {
        if self.pending.is_empty() {
            if self.cursor < state.compacted {
                return Some(Err(KvError::compacted("watch", Revision(state.compacted))));
            }
            if let Some(at) = self.progress_at {
                let at = at.min(state.head);
                self.progress_at = Some(at);
                if self.cursor > at {
                    self.progress_at = None;
                    return Some(Ok(self.progress(state)));
                }
            }
            self.read_log(state);
        }
        self.waiting().map(Ok)
    }

    /// An item of what waits.
    fn waiting(&mut self) -> Option<WatchItem> {
        let events = self.batch();
        let through = events.last()?.kv.mod_revision;
        Some(WatchItem::Events { events, through })
    }

    /// Everything below the cursor was given, and nothing beyond the head exists.
    fn progress(&self, state: &State) -> WatchItem {
        WatchItem::Progress(Revision((self.cursor - 1).min(state.head)))
    }

    /// Whole revisions of what waits, as many as fit.
    fn batch(&mut self) -> Vec<KvEvent> {
        let mut events = Vec::new();
        let mut bytes = 0;
        while events.len() < BATCH_EVENTS && bytes < BATCH_BYTES {
            let Some((commit, previous)) = self.pending.pop_front() else { break };
            let previous = previous && self.previous;
            for event in commit.iter().filter(|event| self.slot.target().contains(&event.record.key)) {
                bytes += event.size(previous);
                events.push(event.to_event(previous));
            }
        }
        events
    }

    fn poll_timer(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let clock = &self.shared.options.clock;
        let interval = self.shared.options.progress_interval;
        let timer = self.timer.get_or_insert_with(|| clock.sleep_until(clock.now() + interval));
        ready!(timer.as_mut().poll(context));
        self.timer = None;
        Poll::Ready(())
    }
}

impl Stream for WatchStream {
    type Item = Result<WatchItem, KvError>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        if this.finished {
            return Poll::Ready(None);
        }
        let budget = ready!(coop::poll_proceed(context));
        if !this.pending.is_empty() {
            // The watch stays as it is, parked or not: what it holds itself is given first, so that it never holds more
            // than was once handed over.
            budget.made_progress();
            this.timer = None;
            return Poll::Ready(this.waiting().map(Ok));
        }
        loop {
            if !this.unpark() {
                this.finished = true;
                return Poll::Ready(Some(Err(closed("watch"))));
            }
            let state = this.shared.snapshot();
            let item = this.next_item(&state);
            let in_step = this.cursor > state.head;
            if let Some(item) = item {
                budget.made_progress();
                // The timer counts from the last item.
                this.timer = None;
                this.finished = item.is_err();
                if in_step {
                    this.settle();
                }
                return Poll::Ready(Some(item));
            }
            if !in_step {
                budget.made_progress();
                context.waker().wake_by_ref();
                return Poll::Pending;
            }
            if this.periodic && this.poll_timer(context).is_ready() {
                budget.made_progress();
                return Poll::Ready(Some(Ok(this.progress(&state))));
            }
            if this.progress_at.is_none() && this.park(Some(context)) {
                return Poll::Pending;
            }
        }
    }
}

impl Drop for WatchStream {
    fn drop(&mut self) {
        self.shared.hub.remove(&self.slot);
    }
}

impl fmt::Debug for WatchStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WatchStream")
            .field("target", self.slot.target())
            .field("cursor", &self.cursor)
            .finish_non_exhaustive()
    }
}

pub(crate) fn closed(operation: &'static str) -> KvError {
    KvError::new(KvErrorKind::Unavailable, operation, "the engine is closed; open it again")
}
