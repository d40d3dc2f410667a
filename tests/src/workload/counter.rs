//! Counters: each acknowledged step counts once, each of unknown outcome at most once. Those with odd numbers are objects of a
//! store and counted by its guaranteed updates.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use anyhow::{Context as _, Result};
use kubestore_conformance::{
    history::HistoryKv,
    storage::{Pod, PodCodec, PodVersioner},
};
use kubestore_core::{Codec as _, Storage as _, StorageError, UpdateOptions, Updated};
use kubestore_kv::{GetRequest, Kv as _, KvError, KvErrorKind, PutRequest, Revision, WriteOutcome};
use kubestore_store::Store;

use super::{PREFIX, tally::Failed};

/// What a counter came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    /// Whether it was counted by guaranteed updates of a store rather than by conditional puts.
    pub through_the_store: bool,
    /// What it shows at the end.
    pub shown: u64,
    /// Steps that were acknowledged.
    pub acknowledged: u64,
    /// Steps that nobody knows of.
    pub unknown: u64,
}

impl Count {
    /// Whether no step was lost and none counted twice.
    #[must_use]
    pub fn is_possible(&self) -> bool {
        (self.acknowledged..=self.acknowledged + self.unknown).contains(&self.shown)
    }
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { through_the_store, shown, acknowledged, unknown } = self;
        let what = if *through_the_store { "an object" } else { "a value" };
        write!(f, "{what} counts {shown} after {acknowledged} acknowledged steps and {unknown} unknown")
    }
}

/// The counters that all clients count on.
#[derive(Clone, Debug)]
pub(super) struct Counters(Arc<[Steps]>);

#[derive(Debug, Default)]
struct Steps {
    acknowledged: AtomicU64,
    unknown: AtomicU64,
}

impl Counters {
    pub(super) fn new(number: usize) -> Self {
        Self((0..number).map(|_| Steps::default()).collect())
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Creates them, trying as often as it takes, and gives a revision from before everything else that is done.
    pub(super) async fn create(&self, kv: &HistoryKv) -> Result<Revision> {
        let before = retried(|| kv.get(GetRequest::new(PREFIX))).await?.head;
        for number in 0..self.len() {
            let value = if is_object(number) { PodCodec.encode(&Pod::default())? } else { "0".into() };
            retried(|| kv.optimistic_put(PutRequest::create(key(number), value.clone()))).await?;
        }
        Ok(before.next())
    }

    /// Counts one up, trying again where others were faster.
    pub(super) async fn step(&self, kv: &HistoryKv, store: &Store<Pod>, number: usize) -> Result<(), Failed> {
        let counted = if is_object(number) {
            count_object(store, number).await.map_err(Failed::from)
        } else {
            count_value(kv, number).await.map_err(Failed::from)
        };
        let steps = &self.0[number];
        match &counted {
            Ok(()) => steps.acknowledged.fetch_add(1, Ordering::Relaxed),
            Err(failed) if failed.is_unknown => steps.unknown.fetch_add(1, Ordering::Relaxed),
            Err(_) => 0,
        };
        counted
    }

    pub(super) async fn read(&self, kv: &HistoryKv) -> Result<Vec<Count>> {
        let mut counts = Vec::new();
        for (number, steps) in self.0.iter().enumerate() {
            let kv =
                retried(|| kv.get(GetRequest::new(key(number)))).await?.kv.context("a counter is gone")?;
            let shown = if is_object(number) {
                PodCodec.decode(kv.value)?.generation.unsigned_abs()
            } else {
                value(&kv.value)
            };
            counts.push(Count {
                through_the_store: is_object(number),
                shown,
                acknowledged: steps.acknowledged.load(Ordering::Relaxed),
                unknown: steps.unknown.load(Ordering::Relaxed),
            });
        }
        Ok(counts)
    }
}

/// A store whose objects are below the prefix of all keys.
pub(super) fn store(kv: Arc<HistoryKv>) -> Store<Pod> {
    Store::builder(kv, Arc::new(PodCodec), Arc::new(PodVersioner)).prefix(PREFIX).build()
}

fn is_object(number: usize) -> bool {
    !number.is_multiple_of(2)
}

async fn count_object(store: &Store<Pod>, number: usize) -> Result<(), StorageError> {
    let mut count = |pod: Option<Pod>, _| {
        let mut pod = pod.ok_or_else(|| StorageError::other("the counter is gone"))?;
        pod.generation += 1;
        Ok(Updated::new(pod))
    };
    store.guaranteed_update(&name(number), UpdateOptions::default(), &mut count, None).await.map(drop)
}

async fn count_value(kv: &HistoryKv, number: usize) -> Result<(), KvError> {
    let mut current = kv.get(GetRequest::new(key(number))).await?.kv;
    loop {
        let Some(kv_now) = current else {
            let message = "the counter is gone";
            return Err(KvError::new(KvErrorKind::Corrupt, "count", message).with_key(key(number)));
        };
        let next = value(&kv_now.value) + 1;
        let request = PutRequest::update(key(number), next.to_string(), kv_now.mod_revision);
        match kv.optimistic_put(request).await? {
            WriteOutcome::Conflict { current: now, .. } => current = now,
            _ => return Ok(()),
        }
    }
}

/// What `call` comes to when it is answered. A write that is repeated must be one that happens once at most.
pub(super) async fn retried<T, F: Future<Output = Result<T, KvError>>>(call: impl Fn() -> F) -> Result<T> {
    loop {
        match call().await {
            Ok(answer) => return Ok(answer),
            Err(error) if error.is_retryable() || error.kind() == KvErrorKind::OutcomeUnknown => {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            Err(error) => return Err(error.into()),
        }
    }
}

fn name(number: usize) -> String {
    format!("counter-{number}")
}

fn key(number: usize) -> String {
    format!("{PREFIX}{}", name(number))
}

/// What a counter shows; one that is not a number is far from anything possible.
fn value(text: &[u8]) -> u64 {
    std::str::from_utf8(text).ok().and_then(|text| text.parse().ok()).unwrap_or(u64::MAX / 2)
}
