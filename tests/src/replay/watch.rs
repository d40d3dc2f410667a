//! Steps that watch.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use anyhow::{Context, Result, bail};
use futures_util::StreamExt;
use kubestore_codec::Unstructured;
use kubestore_core::WatchStream;
use serde_json::{Value, json};
use tokio::{sync::Notify, task::JoinHandle, time::Instant};

use super::{
    seen::{Event, Performed, event_value, events_value},
    session::Session,
};
use crate::recording::{EventsStep, QuietStep, WatchIdStep, WatchStep};

/// How long events, and the end of a watch, are waited for.
const PATIENCE: Duration = Duration::from_secs(5);

/// A watch, read all the time as an API server would, into a queue that steps take from. Dropping it ends the watch.
pub(crate) struct Watching {
    shared: Arc<Shared>,
    reader: JoinHandle<()>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Default)]
struct State {
    events: Vec<Event>,
    closed: bool,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Watching {
    fn start(mut stream: WatchStream<Unstructured>) -> Self {
        let shared = Arc::<Shared>::default();
        let queue = Arc::clone(&shared);
        let reader = tokio::spawn(async move {
            while let Some(event) = stream.next().await {
                queue.lock().events.push(event);
                queue.changed.notify_one();
            }
            queue.lock().closed = true;
            queue.changed.notify_one();
        });
        Self { shared, reader }
    }

    /// Waits until `enough` says so, at most for the time that is given; whether it did.
    async fn wait(&self, enough: impl Fn(&State) -> bool) -> bool {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if enough(&self.shared.lock()) {
                return true;
            }
            if tokio::time::timeout_at(deadline, self.shared.changed.notified()).await.is_err() {
                return enough(&self.shared.lock());
            }
        }
    }

    fn take(&self, count: usize) -> Vec<Event> {
        let mut state = self.shared.lock();
        let count = count.min(state.events.len());
        state.events.drain(..count).collect()
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        self.reader.abort();
    }
}

impl Session {
    pub(super) async fn watch(&mut self, step: &WatchStep) -> Result<Performed> {
        if self.watches.contains_key(&step.id) || step.id.is_empty() {
            bail!("watch id {:?} is empty or in use", step.id);
        }
        match self.store.watch(&step.key, self.results.watch_options(step)?).await {
            Ok(stream) => {
                self.watches.insert(step.id.clone(), Watching::start(stream));
                Ok(Performed::nothing())
            }
            Err(error) => Ok(self.failed(&error)),
        }
    }

    pub(super) async fn events(&mut self, step: &EventsStep) -> Result<Performed> {
        let watch = self.watching(&step.id)?;
        let enough = watch.wait(|state| state.events.len() >= step.count || state.closed).await;
        let events = self.recorded(&watch.take(step.count))?;
        Ok(Performed::ok(events_value(&events, step.count, enough)))
    }

    pub(super) async fn quiet(&mut self, step: &QuietStep) -> Result<Performed> {
        let watch = self.watching(&step.id)?;
        tokio::time::sleep(Duration::from_millis(step.ms)).await;
        Ok(Performed::ok(json!({ "events": self.recorded(&watch.take(usize::MAX))? })))
    }

    /// Dropping the stream is all there is to stopping it, so that nothing can come afterwards.
    pub(super) fn stop(&mut self, step: &WatchIdStep) -> Result<Performed> {
        let watch = self.watching(&step.id)?;
        watch.reader.abort();
        let mut state = watch.shared.lock();
        state.closed = true;
        state.events.clear();
        Ok(Performed::ok(json!({ "closed": true })))
    }

    pub(super) async fn closed(&mut self, step: &WatchIdStep) -> Result<Performed> {
        let watch = self.watching(&step.id)?;
        let closed = watch.wait(|state| state.closed).await;
        let pending = self.recorded(&watch.take(usize::MAX))?;
        Ok(Performed::ok(json!({ "closed": closed, "pending": pending })))
    }

    pub(super) async fn request_progress(&mut self) -> Result<Performed> {
        Ok(match self.store.request_watch_progress().await {
            Ok(()) => Performed::nothing(),
            Err(error) => self.failed(&error),
        })
    }

    fn watching(&self, id: &str) -> Result<&Watching> {
        self.watches.get(id).with_context(|| format!("there is no watch {id:?}"))
    }

    fn recorded(&self, events: &[Event]) -> Result<Vec<Value>> {
        events.iter().map(|event| event_value(event, &self.notation)).collect()
    }
}
