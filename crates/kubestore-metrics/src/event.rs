//! What is measured.

use std::time::Duration;

use crate::{Direction, EtcdOperation, ResourceLabels};

/// One measurement. The metrics that each becomes are listed in [`names`](crate::names).
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Event<'a> {
    /// A request to the backend ended.
    EtcdRequest {
        /// What was asked.
        operation: EtcdOperation,
        /// Of which resource.
        resource: ResourceLabels<'a>,
        /// Whether the backend answered. A condition that did not hold is an answer, not a failure.
        ok: bool,
        /// From sending to the answer.
        took: Duration,
    },
    /// A list was served, or failed on the way; the numbers say how far it came.
    List {
        /// Of which resource.
        resource: ResourceLabels<'a>,
        /// Objects read from the backend.
        fetched: u64,
        /// Objects that selectors were tried on.
        evaluated: u64,
        /// Objects handed to the caller.
        returned: u64,
    },
    /// Stored bytes were decoded.
    Decode {
        /// Of which resource.
        resource: ResourceLabels<'a>,
        /// For the one object.
        took: Duration,
    },
    /// Stored bytes could not be decoded.
    DecodeError {
        /// Of which resource.
        resource: ResourceLabels<'a>,
    },
    /// Changes arrived on a watch.
    WatchEvents {
        /// Of which resource.
        resource: ResourceLabels<'a>,
        /// How many.
        count: u64,
    },
    /// The backend said on a watch how far it is.
    WatchBookmark {
        /// Of which resource.
        resource: ResourceLabels<'a>,
    },
    /// Changes that arrived together were taken by whoever watches.
    WatchLag {
        /// Of which resource.
        resource: ResourceLabels<'a>,
        /// From the arrival to the taking of the last of them: decoding, and the watcher's own slowness.
        took: Duration,
    },
    /// A lease was granted.
    LeaseObjects {
        /// Writes that the lease before it was handed to, those that failed included, and the one more that did not fit
        /// and asked for this lease: so Kubernetes counts. 1 for the first lease.
        count: u64,
    },
    /// The objects of a resource were counted.
    ObjectCount {
        /// Of which resource.
        resource: ResourceLabels<'a>,
        /// How many there are; `None` if they could not be counted.
        count: Option<u64>,
    },
    /// The size of a backend's database was read.
    StorageSize {
        /// Which backend: `etcd-0` is the first.
        cluster: &'a str,
        /// Bytes allocated on its disk.
        bytes: u64,
    },
    /// A value was opened or sealed.
    Transformation {
        /// Of which resource, where the transformer knows it.
        resource: Option<ResourceLabels<'a>>,
        /// Which way.
        direction: Direction,
        /// The envelope's prefix up to and including its last colon; empty for plain values, `unknown` if no provider
        /// takes the value.
        prefix: &'a str,
        /// `OK`, or what went wrong; see [`names::STATUS_OK`](crate::names::STATUS_OK) and
        /// [`names::STATUS_LOCAL_FAILURE`](crate::names::STATUS_LOCAL_FAILURE).
        status: &'a str,
        /// For the one value.
        took: Duration,
    },
    /// A value was sealed with a key.
    KeyWrite {
        /// The provider's name in the envelope, for example `aesgcm`.
        provider: &'a str,
        /// The key's name in the envelope.
        key: &'a str,
    },
}
