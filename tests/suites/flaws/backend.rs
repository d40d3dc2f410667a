//! The embedded engine with one flaw put in.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use kubestore_conformance::{Harness, Instance, Isolation, Unsupported};
use kubestore_embedded::Embedded;
use kubestore_kv::{
    BoxStream, DeleteRequest, Expect, GetRequest, GetResponse, Kv, KvError, KvErrorKind, KvEvent,
    KvEventKind, KvStatus, KvWatch, LeaseGrant, LeaseId, LeaseInfo, ListChunk, ListRequest, ListResponse,
    MAX_LEASE_TTL, OnFailure, PutRequest, Revision, WatchGroup, WatchItem, WatchRequest, WriteOutcome,
};

/// What is wrong with a backend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flaw {
    AbsentDeleteWrites,
    ChunksLoseOne,
    ChunksOfTwoRevisions,
    ChunksWithoutEnd,
    CompactDoesNothing,
    CompactTwice,
    ConflictHidesCurrent,
    ConflictShowsCurrent,
    ConflictWrites,
    CountIsOff,
    CountIsPage,
    CreateOverwrites,
    DeleteUnconditional,
    FutureIsNow,
    GetIgnoresRevision,
    HeadIsRevisionAsked,
    KeysOnlyIgnored,
    LeaseIgnored,
    LeaseTtlUnbounded,
    LimitIgnored,
    ListIgnoresRevision,
    ListLags,
    ListReversed,
    NeverMore,
    PrefixWithoutSlash,
    ProgressForAll,
    ProgressOvertakes,
    RacyCreates,
    RevokeDoesNothing,
    RevokeInSteps,
    SameBytesSkipped,
    SizeUnlimited,
    StartExclusive,
    WatchAlwaysPrevious,
    WatchDeletionHasVersion,
    WatchForgivesCompacted,
    WatchLazy,
    WatchLosesEvent,
    WatchRepeatsEvent,
    WatchSplitsRevision,
    WatchStartsLate,
    WatchSwapsEvents,
    WatchWithoutPrevious,
}

/// Starts engines with a flaw, or without.
#[derive(Debug)]
pub(crate) struct Flawed(pub(crate) Option<Flaw>);

#[async_trait]
impl Harness for Flawed {
    fn name(&self) -> &str {
        "flawed"
    }

    fn patience(&self) -> Duration {
        Duration::from_secs(2)
    }

    async fn start(&self, _: Isolation) -> Result<Box<dyn Instance>, Unsupported> {
        let limit = if self.0 == Some(Flaw::SizeUnlimited) { usize::MAX } else { 1536 * 1024 };
        let inner = Embedded::builder().max_request_bytes(limit).in_memory();
        let backend = Backend { inner, flaw: self.0, leased: Mutex::default(), groups: Mutex::default() };
        Ok(Box::new(Running(Arc::new(backend))))
    }
}

#[derive(Debug)]
struct Running(Arc<Backend>);

#[async_trait]
impl Instance for Running {
    fn kv(&self) -> Arc<dyn Kv> {
        Arc::<Backend>::clone(&self.0)
    }

    async fn advance_time(&self, by: Duration) -> Result<(), Unsupported> {
        tokio::time::sleep(by).await;
        Ok(())
    }

    async fn restart(&mut self) -> Result<(), Unsupported> {
        Err(Unsupported::new("memory ends with its process"))
    }
}

#[derive(Debug)]
struct Backend {
    inner: Embedded,
    flaw: Option<Flaw>,
    /// Keys by lease, for the flaw that needs to know.
    leased: Mutex<Vec<(LeaseId, Bytes)>>,
    groups: Mutex<Vec<WatchGroup>>,
}

impl Backend {
    fn has(&self, flaw: Flaw) -> bool {
        self.flaw == Some(flaw)
    }

    async fn head(&self) -> Revision {
        self.inner.status().await.map_or(Revision(0), |status| status.head)
    }

    /// A write that nobody asked for.
    async fn scribble(&self) {
        let request = PutRequest::create("/scribble", "x").with_expect(Expect::Version(0));
        let _first = self.inner.optimistic_put(request.clone()).await;
        if let Ok(GetResponse { kv: Some(kv), .. }) = self.inner.get(GetRequest::new("/scribble")).await {
            let again = request.with_expect(Expect::ModRevision(kv.mod_revision));
            let _second = self.inner.optimistic_put(again).await;
        }
    }

