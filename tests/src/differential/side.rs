//! One backend: does steps, and tells what came of them in terms that mean the same on every backend.

use std::{fmt, sync::Arc, time::Duration};

use anyhow::{Context as _, Result, bail, ensure};
use bytes::Bytes;
use futures_util::{FutureExt as _, StreamExt as _, TryStreamExt as _};
use kubestore_kv::{
    DeleteRequest, Expect, GetRequest, KeyValue, Kv, KvError, KvErrorKind, KvEvent, KvWatch, LeaseId,
    ListRequest, OnFailure, PutRequest, Revision, WatchGroup, WatchItem, WatchRequest, WatchTarget,
    WriteOutcome,
};

use super::{
    seen::{Event, Pair, Seen},
    step::{Expected, Leased, Range, Step, Target, Value},
};

pub(super) struct Side {
    name: String,
    kv: Arc<dyn Kv>,
    prefix: Vec<u8>,
    /// The head when the run began.
    base: i64,
    leases: Vec<LeaseId>,
    group: WatchGroup,
    watches: Vec<Watching>,
}

/// A watch, by number.
struct Watching {
    number: usize,
    stream: KvWatch,
    told: Vec<KvEvent>,
    through: Revision,
    end: Option<KvErrorKind>,
}

impl fmt::Debug for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Side").field("name", &self.name).finish_non_exhaustive()
    }
}

/// A lease that no backend has.
const NO_LEASE: LeaseId = LeaseId(0x7fff_ffff_dead_beef);

/// How long watches may take to be in step.
const PATIENCE: Duration = Duration::from_secs(20);

impl Side {
    pub(super) async fn new(name: &str, kv: Arc<dyn Kv>, prefix: &str) -> Result<Self> {
        let base = kv.status().await.with_context(|| format!("status of {name}"))?.head.0;
        let (name, prefix) = (name.to_owned(), prefix.as_bytes().to_vec());
        let group = WatchGroup::new();
        Ok(Self { name, kv, prefix, base, leases: Vec::new(), group, watches: Vec::new() })
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) async fn run(&mut self, step: &Step) -> Result<Seen> {
        let seen = match step {
            Step::Put { key, value, expect, lease, shows } => {
                self.put(key, *value, *expect, *lease, *shows).await
            }
            Step::Delete { key, expect, shows } => {
                let mut request = DeleteRequest::new(self.key(key), Revision(0));
                (request.expect, request.on_failure) = (self.expected(*expect), on_failure(*shows));
                self.kv.optimistic_delete(request).await.map(|outcome| self.outcome(outcome))
            }
            Step::Get { key, at } => self.get(key, *at).await,
            Step::List { range, parts: false } => self.list(range).await,
            Step::List { range, parts: true } => self.list_in_parts(range).await,
            Step::Count { prefix } => self.kv.count(self.key(prefix)).await.map(Seen::Count),
            Step::Grant { seconds } => self.grant(*seconds).await,
            Step::Revoke { lease } => self.kv.revoke_lease(self.lease(*lease)).await.map(|()| Seen::Nothing),
            Step::LeaseInfo { lease } => {
                let info = self.kv.lease_info(self.lease(*lease)).await;
                let alive = info.as_ref().is_ok_and(|info| info.remaining.is_some());
                info.map(|info| Seen::Lease { seconds: info.granted.as_secs(), alive })
            }
            Step::Compact { to } => self.kv.compact(self.absolute(*to)).await.map(|()| Seen::Nothing),
            Step::Watch { target, start, previous } => self.watch(target, *start, *previous).await,
            Step::Tell => return self.tell().await,
            Step::Unwatch { watch } => {
                self.watches.retain(|watching| watching.number != *watch);
                Ok(Seen::Nothing)
            }
            Step::Status => self.kv.status().await.map(|status| Seen::Head(self.relative(status.head))),
        };
        Ok(seen.unwrap_or_else(|error| Seen::Failed(error.kind())))
    }

    /// Leaves nothing behind that happens by itself.
    pub(super) async fn finish(self) -> Result<()> {
        for lease in self.leases {
            match self.kv.revoke_lease(lease).await {
                Err(error) if error.kind() != KvErrorKind::LeaseNotFound => return Err(error.into()),
                _ => {}
            }
        }
        Ok(())
    }

