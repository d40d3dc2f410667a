//! Counters: each acknowledged step counts once, each of unknown outcome at most once.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use anyhow::{Context as _, Result};
use kubestore_conformance::history::HistoryKv;
use kubestore_kv::{GetRequest, Kv as _, KvError, KvErrorKind, PutRequest, Revision, WriteOutcome};

use super::PREFIX;

/// What a counter came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
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
        let Self { shown, acknowledged, unknown } = self;
        write!(f, "a counter shows {shown} after {acknowledged} acknowledged steps and {unknown} unknown")
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
            retried(|| kv.optimistic_put(PutRequest::create(key(number), "0"))).await?;
        }
        Ok(before.next())
    }

    /// Counts one up, trying again where others were faster.
    pub(super) async fn step(&self, kv: &HistoryKv, number: usize) -> Result<(), KvError> {
        let mut current = kv.get(GetRequest::new(key(number))).await?.kv;
        let steps = &self.0[number];
        loop {
            let Some(kv_now) = current else {
                let message = "the counter is gone";
                return Err(KvError::new(KvErrorKind::Corrupt, "count", message).with_key(key(number)));
            };
            let next = value(&kv_now.value) + 1;
            let request = PutRequest::update(key(number), next.to_string(), kv_now.mod_revision);
            match kv.optimistic_put(request).await {
                Ok(WriteOutcome::Conflict { current: now, .. }) => current = now,
                Ok(_) => {
                    steps.acknowledged.fetch_add(1, Ordering::Relaxed);
                    return Ok(());
                }
                Err(error) => {
                    if error.kind() == KvErrorKind::OutcomeUnknown {
                        steps.unknown.fetch_add(1, Ordering::Relaxed);
                    }
                    return Err(error);
                }
            }
        }
    }

    pub(super) async fn read(&self, kv: &HistoryKv) -> Result<Vec<Count>> {
        let mut counts = Vec::new();
        for (number, steps) in self.0.iter().enumerate() {
            let kv =
                retried(|| kv.get(GetRequest::new(key(number)))).await?.kv.context("a counter is gone")?;
            counts.push(Count {
                shown: value(&kv.value),
                acknowledged: steps.acknowledged.load(Ordering::Relaxed),
                unknown: steps.unknown.load(Ordering::Relaxed),
            });
        }
        Ok(counts)
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

fn key(number: usize) -> String {
    format!("{PREFIX}counter-{number}")
}

/// What a counter shows; one that is not a number is far from anything possible.
fn value(text: &[u8]) -> u64 {
    std::str::from_utf8(text).ok().and_then(|text| text.parse().ok()).unwrap_or(u64::MAX / 2)
}
