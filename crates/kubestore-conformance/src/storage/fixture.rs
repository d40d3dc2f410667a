//! What the cases of the storage suite have in common: a store of their own, short forms, and checks that say where.

use std::{fmt, time::Duration};

use kubestore_core::{
    AllowDeletion, CreateOptions, DeleteOptions, ErrorKind, GetOptions, List, ListOptions, Predicate,
    ResourceVersionMatch, ResponseMeta, Result, Storage, StorageError, UpdateOptions, Updated,
    ValidateDeletion, WatchOptions,
};

use super::{Pod, StorageHarness, StoreInstance, StoreOptions, events::Events};
pub(crate) use crate::check::{holds, same};
use crate::{
    Isolation, Unsupported,
    kv::fixture::{SKIP_IT, unique_prefix},
};

/// One case's store.
#[derive(Debug)]
pub(crate) struct Fixture {
    backend: String,
    patience: Duration,
    instance: Box<dyn StoreInstance>,
    store: std::sync::Arc<dyn Storage<Pod>>,
}

impl Fixture {
    /// A store whose backend others may write to.
    pub(crate) async fn shared(harness: &dyn StorageHarness) -> Self {
        Self::with(harness, options(Isolation::Shared)).await
    }

    /// A store on whose backend revisions move only by what the case does, and which it may compact.
    pub(crate) async fn exclusive(harness: &dyn StorageHarness) -> Self {
        Self::with(harness, options(Isolation::Exclusive)).await
    }

    pub(crate) async fn with(harness: &dyn StorageHarness, options: StoreOptions) -> Self {
        let backend = harness.name().to_owned();
        let instance = match harness.start(options.clone()).await {
            Ok(instance) => instance,
            Err(unsupported) => panic!("[{backend}] {options:?}: {unsupported}; {SKIP_IT}"),
        };
        let store = instance.store();
        Self { backend, patience: harness.patience(), instance, store }
    }

    pub(crate) fn backend(&self) -> &str {
        &self.backend
    }

    pub(crate) fn patience(&self) -> Duration {
        self.patience
    }

    pub(crate) fn store(&self) -> &dyn Storage<Pod> {
        &*self.store
    }

    pub(crate) fn shared_store(&self) -> std::sync::Arc<dyn Storage<Pod>> {
        std::sync::Arc::clone(&self.store)
    }

    pub(crate) fn instance(&self) -> &dyn StoreInstance {
        &*self.instance
    }

    /// What a hook gives; a hook that is not there fails the case.
    pub(crate) fn hook<T>(&self, name: &str, result: Result<T, Unsupported>) -> T {
        result.unwrap_or_else(|unsupported| panic!("[{}] {name}: {unsupported}; {SKIP_IT}", self.backend))
    }

    pub(crate) fn ok<T>(&self, result: Result<T>, what: impl fmt::Display) -> T {
        result.unwrap_or_else(|error| panic!("[{}] {what} failed: {error:?}", self.backend))
    }

    /// The error of what must fail in this way.
    pub(crate) fn fails<T>(
        &self,
        result: Result<T>,
        kind: ErrorKind,
        what: impl fmt::Display,
    ) -> StorageError {
        match result {
            Err(error) if error.kind() == kind => error,
            Err(error) => panic!("[{}] {what}: got {error:?}, want an error of kind {kind:?}", self.backend),
            Ok(_) => panic!("[{}] {what}: succeeded, want an error of kind {kind:?}", self.backend),
        }
    }

    /// Creates `pod` under its own key.
    pub(crate) async fn create(&self, pod: &Pod) -> Pod {
        let created = self.store.create(&pod.key(), pod.clone(), CreateOptions::default()).await;
        self.ok(created, format_args!("create of {}", pod.key()))
    }

    /// The object at `key`, or the error.
    pub(crate) async fn get(&self, key: &str) -> Result<Option<Pod>> {
        self.store.get(key, GetOptions::default()).await
    }

