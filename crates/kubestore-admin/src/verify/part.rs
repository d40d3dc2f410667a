//! One part of a key space, opened beside others.

use std::{future::Future, sync::Arc};

use bytes::Bytes;
use kubestore_kv::{KeyValue, KvError, KvErrorKind};
use kubestore_transform::{EncryptionConfig, EnvelopeHeader, ValueContext};
use tokio::task::JoinHandle;

use super::{contents::Contents, other_keys::OtherKeys};
use crate::{
    ResourceId, Scope,
    failure::Problem,
    key_map::{KeyMap, Owner},
    rules::{self, Rules},
};

/// Values that are to be opened.
pub(super) struct Part {
    read: u64,
    values: Vec<(KeyValue, Owner)>,
}

/// What became of them: whether each is stale, or what is wrong.
pub(super) struct Checked {
    pub(super) read: u64,
    pub(super) opened: Vec<(Bytes, ResourceId, Result<bool, Problem>)>,
}

impl Part {
    /// Those that are wanted.
    pub(super) fn new(kvs: Vec<KeyValue>, scope: &Scope, map: &mut KeyMap) -> Self {
        let read = kvs.len() as u64;
        let owned = kvs.into_iter().map(|kv| {
            let owner = map.owner(&kv.key);
            (kv, owner)
        });
        Self { read, values: owned.filter(|(_, owner)| scope.contains(&owner.id)).collect() }
    }
}

/// What values are opened with.
#[derive(Debug)]
pub(super) struct Checker {
    config: EncryptionConfig,
    contents: Contents,
}

impl Checker {
    pub(super) fn new(config: &EncryptionConfig, contents: Contents) -> Self {
        Self { config: config.clone(), contents }
    }

    /// Opens a part in a task, which ends with the future.
    pub(super) fn start(
        self: &Arc<Self>,
        part: Part,
    ) -> impl Future<Output = Result<Checked, KvError>> + Send + use<> {
        let checker = Arc::clone(self);
        let mut task = Task(tokio::spawn(async move { checker.check(part).await }));
        async move {
            (&mut task.0).await.map_err(|cause| {
                let message = "the task that opens values ended early";
                KvError::new(KvErrorKind::Internal, "verify", message).with_source(cause)
            })
        }
    }

    async fn check(&self, part: Part) -> Checked {
        let mut rules = Rules::new(&self.config);
        let mut opened = Vec::with_capacity(part.values.len());
        for (kv, owner) in part.values {
            let key = kv.key.clone();
            opened.push((key, owner.id.clone(), self.open(kv, &owner, &mut rules).await));
            // A task has its turn; others shall have theirs.
            tokio::task::consume_budget().await;
        }
        Checked { read: part.read, opened }
    }

    async fn open(&self, kv: KeyValue, owner: &Owner, rules: &mut Rules<'_>) -> Result<bool, Problem> {
        let KeyValue { key, value, .. } = kv;
        let Some(transformer) = rules.transformer(owner) else { return Err(rules::undecided(&owner.id)) };
        // Another handle would keep the value from being opened in place.
        let again = EnvelopeHeader::parse(&value).map(|_| Bytes::copy_from_slice(&value));
        let opened = match rules::open(&*transformer, value, ValueContext::new(&key)).await {
            Ok(opened) => opened,
            Err(problem) => return Err(self.explain(problem, &key, again).await),
        };
        self.contents.check(&key, &opened.data)?;
        Ok(opened.stale)
    }

    /// Looks for another key that opens the value.
    async fn explain(&self, problem: Problem, key: &[u8], value: Option<Bytes>) -> Problem {
        let Some(value) = value else { return problem };
        match OtherKeys::of(&self.config).that_opens(key, &value).await {
            Some(other) => problem.opened_by(other),
            None => problem,
        }
    }
}

/// Ends its task when it is dropped.
struct Task<T>(JoinHandle<T>);

impl<T> Drop for Task<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}
