//! A client whose operations go into a history.

use std::{
    fmt,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use async_trait::async_trait;
use bytes::Bytes;
use futures_core::Stream;
use futures_util::StreamExt as _;
use kubestore_kv::{
    BoxStream, DeleteRequest, GetRequest, GetResponse, KeyValue, Kv, KvError, KvErrorKind, KvStatus, KvWatch,
    LeaseGrant, LeaseId, LeaseInfo, ListChunk, ListRequest, ListResponse, PutRequest, Revision, WatchGroup,
    WatchItem, WatchRequest, WriteOutcome,
};

use super::{
    Answer, Asked, Historian, Told, WatchEnd,
    historian::{Ongoing, OngoingWatch},
};

/// A [`Kv`] that passes all calls on to another; see [`Historian`].
///
/// Gets, lists, conditional writes, compactions and watches are written down. Leases are not: a key that was put with one may
/// end at any time as far as the history is concerned.
pub struct HistoryKv {
    inner: Arc<dyn Kv>,
    historian: Historian,
    client: usize,
}

impl HistoryKv {
    pub(super) fn new(inner: Arc<dyn Kv>, historian: Historian, client: usize) -> Self {
        Self { inner, historian, client }
    }

    /// Its number in reports.
    #[must_use]
    pub fn number(&self) -> usize {
        self.client
    }

    async fn write_down<T>(
        &self,
        asked: Asked,
        call: impl Future<Output = Result<T, KvError>> + Send,
        told: impl FnOnce(&T) -> Answer + Send,
    ) -> Result<T, KvError> {
        let ongoing = self.historian.begin(self.client, asked);
        let result = call.await;
        ongoing.end(result.as_ref().map_or_else(refusal, told));
        result
    }
}

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl Kv for HistoryKv {
    async fn get(&self, request: GetRequest) -> Result<GetResponse, KvError> {
        let told = |answer: &GetResponse| Answer::Key { kv: answer.kv.clone(), head: answer.head };
        self.write_down(Asked::Get(request.clone()), self.inner.get(request), told).await
    }

    async fn list(&self, request: ListRequest) -> Result<ListResponse, KvError> {
        let asked = request.revision.filter(|revision| revision.0 > 0);
        let told = move |answer: &ListResponse| Answer::Range {
            kvs: answer.kvs.clone(),
            revision: asked.unwrap_or(answer.head),
            more: answer.more,
            count: answer.count,
        };
        self.write_down(Asked::List(request.clone()), self.inner.list(request), told).await
    }

    fn list_chunks(&self, request: ListRequest) -> BoxStream<Result<ListChunk, KvError>> {
        let ongoing = self.historian.begin(self.client, Asked::List(request.clone()));
        let parts = Parts { ongoing: Some(ongoing), kvs: Vec::new() };
        let chunks = self.inner.list_chunks(request).scan(parts, |parts, chunk| {
            parts.add(&chunk);
            std::future::ready(Some(chunk))
        });
        Box::pin(chunks)
    }

    async fn count(&self, prefix: Bytes) -> Result<i64, KvError> {
        self.inner.count(prefix).await
    }

    async fn optimistic_put(&self, request: PutRequest) -> Result<WriteOutcome, KvError> {
        let asked = Asked::Put(request.clone());
        self.write_down(asked, self.inner.optimistic_put(request), written).await
    }

    async fn optimistic_delete(&self, request: DeleteRequest) -> Result<WriteOutcome, KvError> {
        let asked = Asked::Delete(request.clone());
        self.write_down(asked, self.inner.optimistic_delete(request), written).await
    }

    async fn watch(&self, request: WatchRequest) -> Result<KvWatch, KvError> {
        let watch = self.historian.begin_watch(self.client, request.clone());
        match self.inner.watch(request).await {
            Ok(stream) => {
                watch.register();
                Ok(Box::pin(Followed { stream, watch }))
            }
            Err(error) => {
                watch.end(WatchEnd::Failed(error.kind()));
                Err(error)
            }
        }
    }

    async fn request_progress(&self, group: WatchGroup) -> Result<(), KvError> {
        self.inner.request_progress(group).await
    }

    async fn grant_lease(&self, ttl: Duration) -> Result<LeaseGrant, KvError> {
        self.inner.grant_lease(ttl).await
    }

    async fn revoke_lease(&self, id: LeaseId) -> Result<(), KvError> {
        self.inner.revoke_lease(id).await
    }

    async fn lease_info(&self, id: LeaseId) -> Result<LeaseInfo, KvError> {
        self.inner.lease_info(id).await
    }

    async fn compact(&self, revision: Revision) -> Result<(), KvError> {
        self.write_down(Asked::Compact(revision), self.inner.compact(revision), |()| Answer::Compacted).await
    }

    async fn status(&self) -> Result<KvStatus, KvError> {
        self.inner.status().await
    }
}

impl fmt::Debug for HistoryKv {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { inner, client, historian: _ } = self;
        f.debug_struct("HistoryKv").field("inner", inner).field("client", client).finish_non_exhaustive()
    }
}

fn written(outcome: &WriteOutcome) -> Answer {
    Answer::Written(outcome.clone())
}

fn refusal(error: &KvError) -> Answer {
    match error.kind() {
        KvErrorKind::OutcomeUnknown => Answer::Unknown,
        kind => Answer::Refused(kind),
    }
}

/// A list that comes in parts, put together.
struct Parts {
    ongoing: Option<Ongoing>,
    kvs: Vec<KeyValue>,
}

impl Parts {
    fn add(&mut self, chunk: &Result<ListChunk, KvError>) {
        let answer = match chunk {
            Ok(chunk) => {
                self.kvs.extend_from_slice(&chunk.kvs);
                let Some(end) = chunk.end else { return };
                let kvs = std::mem::take(&mut self.kvs);
                Answer::Range { kvs, revision: end.revision, more: end.more, count: end.count }
            }
            Err(error) => refusal(error),
        };
        if let Some(ongoing) = self.ongoing.take() {
            ongoing.end(answer);
        }
    }
}

/// The stream of a watch.
struct Followed {
    stream: KvWatch,
    watch: OngoingWatch,
}

impl Stream for Followed {
    type Item = Result<WatchItem, KvError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let item = std::task::ready!(self.stream.as_mut().poll_next(context));
        match &item {
            Some(Ok(WatchItem::Events { events, through })) => {
                self.watch.tell(Told::Events { events: events.clone(), through: *through });
            }
            Some(Ok(WatchItem::Progress(revision))) => self.watch.tell(Told::Progress(*revision)),
            Some(Ok(_)) => {}
            Some(Err(error)) => self.watch.end(WatchEnd::Failed(error.kind())),
            None => self.watch.end(WatchEnd::Silent),
        }
        Poll::Ready(item)
    }
}