    async fn put(
        &self,
        key: &[u8],
        value: Value,
        expect: Expected,
        lease: Option<Leased>,
        shows: bool,
    ) -> Result<Seen, KvError> {
        let mut bytes = value.number.to_string().into_bytes();
        bytes.resize(value.size.max(bytes.len()), b'.');
        let mut request = PutRequest::create(self.key(key), bytes)
            .with_expect(self.expected(expect))
            .with_lease(lease.map(|lease| self.lease(lease)));
        request.on_failure = on_failure(shows);
        Ok(self.outcome(self.kv.optimistic_put(request).await?))
    }

    async fn get(&self, key: &[u8], at: Option<i64>) -> Result<Seen, KvError> {
        let mut request = GetRequest::new(self.key(key));
        request.revision = at.map(|at| self.absolute(at));
        let answer = self.kv.get(request).await?;
        Ok(Seen::Key { kv: answer.kv.map(|kv| self.pair(&kv)), head: self.relative(answer.head) })
    }

    fn list_request(&self, range: &Range) -> ListRequest {
        let mut request = ListRequest::new(self.key(&range.prefix)).limit(range.limit);
        request.start = range.start.as_ref().map(|start| self.key(start));
        request.revision = range.at.map(|at| self.absolute(at));
        request.keys_only = range.keys_only;
        request
    }

    async fn list(&self, range: &Range) -> Result<Seen, KvError> {
        let answer = self.kv.list(self.list_request(range)).await?;
        let kvs = self.listed(&answer.kvs, range.keys_only);
        let revision = self.relative(answer.head);
        Ok(Seen::Range { kvs, revision, more: answer.more, count: answer.count })
    }

    async fn list_in_parts(&self, range: &Range) -> Result<Seen, KvError> {
        let parts: Vec<_> = self.kv.list_chunks(self.list_request(range)).try_collect().await?;
        let end = parts.last().and_then(|part| part.end);
        let end =
            end.ok_or_else(|| KvError::new(KvErrorKind::Internal, "list_chunks", "the parts have no end"))?;
        let kvs: Vec<_> = parts.into_iter().flat_map(|part| part.kvs).collect();
        let revision = self.relative(end.revision);
        let kvs = self.listed(&kvs, range.keys_only);
        Ok(Seen::Range { kvs, revision, more: end.more, count: end.count })
    }

    async fn grant(&mut self, seconds: u64) -> Result<Seen, KvError> {
        let grant = self.kv.grant_lease(Duration::from_secs(seconds)).await?;
        self.leases.push(grant.id);
        Ok(Seen::Granted { seconds: grant.ttl.as_secs() })
    }

    async fn watch(&mut self, target: &Target, start: Option<i64>, previous: bool) -> Result<Seen, KvError> {
        let target = match target {
            Target::Key(key) => WatchTarget::Key(self.key(key)),
            Target::Prefix(prefix) => WatchTarget::Prefix(self.key(prefix)),
        };
        let mut request = WatchRequest::new(self.group, target);
        request.start = start.map(|start| self.absolute(start));
        request.previous = previous;
        let stream = self.kv.watch(request).await?;
        let number = self.watches.last().map_or(0, |last| last.number + 1);
        let (told, through, end) = (Vec::new(), Revision(0), None);
        self.watches.push(Watching { number, stream, told, through, end });
        Ok(Seen::Nothing)
    }

    /// What each watch was told since the last time, once all have told everything up to the head.
    async fn tell(&mut self) -> Result<Seen> {
        let head = self.kv.status().await?.head;
        let told = tokio::time::timeout(PATIENCE, self.catch_up(head)).await;
        let through = || self.watches.iter().map(|watching| (watching.number, watching.through.0));
        told.with_context(|| {
            let through: Vec<_> = through().collect();
            format!("{}: watches are not in step at {head}, but by number at {through:?}", self.name)
        })??;
        let mut told = Vec::new();
        for watching in &mut self.watches {
            let events = std::mem::take(&mut watching.told);
            told.push((watching.number, events, watching.end));
        }
        self.watches.retain(|watching| watching.end.is_none());
        let told = told.into_iter().map(|(number, events, end): (_, Vec<KvEvent>, _)| {
            (number, events.iter().map(|event| self.event(event)).collect(), end)
        });
        Ok(Seen::Told(told.collect()))
    }