    /// Checks that nothing is at `key`.
    pub(crate) async fn is_gone(&self, key: &str) {
        self.fails(self.get(key).await, ErrorKind::KeyNotFound, format_args!("get of {key}"));
    }

    pub(crate) async fn list(&self, key: &str, options: ListOptions) -> List<Pod> {
        let what = format!("list of {key} with {options:?}");
        self.ok(self.store.get_list(key, options).await, what)
    }

    /// The resource version of a list of all pods, from which a watch misses nothing.
    pub(crate) async fn now(&self) -> String {
        self.list("/pods", ListOptions::recursive()).await.resource_version.to_string()
    }

    /// Changes what is at `key` by `change`, without a cached object.
    pub(crate) async fn change(&self, key: &str, mut change: impl FnMut(Pod) -> Pod + Send) -> Pod {
        let mut update =
            |pod: Option<Pod>, _: ResponseMeta| Ok(Updated::new(change(pod.unwrap_or_default())));
        let updated = self.store.guaranteed_update(key, UpdateOptions::default(), &mut update, None).await;
        self.ok(updated, format_args!("update of {key}"))
    }

    /// Makes `pod` what is at `key`, whether or not something is there.
    pub(crate) async fn set(&self, key: &str, pod: &Pod) -> Pod {
        let mut update = |_: Option<Pod>, _: ResponseMeta| Ok(Updated::new(pod.clone()));
        let options = UpdateOptions::default().ignore_not_found();
        let updated = self.store.guaranteed_update(key, options, &mut update, None).await;
        self.ok(updated, format_args!("update of {key}"))
    }

    pub(crate) async fn delete(&self, key: &str) -> Pod {
        self.ok(self.try_delete(key, None).await, format_args!("delete of {key}"))
    }

    /// Deletes whatever is at `key`, with a cached object.
    pub(crate) async fn try_delete(&self, key: &str, cached: Option<Pod>) -> Result<Pod> {
        self.store.delete(key, DeleteOptions::default(), &mut AllowDeletion, cached).await
    }

    pub(crate) async fn watch(&self, key: &str, options: WatchOptions) -> Events {
        let what = format!("watch of {key} with {options:?}");
        let stream = self.ok(self.store.watch(key, options).await, &what);
        Events::new(self, what, stream)
    }

    pub(crate) async fn advance_time(&self, by: Duration) {
        self.hook("advance_time", self.instance.advance_time(by).await);
    }

    pub(crate) async fn compact(&self, revision: u64) {
        self.hook("compact", self.instance.compact(revision).await);
    }

    pub(crate) async fn bump_revision(&self) -> u64 {
        self.hook("bump_revision", self.instance.bump_revision().await)
    }
}

/// What a case needs unless it says otherwise.
pub(crate) fn options(isolation: Isolation) -> StoreOptions {
    StoreOptions::new(isolation, unique_prefix())
}

/// Objects whose fields match `selector`.
pub(crate) fn fields(selector: &str) -> Predicate {
    match selector.parse() {
        Ok(fields) => Predicate::new(Default::default(), fields),
        Err(error) => panic!("the case's own field selector: {error}"),
    }
}

/// Objects whose labels match `selector`.
pub(crate) fn labels(selector: &str) -> Predicate {
    match selector.parse() {
        Ok(labels) => Predicate::new(labels, Default::default()),
        Err(error) => panic!("the case's own label selector: {error}"),
    }
}

/// Recursive, at or not older than a resource version.
pub(crate) fn at(version: &str, meaning: ResourceVersionMatch) -> ListOptions {
    ListOptions::recursive().with_resource_version(version, meaning)
}

/// A validation given as a closure.
pub(crate) struct Validate<F>(pub(crate) F);

#[async_trait::async_trait]
impl<F: FnMut(&Pod) -> Result<()> + Send> ValidateDeletion<Pod> for Validate<F> {
    async fn validate(&mut self, current: &Pod) -> Result<()> {
        (self.0)(current)
    }
}
