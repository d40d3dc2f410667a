#![doc = include_str!("../README.md")]

mod stores;

pub mod prelude;

/// What encryption at rest protects from, and what not.
#[doc = include_str!("docs/threat-model.md")]
pub mod threat_model {}

pub use stores::{Stores, StoresBuilder};

#[doc(inline)]
pub use kubestore_core::{Storage, StorageError, StorageExt};
#[doc(inline)]
pub use kubestore_store::{Store, StoreBuilder};

/// Work on a whole key space.
#[cfg(feature = "admin")]
pub use kubestore_admin as admin;
/// Codecs, versioners and the table of resources.
pub use kubestore_codec as codec;
/// The storage trait and its vocabulary.
pub use kubestore_core as core;
/// The engine in this process.
#[cfg(feature = "embedded")]
pub use kubestore_embedded as embedded;
/// The etcd backend.
#[cfg(feature = "etcd")]
pub use kubestore_etcd as etcd;
/// The contract between kubestore and its backends.
pub use kubestore_kv as kv;
/// Lease reuse.
pub use kubestore_lease as lease;
/// Metrics.
pub use kubestore_metrics as metrics;
/// Snapshots of etcd, to read.
#[cfg(feature = "snapshot")]
pub use kubestore_snapshot as snapshot;
/// Encryption at rest.
pub use kubestore_transform as transform;

/// The project's README, so that its example is compiled and run.
#[cfg(all(doctest, feature = "embedded"))]
#[doc = include_str!("../../../README.md")]
pub struct ProjectReadme;
