//! How far leases are shared.

/// How far leases are shared. The defaults are those of a Kubernetes API server.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeaseManagerConfig {
    /// The most by which an object may outlive its TTL, in seconds; 60 by default. It is at most 5 % of the TTL in any
    /// case. With 0 every write has a lease of its own.
    pub reuse_duration_seconds: u64,
    /// To how many writes a lease is handed out, those that failed included; 1,000 by default, which 0 means too. All
    /// objects of a lease are deleted in one revision.
    pub max_object_count: u64,
}

impl LeaseManagerConfig {
    /// The default of [`max_object_count`](Self::max_object_count).
    pub const DEFAULT_MAX_OBJECT_COUNT: u64 = 1000;
    /// The default of [`reuse_duration_seconds`](Self::reuse_duration_seconds).
    pub const DEFAULT_REUSE_DURATION_SECONDS: u64 = 60;

    /// Sets [`reuse_duration_seconds`](Self::reuse_duration_seconds).
    #[must_use]
    pub fn with_reuse_duration_seconds(mut self, seconds: u64) -> Self {
        self.reuse_duration_seconds = seconds;
        self
    }

    /// Sets [`max_object_count`](Self::max_object_count).
    #[must_use]
    pub fn with_max_object_count(mut self, objects: u64) -> Self {
        self.max_object_count = objects;
        self
    }

    /// By how many seconds a lease for `ttl` may be too long.
    pub(crate) fn slack(&self, ttl: u64) -> u64 {
        (ttl / 20).min(self.reuse_duration_seconds)
    }

    pub(crate) fn objects_per_lease(&self) -> u64 {
        match self.max_object_count {
            0 => Self::DEFAULT_MAX_OBJECT_COUNT,
            objects => objects,
        }
    }
}

impl Default for LeaseManagerConfig {
    fn default() -> Self {
        Self {
            reuse_duration_seconds: Self::DEFAULT_REUSE_DURATION_SECONDS,
            max_object_count: Self::DEFAULT_MAX_OBJECT_COUNT,
        }
    }
}
