//! A backend that keeps an account of its calls.

use std::{
    fmt,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll},
    time::Duration,
};

use async_trait::async_trait;
use bytes::Bytes;
use futures_core::Stream;
use kubestore_kv::{
    BoxStream, DeleteRequest, GetRequest, GetResponse, Kv, KvError, KvErrorKind, KvStatus, KvWatch,
    LeaseGrant, LeaseId, LeaseInfo, ListChunk, ListRequest, ListResponse, PutRequest, Revision, WatchGroup,
    WatchItem, WatchRequest, WriteOutcome,
};

use super::{Call, Operation};

/// A [`Kv`] that passes all calls on to another and keeps an account of them, in the order they began.
///
/// Clones share one account, so a test keeps one and gives another to what it tests.
///
/// ```
/// use std::sync::Arc;
/// use kubestore_conformance::{Operation, RecordingKv};
/// use kubestore_kv::{Kv, KvError, ListRequest};
///
/// async fn pages_are_of_500(inner: Arc<dyn Kv>) -> Result<(), KvError> {
///     let kv = RecordingKv::new(inner);
///     kv.list(ListRequest::new("/pods/").limit(500)).await?;
///     let lists = kv.calls_of(Operation::List);
///     assert_eq!((lists.len(), lists[0].call.limit), (1, Some(500)));
///     Ok(())
/// }
/// ```
#[derive(Clone)]
pub struct RecordingKv {
    inner: Arc<dyn Kv>,
    account: Account,
}

/// A call and what became of it.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedCall {
    /// What was asked.
    pub call: Call,
    /// What came of it.
    pub outcome: Outcome,
    /// Keys read, or events told so far.
    pub items: usize,
}

/// What became of a call.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The condition of a write did not hold.
    Conflict,
    /// It was answered; a stream came to its end.
    Done {
        /// The write's revision, or the head of a read, where the answer has one.
        revision: Option<Revision>,
    },
    /// The caller dropped it before its end, as watches are dropped.
    Dropped,
    /// An error was its answer, or the end of its stream.
    Failed(KvErrorKind),
    /// It is under way.
    Pending,
}

impl RecordingKv {
    /// Keeps an account of the calls of `inner`.
    #[must_use]
    pub fn new(inner: Arc<dyn Kv>) -> Self {
        Self { inner, account: Account::default() }
    }

    /// All calls so far.
    #[must_use]
    pub fn calls(&self) -> Vec<RecordedCall> {
        self.account.lock().calls.clone()
    }

    /// The calls of one operation so far.
    #[must_use]
    pub fn calls_of(&self, operation: Operation) -> Vec<RecordedCall> {
        self.calls().into_iter().filter(|recorded| recorded.call.operation == operation).collect()
    }

    /// How often `operation` was called so far.
    #[must_use]
    pub fn count_of(&self, operation: Operation) -> usize {
        self.account.lock().calls.iter().filter(|recorded| recorded.call.operation == operation).count()
    }

    /// Gives all calls so far and forgets them. Numbers go on; how those under way end is not recorded any more.
    #[must_use]
    pub fn take(&self) -> Vec<RecordedCall> {
        let mut entries = self.account.lock();
        entries.taken += entries.calls.len();
        std::mem::take(&mut entries.calls)
    }

