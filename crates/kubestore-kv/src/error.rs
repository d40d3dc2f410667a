//! The one error of this layer.

use std::{error::Error, fmt};

use bytes::Bytes;

use crate::Revision;

/// A cause of any type.
pub type BoxError = Box<dyn Error + Send + Sync>;

/// What went wrong, as far as a caller can act on it.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KvErrorKind {
    /// The revision asked for is compacted; [`KvError::revision`] is the compacted revision where known.
    Compacted,
    /// The data on disk contradicts itself.
    Corrupt,
    /// No answer in the time given. Nothing was asked to change.
    DeadlineExceeded,
    /// The revision asked for is above the head; [`KvError::revision`] is the head where known.
    FutureRevision,
    /// A fault of the backend that fits no other kind.
    Internal,
    /// The backend refused the request as malformed.
    InvalidArgument,
    /// No such lease: it ended, was revoked, or never was.
    LeaseNotFound,
    /// The cluster has no leader.
    NoLeader,
    /// The backend's quota or disk is full: puts and grants fail, reads, deletes and compaction work.
    NoSpace,
    /// A write was sent and its answer never came: it may have been applied.
    OutcomeUnknown,
    /// The user lacks the permission.
    PermissionDenied,
    /// The backend only reads.
    ReadOnly,
    /// The request is larger than the backend takes.
    TooLarge,
    /// The credentials were refused.
    Unauthenticated,
    /// The backend could not be reached, or refused before it did anything.
    Unavailable,
    /// The backend has no such operation.
    Unsupported,
}

impl KvErrorKind {
    /// Whether the same request may succeed later without anybody's help. Decided here, once, for all layers above.
    ///
    /// [`OutcomeUnknown`](Self::OutcomeUnknown) is not: repeating the write blindly may apply it twice.
    #[must_use]
    pub const fn is_retryable(self) -> bool {
        matches!(self, Self::Unavailable | Self::NoLeader | Self::DeadlineExceeded)
    }

    /// etcd's own text for this kind where it has one, which is what Kubernetes' clients have always seen.
    #[must_use]
    pub const fn etcd_text(self) -> Option<&'static str> {
        Some(match self {
            Self::Compacted => "etcdserver: mvcc: required revision has been compacted",
            Self::FutureRevision => "etcdserver: mvcc: required revision is a future revision",
            Self::LeaseNotFound => "etcdserver: requested lease not found",
            Self::NoLeader => "etcdserver: no leader",
            Self::NoSpace => "etcdserver: mvcc: database space exceeded",
            Self::PermissionDenied => "etcdserver: permission denied",
            Self::TooLarge => "etcdserver: request is too large",
            _ => return None,
        })
    }
}

/// An operation on a backend that failed.
///
/// `Display` says which operation, on which key, and what is wrong with what to do about it; the cause is left to
/// [`source`](Error::source).
pub struct KvError(Box<Inner>);

struct Inner {
    kind: KvErrorKind,
    operation: &'static str,
    key: Option<Bytes>,
    revision: Option<Revision>,
    message: String,
    source: Option<BoxError>,
}

impl KvError {
    /// `operation` (a method of [`Kv`](crate::Kv), or `open`) failed; `message` says why and what helps.
    #[must_use]
    pub fn new(kind: KvErrorKind, operation: &'static str, message: impl Into<String>) -> Self {
        Self(Box::new(Inner {
            kind,
            operation,
            key: None,
            revision: None,
            message: message.into(),
            source: None,
        }))
    }

    /// The revision asked for is at or below `compacted`.
    #[must_use]
    pub fn compacted(operation: &'static str, compacted: Revision) -> Self {
        let message = format!("the revision is compacted (compacted revision {compacted}); read a newer one");
        Self::new(KvErrorKind::Compacted, operation, message).with_revision(compacted)
    }

    /// The revision asked for is above `head`.
    #[must_use]
    pub fn future_revision(operation: &'static str, wanted: Revision, head: Revision) -> Self {
        let message = format!("revision {wanted} is above the newest, {head}");
        Self::new(KvErrorKind::FutureRevision, operation, message).with_revision(head)
    }

    /// A request of `size` bytes where `limit` is the most.
    #[must_use]
    pub fn too_large(operation: &'static str, size: usize, limit: usize) -> Self {
        let message = format!("the request has {size} bytes, the limit is {limit}; make the object smaller");
        Self::new(KvErrorKind::TooLarge, operation, message)
    }

    /// Names the key.
    #[must_use]
    pub fn with_key(mut self, key: impl Into<Bytes>) -> Self {
        self.0.key = Some(key.into());
        self
    }

    /// Names the compacted or the newest revision, by kind.
    #[must_use]
    pub fn with_revision(mut self, revision: Revision) -> Self {
        self.0.revision = Some(revision);
        self
    }

    /// Keeps the cause.
    #[must_use]
    pub fn with_source(mut self, cause: impl Into<BoxError>) -> Self {
        self.0.source = Some(cause.into());
        self
    }

    /// What went wrong.
    #[must_use]
    pub fn kind(&self) -> KvErrorKind {
        self.0.kind
    }

    /// The operation that failed.
    #[must_use]
    pub fn operation(&self) -> &'static str {
        self.0.operation
    }

    /// The key concerned, if one is.
    #[must_use]
    pub fn key(&self) -> Option<&[u8]> {
        self.0.key.as_deref()
    }

    /// The compacted revision ([`KvErrorKind::Compacted`]) or the newest one ([`KvErrorKind::FutureRevision`]).
    #[must_use]
    pub fn revision(&self) -> Option<Revision> {
        self.0.revision
    }

    /// What is wrong, without operation and key.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// See [`KvErrorKind::is_retryable`].
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        self.0.kind.is_retryable()
    }
}

impl fmt::Display for KvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.operation)?;
        if let Some(key) = &self.0.key {
            write!(f, " of {}", String::from_utf8_lossy(key).escape_debug())?;
        }
        write!(f, ": {}", self.0.message)
    }
}

impl fmt::Debug for KvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KvError")
            .field("kind", &self.0.kind)
            .field("operation", &self.0.operation)
            .field("key", &self.0.key)
            .field("revision", &self.0.revision.map(|revision| revision.0))
            .field("message", &self.0.message)
            .field("source", &self.0.source)
            .finish()
    }
}

impl Error for KvError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source.as_deref().map(|cause| cause as _)
    }
}