    async fn revision(&self, asked: Option<Revision>, ignored: bool) -> Option<Revision> {
        let asked = asked.filter(|_| !ignored)?;
        if self.has(Flaw::FutureIsNow) { Some(asked.min(self.head().await)) } else { Some(asked) }
    }
}

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl Kv for Backend {
    async fn get(&self, mut request: GetRequest) -> Result<GetResponse, KvError> {
        let asked = request.revision;
        request.revision = self.revision(asked, self.has(Flaw::GetIgnoresRevision)).await;
        let mut answer = self.inner.get(request).await?;
        if let (true, Some(asked)) = (self.has(Flaw::HeadIsRevisionAsked), asked) {
            answer.head = asked;
        }
        Ok(answer)
    }

    async fn list(&self, mut request: ListRequest) -> Result<ListResponse, KvError> {
        let head = self.head().await;
        request.revision = self.revision(request.revision, self.has(Flaw::ListIgnoresRevision)).await;
        if self.has(Flaw::ListLags) && request.revision.is_none() {
            request.revision = Some(Revision((head.0 - 1).max(1)));
        }
        if self.has(Flaw::KeysOnlyIgnored) {
            request.keys_only = false;
        }
        if self.has(Flaw::LimitIgnored) {
            request.limit = None;
        }
        if self.has(Flaw::PrefixWithoutSlash) && request.prefix.ends_with(b"/") {
            request.prefix.truncate(request.prefix.len() - 1);
        }
        if let (true, Some(start)) = (self.has(Flaw::StartExclusive), &request.start) {
            request.start = Some(Bytes::from([&start[..], b"\0"].concat()));
        }
        let mut answer = self.inner.list(request).await?;
        if self.has(Flaw::ListReversed) {
            answer.kvs.reverse();
        }
        if self.has(Flaw::NeverMore) {
            answer.more = false;
        }
        if self.has(Flaw::CountIsPage) {
            answer.count = i64::try_from(answer.kvs.len()).ok();
        }
        Ok(answer)
    }

    fn list_chunks(&self, request: ListRequest) -> BoxStream<Result<ListChunk, KvError>> {
        let (inner, flaw) = (self.inner.clone(), self.flaw);
        if flaw == Some(Flaw::ChunksOfTwoRevisions) {
            // Each key is read when it is asked for, as a scan without a snapshot would.
            let first = self.inner.list_chunks(request);
            return Box::pin(first.flat_map(move |chunk| fresh(inner.clone(), chunk)));
        }
        Box::pin(self.inner.list_chunks(request).map_ok(move |mut chunk| {
            match flaw {
                Some(Flaw::ChunksWithoutEnd) => chunk.end = None,
                Some(Flaw::ChunksLoseOne) => drop(chunk.kvs.pop()),
                _ => {}
            }
            chunk
        }))
    }

    async fn count(&self, prefix: Bytes) -> Result<i64, KvError> {
        let off = if self.has(Flaw::CountIsOff) { 1 } else { 0 };
        Ok(self.inner.count(prefix).await? + off)
    }

    async fn optimistic_put(&self, mut request: PutRequest) -> Result<WriteOutcome, KvError> {
        if let Some(lease) = request.lease {
            self.leased.lock().unwrap_or_else(PoisonError::into_inner).push((lease, request.key.clone()));
        }
        if self.has(Flaw::LeaseIgnored) {
            request.lease = None;
        }
        let current =
            self.inner.get(GetRequest::new(request.key.clone())).await.ok().and_then(|answer| answer.kv);
        let overwrites = self.has(Flaw::CreateOverwrites) && request.expect == Expect::ABSENT;
        let racy = self.has(Flaw::RacyCreates) && current.is_none();
        if racy {
            tokio::task::yield_now().await;
        }
        if overwrites || racy {
            let now = self.inner.get(GetRequest::new(request.key.clone())).await?.kv;
            request.expect = Expect::ModRevision(now.map_or(Revision(0), |kv| kv.mod_revision));
        }
        if let (true, Some(kv)) = (self.has(Flaw::SameBytesSkipped), &current)
            && kv.value == request.value
        {
            return Ok(WriteOutcome::Done { revision: kv.mod_revision });
        }
        if self.has(Flaw::ConflictShowsCurrent) {
            request.on_failure = OnFailure::Get;
        }
        let outcome = self.inner.optimistic_put(request).await?;
        if let WriteOutcome::Conflict { head, .. } = &outcome {
            if self.has(Flaw::ConflictWrites) {
                self.scribble().await;
            }
            if self.has(Flaw::ConflictHidesCurrent) {
                return Ok(WriteOutcome::Conflict { current: None, head: *head });
            }
        }
        Ok(outcome)
    }

    async fn optimistic_delete(&self, mut request: DeleteRequest) -> Result<WriteOutcome, KvError> {
        let current =
            self.inner.get(GetRequest::new(request.key.clone())).await.ok().and_then(|answer| answer.kv);
        if self.has(Flaw::DeleteUnconditional) {
            request.expect = Expect::ModRevision(current.as_ref().map_or(Revision(0), |kv| kv.mod_revision));
        }
        if self.has(Flaw::AbsentDeleteWrites) && current.is_none() {
            self.scribble().await;
        }
        self.inner.optimistic_delete(request).await
    }

    async fn watch(&self, mut request: WatchRequest) -> Result<KvWatch, KvError> {
        self.groups.lock().unwrap_or_else(PoisonError::into_inner).push(request.group);
        match self.flaw {
            Some(Flaw::WatchStartsLate) => request.start = request.start.map(Revision::next),
            Some(Flaw::WatchWithoutPrevious) => request.previous = false,
            Some(Flaw::WatchAlwaysPrevious) => request.previous = true,
            Some(Flaw::WatchForgivesCompacted) => {
                let compacted = self.inner.status().await?.compacted.unwrap_or_default();
                request.start = request.start.map(|start| start.max(compacted));
            }
            Some(Flaw::WatchLazy) => {
                let inner = self.inner.clone();
                let later = async move { inner.watch(request).await };
                return Ok(Box::pin(stream::once(later).try_flatten()));
            }
            _ => {}
        }
        let flaw = self.flaw;
        let items = self.inner.watch(request).await?.flat_map(move |item| {
            stream::iter(match item {
                Ok(item) => spoiled(flaw, item).into_iter().map(Ok).collect(),
                Err(error) => vec![Err(error)],
            })
        });
        Ok(Box::pin(items))
    }

    async fn request_progress(&self, group: WatchGroup) -> Result<(), KvError> {
        let mut groups = vec![group];
        if self.has(Flaw::ProgressForAll) {
            groups.clone_from(&self.groups.lock().unwrap_or_else(PoisonError::into_inner));
        }
        for group in groups {
            self.inner.request_progress(group).await?;
        }
        Ok(())
    }

    async fn grant_lease(&self, ttl: Duration) -> Result<LeaseGrant, KvError> {
        let ttl = if self.has(Flaw::LeaseTtlUnbounded) { ttl.min(MAX_LEASE_TTL) } else { ttl };
        self.inner.grant_lease(ttl).await
    }

    async fn revoke_lease(&self, id: LeaseId) -> Result<(), KvError> {
        if self.has(Flaw::RevokeDoesNothing) {
            return Ok(());
        }
        if self.has(Flaw::RevokeInSteps) {
            let leased = self.leased.lock().unwrap_or_else(PoisonError::into_inner).clone();
            for (_, key) in leased.into_iter().filter(|(lease, _)| *lease == id) {
                if let Some(kv) = self.inner.get(GetRequest::new(key.clone())).await?.kv {
                    self.inner.optimistic_delete(DeleteRequest::new(key, kv.mod_revision)).await?;
                }
            }
        }
        self.inner.revoke_lease(id).await
    }

    async fn lease_info(&self, id: LeaseId) -> Result<LeaseInfo, KvError> {
        self.inner.lease_info(id).await
    }

    async fn compact(&self, revision: Revision) -> Result<(), KvError> {
        if self.has(Flaw::CompactDoesNothing) {
            return Ok(());
        }
        match self.inner.compact(revision).await {
            Err(error) if self.has(Flaw::CompactTwice) && error.kind() == KvErrorKind::Compacted => Ok(()),
            result => result,
        }
    }

    async fn status(&self) -> Result<KvStatus, KvError> {
        self.inner.status().await
    }
}