    async fn record<T>(
        &self,
        call: Call,
        inner: impl Future<Output = Result<T, KvError>> + Send,
        told: impl FnOnce(&T) -> (Outcome, usize) + Send,
    ) -> Result<T, KvError> {
        let entry = self.account.begin(call);
        let answer = inner.await;
        match &answer {
            Ok(answer) => {
                let (outcome, items) = told(answer);
                entry.end(outcome, items);
            }
            Err(error) => entry.end(Outcome::Failed(error.kind()), 0),
        }
        answer
    }
}

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl Kv for RecordingKv {
    async fn get(&self, request: GetRequest) -> Result<GetResponse, KvError> {
        let told = |answer: &GetResponse| (done(answer.head), usize::from(answer.kv.is_some()));
        self.record(Call::get(&request), self.inner.get(request), told).await
    }

    async fn list(&self, request: ListRequest) -> Result<ListResponse, KvError> {
        let told = |answer: &ListResponse| (done(answer.head), answer.kvs.len());
        self.record(Call::list(Operation::List, &request), self.inner.list(request), told).await
    }

    fn list_chunks(&self, request: ListRequest) -> BoxStream<Result<ListChunk, KvError>> {
        let entry = self.account.begin(Call::list(Operation::ListChunks, &request));
        let told = |chunk: &ListChunk| (chunk.kvs.len(), chunk.end.map(|end| done(end.revision)));
        Box::pin(Told { stream: self.inner.list_chunks(request), entry: Some(entry), told })
    }

    async fn count(&self, prefix: Bytes) -> Result<i64, KvError> {
        self.record(Call::count(&prefix), self.inner.count(prefix), |_| (DONE, 0)).await
    }

    async fn optimistic_put(&self, request: PutRequest) -> Result<WriteOutcome, KvError> {
        self.record(Call::put(&request), self.inner.optimistic_put(request), write_outcome).await
    }

    async fn optimistic_delete(&self, request: DeleteRequest) -> Result<WriteOutcome, KvError> {
        self.record(Call::delete(&request), self.inner.optimistic_delete(request), write_outcome).await
    }

    async fn watch(&self, request: WatchRequest) -> Result<KvWatch, KvError> {
        let entry = self.account.begin(Call::watch(&request));
        match self.inner.watch(request).await {
            Ok(stream) => Ok(Box::pin(Told { stream, entry: Some(entry), told: told_by_watch })),
            Err(error) => {
                entry.end(Outcome::Failed(error.kind()), 0);
                Err(error)
            }
        }
    }

    async fn request_progress(&self, group: WatchGroup) -> Result<(), KvError> {
        let call = Call::plain(Operation::RequestProgress);
        self.record(call, self.inner.request_progress(group), |()| (DONE, 0)).await
    }

    async fn grant_lease(&self, ttl: Duration) -> Result<LeaseGrant, KvError> {
        self.record(Call::plain(Operation::GrantLease), self.inner.grant_lease(ttl), |_| (DONE, 0)).await
    }

    async fn revoke_lease(&self, id: LeaseId) -> Result<(), KvError> {
        let call = Call::of_lease(Operation::RevokeLease, id);
        self.record(call, self.inner.revoke_lease(id), |()| (DONE, 0)).await
    }

    async fn lease_info(&self, id: LeaseId) -> Result<LeaseInfo, KvError> {
        let call = Call::of_lease(Operation::LeaseInfo, id);
        self.record(call, self.inner.lease_info(id), |_| (DONE, 0)).await
    }

    async fn compact(&self, revision: Revision) -> Result<(), KvError> {
        self.record(Call::compact(revision), self.inner.compact(revision), |()| (DONE, 0)).await
    }

    async fn status(&self) -> Result<KvStatus, KvError> {
        let told = |status: &KvStatus| (done(status.head), 0);
        self.record(Call::plain(Operation::Status), self.inner.status(), told).await
    }
}

impl fmt::Debug for RecordingKv {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecordingKv").field("inner", &self.inner).finish_non_exhaustive()
    }
}

const DONE: Outcome = Outcome::Done { revision: None };

fn done(revision: Revision) -> Outcome {
    Outcome::Done { revision: Some(revision) }
}

fn write_outcome(outcome: &WriteOutcome) -> (Outcome, usize) {
    match outcome {
        WriteOutcome::Done { revision } => (done(*revision), 0),
        _ => (Outcome::Conflict, 0),
    }
}

fn told_by_watch(item: &WatchItem) -> (usize, Option<Outcome>) {
    match item {
        WatchItem::Events { events, .. } => (events.len(), None),
        _ => (0, None),
    }
}

#[derive(Clone, Default)]
struct Account(Arc<Mutex<Entries>>);

#[derive(Default)]
struct Entries {
    /// How many calls came before those kept.
    taken: usize,
    calls: Vec<RecordedCall>,
}

impl Account {
    fn lock(&self) -> MutexGuard<'_, Entries> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin(&self, mut call: Call) -> Entry {
        let mut entries = self.lock();
        let number = entries.taken + entries.calls.len();
        call.number = number as u64;
        entries.calls.push(RecordedCall { call, outcome: Outcome::Pending, items: 0 });
        Entry { account: self.clone(), number }
    }
}

/// A call under way. Dropped before its end is an end, too.
struct Entry {
    account: Account,
    number: usize,
}

impl Entry {
    fn change(&self, change: impl FnOnce(&mut RecordedCall)) {
        let mut entries = self.account.lock();
        let taken = entries.taken;
        if let Some(recorded) = self.number.checked_sub(taken).and_then(|index| entries.calls.get_mut(index))
        {
            change(recorded);
        }
    }

    fn add(&self, items: usize) {
        self.change(|recorded| recorded.items += items);
    }

    fn end(self, outcome: Outcome, items: usize) {
        self.change(|recorded| {
            recorded.outcome = outcome;
            recorded.items += items;
        });
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.change(|recorded| {
            if recorded.outcome == Outcome::Pending {
                recorded.outcome = Outcome::Dropped;
            }
        });
    }
}

/// A stream whose items are counted into the account.
struct Told<T> {
    stream: BoxStream<Result<T, KvError>>,
    entry: Option<Entry>,
    told: fn(&T) -> (usize, Option<Outcome>),
}

impl<T> Stream for Told<T> {
    type Item = Result<T, KvError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let item = std::task::ready!(self.stream.as_mut().poll_next(context));
        let (items, end) = match &item {
            Some(Ok(item)) => (self.told)(item),
            Some(Err(error)) => (0, Some(Outcome::Failed(error.kind()))),
            None => (0, Some(DONE)),
        };
        if let Some(entry) = self.entry.take() {
            match end {
                Some(outcome) => entry.end(outcome, items),
                None => {
                    entry.add(items);
                    self.entry = Some(entry);
                }
            }
        }
        Poll::Ready(item)
    }
}
