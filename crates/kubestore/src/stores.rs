//! Stores of many resources on one backend.

use std::{fmt, sync::Arc};

use kubestore_codec::{Unstructured, UnstructuredCodec, UnstructuredVersioner};
use kubestore_core::{Codec, GroupResource, Object, PathPrefix, Versioner};
use kubestore_kv::{Clock, Kv, SystemClock};
use kubestore_metrics::{NoRecorder, Recorder};
use kubestore_store::{LeaseManagerConfig, Store, UpdateQueue};
use kubestore_transform::{Identity, Transformer};

/// Makes stores that share a backend, a path prefix, an encryption configuration, metrics and a clock.
///
/// The layers are put together in the one right order: an object is encoded by its codec, the bytes are encrypted for the
/// backend's whole key, and only then written.
///
/// ```text
/// object ── codec ──▶ bytes ── transformer (with the key) ──▶ bytes ── lease, transaction ──▶ Kv
/// ```
#[derive(Clone)]
pub struct Stores(Arc<Shared>);

struct Shared {
    kv: Arc<dyn Kv>,
    prefix: PathPrefix,
    encryption: Encryption,
    recorder: Arc<dyn Recorder>,
    clock: Arc<dyn Clock>,
    leases: LeaseManagerConfig,
    updates: UpdateQueue,
    watch_list: bool,
}

enum Encryption {
    /// One transformer for everything.
    One(Arc<dyn Transformer>),
    /// By resource.
    #[cfg(feature = "encryption-config")]
    Config(Arc<kubestore_transform::EncryptionConfig>),
}

impl Stores {
    /// Stores on `kv` with default settings.
    pub fn new(kv: impl Kv) -> Self {
        Self::builder(kv).build()
    }

    /// Starts stores on `kv`.
    pub fn builder(kv: impl Kv) -> StoresBuilder {
        StoresBuilder(Shared {
            kv: Arc::new(kv),
            prefix: PathPrefix::new("/registry"),
            encryption: Encryption::One(Arc::new(Identity)),
            recorder: Arc::new(NoRecorder),
            clock: Arc::new(SystemClock),
            leases: LeaseManagerConfig::default(),
            updates: UpdateQueue::new(),
            watch_list: false,
        })
    }

    /// A store of `resource` that holds objects of any shape.
    #[must_use]
    pub fn unstructured(&self, resource: impl Into<GroupResource>) -> Store<Unstructured> {
        self.typed(resource, UnstructuredCodec, UnstructuredVersioner)
    }

    /// A store of `resource` that holds objects of type `T`.
    #[must_use]
    pub fn typed<T: Object>(
        &self,
        resource: impl Into<GroupResource>,
        codec: impl Codec<T>,
        versioner: impl Versioner<T>,
    ) -> Store<T> {
        let shared = &*self.0;
        let resource = resource.into();
        Store::builder(Arc::clone(&shared.kv), Arc::new(codec), Arc::new(versioner))
            .prefix(shared.prefix.as_str())
            .transformer(self.transformer(&resource))
            .group_resource(resource)
            .recorder(Arc::clone(&shared.recorder))
            .clock(Arc::clone(&shared.clock))
            .lease_config(shared.leases)
            .update_queue(shared.updates.clone())
            .watch_list(shared.watch_list)
            .build()
    }

    /// What encrypts the values of `resource`.
    #[must_use]
    #[cfg_attr(
        not(feature = "encryption-config"),
        expect(unused_variables, reason = "without a configuration one transformer serves all resources")
    )]
    pub fn transformer(&self, resource: &GroupResource) -> Arc<dyn Transformer> {
        match &self.0.encryption {
            Encryption::One(transformer) => Arc::clone(transformer),
            #[cfg(feature = "encryption-config")]
            Encryption::Config(config) => config.transformer_for(&resource.group, &resource.resource),
        }
    }

    /// The backend.
    #[must_use]
    pub fn kv(&self) -> &Arc<dyn Kv> {
        &self.0.kv
    }

    /// The path before every key.
    #[must_use]
    pub fn prefix(&self) -> &PathPrefix {
        &self.0.prefix
    }
}

impl fmt::Debug for Stores {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stores")
            .field("kv", &self.kv)
            .field("prefix", &self.prefix.as_str())
            .finish_non_exhaustive()
    }
}

/// What [`Stores`] share. Everything but the backend has a default.
#[must_use]
#[derive(Debug)]
pub struct StoresBuilder(Shared);

impl StoresBuilder {
    /// The path before every key; `/registry` by default, as in a cluster.
    pub fn prefix(mut self, prefix: &str) -> Self {
        self.0.prefix = PathPrefix::new(prefix);
        self
    }

    /// One transformer for the values of all resources; none by default.
    pub fn transformer(mut self, transformer: Arc<dyn Transformer>) -> Self {
        self.0.encryption = Encryption::One(transformer);
        self
    }

    /// Transformers by resource, from a Kubernetes EncryptionConfiguration.
    #[cfg(feature = "encryption-config")]
    pub fn encryption(mut self, config: kubestore_transform::EncryptionConfig) -> Self {
        self.0.encryption = Encryption::Config(Arc::new(config));
        self
    }

    /// Where metrics go; nowhere by default.
    pub fn recorder(mut self, recorder: Arc<dyn Recorder>) -> Self {
        self.0.recorder = recorder;
        self
    }

    /// The clock that leases go by; the machine's by default.
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.0.clock = clock;
        self
    }

    /// How leases are shared.
    pub fn lease_config(mut self, config: LeaseManagerConfig) -> Self {
        self.0.leases = config;
        self
    }

    /// Whether watches may ask for initial events; off by default.
    pub fn watch_list(mut self, on: bool) -> Self {
        self.0.watch_list = on;
        self
    }

    /// The stores.
    #[must_use]
    pub fn build(self) -> Stores {
        Stores(Arc::new(self.0))
    }
}
