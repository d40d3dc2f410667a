//! Opening and decoding many values on several cores, in order.

use std::{collections::VecDeque, num::NonZeroUsize, sync::Arc, thread, vec};

use bytes::Bytes;
use kubestore_core::{Object, Result, StorageError};
use kubestore_kv::{KeyValue, Revision};

use crate::{error, selection::Selection, store::Inner, task::Task};

/// Values of one task at most: enough to outweigh handing them over, few enough to give the runtime its turn.
const BATCH: usize = 64;

/// Bytes of one task, if its values are large.
const BATCH_BYTES: usize = 256 * 1024;

/// What became of the values of one batch, up to and including the first that could not be read.
pub(super) struct Decoded<T> {
    /// Each value's object, or `None` where it is not wanted, in order.
    pub(super) objects: Vec<Option<T>>,
    /// Their keys.
    pub(super) keys: Vec<Bytes>,
    /// The places of objects that could not be read and were gone past, with their errors.
    pub(super) corrupt: Vec<(usize, StorageError)>,
    /// The failure that ended the batch.
    pub(super) error: Option<StorageError>,
}

/// Values being decoded, a few batches ahead of whoever takes the results.
pub(super) struct Batches<T: Object> {
    inner: Arc<Inner<T>>,
    selection: Arc<Selection>,
    rest: vec::IntoIter<KeyValue>,
    ahead: VecDeque<Task<Decoded<T>>>,
    parallel: usize,
}

impl<T: Object> Batches<T> {
    pub(super) fn new(inner: Arc<Inner<T>>, selection: Arc<Selection>, kvs: Vec<KeyValue>) -> Self {
        let parallel =
            if kvs.len() <= BATCH { 1 } else { thread::available_parallelism().map_or(1, NonZeroUsize::get) };
        Self { inner, selection, rest: kvs.into_iter(), ahead: VecDeque::new(), parallel }
    }

    /// The next batch's results; `None` at the end. A single batch is decoded here and now.
    pub(super) async fn next(&mut self) -> Option<Decoded<T>> {
        if self.parallel == 1 {
            let batch = self.batch()?;
            return Some(decode(Arc::clone(&self.inner), Arc::clone(&self.selection), batch).await);
        }
        while self.ahead.len() < 2 * self.parallel
            && let Some(batch) = self.batch()
        {
            let decoded = decode(Arc::clone(&self.inner), Arc::clone(&self.selection), batch);
            self.ahead.push_back(Task::spawn(decoded));
        }
        let decoded = self.ahead.front_mut()?.await;
        self.ahead.pop_front();
        Some(decoded.unwrap_or_else(|failed| Decoded {
            objects: Vec::new(),
            keys: Vec::new(),
            corrupt: Vec::new(),
            error: Some(StorageError::other("decoding of a list was interrupted").with_source(failed)),
        }))
    }

    fn batch(&mut self) -> Option<Vec<KeyValue>> {
        let mut bytes = 0;
        let mut fits = |kv: &KeyValue| {
            let fits = bytes < BATCH_BYTES;
            bytes += kv.value.len();
            fits
        };
        let length = self.rest.as_slice().iter().take(BATCH).take_while(|kv| fits(kv)).count();
        (length > 0).then(|| self.rest.by_ref().take(length).collect())
    }
}

async fn decode<T: Object>(
    inner: Arc<Inner<T>>,
    selection: Arc<Selection>,
    batch: Vec<KeyValue>,
) -> Decoded<T> {
    let mut decoded = Decoded {
        objects: Vec::with_capacity(batch.len()),
        keys: Vec::with_capacity(batch.len()),
        corrupt: Vec::new(),
        error: None,
    };
    for kv in batch {
        match inner.list_item(kv.value, &kv.key, kv.mod_revision, &selection).await {
            Ok(object) => decoded.objects.push(object),
            Err(error) if selection.goes_past(&error) => {
                decoded.corrupt.push((decoded.objects.len(), error));
                decoded.objects.push(None);
            }
            Err(error) => {
                decoded.error = Some(error);
                return decoded;
            }
        }
        decoded.keys.push(kv.key);
    }
    decoded
}

impl<T: Object> Inner<T> {
    /// The object of `key`, stored as `stored`, if it is wanted.
    async fn list_item(
        &self,
        stored: Bytes,
        key: &Bytes,
        revision: Revision,
        selection: &Selection,
    ) -> Result<Option<T>> {
        let opened = self.open(stored, key).await;
        let key = String::from_utf8_lossy(key);
        let data = opened.map_err(|cause| error::from_list_transform(cause, &key))?.data;
        if selection.is_over() {
            return Err(StorageError::timeout(key, "request did not complete within requested timeout"));
        }
        let tried = self.tried(data, &key, selection, true, |data| self.decode(data, &key, revision))?;
        Ok(tried.object)
    }
}
