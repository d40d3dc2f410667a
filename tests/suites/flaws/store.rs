//! The store of this project with one flaw put in.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::{StreamExt as _, TryStreamExt as _, future, stream};
use kubestore_conformance::{
    Unsupported,
    storage::{Action, Pod, Reads, StorageHarness, StoreInstance, StoreOptions, Tampering},
};
use kubestore_core::{
    AllowDeletion, BoxStream, CreateOptions, DeleteOptions, GetOptions, List, ListOptions, ListPart,
    NotFound, Predicate, ResourceVersionMatch, ResponseMeta, Result, Scope, Storage, StorageExt as _,
    UpdateFn, UpdateOptions, Updated, ValidateDeletion, Versioner, WatchEvent, WatchOptions, WatchStream,
};

use crate::store_harness::{Backend, StoreOn};

/// What is wrong with a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flaw {
    CountByText,
    CreateReplaces,
    CreateTakesVersion,
    DeleteIgnoresPreconditions,
    DeleteNeverRetries,
    DeleteReturnsOldVersion,
    DeleteTrustsCached,
    DeleteValidatesOnce,
    ExactIsNewest,
    FutureIsNow,
    ListHidesRemaining,
    ListIgnoresLimit,
    ListIgnoresPredicate,
    ListIsAlwaysRecursive,
    ListVersionIsStale,
    MissingAlwaysFails,
    TokenIgnored,
    TtlIgnored,
    UpdateAlwaysWrites,
    UpdateCallsOnce,
    UpdateIgnoresPreconditions,
    WatchAddsAlways,
    WatchDeletionIsOld,
    WatchFromZeroIsFromNow,
    WatchHidesBookmarks,
    WatchHidesDeletions,
    WatchIgnoresPredicate,
    WatchIsLazy,
}

/// Starts stores with a flaw, or without.
#[derive(Debug)]
pub(crate) struct Flawed(pub(crate) Option<Flaw>);

#[async_trait]
impl StorageHarness for Flawed {
    fn name(&self) -> &str {
        "flawed"
    }

    fn patience(&self) -> Duration {
        Duration::from_secs(2)
    }

    async fn start(&self, options: StoreOptions) -> Result<Box<dyn StoreInstance>, Unsupported> {
        let inner = StoreOn(Backend::Memory).start(options).await?;
        let store = Arc::new(FlawedStore { inner: inner.store(), flaw: self.0 });
        Ok(Box::new(Running { inner, store }))
    }
}

#[derive(Debug)]
struct Running {
    inner: Box<dyn StoreInstance>,
    store: Arc<FlawedStore>,
}

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl StoreInstance for Running {
    fn store(&self) -> Arc<dyn Storage<Pod>> {
        Arc::<FlawedStore>::clone(&self.store)
    }

    async fn advance_time(&self, by: Duration) -> Result<(), Unsupported> {
        self.inner.advance_time(by).await
    }

    async fn compact(&self, revision: u64) -> Result<(), Unsupported> {
        self.inner.compact(revision).await
    }

    async fn bump_revision(&self) -> Result<u64, Unsupported> {
        self.inner.bump_revision().await
    }

    async fn stored(&self, key: &str) -> Result<Option<Bytes>, Unsupported> {
        self.inner.stored(key).await
    }

    fn tamper(&self, how: Tampering) -> Result<(), Unsupported> {
        self.inner.tamper(how)
    }

    fn take_reads(&self) -> Result<Reads, Unsupported> {
        self.inner.take_reads()
    }

    fn before_each_list(&self, action: Action) -> Result<(), Unsupported> {
        self.inner.before_each_list(action)
    }
}

#[derive(Debug)]
struct FlawedStore {
    inner: Arc<dyn Storage<Pod>>,
    flaw: Option<Flaw>,
}

