//! Leases: keys that end by themselves.

use std::time::Duration;

use crate::LeaseId;

/// The longest TTL that etcd grants, 9,000,000,000 seconds. A longer one is refused before it is sent.
pub const MAX_LEASE_TTL: Duration = Duration::from_secs(9_000_000_000);

/// A lease as granted.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeaseGrant {
    /// Its number.
    pub id: LeaseId,
    /// Its time to live, whole seconds; the backend may have raised what was asked for to its minimum (2 s on etcd
    /// with default settings).
    pub ttl: Duration,
}

impl LeaseGrant {
    /// A grant.
    #[must_use]
    pub fn new(id: LeaseId, ttl: Duration) -> Self {
        Self { id, ttl }
    }
}

/// What is known about a lease.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeaseInfo {
    /// The TTL it was granted with.
    pub granted: Duration,
    /// What is left of it; `None` when it has ended and its keys are about to be deleted.
    pub remaining: Option<Duration>,
}

impl LeaseInfo {
    /// A lease granted for `granted`.
    #[must_use]
    pub fn new(granted: Duration, remaining: Option<Duration>) -> Self {
        Self { granted, remaining }
    }
}
