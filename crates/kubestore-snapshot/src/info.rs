//! What a file says about itself.

use kubestore_kv::{LeaseId, LeaseInfo, Revision};

/// What a file says about itself.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SnapshotInfo {
    /// Bytes of the file.
    pub size: u64,
    /// Whether the checksum of `etcdctl snapshot save` was at its end and is right. `None` without one, or if it was not
    /// to be verified.
    pub checksum_verified: Option<bool>,
    /// Bytes of a page.
    pub page_size: u32,
    /// The newest revision.
    pub head: Revision,
    /// The last compacted revision, 0 if nothing was ever compacted. It and all later ones can be read.
    pub compacted: Revision,
    /// Keys in the newest state.
    pub keys: u64,
    /// Versions of keys that can be read or are not removed yet, deletions included.
    pub versions: u64,
    /// Leases.
    pub leases: u64,
    /// The entry of etcd's log that was applied last.
    pub consistent_index: Option<u64>,
    /// The term of that entry (etcd 3.5 and later).
    pub term: Option<u64>,
    /// The version of the storage format (etcd 3.6 and later).
    pub storage_version: Option<String>,
}

/// A lease in a snapshot.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SnapshotLease {
    /// Its number.
    pub id: LeaseId,
    /// Its times. What remains is what was written down last, and all of it if that never was: no clock runs in a file.
    pub info: LeaseInfo,
}
