//! The stream of a watch: what exists, then what happens, no faster than the caller takes it.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use futures_util::{FutureExt as _, StreamExt as _, stream};
use kubestore_core::{Object, Result, StorageError, WatchEvent, WatchStream};
use kubestore_kv::{KvWatch, Revision, WatchItem};
use kubestore_metrics::Event;

use super::{
    ahead::{Ahead, Decoded},
    initial::Initial,
    interpret,
};

/// A caller that leaves events waiting for this long is reported.
const SLOW_CONSUMER: Duration = Duration::from_secs(5);

/// A watch under way. It does nothing but when the caller asks for the next event; what happens meanwhile waits in the
/// backend's watch, whose buffer is bounded.
pub(super) struct Watch<T: Object> {
    ahead: Ahead<T>,
    key: String,
    initial: Option<Initial>,
    end_bookmark: Option<Revision>,
    changes: Option<KvWatch>,
    /// The next events, in order.
    ready: VecDeque<WatchEvent<T>>,
    /// When their changes came.
    arrived: Option<Instant>,
    /// What comes after all that is ready.
    error: Option<StorageError>,
    /// When the caller was last given an event while others waited.
    left_waiting: Option<Instant>,
}

impl<T: Object> Watch<T> {
    pub(super) fn new(
        ahead: Ahead<T>,
        key: &str,
        initial: Option<Initial>,
        end_bookmark: Option<Revision>,
        changes: KvWatch,
    ) -> Self {
        Self {
            ahead,
            key: key.to_owned(),
            initial,
            end_bookmark,
            changes: Some(changes),
            ready: VecDeque::new(),
            arrived: None,
            error: None,
            left_waiting: None,
        }
    }

    pub(super) fn into_stream(self) -> WatchStream<T> {
        stream::unfold(Some(Box::new(self)), |watch| async move {
            let mut watch = watch?;
            match watch.next().await {
                Some(Ok(event)) => Some((Ok(event), Some(watch))),
                Some(Err(error)) => Some((Err(error.into_watch_error().with_operation("watch")), None)),
                None => None,
            }
        })
        .boxed()
    }

    async fn next(&mut self) -> Option<Result<WatchEvent<T>>> {
        self.report_slow_consumer();
        loop {
            if let Some(event) = self.ready.pop_front() {
                self.left_waiting = (!self.ready.is_empty()).then(Instant::now);
                if self.ready.is_empty()
                    && let Some(arrived) = self.arrived.take()
                {
                    let inner = self.ahead.inner();
                    let lag = Event::WatchLag { resource: inner.labels(), took: arrived.elapsed() };
                    inner.recorder.record(lag);
                }
                return Some(Ok(event));
            }
            if let Some(error) = self.error.take() {
                return Some(Err(error));
            }
            if let Err(error) = self.fill().await {
                // Everything before the failure is handed out first.
                self.changes = None;
                self.initial = None;
                self.end_bookmark = None;
                self.ahead.push_ready(Decoded { events: Vec::new(), error: Some(error), arrived: None });
            }
            let decoded = self.ahead.next().await?;
            self.ready.extend(decoded.events);
            self.arrived = decoded.arrived;
            self.error = decoded.error;
        }
    }

    /// Takes what the backend has, and waits for it only if there is nothing to hand out.
    async fn fill(&mut self) -> Result<()> {
        if let Some(initial) = &mut self.initial {
            if !self.ahead.is_empty() {
                return Ok(());
            }
            if let Some(page) = initial.next_page(self.ahead.inner(), &self.key).await? {
                self.ahead.push_existing(page);
                if !self.ahead.is_empty() {
                    return Ok(());
                }
            }
            self.initial = None;
        }
        if let Some(revision) = self.end_bookmark.take() {
            self.push_bookmark(revision, true);
        }
        while self.ahead.has_room() {
            let Some(changes) = &mut self.changes else { break };
            let item = if self.ahead.is_empty() {
                changes.next().await
            } else {
                match changes.next().now_or_never() {
                    Some(item) => item,
                    None => break,
                }
            };
            match item {
                Some(Ok(item)) => self.take(item),
                Some(Err(cause)) => return Err(interpret(cause, &self.key)),
                None => self.changes = None,
            }
        }
        Ok(())
    }

    fn take(&mut self, item: WatchItem) {
        let inner = self.ahead.inner();
        let resource = inner.labels();
        match item {
            WatchItem::Events { events, .. } => {
                inner.recorder.record(Event::WatchEvents { resource, count: events.len() as u64 });
                self.ahead.push_changes(events);
            }
            WatchItem::Progress(revision) => {
                inner.recorder.record(Event::WatchBookmark { resource });
                self.push_bookmark(revision, false);
            }
            WatchItem::State(state) => {
                tracing::debug!(key = self.key, ?state, "the backend's watch changed its state")
            }
            _ => {}
        }
    }

    fn push_bookmark(&mut self, revision: Revision, initial_events_end: bool) {
        let resource_version = revision.0.cast_unsigned();
        let bookmark = WatchEvent::Bookmark { resource_version, initial_events_end };
        self.ahead.push_ready(Decoded { events: vec![bookmark], error: None, arrived: None });
    }

    fn report_slow_consumer(&mut self) {
        let Some(waiting) = self.left_waiting.take().map(|since| since.elapsed()) else { return };
        if waiting >= SLOW_CONSUMER {
            let seconds = waiting.as_secs_f64();
            tracing::warn!(
                key = self.key,
                seconds,
                waiting = self.ready.len(),
                "slow watcher: events were left waiting"
            );
        }
    }
}