impl FlawedStore {
    fn has(&self, flaw: Flaw) -> bool {
        self.flaw == Some(flaw)
    }
}

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl Storage<Pod> for FlawedStore {
    fn versioner(&self) -> &dyn Versioner<Pod> {
        self.inner.versioner()
    }

    async fn create(&self, key: &str, mut object: Pod, mut options: CreateOptions) -> Result<Pod> {
        if self.has(Flaw::CreateTakesVersion) {
            object.resource_version.clear();
        }
        if self.has(Flaw::TtlIgnored) {
            options.ttl_seconds = 0;
        }
        if self.has(Flaw::CreateReplaces) {
            let mut replace = |_: Option<Pod>, _: ResponseMeta| Ok(Updated::new(object.clone()));
            let options = UpdateOptions::default().ignore_not_found();
            return self.inner.guaranteed_update(key, options, &mut replace, None).await;
        }
        self.inner.create(key, object, options).await
    }

    async fn get(&self, key: &str, mut options: GetOptions) -> Result<Option<Pod>> {
        if self.has(Flaw::MissingAlwaysFails) {
            options.not_found = NotFound::Fail;
        }
        if self.has(Flaw::FutureIsNow) && options.resource_version.len() > 10 {
            options.resource_version.clear();
        }
        self.inner.get(key, options).await
    }

    async fn get_list(&self, key: &str, mut options: ListOptions) -> Result<List<Pod>> {
        match self.flaw {
            Some(Flaw::ListIgnoresLimit) => options.limit = 0,
            Some(Flaw::ListIgnoresPredicate) => options.predicate = Predicate::default(),
            Some(Flaw::ListIsAlwaysRecursive) => options.scope = Scope::Recursive,
            Some(Flaw::TokenIgnored) => options.continue_token.clear(),
            Some(Flaw::ExactIsNewest) if options.resource_version_match == ResourceVersionMatch::Exact => {
                options.resource_version_match = ResourceVersionMatch::NotOlderThan;
            }
            _ => {}
        }
        let mut list = self.inner.get_list(key, options).await?;
        if self.has(Flaw::ListHidesRemaining) {
            list.remaining_item_count = None;
        }
        if self.has(Flaw::ListVersionIsStale) {
            list.resource_version -= 1;
        }
        Ok(list)
    }

    fn list_stream(&self, key: &str, options: ListOptions) -> BoxStream<Result<ListPart<Pod>>> {
        self.inner.list_stream(key, options)
    }

    async fn delete(
        &self,
        key: &str,
        mut options: DeleteOptions,
        validate: &mut dyn ValidateDeletion<Pod>,
        cached: Option<Pod>,
    ) -> Result<Pod> {
        if self.has(Flaw::DeleteIgnoresPreconditions) {
            options.preconditions = None;
        }
        let old = self.inner.find(key).await.ok().flatten();
        let judged = match self.flaw {
            Some(Flaw::DeleteTrustsCached | Flaw::DeleteNeverRetries) => cached.clone().or(old.clone()),
            Some(Flaw::DeleteValidatesOnce) => old.clone(),
            _ => None,
        };
        if let Some(judged) = judged {
            validate.validate(&judged).await?;
            return self.inner.delete(key, options, &mut AllowDeletion, None).await;
        }
        let mut deleted = self.inner.delete(key, options, validate, cached).await?;
        if let (true, Some(old)) = (self.has(Flaw::DeleteReturnsOldVersion), old) {
            deleted.resource_version = old.resource_version;
        }
        Ok(deleted)
    }

    async fn guaranteed_update(
        &self,
        key: &str,
        mut options: UpdateOptions,
        update: &mut dyn UpdateFn<Pod>,
        cached: Option<Pod>,
    ) -> Result<Pod> {
        if self.has(Flaw::UpdateIgnoresPreconditions) {
            options.preconditions = None;
        }
        if self.has(Flaw::UpdateCallsOnce) {
            let current = self.inner.find(key).await?;
            let updated = update.update(current, ResponseMeta::default()).await?;
            let mut overwrite = |_: Option<Pod>, _: ResponseMeta| Ok(Updated::new(updated.object.clone()));
            return self.inner.guaranteed_update(key, options, &mut overwrite, None).await;
        }
        if self.has(Flaw::UpdateAlwaysWrites) {
            let mut spoil = |pod: Option<Pod>, _: ResponseMeta| {
                let mut pod = pod.unwrap_or_default();
                pod.generation += 1;
                Ok(Updated::new(pod))
            };
            let _spoilt = self.inner.guaranteed_update(key, UpdateOptions::default(), &mut spoil, None).await;
        }
        self.inner.guaranteed_update(key, options, update, cached).await
    }

    async fn watch(&self, key: &str, mut options: WatchOptions) -> Result<WatchStream<Pod>> {
        if self.has(Flaw::WatchIgnoresPredicate) {
            options.predicate = Predicate::default();
        }
        if self.has(Flaw::WatchFromZeroIsFromNow) && options.resource_version == "0" {
            options.resource_version = self.inner.current_resource_version().await?.to_string();
        }
        let flaw = self.flaw;
        if flaw == Some(Flaw::WatchIsLazy) {
            let (inner, key) = (Arc::clone(&self.inner), key.to_owned());
            let later = async move { inner.watch(&key, options).await };
            return Ok(Box::pin(stream::once(later).try_flatten()));
        }
        let events = self.inner.watch(key, options).await?;
        Ok(Box::pin(events.filter_map(move |event| future::ready(spoiled(flaw, event)))))
    }

    async fn request_watch_progress(&self) -> Result<()> {
        self.inner.request_watch_progress().await
    }

    async fn count(&self, key: &str) -> Result<i64> {
        if self.has(Flaw::CountByText) {
            let neighbour = self.inner.count(&format!("{key}def")).await?;
            return Ok(self.inner.count(key).await? + neighbour);
        }
        self.inner.count(key).await
    }

    async fn current_resource_version(&self) -> Result<u64> {
        self.inner.current_resource_version().await
    }

    async fn readiness(&self) -> Result<()> {
        self.inner.readiness().await
    }
}

/// What a flawed store tells in place of `event`.
fn spoiled(flaw: Option<Flaw>, event: Result<WatchEvent<Pod>>) -> Option<Result<WatchEvent<Pod>>> {
    let event = match event {
        Ok(event) => event,
        Err(error) => return Some(Err(error)),
    };
    Some(Ok(match (flaw, event) {
        (Some(Flaw::WatchHidesDeletions), WatchEvent::Deleted(_)) => return None,
        (Some(Flaw::WatchHidesBookmarks), WatchEvent::Bookmark { .. }) => return None,
        (Some(Flaw::WatchAddsAlways), WatchEvent::Modified(pod)) => WatchEvent::Added(pod),
        (Some(Flaw::WatchDeletionIsOld), WatchEvent::Deleted(mut pod)) => {
            pod.resource_version = "1".to_owned();
            WatchEvent::Deleted(pod)
        }
        (_, event) => event,
    }))
}
