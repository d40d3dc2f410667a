//! The store and its face to the storage trait.

use std::{
    fmt,
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use async_trait::async_trait;
use kubestore_core::{
    BoxStream, Codec, CreateOptions, DeleteOptions, GetOptions, GroupResource, List, ListOptions, ListPart,
    Object, PathPrefix, Result, Storage, UpdateFn, UpdateOptions, ValidateDeletion, Versioner, WatchOptions,
    WatchStream,
};
use kubestore_kv::{Kv, WatchGroup};
use kubestore_lease::LeaseManager;
use kubestore_metrics::{Recorder, ResourceLabels};
use kubestore_transform::Transformer;

use crate::{StoreBuilder, UpdateQueue, list, watch};

/// Kubernetes storage over any backend: the semantics of the reference's etcd store, written once.
///
/// Lists and watches decode on the tasks of a tokio runtime, and updates that wait for each other go by its clock: call
/// them from within one.
///
/// Updates of one key take turns; see [`UpdateQueue`].
///
/// Cheap to clone; clones share the backend, the leases, the queue of updates and the group of watches. It keeps no state
/// that is not in the backend.
pub struct Store<T: Object> {
    inner: Arc<Inner<T>>,
}

/// What an operation needs.
pub(crate) struct Inner<T: Object> {
    pub(crate) kv: Arc<dyn Kv>,
    pub(crate) codec: Arc<dyn Codec<T>>,
    pub(crate) versioner: Arc<dyn Versioner<T>>,
    pub(crate) prefix: PathPrefix,
    pub(crate) resource: GroupResource,
    pub(crate) resource_text: String,
    pub(crate) resource_prefix: String,
    pub(crate) transformer: Arc<dyn Transformer>,
    pub(crate) recorder: Arc<dyn Recorder>,
    pub(crate) leases: LeaseManager,
    pub(crate) updates: UpdateQueue,
    pub(crate) watch_list: bool,
    pub(crate) watch_group: WatchGroup,
    pub(crate) slow_operation: Duration,
    /// Set once the backend said that it answers progress requests.
    pub(crate) answers_progress: AtomicBool,
}

impl<T: Object> Inner<T> {
    pub(crate) fn labels(&self) -> ResourceLabels<'_> {
        ResourceLabels::new(&self.resource.group, &self.resource.resource)
    }
}

impl<T: Object> Store<T> {
    /// Starts a store of objects of type `T` over `kv`.
    pub fn builder(
        kv: Arc<dyn Kv>,
        codec: Arc<dyn Codec<T>>,
        versioner: Arc<dyn Versioner<T>>,
    ) -> StoreBuilder<T> {
        StoreBuilder::new(kv, codec, versioner)
    }

    pub(crate) fn from_inner(inner: Inner<T>) -> Self {
        Self { inner: Arc::new(inner) }
    }

    pub(crate) fn inner(&self) -> &Inner<T> {
        &self.inner
    }

    /// The backend, for work that is not on objects.
    #[must_use]
    pub fn kv(&self) -> &Arc<dyn Kv> {
        &self.inner.kv
    }

    /// What the store holds.
    #[must_use]
    pub fn group_resource(&self) -> &GroupResource {
        &self.inner.resource
    }

    /// The path before every key.
    #[must_use]
    pub fn prefix(&self) -> &PathPrefix {
        &self.inner.prefix
    }
}

impl<T: Object> Clone for Store<T> {
    fn clone(&self) -> Self {
        Self { inner: Arc::clone(&self.inner) }
    }
}

impl<T: Object> fmt::Debug for Store<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store")
            .field("kv", &self.inner.kv)
            .field("prefix", &self.inner.prefix.as_str())
            .field("resource", &self.inner.resource_text)
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl<T: Object> Storage<T> for Store<T> {
    fn versioner(&self) -> &dyn Versioner<T> {
        &*self.inner.versioner
    }

    async fn create(&self, key: &str, object: T, options: CreateOptions) -> Result<T> {
        self.inner.create(key, object, &options).await
    }

    async fn get(&self, key: &str, options: GetOptions) -> Result<Option<T>> {
        self.inner.get(key, &options).await
    }

    async fn get_list(&self, key: &str, options: ListOptions) -> Result<List<T>> {
        list::get_list(&self.inner, key, options).await
    }

    fn list_stream(&self, key: &str, options: ListOptions) -> BoxStream<Result<ListPart<T>>> {
        list::list_stream(&self.inner, key, options)
    }

    async fn delete(
        &self,
        key: &str,
        options: DeleteOptions,
        validate: &mut dyn ValidateDeletion<T>,
        cached: Option<T>,
    ) -> Result<T> {
        self.inner.delete(key, &options, validate, cached).await
    }

    async fn guaranteed_update(
        &self,
        key: &str,
        options: UpdateOptions,
        update: &mut dyn UpdateFn<T>,
        cached: Option<T>,
    ) -> Result<T> {
        self.inner.update(key, &options, update, cached).await
    }

    async fn watch(&self, key: &str, options: WatchOptions) -> Result<WatchStream<T>> {
        watch::watch(&self.inner, key, options).await
    }

    async fn request_watch_progress(&self) -> Result<()> {
        self.inner.request_watch_progress().await
    }

    async fn count(&self, key: &str) -> Result<i64> {
        self.inner.count(key).await
    }

    async fn current_resource_version(&self) -> Result<u64> {
        self.inner.current_resource_version().await
    }

    async fn readiness(&self) -> Result<()> {
        self.inner.readiness().await
    }
}
