//! The stream of a watch: decoding on several cores, in order, no faster than the caller takes.

use std::{
    collections::VecDeque,
    mem,
    num::NonZeroUsize,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use futures_util::{FutureExt as _, StreamExt as _, stream};
use kubestore_core::{Object, Result, StorageError, WatchEvent, WatchStream};
use kubestore_kv::{KeyValue, KvEvent, KvWatch, Revision, WatchItem};
use kubestore_metrics::Event;

use super::{initial::Initial, interpret};
use crate::{selection::Selection, store::Inner, task::Task};

/// Changes of one task.
const BATCH: usize = 64;
/// So few changes, with nothing else to do, are not worth a task.
const FEW: usize = 8;
/// A caller that leaves events waiting for this long is reported.
const SLOW_CONSUMER: Duration = Duration::from_secs(5);

/// Makes events of batches of changes.
pub(super) struct Events<T: Object> {
    inner: Arc<Inner<T>>,
    selection: Arc<Selection>,
}

impl<T: Object> Events<T> {
    pub(super) fn new(inner: Arc<Inner<T>>, selection: Arc<Selection>) -> Self {
        Self { inner, selection }
    }

    async fn decode(self, batch: Batch) -> Decoded<T> {
        let arrived = matches!(batch, Batch::Changes(_)).then(Instant::now);
        let mut events = Vec::with_capacity(batch.len());
        let mut error = None;
        match batch {
            Batch::Existing(kvs) => {
                for kv in kvs {
                    match self.inner.existing(kv, &self.selection).await {
                        Ok(event) => events.extend(event),
                        Err(failed) => {
                            error = Some(failed);
                            break;
                        }
                    }
                }
            }
            Batch::Changes(changes) => {
                for change in changes {
                    match self.inner.changed(change, &self.selection).await {
                        Ok(event) => events.extend(event),
                        Err(failed) => {
                            error = Some(failed);
                            break;
                        }
                    }
                }
            }
        }
        Decoded { events, error, arrived }
    }
}

impl<T: Object> Clone for Events<T> {
    fn clone(&self) -> Self {
        Self { inner: Arc::clone(&self.inner), selection: Arc::clone(&self.selection) }
    }
}

enum Batch {
    Existing(Vec<KeyValue>),
    Changes(Vec<KvEvent>),
}

impl Batch {
    fn len(&self) -> usize {
        match self {
            Self::Existing(kvs) => kvs.len(),
            Self::Changes(changes) => changes.len(),
        }
    }
}

/// Events of one batch, and the failure that ended it.
struct Decoded<T> {
    events: Vec<WatchEvent<T>>,
    error: Option<StorageError>,
    /// When its changes came from the backend; bookmarks and what existed before have not come.
    arrived: Option<Instant>,
}

/// What will be handed out, in order.
enum Ahead<T> {
    Decoding(Task<Decoded<T>>),
    Ready(Decoded<T>),
}

/// A watch under way. It does nothing but when the caller asks for the next event; what happens meanwhile waits in the
/// backend's watch, whose buffer is bounded.
pub(super) struct Watch<T: Object> {
    events: Events<T>,
    key: String,
    initial: Option<Initial>,
    end_bookmark: Option<Revision>,
    changes: Option<KvWatch>,
    /// Changes that have come, not enough yet for a task.
    gathered: Vec<KvEvent>,
    /// The next events, in order.
    ready: VecDeque<WatchEvent<T>>,
    /// When their changes came.
    arrived: Option<Instant>,
    /// What comes after all that is decoded.
    error: Option<StorageError>,
    ahead: VecDeque<Ahead<T>>,
    parallel: usize,
    /// When the caller was last given an event while others waited.
    left_waiting: Option<Instant>,
}

impl<T: Object> Watch<T> {
    pub(super) fn new(
        events: Events<T>,
        key: &str,
        initial: Option<Initial>,
        end_bookmark: Option<Revision>,
        changes: KvWatch,
    ) -> Self {
        Self {
            events,
            key: key.to_owned(),
            initial,
            end_bookmark,
            changes: Some(changes),
            gathered: Vec::new(),
            ready: VecDeque::new(),
            arrived: None,
            error: None,
            ahead: VecDeque::new(),
            parallel: thread::available_parallelism().map_or(1, NonZeroUsize::get) + 1,
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
                    let lag =
                        Event::WatchLag { resource: self.events.inner.labels(), took: arrived.elapsed() };
                    self.events.inner.recorder.record(lag);
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
                self.push_ready(Decoded { events: Vec::new(), error: Some(error), arrived: None });
            }
            let decoded = self.take_ahead().await?;
            self.ready.extend(decoded.events);
            self.arrived = decoded.arrived;
            self.error = decoded.error;
        }
    }

    /// Starts on what the backend has, and waits for it only if there is nothing to hand out.
    async fn fill(&mut self) -> Result<()> {
        if let Some(initial) = &mut self.initial {
            if !self.ahead.is_empty() {
                return Ok(());
            }
            if let Some(page) = initial.next_page(&self.events.inner, &self.key).await? {
                self.start_existing(page);
                if !self.ahead.is_empty() {
                    return Ok(());
                }
            }
            self.initial = None;
        }
        if let Some(revision) = self.end_bookmark.take() {
            self.push_bookmark(revision, true);
        }
        while self.ahead.len() < self.parallel {
            let Some(changes) = &mut self.changes else { break };
            let item = if self.ahead.is_empty() && self.gathered.is_empty() {
                changes.next().await
            } else {
                match changes.next().now_or_never() {
                    Some(item) => item,
                    None => break,
                }
            };
            match item {
                Some(Ok(item)) => self.start(item),
                Some(Err(cause)) => {
                    self.start_gathered();
                    return Err(interpret(cause, &self.key));
                }
                None => self.changes = None,
            }
        }
        if self.gathered.is_empty() {
            return Ok(());
        }
        if self.ahead.is_empty() && self.gathered.len() <= FEW {
            let batch = Batch::Changes(mem::take(&mut self.gathered));
            let decoded = self.events.clone().decode(batch).await;
            self.push_ready(decoded);
        } else {
            self.start_gathered();
        }
        Ok(())
    }

    fn start(&mut self, item: WatchItem) {
        let resource = self.events.inner.labels();
        match item {
            WatchItem::Events { events, .. } => {
                let count = events.len() as u64;
                self.events.inner.recorder.record(Event::WatchEvents { resource, count });
                for event in events {
                    self.gathered.push(event);
                    if self.gathered.len() >= BATCH {
                        self.start_gathered();
                    }
                }
            }
            WatchItem::Progress(revision) => {
                self.events.inner.recorder.record(Event::WatchBookmark { resource });
                self.start_gathered();
                self.push_bookmark(revision, false);
            }
            WatchItem::State(state) => {
                tracing::debug!(key = self.key, ?state, "the backend's watch changed its state")
            }
            _ => {}
        }
    }

    fn start_gathered(&mut self) {
        if !self.gathered.is_empty() {
            let batch = Batch::Changes(mem::take(&mut self.gathered));
            self.start_batch(batch);
        }
    }

    fn start_existing(&mut self, kvs: Vec<KeyValue>) {
        let mut kvs = kvs.into_iter();
        loop {
            let batch: Vec<_> = kvs.by_ref().take(BATCH).collect();
            if batch.is_empty() {
                break;
            }
            self.start_batch(Batch::Existing(batch));
        }
    }

    fn start_batch(&mut self, batch: Batch) {
        self.ahead.push_back(Ahead::Decoding(Task::spawn(self.events.clone().decode(batch))));
    }

    fn push_bookmark(&mut self, revision: Revision, initial_events_end: bool) {
        let resource_version = revision.0.cast_unsigned();
        let bookmark = WatchEvent::Bookmark { resource_version, initial_events_end };
        self.push_ready(Decoded { events: vec![bookmark], error: None, arrived: None });
    }

    fn push_ready(&mut self, decoded: Decoded<T>) {
        self.ahead.push_back(Ahead::Ready(decoded));
    }

    /// The next batch's events. Nothing is lost when the caller stops waiting.
    async fn take_ahead(&mut self) -> Option<Decoded<T>> {
        let decoded = match self.ahead.front_mut()? {
            Ahead::Ready(decoded) => Decoded {
                events: mem::take(&mut decoded.events),
                error: decoded.error.take(),
                arrived: decoded.arrived,
            },
            Ahead::Decoding(task) => task.await.unwrap_or_else(|failed| Decoded {
                events: Vec::new(),
                error: Some(StorageError::other("decoding of an event was interrupted").with_source(failed)),
                arrived: None,
            }),
        };
        self.ahead.pop_front();
        Some(decoded)
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
