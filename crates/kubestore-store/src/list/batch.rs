//! Opening and decoding many values on several cores, in order.

use std::{collections::VecDeque, num::NonZeroUsize, sync::Arc, thread, time::Instant, vec};

use kubestore_core::{Object, Predicate, Result, StorageError, Wanted};
use kubestore_kv::KeyValue;
use tokio::task::JoinHandle;

use crate::{error, store::Inner};

/// Values of one task: enough to outweigh handing them over, few enough to give the runtime its turn.
const BATCH: usize = 64;

/// Which objects are wanted, and until when.
pub(crate) struct Selection {
    predicate: Predicate,
    wanted: Wanted,
    deadline: Option<Instant>,
}

impl Selection {
    pub(crate) fn new(predicate: Predicate, deadline: Option<Instant>) -> Self {
        Self { wanted: predicate.wanted(), predicate, deadline }
    }

    pub(crate) fn is_everything(&self) -> bool {
        self.predicate.is_empty()
    }

    pub(crate) fn predicate(&self) -> &Predicate {
        &self.predicate
    }

    pub(crate) fn wanted(&self) -> &Wanted {
        &self.wanted
    }
}

/// What became of the values of one batch, up to and including the first that could not be read.
pub(crate) struct Decoded<T> {
    /// Each value's object, or `None` where it is not wanted, in order.
    pub(crate) objects: Vec<Option<T>>,
    /// The failure that ended the batch.
    pub(crate) error: Option<StorageError>,
}

/// Values being decoded, a few batches ahead of whoever takes the results.
pub(crate) struct Batches<T: Object> {
    inner: Arc<Inner<T>>,
    selection: Arc<Selection>,
    rest: vec::IntoIter<KeyValue>,
    ahead: VecDeque<AbortOnDrop<Decoded<T>>>,
    parallel: usize,
}

/// A task that ends with its handle.
struct AbortOnDrop<R>(JoinHandle<R>);

impl<R> Drop for AbortOnDrop<R> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl<T: Object> Batches<T> {
    pub(crate) fn new(inner: Arc<Inner<T>>, selection: Arc<Selection>, kvs: Vec<KeyValue>) -> Self {
        let parallel =
            if kvs.len() <= BATCH { 1 } else { thread::available_parallelism().map_or(1, NonZeroUsize::get) };
        Self { inner, selection, rest: kvs.into_iter(), ahead: VecDeque::new(), parallel }
    }

    /// The next batch's results; `None` at the end. A single batch is decoded here and now.
    pub(crate) async fn next(&mut self) -> Option<Decoded<T>> {
        if self.parallel == 1 {
            let batch: Vec<_> = self.rest.by_ref().take(BATCH).collect();
            if batch.is_empty() {
                return None;
            }
            return Some(decode(Arc::clone(&self.inner), Arc::clone(&self.selection), batch).await);
        }
        while self.ahead.len() <= self.parallel {
            let batch: Vec<_> = self.rest.by_ref().take(BATCH).collect();
            if batch.is_empty() {
                break;
            }
            let task = decode(Arc::clone(&self.inner), Arc::clone(&self.selection), batch);
            self.ahead.push_back(AbortOnDrop(tokio::spawn(task)));
        }
        let task = self.ahead.front_mut()?;
        let decoded = (&mut task.0).await;
        self.ahead.pop_front();
        Some(decoded.unwrap_or_else(|failed| Decoded {
            objects: Vec::new(),
            error: Some(StorageError::other("decoding of a list was interrupted").with_source(failed)),
        }))
    }
}

async fn decode<T: Object>(
    inner: Arc<Inner<T>>,
    selection: Arc<Selection>,
    batch: Vec<KeyValue>,
) -> Decoded<T> {
    let mut objects = Vec::with_capacity(batch.len());
    for kv in batch {
        match inner.list_item(kv, &selection).await {
            Ok(object) => objects.push(object),
            Err(error) => return Decoded { objects, error: Some(error) },
        }
    }
    Decoded { objects, error: None }
}

impl<T: Object> Inner<T> {
    /// The object of `kv` if it is wanted. Selectors are tried on the encoded bytes where the codec can; an object on
    /// which they cannot be tried does not match, as in the reference.
    async fn list_item(&self, kv: KeyValue, selection: &Selection) -> Result<Option<T>> {
        let key = String::from_utf8_lossy(&kv.key);
        let opened = self.open(kv.value, &kv.key).await;
        let data = opened.map_err(|cause| error::from_list_transform(cause, &key))?.data;
        if selection.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Err(StorageError::timeout(key, "request did not complete within requested timeout"));
        }
        if selection.is_everything() {
            return self.decode(data, &key, kv.mod_revision).map(Some);
        }
        let skimmed =
            self.codec.skim(&data, selection.wanted()).map_err(|cause| self.undecodable(cause, &key))?;
        if let Some(found) = skimmed {
            let matches = selection.predicate.matches(&found);
            drop(found);
            return if matches { self.decode(data, &key, kv.mod_revision).map(Some) } else { Ok(None) };
        }
        let object = self.decode(data, &key, kv.mod_revision)?;
        let matches = selection.predicate.matches(&self.versioner.find(&object, selection.wanted()));
        Ok(matches.then_some(object))
    }
}
