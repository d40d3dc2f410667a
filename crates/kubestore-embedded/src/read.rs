//! Ranges of one snapshot: whole, counted, or in parts.

use std::{num::NonZeroU64, ops::Bound, sync::Arc};

use bytes::Bytes;
use kubestore_kv::{KeyValue, KvError, ListChunk, ListEnd, ListRequest, Revision, prefix_end};

use crate::state::State;

/// A list in progress. It holds its snapshot, so that nothing that is written meanwhile shows, and nothing waits for it.
#[derive(Debug)]
pub(crate) struct Scan {
    state: Arc<State>,
    at: i64,
    /// Where to go on; `None` after the last key.
    next: Option<Bound<Bytes>>,
    end: Option<Bytes>,
    /// Keys that may still be given.
    left: u64,
    keys_only: bool,
    /// Keys given or counted so far.
    count: i64,
    more: bool,
}

/// What bounds one step of a scan.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    pub(crate) keys: usize,
    pub(crate) bytes: usize,
}

impl Budget {
    /// A part of a list, as its reader wants it.
    pub(crate) const CHUNK: Self = Self { keys: 500, bytes: 1 << 20 };
    /// As much as may be gathered before other tasks get their turn.
    pub(crate) const TURN: Self = Self { keys: 4096, bytes: usize::MAX };
}

impl Scan {
    pub(crate) fn new(state: Arc<State>, request: &ListRequest) -> Result<Self, KvError> {
        let at = state.readable("list", request.revision)?;
        let first = request.first_key().clone();
        Ok(Self {
            state,
            at,
            next: Some(Bound::Included(first)),
            end: prefix_end(&request.prefix),
            left: request.limit.map_or(u64::MAX, NonZeroU64::get),
            keys_only: request.keys_only,
            count: 0,
            more: false,
        })
    }

    /// A scan that gives no key and counts all.
    pub(crate) fn counting(state: Arc<State>, prefix: &Bytes) -> Self {
        let (at, next) = (state.head, Some(Bound::Included(prefix.clone())));
        Self { state, at, next, end: prefix_end(prefix), left: 0, keys_only: true, count: 0, more: false }
    }

    /// The head of the snapshot.
    pub(crate) fn head(&self) -> Revision {
        Revision(self.state.head)
    }

    /// The next keys, and beyond the limit the count of some more. Empty results are possible before the end.
    pub(crate) fn step(&mut self, budget: Budget, into: &mut Vec<KeyValue>) {
        let Some(next) = self.next.take() else { return };
        let from = next.as_ref().map(Bytes::as_ref);
        let (mut keys, mut bytes) = (0, 0);
        for record in self.state.range(from, self.end.as_deref(), self.at) {
            if keys >= budget.keys || bytes >= budget.bytes {
                self.next = Some(Bound::Included(record.key.clone()));
                return;
            }
            keys += 1;
            self.count += 1;
            if self.left == 0 {
                self.more = true;
                continue;
            }
            self.left -= 1;
            let kv = if self.keys_only { record.key_only() } else { record.key_value() };
            bytes += kv.key.len() + kv.value.len();
            into.push(kv);
        }
    }

    /// The end of the list, once there is nothing left to step through.
    pub(crate) fn end(&self) -> Option<ListEnd> {
        self.next.is_none().then(|| ListEnd::new(Revision(self.at), self.more, Some(self.count)))
    }

    /// Steps to the end, letting other tasks run from time to time.
    pub(crate) async fn finish(mut self) -> (Vec<KeyValue>, ListEnd) {
        let mut kvs = Vec::new();
        loop {
            self.step(Budget::TURN, &mut kvs);
            match self.end() {
                Some(end) => return (kvs, end),
                None => tokio::task::yield_now().await,
            }
        }
    }

    /// The next part. Counting beyond the limit is done with the last part.
    pub(crate) async fn chunk(&mut self) -> ListChunk {
        let mut kvs = Vec::new();
        loop {
            let counting = self.left == 0;
            self.step(if counting { Budget::TURN } else { Budget::CHUNK }, &mut kvs);
            match self.end() {
                Some(end) => return ListChunk::last(kvs, end),
                None if self.left > 0 => return ListChunk::part(kvs),
                None => tokio::task::yield_now().await,
            }
        }
    }
}
