//! What a backend says about itself.

use crate::Revision;

/// The state of a backend as a whole.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KvStatus {
    /// The newest revision. An empty backend has 1, as etcd does.
    pub head: Revision,
    /// The last compacted revision where the backend knows it (etcd does not tell).
    pub compacted: Option<Revision>,
    /// Whether [`Kv::request_progress`](crate::Kv::request_progress) is answered reliably: etcd from 3.4.31 and
    /// 3.5.13, on every endpoint.
    pub progress_requests: bool,
    /// Bytes taken by the data, where known.
    pub db_size: Option<u64>,
}

impl KvStatus {
    /// A backend at `head` of which nothing else is known.
    #[must_use]
    pub fn new(head: Revision) -> Self {
        Self { head, compacted: None, progress_requests: false, db_size: None }
    }
}
