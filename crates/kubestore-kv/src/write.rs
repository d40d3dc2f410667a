//! Conditional writes: the only ones there are.

use std::fmt;

use bytes::Bytes;

use crate::{KeyValue, LeaseId, Revision};

/// The largest request a backend takes unless told otherwise: etcd's `--max-request-bytes` default, 1.5 MiB.
///
/// etcd measures the encoded request, so a value must stay somewhat below it.
pub const DEFAULT_MAX_REQUEST_BYTES: usize = 1536 * 1024;

/// What the key must be for a write to happen.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expect {
    /// The key was last written at this revision; 0 = it does not exist.
    ModRevision(Revision),
    /// The key has this version; 0 = it does not exist. For `compact_rev_key` only: the compactor's shape, which
    /// kine recognises.
    Version(i64),
}

impl Expect {
    /// The key does not exist.
    pub const ABSENT: Self = Self::ModRevision(Revision(0));

    /// Whether `current` is what is expected.
    #[must_use]
    pub fn holds(self, current: Option<&KeyValue>) -> bool {
        match self {
            Self::ModRevision(revision) => current.map_or(Revision(0), |kv| kv.mod_revision) == revision,
            Self::Version(version) => current.map_or(0, |kv| kv.version) == version,
        }
    }
}

/// What to answer when the expectation does not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a transaction has one alternative branch and it reads or does not"
)]
pub enum OnFailure {
    /// Only that it did not hold: the reference's create, with an empty else branch.
    Nothing,
    /// The key as it is: the reference's update and delete.
    Get,
}

/// A put on condition.
///
/// `Debug` shows the length of the value, never its bytes.
#[non_exhaustive]
#[derive(Clone)]
pub struct PutRequest {
    /// The whole key.
    pub key: Bytes,
    /// The bytes to keep.
    pub value: Bytes,
    /// The condition.
    pub expect: Expect,
    /// The lease the key shall end with. `None` takes the key off the lease it had.
    pub lease: Option<LeaseId>,
    /// The alternative.
    pub on_failure: OnFailure,
}

impl PutRequest {
    /// Put if the key does not exist.
    #[must_use]
    pub fn create(key: impl Into<Bytes>, value: impl Into<Bytes>) -> Self {
        Self {
            key: key.into(),
            value: value.into(),
            expect: Expect::ABSENT,
            lease: None,
            on_failure: OnFailure::Nothing,
        }
    }

    /// Put if the key was last written at `revision` (0 = it does not exist), else read it.
    #[must_use]
    pub fn update(key: impl Into<Bytes>, value: impl Into<Bytes>, revision: Revision) -> Self {
        Self {
            key: key.into(),
            value: value.into(),
            expect: Expect::ModRevision(revision),
            lease: None,
            on_failure: OnFailure::Get,
        }
    }

    /// Attach the key to `lease`.
    #[must_use]
    pub fn with_lease(mut self, lease: Option<LeaseId>) -> Self {
        self.lease = lease;
        self
    }

    /// Another condition.
    #[must_use]
    pub fn with_expect(mut self, expect: Expect) -> Self {
        self.expect = expect;
        self
    }
}

impl fmt::Debug for PutRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PutRequest")
            .field("key", &self.key)
            .field("value_len", &self.value.len())
            .field("expect", &self.expect)
            .field("lease", &self.lease)
            .field("on_failure", &self.on_failure)
            .finish()
    }
}

/// A deletion on condition.
#[non_exhaustive]
#[derive(Clone, Debug)]
pub struct DeleteRequest {
    /// The whole key.
    pub key: Bytes,
    /// The condition. With [`Expect::ABSENT`] a missing key is "deleted" and nothing is written, as in etcd.
    pub expect: Expect,
    /// The alternative.
    pub on_failure: OnFailure,
}

impl DeleteRequest {
    /// Delete if the key was last written at `revision`, else read it.
    #[must_use]
    pub fn new(key: impl Into<Bytes>, revision: Revision) -> Self {
        Self { key: key.into(), expect: Expect::ModRevision(revision), on_failure: OnFailure::Get }
    }
}

/// What became of a conditional write.
#[non_exhaustive]
#[derive(Clone, Debug)]
pub enum WriteOutcome {
    /// It happened, at `revision`. A deletion of a key that was not there writes nothing: `revision` is then the
    /// backend's head.
    Done {
        /// The write's own revision.
        revision: Revision,
    },
    /// The expectation did not hold and nothing was written.
    Conflict {
        /// The key as it is, if that was asked for and it exists.
        current: Option<KeyValue>,
        /// The backend's newest revision.
        head: Revision,
    },
}
