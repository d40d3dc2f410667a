//! The metrics, their help texts, labels and buckets.
//!
//! Names, types, labels and buckets are those of a Kubernetes API server. The label sets are those of release 1.31 and,
//! in the column "since 1.34", of newer releases: *labels* chooses between them. Metrics that Kubernetes does not have
//! begin with `kubestore_`.
//!
//! | metric | type | from | labels in 1.31 | since 1.34 |
//! | --- | --- | --- | --- | --- |
//! | [`ETCD_REQUEST_DURATION_SECONDS`] | histogram | [`EtcdRequest`](crate::Event::EtcdRequest) | `operation`, `type` | `operation`, `group`, `resource` |
//! | [`ETCD_REQUESTS_TOTAL`] | counter | `EtcdRequest` | `operation`, `type` | `operation`, `group`, `resource` |
//! | [`ETCD_REQUEST_ERRORS_TOTAL`] | counter | `EtcdRequest`, not ok | `operation`, `type` | `operation`, `group`, `resource` |
//! | [`LIST_TOTAL`] | counter | [`List`](crate::Event::List) | `resource` | `group`, `resource` |
//! | [`LIST_FETCHED_OBJECTS_TOTAL`] | counter | `List` | `resource` | `group`, `resource` |
//! | [`LIST_EVALUATED_OBJECTS_TOTAL`] | counter | `List` | `resource` | `group`, `resource` |
//! | [`LIST_RETURNED_OBJECTS_TOTAL`] | counter | `List` | `resource` | `group`, `resource` |
//! | [`DECODE_ERRORS_TOTAL`] | counter | [`DecodeError`](crate::Event::DecodeError) | `resource` | `group`, `resource` |
//! | [`EVENTS_RECEIVED_TOTAL`] | counter | [`WatchEvents`](crate::Event::WatchEvents) | `resource` | `group`, `resource` |
//! | [`ETCD_BOOKMARK_COUNTS`] | gauge | [`WatchBookmark`](crate::Event::WatchBookmark) | `resource` | `group`, `resource` |
//! | [`ETCD_LEASE_OBJECT_COUNTS`] | histogram | [`LeaseObjects`](crate::Event::LeaseObjects) | – | – |
//! | [`STORAGE_OBJECTS`] | gauge | [`ObjectCount`](crate::Event::ObjectCount) | `resource` | `resource` |
//! | [`RESOURCE_OBJECTS`] | gauge | `ObjectCount` | not there | `group`, `resource` |
//! | [`STORAGE_SIZE_BYTES`] | gauge | [`StorageSize`](crate::Event::StorageSize) | `storage_cluster_id` | `storage_cluster_id` |
//! | [`TRANSFORMATION_OPERATIONS_TOTAL`] | counter | [`Transformation`](crate::Event::Transformation) | `transformation_type`, `transformer_prefix`, `status` | `resource` before these |
//! | [`TRANSFORMATION_DURATION_SECONDS`] | histogram | `Transformation`, status `OK` | `transformation_type`, `transformer_prefix` | the same |
//! | [`DECODE_DURATION_SECONDS`] | histogram | [`Decode`](crate::Event::Decode) | `resource` | `group`, `resource` |
//! | [`WATCH_LAG_SECONDS`] | histogram | [`WatchLag`](crate::Event::WatchLag) | `resource` | `group`, `resource` |
//! | [`KEY_WRITES_TOTAL`] | counter | [`KeyWrite`](crate::Event::KeyWrite) | `provider`, `key` | the same |
//!
//! `type` and the lone `resource` hold `resource.group`, and `resource` alone in the core group.

/// A metric: its name and its help text.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metric {
    /// The full name.
    pub name: &'static str,
    /// What `# HELP` says.
    pub help: &'static str,
}

const fn metric(name: &'static str, help: &'static str) -> Metric {
    Metric { name, help }
}

/// Time of a request to the backend.
pub const ETCD_REQUEST_DURATION_SECONDS: Metric = metric(
    "etcd_request_duration_seconds",
    "Time of requests to the storage backend, by operation and resource.",
);
/// Requests to the backend.
pub const ETCD_REQUESTS_TOTAL: Metric =
    metric("etcd_requests_total", "Requests to the storage backend, by operation and resource.");
/// Requests to the backend that failed.
pub const ETCD_REQUEST_ERRORS_TOTAL: Metric =
    metric("etcd_request_errors_total", "Failed requests to the storage backend, by operation and resource.");
/// Lists served from storage.
pub const LIST_TOTAL: Metric = metric("apiserver_storage_list_total", "Lists served from storage.");
/// Objects that lists read.
pub const LIST_FETCHED_OBJECTS_TOTAL: Metric =
    metric("apiserver_storage_list_fetched_objects_total", "Objects read from storage to serve lists.");
/// Objects that lists tried selectors on.
pub const LIST_EVALUATED_OBJECTS_TOTAL: Metric = metric(
    "apiserver_storage_list_evaluated_objects_total",
    "Objects matched against selectors to serve lists.",
);
/// Objects that lists returned.
pub const LIST_RETURNED_OBJECTS_TOTAL: Metric =
    metric("apiserver_storage_list_returned_objects_total", "Objects that lists from storage returned.");