/// The keys of `chunk` as they are now, which is not what they were.
fn fresh(inner: Embedded, chunk: Result<ListChunk, KvError>) -> BoxStream<Result<ListChunk, KvError>> {
    Box::pin(stream::once(async move {
        let mut chunk = chunk?;
        let keys: Vec<_> = chunk.kvs.drain(..).map(|kv| kv.key).collect();
        for key in keys {
            chunk.kvs.extend(inner.get(GetRequest::new(key)).await?.kv);
        }
        Ok(chunk)
    }))
}

/// The items that a flawed backend tells in place of `item`.
fn spoiled(flaw: Option<Flaw>, item: WatchItem) -> Vec<WatchItem> {
    let (mut events, through) = match item {
        WatchItem::Events { events, through } => (events, through),
        WatchItem::Progress(revision) if flaw == Some(Flaw::ProgressOvertakes) => {
            return vec![WatchItem::Progress(Revision(revision.0 + 5))];
        }
        other => return vec![other],
    };
    match flaw {
        Some(Flaw::WatchLosesEvent) => events.retain(|event| event.kv.mod_revision.0 % 2 == 0),
        Some(Flaw::WatchRepeatsEvent) => {
            let item = WatchItem::Events { events, through };
            return vec![item.clone(), item];
        }
        Some(Flaw::WatchSwapsEvents) => events.reverse(),
        Some(Flaw::WatchSplitsRevision) => {
            let alone = |event: KvEvent| WatchItem::Events { through, events: vec![event] };
            return events.into_iter().map(alone).collect();
        }
        Some(Flaw::WatchDeletionHasVersion) => {
            events
                .iter_mut()
                .filter(|event| event.kind == KvEventKind::Delete)
                .for_each(|event| event.kv.version = 1);
        }
        _ => {}
    }
    if events.is_empty() { Vec::new() } else { vec![WatchItem::Events { events, through }] }
}
