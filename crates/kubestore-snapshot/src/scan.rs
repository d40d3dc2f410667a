//! Ranges: whole, counted, or in parts.

use std::{num::NonZeroU64, ops::Range, sync::Arc};

use bytes::Bytes;
use kubestore_kv::{KeyValue, KvError, ListChunk, ListEnd, ListRequest, ListResponse, Revision, prefix_end};

use crate::{blocking::Step, snapshot::Inner, view::View};

/// A part of a list has at most so many keys…
const CHUNK_KEYS: usize = 500;
/// … and ends with the value that takes it to so many bytes.
const CHUNK_BYTES: usize = 1 << 20;

/// A range at a revision, read from its beginning to its end.
pub(crate) struct Scan {
    snapshot: Arc<Inner>,
    operation: &'static str,
    view: Arc<View>,
    revision: Revision,
    /// What is left to read.
    range: Range<usize>,
    keys_only: bool,
    more: bool,
    count: i64,
}

impl Scan {
    pub(crate) fn new(
        snapshot: Arc<Inner>,
        operation: &'static str,
        request: &ListRequest,
    ) -> Result<Self, KvError> {
        let at = snapshot.readable(operation, request.revision)?;
        let view = snapshot.views.at(&snapshot.index, at);
        let end = prefix_end(&request.prefix);
        let range = view.range(&snapshot.index, request.first_key(), end.as_deref());
        let limit = request
            .limit
            .map_or(usize::MAX, |limit| usize::try_from(NonZeroU64::get(limit)).unwrap_or(usize::MAX));
        let (count, given) = (range.len(), range.len().min(limit));
        Ok(Self {
            operation,
            view,
            revision: Revision(at),
            range: range.start..range.start + given,
            keys_only: request.keys_only,
            more: given < count,
            count: i64::try_from(count).unwrap_or(i64::MAX),
            snapshot,
        })
    }

    /// The next keys, until there are as many as wanted.
    fn read(&mut self, keys: usize, bytes: usize) -> Result<Vec<KeyValue>, KvError> {
        let mut kvs = Vec::with_capacity(self.range.len().min(keys));
        let mut size = 0;
        while kvs.len() < keys && size < bytes && !self.range.is_empty() {
            let live = self.view.get(self.range.start..self.range.start + 1)[0];
            let mut kv = self.snapshot.read(self.operation, live.key(), live.version())?;
            if self.keys_only {
                kv.value = Bytes::new();
            }
            size += kv.key.len() + kv.value.len();
            kvs.push(kv);
            self.range.start += 1;
        }
        Ok(kvs)
    }

    pub(crate) fn count(&self) -> i64 {
        self.count
    }

    /// All of it.
    pub(crate) fn whole(mut self) -> Result<ListResponse, KvError> {
        let kvs = self.read(usize::MAX, usize::MAX)?;
        Ok(ListResponse::new(kvs, self.snapshot.info.head, self.more, Some(self.count)))
    }

    fn chunk(&mut self) -> Result<ListChunk, KvError> {
        let kvs = self.read(CHUNK_KEYS, CHUNK_BYTES)?;
        if !self.range.is_empty() {
            return Ok(ListChunk::part(kvs));
        }
        Ok(ListChunk::last(kvs, ListEnd::new(self.revision, self.more, Some(self.count))))
    }
}

/// Where a list in parts is.
pub(crate) enum Chunks {
    Asked(Arc<Inner>, ListRequest),
    Reading(Scan),
}

impl Chunks {
    /// The next part, and what follows it.
    pub(crate) fn next(self) -> Step<Self, ListChunk> {
        let scan = match self {
            Self::Asked(snapshot, request) => Scan::new(snapshot, "list_chunks", &request),
            Self::Reading(scan) => Ok(scan),
        };
        match scan.and_then(|mut scan| Ok((scan.chunk()?, scan))) {
            Ok((chunk, _)) if chunk.end.is_some() => (Ok(chunk), None),
            Ok((chunk, scan)) => (Ok(chunk), Some(Self::Reading(scan))),
            Err(error) => (Err(error), None),
        }
    }
}
