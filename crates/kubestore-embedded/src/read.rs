//! Ranges of one snapshot: whole, counted, or in parts.

use std::{num::NonZeroU64, ops::Bound, sync::Arc};

use bytes::Bytes;
use kubestore_kv::{KeyValue, KvError, ListChunk, ListEnd, ListRequest, Revision, prefix_end};

use crate::{counts::Place, engine::Shared, state::State};

/// A list in progress. It holds its snapshot, so that nothing that is written meanwhile shows, and nothing waits for it.
#[derive(Debug)]
pub(crate) struct Scan {
    shared: Arc<Shared>,
    state: Arc<State>,
    at: i64,
    prefix: Bytes,
    start: Bytes,
    end: Option<Bytes>,
    /// Where to go on; `None` after the last key.
    next: Option<Bound<Bytes>>,
    /// Keys that may still be given.
    left: u64,
    keys_only: bool,
    /// Keys given or counted so far.
    count: i64,
    /// Keys given, and the last of them.
    given: i64,
    last: Option<Bytes>,
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
    pub(crate) fn new(shared: &Arc<Shared>, request: &ListRequest) -> Result<Self, KvError> {
        let state = shared.snapshot();
        let at = state.readable("list", request.revision)?;
        let start = request.first_key().clone();
        Ok(Self {
            shared: Arc::clone(shared),
            state,
            at,
            prefix: request.prefix.clone(),
            end: prefix_end(&request.prefix),
            next: Some(Bound::Included(start.clone())),
            start,
            left: request.limit.map_or(u64::MAX, NonZeroU64::get),
            keys_only: request.keys_only,
            count: 0,
            given: 0,
            last: None,
        })
    }

    /// A scan that gives no key and counts all.
    pub(crate) fn counting(shared: &Arc<Shared>, prefix: Bytes) -> Result<Self, KvError> {
        let mut scan = Self::new(shared, &ListRequest::new(prefix).keys_only())?;
        scan.left = 0;
        Ok(scan)
    }

    /// The head of the snapshot.
    pub(crate) fn head(&self) -> Revision {
        Revision(self.state.head)
    }

    /// The next keys, and beyond the limit the count of some more. Empty results are possible before the end.
    pub(crate) fn step(&mut self, budget: Budget, into: &mut Vec<KeyValue>) {
        if self.is_at_limit() && self.recall() {
            return;
        }
        let Some(next) = self.next.take() else { return };
        let from = next.as_ref().map(Bytes::as_ref);
        let (mut keys, mut bytes) = (0, 0);
        for record in self.state.range(from, self.end.as_deref(), self.at) {
            // At the limit the scan pauses: the rest may be known.
            if keys >= budget.keys
                || bytes >= budget.bytes
                || (self.left == 0 && self.given == self.count && keys > 0)
            {
                self.next = Some(Bound::Included(record.key.clone()));
                return;
            }
            keys += 1;
            self.count += 1;
            if self.left == 0 {
                continue;
            }
            self.left -= 1;
            self.given += 1;
            let kv = if self.keys_only { record.key_only() } else { record.key_value() };
            bytes += kv.key.len() + kv.value.len();
            self.last = Some(record.key.clone());
            into.push(kv);
        }
        self.learn();
    }

    /// Whether all is given that may be given, and nothing beyond it is counted yet.
    fn is_at_limit(&self) -> bool {
        self.left == 0 && self.given == self.count
    }

    /// Ends a scan at its limit, if the count of the range is known.
    fn recall(&mut self) -> bool {
        let known = self.shared.counts.get(&self.place(self.start.clone()));
        if let Some(count) = known {
            self.count = count;
            self.next = None;
            self.learn();
        }
        known.is_some()
    }

    /// Remembers the count of a limited range, and of what is left of it after the last key given.
    fn learn(&self) {
        if self.given == self.count {
            return;
        }
        self.shared.counts.learn(self.place(Bytes::copy_from_slice(&self.start)), self.count);
        if let Some(last) = &self.last {
            // Where the next page begins: at the first key that can come after the last one.
            let mut start = last.to_vec();
            start.push(0);
            self.shared.counts.learn(self.place(start.into()), self.count - self.given);
        }
    }

    fn place(&self, start: Bytes) -> Place {
        Place { revision: self.at, prefix: Bytes::copy_from_slice(&self.prefix), start }
    }

    /// The end of the list, once there is nothing left to step through.
    pub(crate) fn end(&self) -> Option<ListEnd> {
        let end = ListEnd::new(Revision(self.at), self.given < self.count, Some(self.count));
        self.next.is_none().then_some(end)
    }

    /// Steps to the end, letting other tasks run from time to time.
    pub(crate) async fn finish(mut self) -> (Vec<KeyValue>, ListEnd) {
        let mut kvs = Vec::new();
        loop {
            self.step(Budget::TURN, &mut kvs);
            match self.end() {
                Some(end) => return (kvs, end),
                None if self.is_at_limit() => {}
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
                None if self.is_at_limit() => {}
                None => tokio::task::yield_now().await,
            }
        }
    }
}
