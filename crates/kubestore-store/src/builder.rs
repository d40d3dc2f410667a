//! Composing a store.

use std::{
    fmt,
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use kubestore_core::{Codec, GroupResource, Object, PathPrefix, Versioner};
use kubestore_kv::{Clock, Kv, SystemClock, WatchGroup};
use kubestore_lease::{LeaseManager, LeaseManagerConfig};
use kubestore_metrics::{NoRecorder, Recorder};
use kubestore_transform::{Identity, Transformer};

use crate::{
    UpdateQueue,
    store::{Inner, Store},
};

/// Operations that take longer are logged with the time of each step, as in the reference.
const SLOW_OPERATION: Duration = Duration::from_millis(500);

/// What a [`Store`] is made of. [`Store::builder`] starts one; everything but backend, codec and versioner has a default.
#[must_use]
pub struct StoreBuilder<T: Object> {
    kv: Arc<dyn Kv>,
    codec: Arc<dyn Codec<T>>,
    versioner: Arc<dyn Versioner<T>>,
    prefix: PathPrefix,
    resource: GroupResource,
    resource_prefix: Option<String>,
    transformer: Arc<dyn Transformer>,
    recorder: Arc<dyn Recorder>,
    clock: Arc<dyn Clock>,
    leases: LeaseManagerConfig,
    updates: UpdateQueue,
    watch_list: bool,
    watch_group: WatchGroup,
    slow_operation: Duration,
}

impl<T: Object> StoreBuilder<T> {
    pub(crate) fn new(kv: Arc<dyn Kv>, codec: Arc<dyn Codec<T>>, versioner: Arc<dyn Versioner<T>>) -> Self {
        Self {
            kv,
            codec,
            versioner,
            prefix: PathPrefix::new("/registry"),
            resource: GroupResource::new("", "objects"),
            resource_prefix: None,
            transformer: Arc::new(Identity),
            recorder: Arc::new(NoRecorder),
            clock: Arc::new(SystemClock),
            leases: LeaseManagerConfig::default(),
            updates: UpdateQueue::new(),
            watch_list: false,
            watch_group: WatchGroup::new(),
            slow_operation: SLOW_OPERATION,
        }
    }

    /// The path before every key; `/registry` by default, as in a cluster.
    pub fn prefix(mut self, prefix: &str) -> Self {
        self.prefix = PathPrefix::new(prefix);
        self
    }

    /// What the store holds, for messages, metrics and traces; `objects` by default.
    pub fn group_resource(mut self, resource: GroupResource) -> Self {
        self.resource = resource;
        self
    }

    /// The key under which all objects of the resource are; `/` and the resource's name by default. It is read to learn the
    /// current resource version.
    pub fn resource_prefix(mut self, prefix: impl Into<String>) -> Self {
        self.resource_prefix = Some(prefix.into());
        self
    }

    /// Encryption at rest; none by default.
    pub fn transformer(mut self, transformer: Arc<dyn Transformer>) -> Self {
        self.transformer = transformer;
        self
    }

    /// Where metrics go; nowhere by default.
    pub fn recorder(mut self, recorder: Arc<dyn Recorder>) -> Self {
        self.recorder = recorder;
        self
    }

    /// The clock that leases go by; the machine's by default.
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    /// How leases are shared; one for up to 1,000 objects written within a minute by default.
    pub fn lease_config(mut self, config: LeaseManagerConfig) -> Self {
        self.leases = config;
        self
    }

    /// Where updates of one key wait for each other; a queue of the store's own by default. Stores share one that keep the
    /// same objects on the same backend and encrypt them in the same way.
    pub fn update_queue(mut self, queue: UpdateQueue) -> Self {
        self.updates = queue;
        self
    }

    /// Whether watches may ask for initial events (Kubernetes' feature `WatchList`); off by default.
    pub fn watch_list(mut self, on: bool) -> Self {
        self.watch_list = on;
        self
    }

    /// The group that the watches belong to; one of the store's own by default. Stores of one group share a stream of
    /// the server, and a progress request on one of them is answered on the watches of all.
    pub fn watch_group(mut self, group: WatchGroup) -> Self {
        self.watch_group = group;
        self
    }

    /// How long an operation may take before it is logged with the time of each step; 500 ms by default.
    pub fn slow_operation(mut self, threshold: Duration) -> Self {
        self.slow_operation = threshold;
        self
    }

    /// The store.
    #[must_use]
    pub fn build(self) -> Store<T> {
        let leases =
            LeaseManager::new(Arc::clone(&self.kv), self.clock, self.leases, Arc::clone(&self.recorder));
        let resource_prefix = self.resource_prefix.unwrap_or_else(|| format!("/{}", self.resource.resource));
        Store::from_inner(Inner {
            kv: self.kv,
            codec: self.codec,
            versioner: self.versioner,
            prefix: self.prefix,
            resource_text: self.resource.to_string(),
            resource: self.resource,
            resource_prefix,
            transformer: self.transformer,
            recorder: self.recorder,
            leases,
            updates: self.updates,
            watch_list: self.watch_list,
            watch_group: self.watch_group,
            slow_operation: self.slow_operation,
            answers_progress: AtomicBool::new(false),
        })
    }
}

impl<T: Object> fmt::Debug for StoreBuilder<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoreBuilder")
            .field("kv", &self.kv)
            .field("prefix", &self.prefix.as_str())
            .field("resource", &self.resource)
            .finish_non_exhaustive()
    }
}
