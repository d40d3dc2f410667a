//! What most programs need: `use kubestore::prelude::*;`.

pub use crate::{Store, Stores};
pub use kubestore_codec::Unstructured;
pub use kubestore_core::{
    CreateOptions, DeleteOptions, GetOptions, ListOptions, Preconditions, Predicate, ResponseMeta,
    Storage as _, StorageError, StorageExt as _, UpdateOptions, Updated, WatchEvent, WatchOptions,
};
#[cfg(feature = "embedded")]
pub use kubestore_embedded::Embedded;
#[cfg(feature = "etcd")]
pub use kubestore_etcd::EtcdKv;
pub use kubestore_kv::Kv as _;
#[cfg(feature = "snapshot")]
pub use kubestore_snapshot::Snapshot;