    async fn catch_up(&mut self, head: Revision) -> Result<()> {
        loop {
            for watching in &mut self.watches {
                // What has come and need not be waited for.
                while watching.end.is_none()
                    && let Some(item) = watching.stream.next().now_or_never()
                {
                    watching.take(item)?;
                }
            }
            let mut behind = self.watches.iter_mut().filter(|watching| !watching.is_at(head));
            let Some(first) = behind.next() else { return Ok(()) };
            // Forgotten where one of them is not in step yet.
            self.kv.request_progress(self.group).await?;
            if let Ok(item) = tokio::time::timeout(Duration::from_millis(20), first.stream.next()).await {
                first.take(item)?;
            }
        }
    }

    fn key(&self, key: &[u8]) -> Bytes {
        [&self.prefix, key].concat().into()
    }

    fn absolute(&self, revision: i64) -> Revision {
        Revision(self.base + revision)
    }

    fn relative(&self, revision: Revision) -> i64 {
        revision.0 - self.base
    }

    fn expected(&self, expected: Expected) -> Expect {
        match expected {
            Expected::Revision(0) => Expect::ABSENT,
            Expected::Revision(revision) => Expect::ModRevision(self.absolute(revision)),
            Expected::Version(version) => Expect::Version(version),
        }
    }

    fn lease(&self, lease: Leased) -> LeaseId {
        match lease {
            Leased::Number(number) => self.leases.get(number).copied().unwrap_or(NO_LEASE),
            Leased::Unknown => NO_LEASE,
        }
    }

    fn outcome(&self, outcome: WriteOutcome) -> Seen {
        match outcome {
            WriteOutcome::Conflict { current, head } => {
                Seen::Conflict { current: current.map(|kv| self.pair(&kv)), head: self.relative(head) }
            }
            WriteOutcome::Done { revision } => Seen::Done { revision: self.relative(revision) },
            _ => Seen::Nothing,
        }
    }

    fn listed(&self, kvs: &[KeyValue], keys_only: bool) -> Vec<Pair> {
        let mut pairs: Vec<_> = kvs.iter().map(|kv| self.pair(kv)).collect();
        if keys_only {
            pairs.iter_mut().for_each(|pair| pair.lease = None);
        }
        pairs
    }

    fn pair(&self, kv: &KeyValue) -> Pair {
        Pair {
            key: kv.key.strip_prefix(&self.prefix[..]).unwrap_or(&kv.key).to_vec(),
            value: kv.value.to_vec(),
            // That of a deletion is 0, wherever the run began.
            created: if kv.create_revision.0 == 0 { 0 } else { self.relative(kv.create_revision) },
            modified: self.relative(kv.mod_revision),
            version: kv.version,
            lease: kv.lease.map(|id| self.leases.iter().position(|lease| *lease == id).unwrap_or(usize::MAX)),
        }
    }

    fn event(&self, event: &KvEvent) -> Event {
        let previous = event.previous.as_ref().map(|previous| self.pair(previous));
        Event { kind: event.kind, kv: self.pair(&event.kv), previous }
    }
}

impl Watching {
    fn is_at(&self, head: Revision) -> bool {
        self.end.is_some() || self.through >= head
    }

    fn take(&mut self, item: Option<Result<WatchItem, KvError>>) -> Result<()> {
        match item {
            Some(Ok(WatchItem::Events { events, through })) => {
                ensure!(!events.is_empty(), "an item without events");
                self.told.extend(events);
                self.through = through;
            }
            Some(Ok(WatchItem::Progress(revision))) => self.through = self.through.max(revision),
            Some(Ok(_)) => {}
            Some(Err(error)) => self.end = Some(error.kind()),
            None => bail!("watch {} ended without an error", self.number),
        }
        Ok(())
    }
}

fn on_failure(shows: bool) -> OnFailure {
    if shows { OnFailure::Get } else { OnFailure::Nothing }
}