/// Stored values that could not be decoded.
pub const DECODE_ERRORS_TOTAL: Metric =
    metric("apiserver_storage_decode_errors_total", "Stored objects that could not be decoded, by resource.");
/// Changes that arrived on watches.
pub const EVENTS_RECEIVED_TOTAL: Metric =
    metric("apiserver_storage_events_received_total", "Changes received on storage watches, by resource.");
/// Progress notifications that arrived on watches. It only grows; that it is a gauge is Kubernetes' choice.
pub const ETCD_BOOKMARK_COUNTS: Metric =
    metric("etcd_bookmark_counts", "Progress notifications received on storage watches, by resource.");
/// Objects that shared a lease.
pub const ETCD_LEASE_OBJECT_COUNTS: Metric =
    metric("etcd_lease_object_counts", "Objects that shared one lease of the storage backend.");
/// Objects there are; -1 if they could not be counted.
pub const STORAGE_OBJECTS: Metric = metric(
    "apiserver_storage_objects",
    "Stored objects when last counted, by resource; -1 if counting failed.",
);
/// Objects there are; -1 if they could not be counted. In newer releases only.
pub const RESOURCE_OBJECTS: Metric = metric(
    "apiserver_resource_objects",
    "Stored objects when last counted, by resource; -1 if counting failed.",
);
/// Bytes the backend's database has on disk.
pub const STORAGE_SIZE_BYTES: Metric =
    metric("apiserver_storage_size_bytes", "Size of the storage backend's database on disk, in bytes.");
/// Values opened and sealed.
pub const TRANSFORMATION_OPERATIONS_TOTAL: Metric = metric(
    "apiserver_storage_transformation_operations_total",
    "Values opened (from_storage) and sealed (to_storage); status is OK, or tells the kind of failure.",
);
/// Time of opening and sealing; failures are not in it.
pub const TRANSFORMATION_DURATION_SECONDS: Metric =
    metric("apiserver_storage_transformation_duration_seconds", "Time to open or seal one value.");
/// Time of decoding.
pub const DECODE_DURATION_SECONDS: Metric =
    metric("kubestore_decode_duration_seconds", "Time to decode one stored object, by resource.");
/// How long changes wait for their watcher.
pub const WATCH_LAG_SECONDS: Metric = metric(
    "kubestore_watch_lag_seconds",
    "Time from the arrival of changes to their being taken by the watcher, by resource.",
);
/// Values sealed by this process, by key.
pub const KEY_WRITES_TOTAL: Metric = metric(
    "kubestore_transformer_key_writes_total",
    "Values sealed by this process, by provider and key name.",
);

/// Status of a transformation that succeeded.
pub const STATUS_OK: &str = "OK";
/// Status of a transformation that failed in this process. (One that failed at a remote service has the name of its
/// gRPC code.)
pub const STATUS_LOCAL_FAILURE: &str = "unknown-non-grpc";
/// Prefix of a value that no provider takes.
pub const PREFIX_UNKNOWN: &str = "unknown";

/// Label: what was asked of the backend.
pub const LABEL_OPERATION: &str = "operation";
/// Label: the resource, of requests in 1.31.
pub const LABEL_TYPE: &str = "type";
/// Label: the API group, since 1.34.
pub const LABEL_GROUP: &str = "group";
/// Label: the resource.
pub const LABEL_RESOURCE: &str = "resource";
/// Label: the backend.
pub const LABEL_STORAGE_CLUSTER_ID: &str = "storage_cluster_id";
/// Label: which way a value was transformed.
pub const LABEL_TRANSFORMATION_TYPE: &str = "transformation_type";
/// Label: the envelope's prefix.
pub const LABEL_TRANSFORMER_PREFIX: &str = "transformer_prefix";
/// Label: how a transformation ended.
pub const LABEL_STATUS: &str = "status";
/// Label: the provider of a key.
pub const LABEL_PROVIDER: &str = "provider";
/// Label: the name of a key.
pub const LABEL_KEY: &str = "key";

/// Buckets of [`ETCD_REQUEST_DURATION_SECONDS`].
pub const REQUEST_BUCKETS: [f64; 23] = [
    0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 15.0,
    20.0, 30.0, 45.0, 60.0,
];
/// Buckets of [`ETCD_LEASE_OBJECT_COUNTS`].
pub const LEASE_OBJECT_BUCKETS: [f64; 7] = [10.0, 50.0, 100.0, 500.0, 1000.0, 2500.0, 5000.0];
/// Buckets of [`WATCH_LAG_SECONDS`]: 100 µs, doubled 19 times.
pub const WATCH_LAG_BUCKETS: [f64; 20] = doubling(1e-4);
/// Buckets of [`TRANSFORMATION_DURATION_SECONDS`] and [`DECODE_DURATION_SECONDS`]: 5 µs, doubled 24 times.
pub const TRANSFORMATION_BUCKETS: [f64; 25] = doubling(5e-6);

const fn doubling<const N: usize>(first: f64) -> [f64; N] {
    let mut buckets = [first; N];
    let mut at = 1;
    while at < N {
        buckets[at] = buckets[at - 1] * 2.0;
        at += 1;
    }
    buckets
}
